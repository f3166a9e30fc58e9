//! Computes `Retry-After` of rejected requests: longer while many requests of the level are rejected.

use std::collections::VecDeque;

/// The longest time, in seconds.
const SECONDS_MAX: u64 = 32;

/// The rejections of a level, by second.
#[derive(Clone, Debug)]
pub(super) struct RejectionHistory {
    /// Seconds and the rejections in them, oldest first; the last one is the current second.
    seconds: VecDeque<(u64, u64)>,
    retry_after: u64,
    doubled_at: u64,
}

impl Default for RejectionHistory {
    fn default() -> Self {
        Self { seconds: VecDeque::new(), retry_after: 1, doubled_at: 0 }
    }
}

impl RejectionHistory {
    /// Records a rejection in this second; returns the seconds after which the client should try again.
    pub(super) fn reject(&mut self, second: u64) -> u64 {
        match self.seconds.back_mut() {
            Some((last, count)) if *last >= second => *count += 1,
            _ => {
                self.update(second);
                self.seconds.push_back((second, 1));
            }
        }
        self.retry_after
    }

    /// At the first rejection of a second: doubles the time if there were three rejections per second of it, and shortens
    /// it if there was less than one.
    fn update(&mut self, second: u64) {
        let is_recent = |then: u64| second - then <= self.retry_after;
        let recent: u64 =
            self.seconds.iter().filter(|(then, _)| is_recent(*then)).map(|(_, count)| count).sum();
        if second - self.doubled_at >= self.retry_after && recent >= 3 * self.retry_after {
            self.retry_after = (self.retry_after * 2).min(SECONDS_MAX);
            self.doubled_at = second;
        } else if recent < self.retry_after && self.retry_after > 1 {
            self.retry_after -= 1;
        }
        let kept = self.retry_after;
        self.seconds.retain(|(then, _)| second - then <= kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_doubles_under_load_and_shrinks_afterwards() {
        let mut history = RejectionHistory::default();
        assert_eq!(history.reject(10), 1);
        assert_eq!(history.reject(11), 1, "one rejection per second is no load");
        for _ in 0..50 {
            history.reject(11);
        }
        assert_eq!(history.reject(12), 2);
        for second in 12..60 {
            for _ in 0..200 {
                history.reject(second);
            }
        }
        assert_eq!(history.reject(60), SECONDS_MAX);
        assert_eq!(history.reject(200), SECONDS_MAX - 1);
        assert_eq!(history.reject(300), SECONDS_MAX - 2);
    }
}
