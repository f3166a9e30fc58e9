//! The caller's keys in etcd, and the ranges of prefixes.

use bytes::Bytes;
use gantry_store::{Error, Key, Prefix, Transaction};

/// The prefix of our own keys. It sorts before letters, digits and `/`.
pub(crate) const OURS: &[u8] = b"!gantry/";

/// The first key after our own, and the first that can be the caller's.
const OURS_END: &[u8] = b"!gantry0";

/// The keys from `start` up to but without `end`, in etcd's notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: Bytes,
    pub(crate) end: Bytes,
}

impl Range {
    /// The caller's keys under the prefix, from a key on.
    pub(crate) fn of(prefix: &Prefix, from: Option<&Key>) -> Self {
        let start = prefix.as_bytes().max(from.map_or(&[], Key::as_bytes)).max(OURS_END);
        Self { start: Bytes::copy_from_slice(start), end: end_of(prefix) }
    }

    /// The same keys, and everything from our own on.
    pub(crate) fn widened(prefix: &Prefix) -> Self {
        Self { start: Bytes::from_static(OURS), end: end_of(prefix) }
    }

    /// All of our own keys.
    pub(crate) fn ours() -> Self {
        Self { start: Bytes::from_static(OURS), end: Bytes::from_static(OURS_END) }
    }
}

fn end_of(prefix: &Prefix) -> Bytes {
    // A single zero byte means "to the end" to etcd.
    prefix.end().map_or(Bytes::from_static(&[0]), Bytes::from)
}

/// Refuses writes to our own keys, and to keys that lists and watches would not show.
pub(crate) fn check(transaction: &Transaction) -> Result<(), Error> {
    match transaction.ops().find(|(key, _)| key.as_bytes() < OURS_END) {
        None => Ok(()),
        Some((key, _)) => Err(Error::Unavailable {
            why: format!(
                "{key} cannot be written: keys before \"!gantry0\" are kept for bookkeeping in etcd"
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(prefix: &'static str) -> (Bytes, Bytes) {
        let range = Range::of(&Prefix::new(prefix), None);
        (range.start, range.end)
    }

    #[test]
    fn a_prefix_is_the_range_up_to_the_next_prefix() {
        assert_eq!(range("/registry/pods/"), ("/registry/pods/".into(), "/registry/pods0".into()));
        let from = Key::new("/registry/pods/b").unwrap();
        let start = |prefix: &'static str| Range::of(&Prefix::new(prefix), Some(&from)).start;
        assert_eq!(start("/registry/pods/"), "/registry/pods/b");
        assert_eq!(start("/registry/services/"), "/registry/services/");
    }

    #[test]
    fn internal_keys_are_in_no_range_of_callers_and_cannot_be_written() {
        assert_eq!(range(""), ("!gantry0".into(), Bytes::from_static(&[0])));
        assert!(range("!").0 > "!gantry/x");
        let write = |key: &'static str| check(&Transaction::create(Key::new(key).unwrap(), "v"));
        assert!(write("!gantry/x").is_err());
        assert!(write(" ").is_err());
        assert_eq!(write("/registry/x"), Ok(()));
    }
}
