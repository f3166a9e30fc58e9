//! The third-party clients that `cargo xtask tools` installs.

use std::path::{Path, PathBuf};

/// The path of a tool that `cargo xtask tools` installs.
pub(crate) fn tool(path: &str) -> PathBuf {
    let tools = std::env::var_os("GANTRY_TOOLS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools"), PathBuf::from);
    let tool = tools.join(path);
    assert!(tool.exists(), "{} is missing; `cargo xtask tools` installs it", tool.display());
    tool.canonicalize().unwrap()
}
