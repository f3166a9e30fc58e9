//! The directories of a pod's volumes on the node.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::volume_payload::Payload;

/// The link to the directory with the current files of a volume, as a kubelet names it.
const DATA: &str = "..data";

/// Writes the files of a volume so that readers see either all old or all new ones. Does nothing if they are the same.
///
/// As with a kubelet, the files are in a new directory, to which `..data` links, and the visible names link into that.
pub(crate) fn write_payload(volume: &Path, files: &Payload, group: Option<i64>) -> io::Result<()> {
    if is_current(volume, files) {
        return Ok(());
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let fresh = format!("..{}", since.as_nanos());
    let directory = volume.join(&fresh);
    fs::create_dir_all(&directory)?;
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755))?;
    for (path, file) in files {
        let target = inside(&directory, path)?;
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&target, &file.content)?;
        let mode = u32::try_from(file.mode).unwrap_or(0o644);
        let mode = if group.is_some() { mode | 0o440 } else { mode };
        fs::set_permissions(&target, fs::Permissions::from_mode(mode))?;
        if let Some(group) = group {
            own(&target, group)?;
        }
    }
    let old = fs::read_link(volume.join(DATA)).ok();
    let link = volume.join("..data_tmp");
    let _ = fs::remove_file(&link);
    symlink(&fresh, &link)?;
    fs::rename(&link, volume.join(DATA))?;
    link_names(volume, files)?;
    if let Some(old) = old {
        let _ = fs::remove_dir_all(volume.join(old));
    }
    Ok(())
}

/// Links the first component of every path into `..data`, and removes the links of removed paths.
fn link_names(volume: &Path, files: &Payload) -> io::Result<()> {
    let first = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    for path in files.keys() {
        let link = volume.join(first(path));
        if fs::symlink_metadata(&link).is_err() {
            symlink(Path::new(DATA).join(first(path)), &link)?;
        }
    }
    for entry in fs::read_dir(volume)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.starts_with("..") && !files.keys().any(|path| first(path) == name) {
            fs::remove_file(volume.join(name))?;
        }
    }
    Ok(())
}

fn is_current(volume: &Path, files: &Payload) -> bool {
    let data = volume.join(DATA);
    let same = |(path, file): (&String, &crate::volume_payload::VolumeFile)| {
        fs::read(data.join(path)).is_ok_and(|content| content == file.content)
    };
    data.is_dir() && count(&data) == files.len() && files.iter().all(same)
}

fn count(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { count(&entry.path()) } else { 1 }).sum()
}

/// Returns a path below a directory; an error if it leads outside of it.
pub(crate) fn inside(directory: &Path, path: &str) -> io::Result<PathBuf> {
    let relative = Path::new(path);
    let is_normal = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if relative.components().all(is_normal) {
        return Ok(directory.join(relative));
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{path:?} is not a path within the volume")))
}

/// Creates the path of a `subPath`, and returns it with all links resolved; an error if it is outside the volume.
pub(crate) fn sub_path(volume: &Path, path: &str) -> io::Result<PathBuf> {
    let wanted = inside(volume, path)?;
    let root = volume.canonicalize()?;
    // The existing part must not lead outside, before anything is created below it.
    let existing = wanted.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(volume);
    let outside = || io::Error::new(io::ErrorKind::PermissionDenied, format!("{path:?} leaves the volume"));
    if !existing.canonicalize()?.starts_with(&root) {
        return Err(outside());
    }
    if !wanted.exists() {
        fs::create_dir_all(&wanted)?;
        let mode = fs::metadata(volume)?.permissions();
        fs::set_permissions(&wanted, mode)?;
    }
    let resolved = wanted.canonicalize()?;
    if resolved.starts_with(&root) { Ok(resolved) } else { Err(outside()) }
}

/// Sets the group of a file or directory.
pub(crate) fn own(path: &Path, group: i64) -> io::Result<()> {
    std::os::unix::fs::lchown(path, None, u32::try_from(group).ok())
}

/// Sets the group of a directory and everything in it, and makes it writable for the group.
pub(crate) fn own_all(path: &Path, group: i64) -> io::Result<()> {
    own(path, group)?;
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_symlink() {
        return Ok(());
    }
    let add = if metadata.is_dir() { 0o2770 } else { 0o660 };
    fs::set_permissions(path, fs::Permissions::from_mode(metadata.permissions().mode() | add))?;
    if metadata.is_dir() {
        for entry in fs::read_dir(path)? {
            own_all(&entry?.path(), group)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume_payload::VolumeFile;

    fn directory(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("gantry-volume-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn payload(files: &[(&str, &str)]) -> Payload {
        let file = |content: &str| VolumeFile { content: content.as_bytes().to_vec(), mode: 0o644 };
        files.iter().map(|(path, content)| ((*path).to_owned(), file(content))).collect()
    }

    #[test]
    fn files_are_replaced_together() {
        let volume = directory("replace");
        write_payload(&volume, &payload(&[("a", "1"), ("d/b", "2")]), None).unwrap();
        assert_eq!(fs::read_to_string(volume.join("d/b")).unwrap(), "2");
        let before = fs::read_link(volume.join(DATA)).unwrap();
        write_payload(&volume, &payload(&[("a", "1"), ("d/b", "2")]), None).unwrap();
        assert_eq!(fs::read_link(volume.join(DATA)).unwrap(), before, "nothing is written without a change");
        write_payload(&volume, &payload(&[("a", "3")]), None).unwrap();
        assert_eq!(fs::read_to_string(volume.join("a")).unwrap(), "3");
        assert!(!volume.join("d").exists() && !volume.join(before).exists());
        fs::remove_dir_all(volume).unwrap();
    }

    #[test]
    fn a_sub_path_stays_within_its_volume() {
        let volume = directory("sub-path");
        assert!(sub_path(&volume, "a/b").unwrap().is_dir());
        assert!(sub_path(&volume, "../x").is_err());
        symlink("/etc", volume.join("link")).unwrap();
        assert!(sub_path(&volume, "link").is_err());
        assert!(sub_path(&volume, "link/passwd").is_err());
        fs::remove_dir_all(volume).unwrap();
    }
}
