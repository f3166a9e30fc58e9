//! Warns about files of one volume with overlapping paths.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gantry_json::Value;

use super::error_list::{is_set, list, text};
use super::warnings::{SHOWN_CHARS_MAX, SHOWN_ITEM_CHARS_MAX};

/// The most bytes of one character.
const MAX_CHAR_BYTES: usize = 4;

/// A file of a volume: its path, and which source it comes from if there are several.
struct File<'a> {
    path: &'a str,
    source: String,
}

/// Warns about files of a volume with equal or nested paths.
pub(crate) fn paths(warnings: &mut Vec<String>, volume: &Value) {
    let name = text(volume, "name");
    for (field, shown) in [("secret", "Secret"), ("configMap", "ConfigMap"), ("downwardAPI", "DownwardAPI")] {
        let source = &volume[field];
        let of = match field {
            "secret" => format!("{shown} {:?}", text(source, "secretName")),
            "configMap" => format!("{shown} {:?}", text(source, "name")),
            _ => shown.to_owned(),
        };
        let files: Vec<_> = items(source).map(|path| File { path, source: String::new() }).collect();
        warn(warnings, &format!("volume {name:?} ({of})"), &files);
    }
    let files: Vec<_> = list(&volume["projected"], "sources").iter().flat_map(projected).collect();
    warn(warnings, &format!("volume {name:?} (Projected)"), &files);
}

fn items(source: &Value) -> impl Iterator<Item = &str> {
    list(source, "items").iter().map(|item| text(item, "path"))
}

fn projected(source: &Value) -> Vec<File<'_>> {
    let named = |field: &str, shown: &str| format!(" ({shown} {:?})", text(&source[field], "name"));
    let mut files = Vec::new();
    for (field, of) in [
        ("secret", named("secret", "Secret")),
        ("configMap", named("configMap", "ConfigMap")),
        ("downwardAPI", " (DownwardAPI)".to_owned()),
    ] {
        files.extend(items(&source[field]).map(|path| File { path, source: of.clone() }));
    }
    for (field, of) in
        [("serviceAccountToken", "ServiceAccountToken"), ("clusterTrustBundle", "ClusterTrustBundle")]
    {
        if is_set(source, field) {
            files.push(File { path: text(&source[field], "path"), source: format!(" ({of})") });
        }
    }
    files
}

fn warn(warnings: &mut Vec<String>, volume: &str, files: &[File<'_>]) {
    let mut earlier = Directory::default();
    // No more warnings are made than a response shows.
    let (mut chars, mut shown_chars) = (0, 0);
    for (index, file) in files.iter().enumerate() {
        if chars <= SHOWN_CHARS_MAX || shown_chars <= SHOWN_CHARS_MAX {
            let met = earlier.met_by(file.path);
            if !met.is_empty() {
                let warning = described(volume, file, met.iter().map(|met| &files[*met]));
                let length = warning.chars().count();
                (chars, shown_chars) = (chars + length, shown_chars + length.min(SHOWN_ITEM_CHARS_MAX));
                warnings.push(warning);
            }
        }
        earlier.insert(file.path, index);
    }
}

/// Formats the warning about a file and the files it overlaps. Files beyond the shown length are counted, not listed,
/// so that the warning stays distinct.
fn described<'f>(volume: &str, file: &File<'_>, met: impl ExactSizeIterator<Item = &'f File<'f>>) -> String {
    let mut text = format!("{volume}: overlapping paths: ");
    let all = met.len();
    for (index, other) in met.enumerate() {
        if text.len() > SHOWN_CHARS_MAX * MAX_CHAR_BYTES {
            let _ = write!(text, " and {} more", all - index);
            break;
        }
        let comma = if index > 0 { ", " } else { "" };
        let _ = write!(text, "{comma}{:?}{} with {:?}{}", file.path, file.source, other.path, other.source);
    }
    text
}

/// Files by the segments of their paths.
#[derive(Default)]
struct Directory<'a> {
    /// The indices of the files with this path.
    files: Vec<usize>,
    entries: BTreeMap<&'a str, Directory<'a>>,
}

impl<'a> Directory<'a> {
    fn insert(&mut self, path: &'a str, file: usize) {
        let directory = path.split('/').fold(self, |at, segment| at.entries.entry(segment).or_default());
        directory.files.push(file);
    }

    /// The files whose paths are equal, above or below this one, in order.
    fn met_by(&self, path: &str) -> Vec<usize> {
        let (mut met, mut at) = (Vec::new(), self);
        for segment in path.split('/') {
            let Some(entry) = at.entries.get(segment) else {
                met.sort_unstable();
                return met;
            };
            met.extend(&entry.files);
            at = entry;
        }
        let mut below: Vec<_> = at.entries.values().collect();
        while let Some(directory) = below.pop() {
            met.extend(&directory.files);
            below.extend(directory.entries.values());
        }
        met.sort_unstable();
        met
    }
}

impl Drop for Directory<'_> {
    /// Not recursively: a path may have very many segments.
    fn drop(&mut self) {
        let mut below: Vec<_> = std::mem::take(&mut self.entries).into_values().collect();
        while let Some(mut directory) = below.pop() {
            below.extend(std::mem::take(&mut directory.entries).into_values());
        }
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    fn warnings_about(paths: &[&str]) -> Vec<String> {
        let items: Vec<_> = paths.iter().map(|path| json!({"path": path})).collect();
        let mut warnings = Vec::new();
        super::paths(&mut warnings, &json!({"name": "v", "configMap": {"name": "c", "items": items}}));
        let about = "volume \"v\" (ConfigMap \"c\"): overlapping paths: ";
        warnings.iter().map(|warning| warning.strip_prefix(about).unwrap().to_owned()).collect()
    }

    #[test]
    fn equal_and_nested_paths_overlap() {
        assert_eq!(
            warnings_about(&["a", "b/c", "a/x", "b", "a", "ab"]),
            [r#""a/x" with "a""#, r#""b" with "b/c""#, r#""a" with "a", "a" with "a/x""#],
        );
        assert_eq!(warnings_about(&["", "/x", "x"]), [r#""/x" with """#]);
    }

    /// The warnings about as many paths as fit into a request are computed in a short time.
    #[test]
    fn very_many_and_very_long_paths_are_compared() {
        assert!(warnings_about(&vec!["same"; 50_000]).len() >= 16);
        let different: Vec<String> = (0..50_000).map(|index| format!("d/{index}")).collect();
        assert!(warnings_about(&different.iter().map(String::as_str).collect::<Vec<_>>()).is_empty());
        let deep = "/".repeat(1 << 20);
        assert_eq!(warnings_about(&[&deep, &deep]).len(), 1);
    }
}
