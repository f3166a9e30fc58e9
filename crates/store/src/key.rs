//! Keys and prefixes: byte strings, ordered bytewise.

use std::borrow::Borrow;
use std::fmt;

use bytes::Bytes;

/// The longest key a store takes; Kubernetes' longest is well under 1,000 bytes.
pub const KEY_BYTES_MAX: usize = 4096;

/// The name of a value: 1 to [`KEY_BYTES_MAX`] bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Bytes);

/// The keys of a list or a watch: all that start with these bytes. Empty means every key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(Bytes);

/// Bytes that cannot name a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadKey {
    /// A key has at least one byte.
    Empty,
    /// The key is longer than [`KEY_BYTES_MAX`].
    TooLong {
        /// The length of the bytes.
        bytes: usize,
    },
}

impl Key {
    /// Checks the length, nothing else: any bytes may be in a key.
    pub fn new(bytes: impl Into<Bytes>) -> Result<Self, BadKey> {
        let bytes = bytes.into();
        match bytes.len() {
            0 => Err(BadKey::Empty),
            1..=KEY_BYTES_MAX => Ok(Self(bytes)),
            bytes => Err(BadKey::TooLong { bytes }),
        }
    }

    /// The bytes of the key.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The smallest key greater than this one: where the page after this key starts.
    pub fn successor(&self) -> Self {
        let mut bytes = Vec::with_capacity(self.0.len() + 1);
        bytes.extend_from_slice(&self.0);
        bytes.push(0);
        Self(bytes.into())
    }

    /// The key with a copy of these bytes, which another key has.
    pub(crate) fn copied(bytes: &[u8]) -> Self {
        Self(Bytes::copy_from_slice(bytes))
    }

    /// The same key in its own memory, so that it does not keep a larger buffer alive of which it is a part.
    pub fn detached(&self) -> Self {
        Self::copied(&self.0)
    }
}

impl Prefix {
    /// Every key of the store.
    pub const ALL: Self = Self(Bytes::new());

    /// The keys that start with these bytes.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self(bytes.into())
    }

    /// The bytes of the prefix.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether the key is under this prefix.
    pub fn covers(&self, key: &Key) -> bool {
        key.0.starts_with(&self.0)
    }

    /// The first byte string after all keys of this prefix, or `None` if there is none.
    pub fn end(&self) -> Option<Vec<u8>> {
        let kept = self.0.iter().rposition(|byte| *byte != u8::MAX)?;
        let mut end = self.0[..=kept].to_vec();
        end[kept] += 1;
        Some(end)
    }
}

impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for Prefix {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.escape_ascii().fmt(f)
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}*\"", self.0.escape_ascii())
    }
}

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "a key needs at least one byte"),
            Self::TooLong { bytes } => {
                write!(f, "a key has at most {KEY_BYTES_MAX} bytes, this one has {bytes}")
            }
        }
    }
}

impl std::error::Error for BadKey {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_empty_and_has_a_bounded_length() {
        assert_eq!(Key::new(""), Err(BadKey::Empty));
        assert_eq!(
            Key::new(vec![b'x'; KEY_BYTES_MAX + 1]),
            Err(BadKey::TooLong { bytes: KEY_BYTES_MAX + 1 })
        );
        assert!(Key::new(vec![0xff; KEY_BYTES_MAX]).is_ok());
    }

    #[test]
    fn the_end_of_a_prefix_is_behind_all_its_keys_and_before_all_others() {
        assert_eq!(Prefix::new("/pods/").end(), Some(b"/pods0".to_vec()));
        assert_eq!(Prefix::new(vec![b'a', 0xff, 0xff]).end(), Some(b"b".to_vec()));
        assert_eq!(Prefix::new(vec![0xff]).end(), None);
        assert_eq!(Prefix::ALL.end(), None);
    }

    #[test]
    fn there_is_no_key_between_a_key_and_its_successor() {
        let key = Key::new("/pods/a").unwrap();
        assert!(key.successor() > key);
        assert!(key.successor() < Key::new(vec![b'/', b'p', b'o', b'd', b's', b'/', b'a', 0, 0]).unwrap());
    }
}
