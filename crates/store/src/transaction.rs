//! Transactions: conditional writes, all or none.

use std::fmt;

use bytes::Bytes;

use crate::Key;
use crate::revision::Revision;

/// A conditional write of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Writes the value if the key is absent.
    Create {
        /// The value to write.
        value: Bytes,
    },
    /// Writes the value if the key was last written at `seen`.
    Update {
        /// The value to write.
        value: Bytes,
        /// The revision the writer last saw.
        seen: Revision,
    },
    /// Removes the key if it was last written at `seen`.
    Delete {
        /// The revision the writer last saw.
        seen: Revision,
    },
}

/// One or more writes that happen at one revision, or not at all.
///
/// It names each key once, and is never empty. Its events are in the order of their keys. Only
/// [`Transaction::update_and_delete`] takes two revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Sorted by key, each once. A vector, because almost every transaction has one write.
    ops: Vec<(Key, Op)>,
    /// Keys that must not have changed, without being written.
    provided: Vec<(Key, Revision)>,
    /// A key of `ops` that is deleted again at the revision after this one.
    then_deleted: Option<Key>,
}

/// The transaction already writes this key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateKey(pub Key);

impl Transaction {
    /// A transaction of one write.
    pub fn single(key: Key, op: Op) -> Self {
        Self { ops: vec![(key, op)], provided: Vec::new(), then_deleted: None }
    }

    /// Writes the value if the key is absent.
    pub fn create(key: Key, value: impl Into<Bytes>) -> Self {
        Self::single(key, Op::Create { value: value.into() })
    }

    /// Writes the value if the key was last written at `seen`.
    pub fn update(key: Key, value: impl Into<Bytes>, seen: Revision) -> Self {
        Self::single(key, Op::Update { value: value.into(), seen })
    }

    /// Removes the key if it was last written at `seen`.
    pub fn delete(key: Key, seen: Revision) -> Self {
        Self::single(key, Op::Delete { seen })
    }

    /// Writes the value if the key was last written at `seen`, and removes the key at the revision after that.
    ///
    /// Watchers see the last value, then the deletion. [`Store::commit`](crate::Store::commit) returns the revision of
    /// the deletion.
    pub fn update_and_delete(key: Key, value: impl Into<Bytes>, seen: Revision) -> Self {
        Self { then_deleted: Some(key.clone()), ..Self::update(key, value, seen) }
    }

    /// The deletion that follows this transaction, which was committed at this revision.
    pub fn following_deletion(&self, committed_at: Revision) -> Option<Self> {
        self.then_deleted.clone().map(|key| Self::delete(key, committed_at))
    }

    /// The same transaction with one more write.
    pub fn and(mut self, key: Key, op: Op) -> Result<Self, DuplicateKey> {
        match self.ops.binary_search_by(|(other, _)| other.cmp(&key)) {
            Ok(_) => Err(DuplicateKey(key)),
            Err(place) => {
                self.ops.insert(place, (key, op));
                Ok(self)
            }
        }
    }

    /// The same transaction with one more condition: this key, which it does not write, was last written at `seen`.
    #[must_use]
    pub fn provided(mut self, key: Key, seen: Revision) -> Self {
        self.provided.push((key, seen));
        self
    }

    /// The revision that each key must have, `None` for absent: written keys, then others.
    pub fn conditions(&self) -> impl Iterator<Item = (&Key, Option<Revision>)> {
        let written = self.ops.iter().map(|(key, op)| (key, op.expects()));
        written.chain(self.provided.iter().map(|(key, seen)| (key, Some(*seen))))
    }

    /// The writes, in the order of their keys.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = (&Key, &Op)> {
        self.ops.iter().map(|(key, op)| (key, op))
    }

    /// Returns the writes, in the order of their keys.
    pub fn into_ops(self) -> impl ExactSizeIterator<Item = (Key, Op)> {
        self.ops.into_iter()
    }

    /// The total size of all written keys and values.
    pub fn bytes(&self) -> usize {
        self.ops.iter().map(|(key, op)| key.as_bytes().len() + op.value().map_or(0, Bytes::len)).sum()
    }

    /// A copy of the transaction with its own memory.
    ///
    /// A value sliced from a request's buffer would keep the whole buffer alive for as long as it is stored.
    pub fn detached(&self) -> Self {
        Self {
            ops: self.ops.iter().map(|(key, op)| (key.detached(), op.detached())).collect(),
            provided: self.provided.iter().map(|(key, seen)| (key.detached(), *seen)).collect(),
            then_deleted: self.then_deleted.as_ref().map(Key::detached),
        }
    }
}

impl Op {
    /// The new value, unless the key is deleted.
    pub fn value(&self) -> Option<&Bytes> {
        match self {
            Self::Create { value } | Self::Update { value, .. } => Some(value),
            Self::Delete { .. } => None,
        }
    }

    /// The revision that the key must have, `None` for absent.
    pub fn expects(&self) -> Option<Revision> {
        match self {
            Self::Create { .. } => None,
            Self::Update { seen, .. } | Self::Delete { seen } => Some(*seen),
        }
    }

    fn detached(&self) -> Self {
        match self {
            Self::Create { value } => Self::Create { value: Bytes::copy_from_slice(value) },
            Self::Update { value, seen } => {
                Self::Update { value: Bytes::copy_from_slice(value), seen: *seen }
            }
            Self::Delete { seen } => Self::Delete { seen: *seen },
        }
    }
}

impl fmt::Display for DuplicateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a transaction names each key once, and {} twice", self.0)
    }
}

impl std::error::Error for DuplicateKey {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_names_each_key_once() {
        let key = Key::new("a").unwrap();
        let twice =
            Transaction::create(key.clone(), "1").and(key.clone(), Op::Delete { seen: Revision::EMPTY });
        assert_eq!(twice, Err(DuplicateKey(key)));
    }
}
