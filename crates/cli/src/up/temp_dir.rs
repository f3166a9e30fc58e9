//! A directory that is removed when it is no longer needed.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

/// A directory for its owner alone; there are keys in it.
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
        // What cannot be removed stays in the system's directory for such things, which is emptied from time to time.
        let _ = fs::remove_dir_all(&self.0);
    }
}
