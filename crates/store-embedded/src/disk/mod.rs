//! All file access as a small trait, so that tests can simulate the disk.

mod directory;
#[cfg(test)]
pub(crate) mod simulated;

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;

pub use directory::Directory;

/// The files of one directory.
///
/// Crash semantics are those of POSIX: written bytes are safe after [`DiskFile::sync`], and a created, renamed or
/// removed name after [`Disk::sync_names`]; before that, each change may be kept, lost, or kept in part.
pub trait Disk: Debug + Send + Sync {
    /// The names of all files.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Opens a file that exists.
    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;

    /// Creates an empty file, replacing one of that name.
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;

    /// Renames a file, replacing one of that name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes names durable.
    fn sync_names(&self) -> io::Result<()>;

    /// The full path of a name, for messages.
    fn path(&self, name: &str) -> PathBuf;
}

/// One open file.
#[allow(clippy::len_without_is_empty, reason = "no caller needs it")]
pub trait DiskFile: Debug + Send + Sync {
    /// Its length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Fills the buffer from an offset; ends early only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all bytes at an offset.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes written bytes durable.
    fn sync(&self) -> io::Result<()>;
}

/// Reads a whole file into a buffer, replacing its content.
pub(crate) fn read_into(disk: &dyn Disk, name: &str, bytes: &mut Vec<u8>) -> io::Result<()> {
    let file = disk.open(name)?;
    let length = usize::try_from(file.len()?).map_err(|_| io::ErrorKind::FileTooLarge)?;
    bytes.resize(length, 0);
    let read = file.read_at(bytes, 0)?;
    bytes.truncate(read);
    Ok(())
}

/// Reads a whole file.
#[cfg(test)]
pub(crate) fn read_all(disk: &dyn Disk, name: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_into(disk, name, &mut bytes)?;
    Ok(bytes)
}

/// Whether the disk is full.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
