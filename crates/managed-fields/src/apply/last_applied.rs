//! Migration from client-side apply: the last-applied annotation of kubectl.

use gantry_json::{Map, Value};

use super::{Attempt, Conflict};
use crate::ownership::{FieldSet, Write, compare, fields_of};

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
const KUBECTL: &str = "kubectl";
/// The size limit of all annotations of an object.
const ANNOTATIONS_BYTES_MAX: usize = 256 * 1024;

/// Drops conflicts about values that kubectl applied before, by client-side apply.
pub(super) fn retry(
    live: &Value,
    conflicts: Vec<Conflict>,
    write: &Write<'_>,
    force: impl FnOnce() -> Result<Attempt, Vec<Conflict>>,
) -> Result<Attempt, Vec<Conflict>> {
    let Some(own) = (write.manager == KUBECTL).then(|| still_as_applied(live, write)).flatten() else {
        return Err(conflicts);
    };
    let others: Vec<_> = conflicts.into_iter().filter(|conflict| !own.contains(&conflict.path)).collect();
    if others.is_empty() { force() } else { Err(others) }
}

/// Updates the annotation, if there is one, to the configuration that kubectl applies.
pub(super) fn rewrite(object: &mut Value, applied: &Value, write: &Write<'_>) {
    if write.manager != KUBECTL || annotation(object).is_none_or(str::is_empty) {
        return;
    }
    let mut stated = applied.clone();
    if let Some(annotations) = annotations_mut(&mut stated) {
        annotations.remove(ANNOTATION);
    }
    let Some(annotations) = annotations_mut(object) else { return };
    annotations.insert(ANNOTATION.to_owned(), as_go_writes(&stated).into());
    let bytes: usize =
        annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if bytes > ANNOTATIONS_BYTES_MAX {
        annotations.remove(ANNOTATION);
    }
}

/// The fields of the annotation whose values are unchanged.
fn still_as_applied(live: &Value, write: &Write<'_>) -> Option<FieldSet> {
    let last: Value = gantry_json::from_str(annotation(live)?).ok()?;
    let mut same = fields_of(write.nature, &last);
    let comparison = compare(write.nature, &last, live);
    for different in [&comparison.modified, &comparison.added, &comparison.removed] {
        same.subtract(different);
    }
    Some(same)
}

fn annotation(object: &Value) -> Option<&str> {
    object.get("metadata")?.get("annotations")?.get(ANNOTATION)?.as_str()
}

fn annotations_mut(object: &mut Value) -> Option<&mut Map> {
    object.get_mut("metadata")?.get_mut("annotations")?.as_object_mut()
}

/// JSON as Go's encoder writes it: a newline at the end, and HTML characters escaped.
fn as_go_writes(value: &Value) -> String {
    let mut text = value.to_string();
    for (character, escape) in [
        ('<', "\\u003c"),
        ('>', "\\u003e"),
        ('&', "\\u0026"),
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
    ] {
        text = text.replace(character, escape);
    }
    text + "\n"
}
