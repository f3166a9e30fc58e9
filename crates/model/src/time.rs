//! Timestamps. There is no `now` here: it is always passed in.

use std::fmt;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff;

/// An instant in nanoseconds since the Unix epoch.
///
/// The wire format has whole seconds, so a time that was read back is truncated; `now` is not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The Unix epoch.
    pub const EPOCH: Self = Self(0);

    /// The instant so many nanoseconds after the epoch.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// The instant so many whole seconds after the epoch.
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// Nanoseconds since the epoch.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Parses a time; times beyond the years 1677 to 2262 are clamped.
    pub fn parse(time: &Time) -> Self {
        let nanos = time.0.as_nanosecond();
        let clamped = nanos.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
        Self(i64::try_from(clamped).unwrap_or(i64::MAX))
    }

    /// The time in its wire format, in whole seconds.
    pub fn render(self) -> Time {
        // Every i64 of nanoseconds is within jiff's range, so the fallback is never taken.
        let instant = jiff::Timestamp::from_second(self.0.div_euclid(1_000_000_000));
        Time(instant.unwrap_or(jiff::Timestamp::UNIX_EPOCH))
    }

    /// The time truncated to the whole seconds of the wire format.
    #[must_use]
    pub fn to_whole_seconds(self) -> Self {
        Self(self.0 - self.0.rem_euclid(1_000_000_000))
    }

    /// The time `by` later.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_nanos()).unwrap_or(i64::MAX)))
    }

    /// The time `by` earlier.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(by.as_nanos()).unwrap_or(i64::MAX)))
    }

    /// The duration since `earlier`; zero if this is not later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_nanosecond(i128::from(self.0)) {
            Ok(instant) => fmt::Display::fmt(&instant, f),
            Err(_) => write!(f, "{} ns after the epoch", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_encoded_in_whole_seconds() {
        let half_past = Timestamp::from_nanos(1_500_000_000);
        assert_eq!(Timestamp::parse(&half_past.render()), Timestamp::from_secs(1));
        assert_eq!(half_past.to_whole_seconds(), Timestamp::from_secs(1));
        assert_eq!(Timestamp::from_nanos(-1).to_whole_seconds(), Timestamp::from_secs(-1));
    }

    #[test]
    fn no_arithmetic_overflows_at_the_ends_of_time() {
        let end = Timestamp::from_nanos(i64::MAX);
        assert_eq!(end.plus(Duration::MAX), end);
        assert_eq!(Timestamp::from_nanos(i64::MIN).since(end), Duration::ZERO);
        assert_eq!(end.since(Timestamp::from_nanos(i64::MIN)), Duration::from_nanos(i64::MAX as u64));
        let _ = (end.render(), Timestamp::from_nanos(i64::MIN).render());
    }
}
