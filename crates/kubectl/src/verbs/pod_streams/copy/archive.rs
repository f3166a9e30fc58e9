//! `tar` archives of files on this side. Blocking.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::Path;

use tar::{Archive, Builder, EntryType, Header};

use super::paths::inside;

/// Writes a file or directory to an archive, under this name.
pub(super) fn pack(source: &Path, name: &str, to: impl Write) -> io::Result<()> {
    let mut builder = Builder::new(to);
    append(&mut builder, source, name)?;
    builder.into_inner()?.flush()
}

fn append(builder: &mut Builder<impl Write>, source: &Path, name: &str) -> io::Result<()> {
    let metadata = fs::symlink_metadata(source)?;
    if metadata.is_dir() {
        let mut names: Vec<_> = fs::read_dir(source)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<Result<_, _>>()?;
        names.sort();
        if names.is_empty() {
            return builder.append_data(&mut header(&metadata, 0), name, io::empty());
        }
        for child in names {
            append(builder, &source.join(&child), &format!("{name}/{}", child.to_string_lossy()))?;
        }
        return Ok(());
    }
    if metadata.is_symlink() {
        return builder.append_link(&mut header(&metadata, 0), name, fs::read_link(source)?);
    }
    if !metadata.is_file() {
        let why = format!("{} is neither a file, a directory nor a symbolic link", source.display());
        return Err(io::Error::new(io::ErrorKind::Unsupported, why));
    }
    // A file that grows meanwhile is cut off.
    let content = File::open(source)?.take(metadata.len());
    builder.append_data(&mut header(&metadata, metadata.len()), name, content)
}

fn header(metadata: &Metadata, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_metadata(metadata);
    header.set_size(size);
    header
}

/// Reads an archive into a directory, or one file of it into a file. Every name in it begins with the prefix, which is
/// left out. Symbolic links and files outside of the destination are skipped; returns notes about them, the first one
/// about a link with the hint.
pub(super) fn unpack(
    from: impl Read,
    prefix: &str,
    destination: &Path,
    hint: &str,
) -> io::Result<Vec<String>> {
    let mut archive = Archive::new(from);
    let (mut notes, mut hint) = (Vec::new(), Some(format!(" ({hint})")));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let Some(name) = name.strip_prefix(prefix) else {
            return Err(io::Error::other("tar contents corrupted"));
        };
        let Some(path) = inside(destination, name) else {
            let path = destination.join(name.trim_start_matches('/'));
            notes.push(format!(
                "warning: file {:?} is outside target destination, skipping",
                path.display().to_string()
            ));
            continue;
        };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        match entry.header().entry_type() {
            EntryType::Directory => fs::create_dir_all(&path)?,
            EntryType::Symlink => {
                let target = entry.link_name_bytes().unwrap_or_default();
                let (target, hint) = (String::from_utf8_lossy(&target), hint.take().unwrap_or_default());
                let path = path.display().to_string();
                notes.push(format!("warning: skipping symlink: {path:?} -> {target:?}{hint}"));
            }
            _ => {
                let mut file = File::create(&path).map_err(|error| named(&path, &error))?;
                io::copy(&mut entry, &mut file)?;
            }
        }
    }
    Ok(notes)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("open {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    /// A directory of a test, which is removed at the end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let directory = std::env::temp_dir().join(format!("gantry-cp-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&directory);
            fs::create_dir_all(&directory).unwrap();
            Self(directory)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_directory_is_copied_without_links() {
        let scratch = Scratch::new("directory");
        let source = scratch.0.join("source");
        let long = "x".repeat(120);
        fs::create_dir_all(source.join("empty")).unwrap();
        fs::create_dir_all(source.join(&long)).unwrap();
        fs::write(source.join("file"), "one").unwrap();
        fs::write(source.join(&long).join(&long), "two").unwrap();
        symlink("/etc/passwd", source.join("link")).unwrap();
        let mut archive = Vec::new();
        pack(&source, "target", &mut archive).unwrap();
        let target = scratch.0.join("target");
        let notes = unpack(&*archive, "target", &target, "a hint").unwrap();
        assert_eq!(
            notes,
            [format!("warning: skipping symlink: {:?} -> \"/etc/passwd\" (a hint)", target.join("link"))]
        );
        assert_eq!(fs::read_to_string(target.join("file")).unwrap(), "one");
        assert_eq!(fs::read_to_string(target.join(&long).join(&long)).unwrap(), "two");
        assert!(target.join("empty").is_dir() && !target.join("link").exists());
    }

    #[test]
    fn paths_outside_the_destination_are_skipped() {
        let scratch = Scratch::new("outside");
        let mut builder = Builder::new(Vec::new());
        let mut header = Header::new_gnu();
        header.set_size(1);
        header.as_gnu_mut().unwrap().name[..15].copy_from_slice(b"dir/../../stray");
        header.set_cksum();
        builder.append(&header, &b"x"[..]).unwrap();
        let archive = builder.into_inner().unwrap();
        let target = scratch.0.join("target");
        let notes = unpack(&*archive, "dir", &target, "").unwrap();
        assert!(notes[0].ends_with("is outside target destination, skipping"), "{notes:?}");
        assert!(!scratch.0.join("stray").exists());
        assert_eq!(
            unpack(&*archive, "other", &target, "").unwrap_err().to_string(),
            "tar contents corrupted"
        );
    }
}
