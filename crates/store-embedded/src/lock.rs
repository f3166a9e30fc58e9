//! One process per directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::error::OpenError;

/// The exclusive use of a directory, released when dropped or when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct DirectoryLock {
    _file: File,
}

const NAME: &str = "LOCK";

impl DirectoryLock {
    /// Locks the directory, or returns which process has it.
    pub(crate) fn take(directory: &Path) -> Result<Self, OpenError> {
        let path = directory.join(NAME);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(OpenError::writing(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let read = file.read_to_string(&mut holder);
                let pid = read.ok().and_then(|_| holder.trim().parse().ok());
                return Err(OpenError::InUse { directory: directory.to_owned(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(OpenError::writing(&path)(error)),
        }
        let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(OpenError::writing(&path))?;
        Ok(Self { _file: file })
    }
}
