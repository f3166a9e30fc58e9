//! Atomic file writes with permissions.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileMode {
    OwnerOnly,
    WorldReadable,
}

/// Writes a file atomically, replacing an existing one.
pub(crate) fn write(path: &Path, text: &str, readers: FileMode) -> io::Result<()> {
    let mode = match readers {
        FileMode::OwnerOnly => 0o600,
        FileMode::WorldReadable => 0o644,
    };
    let sibling = sibling_path(path);
    // Left by a process with the same id that was killed while it wrote.
    let _ = fs::remove_file(&sibling);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&sibling)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let renamed = written.and_then(|()| fs::rename(&sibling, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&sibling);
    }
    renamed?;
    File::open(parent_directory(path))?.sync_all()
}

/// `None` if the file does not exist.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes the permissions of other users from a file, if this process may change them.
pub(crate) fn restrict_to_owner(path: &Path) -> io::Result<()> {
    let mode = match fs::metadata(path) {
        Ok(metadata) => metadata.permissions().mode(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let private = mode & !0o077;
    if mode == private {
        return Ok(());
    }
    match fs::set_permissions(path, fs::Permissions::from_mode(private)) {
        // Its owner decides, or a mounted Secret is read-only.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Ok(())
        }
        changed => changed,
    }
}

pub(crate) fn parent_directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn sibling_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", std::process::id()))
}
