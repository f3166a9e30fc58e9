//! Where Gantry keeps its own things, if nobody says otherwise.

use std::env;
use std::path::{Path, PathBuf};

/// The data of `gantry up`: a folder of this user.
pub(crate) fn data_directory() -> Result<PathBuf, String> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let base = base.or_else(|| set("HOME").map(|home| home.join(".local/share")));
    base.map(|base| base.join("gantry")).ok_or_else(|| {
        "neither XDG_DATA_HOME nor HOME is set\nhint: name a directory with --data-dir".to_owned()
    })
}

/// The administrator's kubeconfig of a cluster whose data is here.
pub(crate) fn kubeconfig(data_directory: &Path) -> PathBuf {
    data_directory.join("kubeconfig")
}
