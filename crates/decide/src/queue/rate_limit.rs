//! The delay of a retry: the backoff of its key, and the rate limit of the whole queue.

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_model::Timestamp;

use super::TokenBucket;

/// The delay after the first failure.
const BACKOFF_BASE: Duration = Duration::from_millis(5);
const BACKOFF_MAX: Duration = Duration::from_secs(1000);
/// The burst of retries of a whole queue ...
const OVERALL_BURST: u32 = 100;
/// ... and the period of one retry after that.
const OVERALL_PERIOD: Duration = Duration::from_millis(100);

/// The rate limit of one controller's queue.
///
/// A retry waits for the longer of two: its key's backoff, which doubles with every retry, and a token of the bucket
/// that all keys share. It takes the token even when the backoff is longer.
#[derive(Clone, Debug)]
pub struct RateLimiter<K> {
    retries: BTreeMap<K, u32>,
    overall: TokenBucket,
}

impl<K: Ord> RateLimiter<K> {
    /// A rate limiter without any retries.
    pub const fn new() -> Self {
        Self { retries: BTreeMap::new(), overall: TokenBucket::new(OVERALL_BURST, OVERALL_PERIOD) }
    }

    /// Counts a retry of `key` and returns its delay.
    pub fn delay(&mut self, key: K, now: Timestamp) -> Duration {
        let retries = self.retries.entry(key).or_default();
        let own = backoff(*retries);
        *retries = retries.saturating_add(1);
        own.max(self.overall.reserve(now))
    }

    /// The number of retries since `key` was last forgotten.
    pub fn requeues(&self, key: &K) -> u32 {
        self.retries.get(key).copied().unwrap_or(0)
    }

    /// Resets the retries of `key`.
    pub fn forget(&mut self, key: &K) {
        self.retries.remove(key);
    }
}

impl<K: Ord> Default for RateLimiter<K> {
    fn default() -> Self {
        Self::new()
    }
}

/// 5 ms, 10 ms, 20 ms, ... up to the maximum.
fn backoff(retries: u32) -> Duration {
    let factor = 1_u32.checked_shl(retries);
    factor
        .and_then(|factor| BACKOFF_BASE.checked_mul(factor))
        .map_or(BACKOFF_MAX, |delay| delay.min(BACKOFF_MAX))
}

#[cfg(test)]
mod tests {
    use gantry_testkit::{NOON, noon_plus};

    use super::*;

    /// D2.3: the backoff doubles from 5 ms; the 15th retry waits for 81.92 s.
    #[test]
    fn a_failing_key_waits_twice_as_long_every_time() {
        let mut limiter = RateLimiter::new();
        let delays: Vec<_> = (0..15).map(|_| limiter.delay("web", NOON)).collect();
        assert_eq!(delays[0], Duration::from_millis(5));
        assert!(delays.windows(2).all(|pair| pair[1] == 2 * pair[0]));
        assert_eq!(delays[14], Duration::from_millis(81_920));
        assert_eq!(limiter.requeues(&"web"), 15);
    }

    /// D2.3: no backoff is longer than 1000 s, however often a key without a retry cap failed.
    #[test]
    fn the_backoff_ends_at_a_thousand_seconds() {
        assert_eq!(backoff(17), Duration::from_millis(655_360));
        for retries in [18, 31, 32, 63, 64, u32::MAX] {
            assert_eq!(backoff(retries), Duration::from_secs(1000), "after {retries} retries");
        }
    }

    /// D2.2: a forgotten key starts over.
    #[test]
    fn the_backoff_of_a_forgotten_key_starts_over() {
        let mut limiter = RateLimiter::new();
        limiter.delay("web", NOON);
        limiter.delay("web", NOON);
        limiter.delay("db", NOON);
        limiter.forget(&"web");
        assert_eq!(limiter.requeues(&"web"), 0);
        assert_eq!(limiter.delay("web", NOON), Duration::from_millis(5));
        assert_eq!(limiter.delay("db", NOON), Duration::from_millis(10));
    }

    /// D2.3: all keys share one bucket of ten a second and a hundred at once; the longer wait counts.
    #[test]
    fn many_keys_that_fail_together_are_spread_out() {
        let mut limiter = RateLimiter::new();
        for key in 0..100 {
            assert_eq!(limiter.delay(key, NOON), Duration::from_millis(5));
        }
        assert_eq!(limiter.delay(100, NOON), Duration::from_millis(100));
        assert_eq!(limiter.delay(101, NOON), Duration::from_millis(200));
        // Its own backoff is the longer wait again, once the bucket has filled up.
        assert_eq!(limiter.delay(101, noon_plus(60)), Duration::from_millis(10));
    }
}
