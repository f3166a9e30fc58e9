//! A temporary directory that is removed on drop.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

/// A temporary directory with mode 0700; it contains keys.
pub(super) struct TempDir(PathBuf);

impl TempDir {
    pub(super) fn new() -> Result<Self, String> {
        let parent = std::env::temp_dir();
        let cannot = |error: io::Error| format!("cannot create a directory in {}: {error}", parent.display());
        for number in 0..100_u32 {
            let path = parent.join(format!("gantry-up-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot(error)),
            }
        }
        Err(cannot(io::ErrorKind::AlreadyExists.into()))
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // A leftover in the system's temporary directory does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
