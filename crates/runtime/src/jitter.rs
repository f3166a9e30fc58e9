//! Random jitter, so that clients do not act at the same time.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

/// The delay, extended by a random part of this share of it.
pub fn with_jitter(delay: Duration, share: f64) -> Duration {
    delay + delay.mul_f64(share * f64::from(random(1000)) / 1000.0)
}

/// An unpredictable number below this one: the keys of a fresh hasher are random.
pub(crate) fn random(below: u32) -> u32 {
    let number = RandomState::new().build_hasher().finish() % u64::from(below.max(1));
    u32::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_lengthened_by_no_more_than_its_share() {
        let second = Duration::from_secs(1);
        let lengths: Vec<_> = (0..200).map(|_| with_jitter(second, 0.5)).collect();
        assert!(lengths.iter().all(|length| (second..second.mul_f64(1.5)).contains(length)));
        assert!(lengths.iter().any(|length| *length != lengths[0]), "and not always by the same");
    }
}
