//! Values to which others of the same kind are probably similar: the bases of deltas.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::Key;
use crate::memory::delta;

/// Bases by the part of the key that their siblings have in common, the most recent one first.
#[derive(Debug, Default)]
pub(crate) struct SimilarValues(VecDeque<SimilarValue>);

#[derive(Debug)]
struct SimilarValue {
    parent: Box<[u8]>,
    value: Arc<[u8]>,
}

/// The maximum number of bases: kinds times namespaces in which many values are written at a time.
const BASES_MAX: usize = 128;
/// How many bases are tried for one value, which differ as the workloads of a namespace do.
const TRIES: usize = 3;
/// The maximum size of a base. Bases of values that were dropped are not counted.
const BASE_BYTES_MAX: usize = 16 << 10;

impl SimilarValues {
    /// The delta of a value from a base; `None` if it is not similar to any. Then it becomes a base for later values.
    pub(crate) fn delta(&mut self, key: &Key, value: &[u8]) -> Option<(Arc<[u8]>, Vec<u8>)> {
        let parent = parent(key);
        let mut bases = self.0.iter().filter(|base| *base.parent == *parent).take(TRIES);
        let found = bases.find_map(|base| Some((base.value.clone(), delta::between(&base.value, value)?)));
        if found.is_none() && value.len() <= BASE_BYTES_MAX {
            self.0.truncate(BASES_MAX - 1);
            self.0.push_front(SimilarValue { parent: parent.into(), value: value.into() });
        }
        found
    }
}

/// A key up to its last slash. The rest is a name among values of one kind.
fn parent(key: &Key) -> &[u8] {
    let key = key.as_bytes();
    let end = key.iter().rposition(|byte| *byte == b'/').unwrap_or_default();
    &key[..end]
}
