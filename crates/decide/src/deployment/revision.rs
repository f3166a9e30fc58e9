//! Revisions: the numbers under which a Deployment's templates are remembered.

use std::borrow::Cow;

use gantry_model::{Annotations, keys};

const HISTORY_LENGTH_MAX: usize = 2000;

/// Annotations that belong to one object and are never copied to another.
const NEVER_COPIED: [&str; 6] = [
    keys::LAST_APPLIED,
    keys::REVISION,
    keys::REVISION_HISTORY,
    keys::DESIRED_REPLICAS,
    keys::MAX_REPLICAS,
    keys::ROLLBACK_TO,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Synced {
    Changed,
    Unchanged,
}

/// The revision of an object: zero if it has none, `None` if its annotation is not a number.
pub fn revision_of(annotations: &Annotations) -> Option<i64> {
    annotations.get(keys::REVISION).map_or(Some(0), |written| written.parse().ok())
}

/// Whether an annotation is copied between a Deployment and its ReplicaSets.
pub(super) fn is_copied(key: &str) -> bool {
    !NEVER_COPIED.contains(&key)
}

/// Copies the Deployment's annotations to a ReplicaSet. Adds and overwrites, but never removes.
pub(super) fn copy_annotations(from: &Annotations, to: &mut Cow<'_, Annotations>) -> Synced {
    let mut synced = Synced::Unchanged;
    for (key, value) in from.iter().filter(|(key, _)| is_copied(key)) {
        if to.get(key) != Some(value) {
            to.to_mut().insert(key.clone(), value.clone());
            synced = Synced::Changed;
        }
    }
    synced
}

/// Brings the annotations of the new ReplicaSet up to date: those of the Deployment, and its revision.
///
/// A revision is raised, never lowered. An unreadable one is left alone, and the whole sync then counts as no change.
pub(super) fn sync_annotations(
    deployment: &Annotations,
    next_revision: i64,
    set: &mut Cow<'_, Annotations>,
) -> Synced {
    let copied = copy_annotations(deployment, set);
    let before = set.get(keys::REVISION).cloned();
    let current = match before.as_deref() {
        None | Some("") => 0,
        Some(written) => match written.parse::<i64>() {
            Ok(revision) => revision,
            Err(_) => return Synced::Unchanged,
        },
    };
    if current >= next_revision {
        return copied;
    }
    let annotations = set.to_mut();
    annotations.insert(keys::REVISION.to_owned(), next_revision.to_string());
    if let Some(before) = before {
        let history = annotations.get(keys::REVISION_HISTORY).map_or("", String::as_str);
        let history = append_to_history(history, &before);
        annotations.insert(keys::REVISION_HISTORY.to_owned(), history);
    }
    Synced::Changed
}

/// The history with one more revision at its end; the oldest are dropped when it would get too long.
pub fn append_to_history(history: &str, revision: &str) -> String {
    if history.is_empty() || history.starts_with(',') {
        return revision.to_owned();
    }
    let mut length = history.len() + revision.len() + 1;
    let mut kept = history;
    while length > HISTORY_LENGTH_MAX {
        let (oldest, rest) = kept.split_once(',').unwrap_or((kept, ""));
        length -= oldest.len() + 1;
        kept = rest;
        if kept.is_empty() {
            break;
        }
    }
    match kept {
        _ if length > HISTORY_LENGTH_MAX => history.to_owned(),
        "" => revision.to_owned(),
        kept => format!("{kept},{revision}"),
    }
}
