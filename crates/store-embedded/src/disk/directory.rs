//! The real file system.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::disk::{Disk, DiskFile};

/// A directory of the file system.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    /// The directory, created durably if it does not exist yet. Only its owner may use it: a store holds every Secret.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let is_new = |level: &&Path| !level.exists();
        let made: Vec<&Path> = path.ancestors().take_while(is_new).collect();
        DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        for parent in made.into_iter().filter_map(Path::parent) {
            File::open(parent)?.sync_all()?;
        }
        restrict_to_owner(&path)?;
        Ok(Self::existing(path))
    }

    /// Removes the permissions of other users from the files that are selected by name.
    pub(crate) fn restrict_files(&self, is_selected: impl Fn(&str) -> bool) -> io::Result<()> {
        for name in self.names()?.into_iter().filter(|name| is_selected(name)) {
            restrict_to_owner(&self.path(&name))?;
        }
        Ok(())
    }

    /// The directory, which must exist when it is used.
    pub fn existing(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().to_owned() }
    }

    /// Its path.
    pub fn as_path(&self) -> &Path {
        &self.path
    }
}

/// Removes the permissions of other users from a file or directory; refuses directories that are meant to be shared.
fn restrict_to_owner(path: &Path) -> io::Result<()> {
    const OTHERS: u32 = 0o077;
    const STICKY: u32 = 0o1000;
    let metadata = fs::metadata(path)?;
    let mode = metadata.permissions().mode();
    if mode & OTHERS == 0 {
        return Ok(());
    }
    if metadata.is_dir() && mode & STICKY != 0 {
        return Err(io::Error::other("it is shared by all users; name a directory in it"));
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode & !OTHERS)).map_err(|error| {
        io::Error::new(error.kind(), format!("it is open to other users, which cannot be changed: {error}"))
    })
}

impl Disk for Directory {
    fn names(&self) -> io::Result<Vec<String>> {
        let names =
            fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        names.collect()
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let path = self.path(name);
        match OpenOptions::new().read(true).write(true).open(&path) {
            // The directory is read without write permission, as by a check or a backup: reading the file is enough.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                Ok(Box::new(File::open(path)?))
            }
            opened => Ok(Box::new(opened?)),
        }
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let path = self.path(name);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        // The file may have existed with other permissions.
        restrict_to_owner(&path)?;
        Ok(Box::new(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl DiskFile for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match FileExt::read_at(self, &mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        // fdatasync: the length is synced with the data, and times are not needed.
        self.sync_data()
    }
}
