//! A number of pods.

use std::fmt;

/// How many pods: never negative, never more than the API's 32-bit field holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Replicas(i32);

impl Replicas {
    /// No pods.
    pub const ZERO: Self = Self(0);
    /// The most that the API can say.
    pub const MAX: Self = Self(i32::MAX);

    /// The nearest count to `n`. Sums and differences are computed in 64 bits and come back through here.
    pub fn nearest(n: i64) -> Self {
        Self(i32::try_from(n.clamp(0, i64::from(i32::MAX))).unwrap_or(i32::MAX))
    }

    /// A length as a count.
    pub fn of(len: usize) -> Self {
        Self(i32::try_from(len).unwrap_or(i32::MAX))
    }

    /// Reads a field of the API; the negative numbers that validation refuses count as none.
    pub fn parse(field: Option<i32>) -> Self {
        Self(field.unwrap_or(0).max(0))
    }

    /// The count in 64 bits, ready to be added to others.
    pub const fn get(self) -> i64 {
        self.0 as i64
    }

    /// The count as the API writes it.
    pub const fn render(self) -> i32 {
        self.0
    }

    /// The count for a field that is left out when zero.
    pub fn render_nonzero(self) -> Option<i32> {
        (self.0 != 0).then_some(self.0)
    }

    /// Whether there are none.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl From<u16> for Replicas {
    fn from(n: u16) -> Self {
        Self(i32::from(n))
    }
}

impl fmt::Display for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
