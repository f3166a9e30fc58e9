//! A hash of 128 bits that is stored instead of a key that is too large.

use std::hash::{DefaultHasher, Hash, Hasher as _};

/// A hash that two different keys practically never share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fingerprint([u64; 2]);

impl Fingerprint {
    pub(super) fn of(key: &impl Hash) -> Self {
        Self([0_u8, 1].map(|half| {
            let mut hasher = DefaultHasher::new();
            half.hash(&mut hasher);
            key.hash(&mut hasher);
            hasher.finish()
        }))
    }

    pub(super) fn low_bits(self) -> u64 {
        self.0[0]
    }
}
