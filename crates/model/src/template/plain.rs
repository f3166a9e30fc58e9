//! Which fields of a template mean the same when they are zero and when they are absent.
//!
//! In Kubernetes' own types a field is either a pointer, for which zero and absent differ (`runAsUser: 0` is root), or
//! a plain value, for which they are the same (`stdin: false`). The wire format does not show which; `pointers.tsv`
//! does, for everything reachable from a pod template. `cargo xtask import` writes it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The fields that are pointers, by owner and name.
static POINTERS: LazyLock<BTreeSet<(&str, &str)>> = LazyLock::new(|| {
    let rows = include_str!("pointers.tsv").lines().filter_map(|line| line.split_once('\t'));
    rows.flat_map(|(owner, fields)| fields.split(',').map(move |field| (owner, field))).collect()
});

/// Whether an empty object, zero, false or an empty text in this field equals an absent value.
pub(super) fn is_plain(owner: &str, field: &str) -> bool {
    !POINTERS.contains(&(owner, field))
}
