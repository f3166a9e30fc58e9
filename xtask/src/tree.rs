//! The text of the repository, read once, so that checks are functions from text to findings.

use crate::failure::Failure;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every file below a folder: its path with `/` from the root, and its text.
///
/// A file that is not UTF-8 has an empty text: it exists, and its content is not checked.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads a folder from disk, without hidden folders and build output.
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        let mut tree = Self::default();
        tree.collect(root, "").map_err(|error| {
            Failure::Failed(format!("cannot read the files below {}: {error}", root.display()))
        })?;
        Ok(tree)
    }

    /// Every file with its text, by path.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files whose name ends in this extension.
    pub(crate) fn with_extension(&self, extension: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files()
            .filter(move |(path, _)| Path::new(path).extension().is_some_and(|found| found == extension))
    }

    /// The text of one file, if it exists.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether a path is a file, or a folder with a file in it. The empty path is the root.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files().any(|(file, _)| file.starts_with(&folder))
    }

    fn collect(&mut self, folder: &Path, prefix: &str) -> std::io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let on_disk = entry.path();
            if !on_disk.is_dir() {
                let text = String::from_utf8(fs::read(&on_disk).unwrap_or_default()).unwrap_or_default();
                self.files.insert(path, text);
            } else if !entry.file_type()?.is_symlink() && !is_left_out(&on_disk, &path) {
                self.collect(&on_disk, &format!("{path}/"))?;
            }
        }
        Ok(())
    }
}

/// Hidden folders other than ours, build output, and all that cargo marked as a cache.
fn is_left_out(folder: &Path, path: &str) -> bool {
    let is_hidden = path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
    let is_ours = matches!(path, ".cargo" | ".ci");
    (is_hidden && !is_ours) || path == "target" || folder.join("CACHEDIR.TAG").exists()
}

#[cfg(test)]
impl Tree {
    /// A repository made of these files.
    pub(crate) fn of<const N: usize>(files: [(&str, &str); N]) -> Self {
        Self { files: files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_exists_when_a_file_is_in_it() {
        let tree = Tree::of([("docs/decisions/README.md", "")]);
        assert!(
            tree.exists("docs") && tree.exists("docs/decisions") && tree.exists("docs/decisions/README.md")
        );
        assert!(!tree.exists("docs/dec"));
    }
}
