//! The global revision counter of the store.

use std::fmt;
use std::num::NonZeroU64;

/// A revision of the whole store.
///
/// One counter for all keys; every transaction that changes something takes the next value, and no value is ever used
/// twice or goes back. It equals etcd's header revision: the empty store is at [`Revision::EMPTY`] (1) and the first
/// write gets 2. Zero does not exist, because Kubernetes clients read `resourceVersion=0` as "any version".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(NonZeroU64);

impl Revision {
    /// The revision of an empty store.
    pub const EMPTY: Self = Self(NonZeroU64::MIN);

    /// The revision with this number, unless it is zero.
    pub const fn new(number: u64) -> Option<Self> {
        match NonZeroU64::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The number, as clients see it.
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// The revision after this one.
    pub const fn next(self) -> Self {
        self.advanced(1)
    }

    /// The revision that many transactions later.
    pub const fn advanced(self, by: u64) -> Self {
        Self(self.0.saturating_add(by))
    }

    /// The revision before this one; [`Revision::EMPTY`] returns itself.
    pub const fn before(self) -> Self {
        match NonZeroU64::new(self.0.get() - 1) {
            Some(number) => Self(number),
            None => Self::EMPTY,
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
