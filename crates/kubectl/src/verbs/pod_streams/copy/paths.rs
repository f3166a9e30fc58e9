//! Paths of `cp`: `PATH`, `POD:PATH`, `NAMESPACE/POD:PATH`, and how they are resolved. Containers are Linux, so paths are text.

use std::path::{Component, Path, PathBuf};

use crate::failure::Failure;

/// A path on this side, or in a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileSpec {
    pub(super) namespace: Option<String>,
    pub(super) pod: Option<String>,
    pub(super) path: String,
}

impl FileSpec {
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let malformed =
            || Failure::other("filespec must match the canonical format: [[namespace/]pod:]file/path");
        let local = || Self { namespace: None, pod: None, path: without_slash(text) };
        let Some((place, path)) = text.split_once(':') else { return Ok(local()) };
        let path = without_slash(path);
        match place.split('/').collect::<Vec<_>>().as_slice() {
            [""] => Err(malformed()),
            [pod] => Ok(Self { namespace: None, pod: Some((*pod).to_owned()), path }),
            [namespace, pod] => {
                Ok(Self { namespace: Some((*namespace).to_owned()), pod: Some((*pod).to_owned()), path })
            }
            _ => Err(malformed()),
        }
    }
}

fn without_slash(path: &str) -> String {
    match path.strip_suffix('/') {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => path.to_owned(),
    }
}

/// Resolves `.`, `..` and double slashes, as Go does.
pub(super) fn clean(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => drop(names.pop()),
            ".." if is_absolute => {}
            name => names.push(name),
        }
    }
    match (is_absolute, names.is_empty()) {
        (true, _) => format!("/{}", names.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => names.join("/"),
    }
}

/// The last name of a path.
pub(super) fn base(path: &str) -> String {
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("/").to_owned()
}

/// The path without its last name.
pub(super) fn dir(path: &str) -> String {
    match path.rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((dir, _)) => dir.to_owned(),
        None => ".".to_owned(),
    }
}

/// A relative path without `..` at its beginning; empty for the directory itself.
pub(super) fn without_parents(path: &str) -> String {
    let mut rest = path;
    while let Some(inner) = rest.strip_prefix("../") {
        rest = inner;
    }
    let rest = if matches!(rest, "." | "..") { "" } else { rest };
    rest.strip_prefix('/').unwrap_or(rest).to_owned()
}

/// The local path of a file in an archive; `None` if it would be outside of the destination.
pub(super) fn inside(destination: &Path, name: &str) -> Option<PathBuf> {
    let mut depth = 0_usize;
    for component in Path::new(name.trim_start_matches('/')).components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth = depth.checked_sub(1)?,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let name = clean(name.trim_start_matches('/'));
    Some(if name == "." { destination.to_owned() } else { destination.join(name) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_local_or_in_a_pod() {
        let parsed = |text| FileSpec::parse(text).map(|spec| (spec.namespace, spec.pod, spec.path));
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(parsed("/tmp/a/"), Ok((None, None, "/tmp/a".to_owned())));
        assert_eq!(parsed("p:/a"), Ok((None, text("p"), "/a".to_owned())));
        assert_eq!(parsed("n/p:a"), Ok((text("n"), text("p"), "a".to_owned())));
        assert_eq!(parsed("p:/"), Ok((None, text("p"), "/".to_owned())));
        assert!(parsed(":a").is_err() && parsed("a/b/c:d").is_err());
    }

    #[test]
    fn paths_are_cleaned_as_in_go() {
        for (path, cleaned) in [
            ("/a//b/../c/.", "/a/c"),
            ("../a", "../a"),
            ("a/..", "."),
            ("/..", "/"),
            ("", "."),
            ("../../a/../b", "../../b"),
        ] {
            assert_eq!(clean(path), cleaned, "{path}");
        }
        assert_eq!(
            (base("/a/b"), dir("/a/b"), dir("/a"), dir("a"), base("/")),
            ("b".into(), "/a".into(), "/".into(), ".".into(), "/".into())
        );
        assert_eq!(
            (without_parents("../../a"), without_parents(".."), without_parents("a/b")),
            ("a".into(), String::new(), "a/b".into())
        );
    }

    #[test]
    fn nothing_is_written_outside_of_the_destination() {
        let inside = |name| inside(Path::new("/dest"), name);
        assert_eq!(inside("/a/b"), Some("/dest/a/b".into()));
        assert_eq!(inside(""), Some("/dest".into()));
        assert_eq!(inside("a/../b"), Some("/dest/b".into()));
        assert_eq!(inside("../x"), None);
        assert_eq!(inside("/a/../../x"), None);
    }
}
