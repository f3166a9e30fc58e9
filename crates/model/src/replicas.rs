//! A number of pods.

use std::fmt;

/// A number of pods: never negative, never more than the API's 32-bit field holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Replicas(i32);

impl Replicas {
    /// No pods.
    pub const ZERO: Self = Self(0);
    /// The maximum of the API's field.
    pub const MAX: Self = Self(i32::MAX);

    /// `n`, clamped. Sums and differences are computed in 64 bits and converted by this.
    pub fn nearest(n: i64) -> Self {
        Self(i32::try_from(n.clamp(0, i64::from(i32::MAX))).unwrap_or(i32::MAX))
    }

    /// A length as a count.
    pub fn of(len: usize) -> Self {
        Self(i32::try_from(len).unwrap_or(i32::MAX))
    }

    /// Parses a field of the API; negative numbers, which validation refuses, count as zero.
    pub fn parse(field: Option<i32>) -> Self {
        Self(field.unwrap_or(0).max(0))
    }

    /// The count in 64 bits, for sums.
    pub const fn get(self) -> i64 {
        self.0 as i64
    }

    /// The count in its wire format.
    pub const fn render(self) -> i32 {
        self.0
    }

    /// Returns `None` for zero: the field is then omitted.
    pub fn render_nonzero(self) -> Option<i32> {
        (self.0 != 0).then_some(self.0)
    }

    /// Whether it is zero.
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
