//! One process per directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::error::OpenError;

/// The exclusive use of a directory, released when dropped or when the process ends in any way.
#[derive(Debug)]
pub(crate) struct DirectoryLock {
    _file: File,
}

pub(crate) const NAME: &str = "LOCK";

impl DirectoryLock {
    /// Locks the directory, or returns which process has it.
    pub(crate) fn take(directory: &Path) -> Result<Self, OpenError> {
        let path = directory.join(NAME);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).map_err(OpenError::writing(&path))?;
        locked(file.try_lock(), &mut file, directory)?;
        let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(OpenError::writing(&path))?;
        Ok(Self { _file: file })
    }

    /// Prevents others from opening the store while it is read, without writing anything; `None` if it has never been
    /// opened.
    pub(crate) fn share(directory: &Path) -> Result<Option<Self>, OpenError> {
        let path = directory.join(NAME);
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(OpenError::read(&path))?,
        };
        locked(file.try_lock_shared(), &mut file, directory)?;
        Ok(Some(Self { _file: file }))
    }
}

fn locked(tried: Result<(), TryLockError>, file: &mut File, directory: &Path) -> Result<(), OpenError> {
    match tried {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let read = file.read_to_string(&mut holder);
            let pid = read.ok().and_then(|_| holder.trim().parse().ok());
            Err(OpenError::InUse { directory: directory.to_owned(), pid })
        }
        Err(TryLockError::Error(error)) => {
            Err(OpenError::io(format!("locking {}", directory.display()))(error))
        }
    }
}
