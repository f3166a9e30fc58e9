//! Percentiles of durations.

use std::fmt;
use std::time::Duration;

/// The distribution of some durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Latency {
    pub(crate) count: usize,
    pub(crate) median: Duration,
    pub(crate) p99: Duration,
    pub(crate) max: Duration,
}

impl Latency {
    /// Computes the distribution. Each percentile is one of the durations: the shortest that at least this share does
    /// not exceed.
    pub(crate) fn of(durations: impl IntoIterator<Item = Duration>) -> Self {
        let mut sorted: Vec<Duration> = durations.into_iter().collect();
        sorted.sort_unstable();
        let at = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
            sorted.get(rank).copied().unwrap_or_default()
        };
        Self { count: sorted.len(), median: at(50), p99: at(99), max: at(100) }
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, median, p99, max } = self;
        let millis = |duration: &Duration| duration.as_secs_f64() * 1000.0;
        write!(
            f,
            "{count} requests, median {:.1} ms, p99 {:.1} ms, max {:.1} ms",
            millis(median),
            millis(p99),
            millis(max)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_durations_themselves() {
        let latency = Latency::of((1..=200).map(Duration::from_millis));
        let millis = [latency.median, latency.p99, latency.max].map(|duration| duration.as_millis());
        assert_eq!((latency.count, millis), (200, [100, 198, 200]));
        assert_eq!(Latency::of([]), Latency::default());
    }
}
