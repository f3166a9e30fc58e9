//! A token bucket in exact integer arithmetic: a burst, then one token per period.

use std::time::Duration;

use gantry_model::Timestamp;

/// A bucket that starts full, holds `burst` tokens and gains one per `period`.
///
/// Instead of a fraction of a token it stores how long it takes to be full again. Every token taken adds one period
/// to that, and what exceeds `burst` periods is owed. With a period of 100 ms and a burst of 100: after the 100th
/// token taken at once the bucket is full in 10 s and nothing is owed, after the 101st it is full in 10.1 s and the
/// caller has to wait for 100 ms. A clock that steps back neither fills nor empties the bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    period: Duration,
    burst: u32,
    /// How long it takes to be full again, as of `seen`.
    missing: Duration,
    seen: Timestamp,
}

impl TokenBucket {
    /// A full bucket.
    pub const fn new(burst: u32, period: Duration) -> Self {
        Self { period, burst, missing: Duration::ZERO, seen: Timestamp::EPOCH }
    }

    /// Takes a token, now or in advance, and returns how long to wait for it.
    pub fn reserve(&mut self, now: Timestamp) -> Duration {
        self.fill(now);
        self.missing = self.missing.saturating_add(self.period);
        self.missing.saturating_sub(self.capacity())
    }

    /// Takes a token if there is one.
    pub fn try_take(&mut self, now: Timestamp) -> bool {
        self.fill(now);
        let missing = self.missing.saturating_add(self.period);
        let has_token = missing <= self.capacity();
        if has_token {
            self.missing = missing;
        }
        has_token
    }

    fn fill(&mut self, now: Timestamp) {
        self.missing = self.missing.saturating_sub(now.since(self.seen));
        self.seen = now;
    }

    fn capacity(&self) -> Duration {
        self.period.saturating_mul(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use gantry_testkit::NOON;
    use proptest::prelude::*;

    use super::*;

    fn ten_a_second() -> TokenBucket {
        TokenBucket::new(100, Duration::from_millis(100))
    }

    /// D2.3: ten a second, a hundred at once.
    #[test]
    fn a_burst_is_free_and_later_tokens_are_spaced_by_the_period() {
        let mut bucket = ten_a_second();
        assert!((0..100).all(|_| bucket.reserve(NOON).is_zero()));
        assert_eq!(bucket.reserve(NOON), Duration::from_millis(100));
        assert_eq!(bucket.reserve(NOON), Duration::from_millis(200));
        // A second later there are ten more tokens, two of them reserved.
        let later = NOON.plus(Duration::from_secs(1));
        assert!((0..8).all(|_| bucket.reserve(later).is_zero()));
        assert_eq!(bucket.reserve(later), Duration::from_millis(100));
    }

    #[test]
    fn a_refused_token_costs_nothing() {
        let mut bucket = TokenBucket::new(1, Duration::from_mins(5));
        assert!(bucket.try_take(NOON));
        assert!((0..9).all(|_| !bucket.try_take(NOON.plus(Duration::from_nanos(299_999_999_999)))));
        assert!(bucket.try_take(NOON.plus(Duration::from_mins(5))));
    }

    #[test]
    fn a_bucket_never_holds_more_than_its_burst() {
        let mut bucket = ten_a_second();
        let next_year = NOON.plus(Duration::from_hours(365 * 24));
        assert!((0..100).all(|_| bucket.try_take(next_year)));
        assert!(!bucket.try_take(next_year));
    }

    #[test]
    fn a_clock_that_steps_back_costs_no_tokens() {
        let mut bucket = ten_a_second();
        assert!(bucket.try_take(NOON));
        let before = Timestamp::from_nanos(NOON.as_nanos() - 3_600_000_000_000);
        assert!((0..99).all(|_| bucket.reserve(before).is_zero()));
        assert_eq!(bucket.reserve(before), Duration::from_millis(100));
    }

    #[test]
    fn the_ends_of_time_are_not_a_panic() {
        for nanos in [i64::MIN, i64::MAX] {
            let mut bucket = TokenBucket::new(u32::MAX, Duration::MAX);
            bucket.reserve(Timestamp::from_nanos(nanos));
            bucket.reserve(Timestamp::from_nanos(!nanos));
            let _ = bucket.try_take(Timestamp::from_nanos(nanos));
        }
    }

    proptest! {
        /// D2.3: the stored duration is equivalent to a count of tokens, to the nanosecond.
        #[test]
        fn the_bucket_agrees_with_one_that_counts(
            burst in 1_u32..6,
            period in 1_u32..50,
            steps in prop::collection::vec((0_u32..80, any::<bool>()), 0..60),
        ) {
            let mut bucket = TokenBucket::new(burst, Duration::from_nanos(period.into()));
            let (period, capacity) = (i64::from(period), i64::from(period) * i64::from(burst));
            // The content of the bucket, in nanoseconds of refilling; negative is what was reserved in advance.
            let (mut level, mut now) = (capacity, NOON);
            for (pause, in_advance) in steps {
                now = now.plus(Duration::from_nanos(pause.into()));
                level = (level + i64::from(pause)).min(capacity);
                if in_advance {
                    level -= period;
                    let wait = u64::try_from((-level).max(0)).unwrap();
                    prop_assert_eq!(bucket.reserve(now), Duration::from_nanos(wait));
                } else {
                    let there = level >= period;
                    prop_assert_eq!(bucket.try_take(now), there);
                    level -= if there { period } else { 0 };
                }
            }
        }
    }
}
