//! Histograms of durations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::text::Text;

/// The upper bounds of the buckets in milliseconds, as in Kubernetes.
const ENDS_MILLIS: [u64; 23] = [
    5, 25, 50, 100, 200, 400, 600, 800, 1_000, 1_250, 1_500, 2_000, 3_000, 4_000, 5_000, 6_000, 8_000,
    10_000, 15_000, 20_000, 30_000, 45_000, 60_000,
];

/// A histogram of durations.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    /// The count per bucket; the last one has no upper bound.
    buckets: [AtomicU64; ENDS_MILLIS.len() + 1],
    nanos: AtomicU64,
}

impl Histogram {
    pub(crate) fn record(&self, took: Duration) {
        let bucket = ENDS_MILLIS.iter().position(|end| took <= Duration::from_millis(*end));
        self.buckets[bucket.unwrap_or(ENDS_MILLIS.len())].fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether nothing was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.buckets.iter().all(|count| count.load(Ordering::Relaxed) == 0)
    }

    pub(crate) fn render(&self, name: &str, labels: &[(&str, &str)], text: &mut Text) {
        let mut total = 0;
        let ends = ENDS_MILLIS.iter().map(|end| Duration::from_millis(*end).as_secs_f64().to_string());
        for (count, end) in self.buckets.iter().zip(ends.chain(["+Inf".to_owned()])) {
            total += count.load(Ordering::Relaxed);
            let labels = [labels, &[("le", end.as_str())]].concat();
            text.sample(&format!("{name}_bucket"), &labels, total);
        }
        let sum = Duration::from_nanos(self.nanos.load(Ordering::Relaxed)).as_secs_f64();
        text.sample(&format!("{name}_sum"), labels, sum);
        text.sample(&format!("{name}_count"), labels, total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative() {
        let histogram = Histogram::default();
        for millis in [1, 5, 6, 90_000] {
            histogram.record(Duration::from_millis(millis));
        }
        let mut text = Text::default();
        histogram.render("x", &[("verb", "GET")], &mut text);
        let text = text.finish();
        assert!(text.contains("x_bucket{verb=\"GET\",le=\"0.005\"} 2\n"), "{text}");
        assert!(text.contains("x_bucket{verb=\"GET\",le=\"0.025\"} 3\n"), "{text}");
        assert!(text.contains("x_bucket{verb=\"GET\",le=\"60\"} 3\n"), "{text}");
        assert!(text.contains("x_bucket{verb=\"GET\",le=\"+Inf\"} 4\n"), "{text}");
        assert!(
            text.contains("x_count{verb=\"GET\"} 4\n") && text.contains("x_sum{verb=\"GET\"} 90.012\n"),
            "{text}"
        );
    }
}
