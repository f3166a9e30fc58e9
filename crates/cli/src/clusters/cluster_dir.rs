//! The directory of a cluster.
//!
//! ```text
//! ~/.local/share/gantry/                 the cluster `gantry`
//! ~/.local/share/gantry/clusters/dev/    the cluster `dev`
//!   *.log, *.snapshot, LOCK    the store      pki/         certificates
//!   kubeconfig                 for clients    port         the port of the last start
//!   running.json               while it runs  up.log       the log of a detached cluster
//! ```

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::name::ClusterName;

/// The directory of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClusterDir {
    /// Its name; none for a directory that was named with --data-dir.
    pub(crate) name: Option<ClusterName>,
    pub(crate) directory: PathBuf,
}

/// The directory of all clusters but the default one.
const CLUSTERS: &str = "clusters";

impl ClusterDir {
    /// The directory of a cluster of this name.
    pub(crate) fn named(name: ClusterName) -> Result<Self, String> {
        let base = data_directory()?;
        let directory = if name.is_default() { base } else { base.join(CLUSTERS).join(name.as_str()) };
        Ok(Self { name: Some(name), directory })
    }

    /// A directory that was named.
    pub(crate) fn at(directory: PathBuf) -> Self {
        Self { name: None, directory }
    }

    /// The directories of all clusters, the default one first.
    pub(crate) fn all() -> Result<Vec<Self>, String> {
        let base = data_directory()?;
        let mut names = vec![ClusterName::default()];
        let folder = base.join(CLUSTERS);
        match fs::read_dir(&folder) {
            Ok(entries) => {
                let entries = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
                names.extend(entries.filter_map(|name| name.parse::<ClusterName>().ok()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("cannot read {}: {error}", folder.display())),
        }
        names.sort_by_key(|name| (!name.is_default(), name.clone()));
        let homes: Result<Vec<Self>, String> = names.into_iter().map(Self::named).collect();
        Ok(homes?.into_iter().filter(Self::is_used).collect())
    }

    /// The name of the cluster in messages.
    pub(crate) fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("cluster {name}"),
            None => format!("the cluster in {}", self.directory.display()),
        }
    }

    /// The name of its context in its kubeconfig.
    pub(crate) fn context(&self) -> String {
        self.name.clone().unwrap_or_default().context()
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.directory.join("kubeconfig")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.directory.join("up.log")
    }

    pub(super) fn record(&self) -> PathBuf {
        self.directory.join("running.json")
    }

    /// Whether objects are stored here.
    pub(crate) fn has_data(&self) -> bool {
        self.directory.join("LOCK").exists()
    }

    fn is_used(&self) -> bool {
        self.has_data() || self.kubeconfig().exists() || self.record().exists()
    }

    /// The port of the last start, if it was saved.
    pub(crate) fn port(&self) -> Option<u16> {
        fs::read_to_string(self.port_file()).ok()?.trim().parse().ok()
    }

    /// Saves the port, so that kubeconfigs stay valid.
    pub(crate) fn save_port(&self, port: u16) -> Result<(), String> {
        let file = self.port_file();
        fs::write(&file, format!("{port}\n"))
            .map_err(|error| format!("cannot write {}: {error}", file.display()))
    }

    fn port_file(&self) -> PathBuf {
        self.directory.join("port")
    }

    /// Creates the directory with mode 0700: it contains keys.
    pub(crate) fn create(&self) -> Result<(), String> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.directory);
        made.map_err(|error| format!("cannot create {}: {error}", self.directory.display()))
    }

    /// The record of what this machine runs as a node of the cluster.
    pub(crate) fn node_record(&self) -> PathBuf {
        self.directory.join("node.json")
    }

    /// Removes the cluster's files. The directories of other clusters are inside the default one's and are kept.
    pub(super) fn remove(&self) -> io::Result<()> {
        let is_default = self.name.as_ref().is_some_and(ClusterName::is_default);
        if !is_default {
            return fs::remove_dir_all(&self.directory);
        }
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            if entry.file_name() != CLUSTERS {
                remove_any(&entry.path())?;
            }
        }
        Ok(())
    }
}

fn remove_any(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Gantry's data directory of this user.
fn data_directory() -> Result<PathBuf, String> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let base = base.or_else(|| set("HOME").map(|dir| dir.join(".local/share")));
    base.map(|base| base.join("gantry")).ok_or_else(|| {
        "neither XDG_DATA_HOME nor HOME is set\nhint: name a directory with --data-dir".to_owned()
    })
}
