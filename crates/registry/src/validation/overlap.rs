//! Warns about files of one volume with overlapping paths.

use serde_json::Value;

use super::error_list::{is_set, list, text};

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
    for (index, file) in files.iter().enumerate() {
        let met: Vec<_> = files[..index]
            .iter()
            .filter(|earlier| overlap_each_other(earlier.path, file.path))
            .map(|earlier| {
                format!("{:?}{} with {:?}{}", file.path, file.source, earlier.path, earlier.source)
            })
            .collect();
        if !met.is_empty() {
            warnings.push(format!("{volume}: overlapping paths: {}", met.join(", ")));
        }
    }
}

/// Whether two paths are equal, or one is a parent of the other.
fn overlap_each_other(one: &str, other: &str) -> bool {
    let is_above = |above: &str, below: &str| {
        below.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    is_above(one, other) || is_above(other, one)
}
