//! Metrics of this process, under Kubernetes' names. A host takes a [`snapshot`](Metrics::snapshot); [`render`]
//! writes the usual text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The upper bounds of duration histograms in seconds: powers of ten from 10 ns to 10 s, as for client-go's work
/// queues.
const BOUNDS: [f64; 10] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// All metrics of one process. Cheap to clone; clones share their values.
#[derive(Clone, Default)]
pub struct Metrics {
    shared: Arc<Mutex<Shared>>,
}

/// A value with its name and labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The name of the metric.
    pub name: &'static str,
    /// Its labels.
    pub labels: Labels,
    /// The value.
    pub value: MetricValue,
}

/// A value of one of the metric types.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    /// A number that only increases.
    Counter(u64),
    /// A number that increases and decreases.
    Gauge(f64),
    /// Counts of observations by upper bound.
    Histogram {
        /// Upper bounds and cumulative counts.
        buckets: Vec<(f64, u64)>,
        /// The sum of all observations.
        sum: f64,
        /// The number of observations.
        count: u64,
    },
}

type Labels = Vec<(&'static str, String)>;

/// Computes samples when a snapshot is taken.
type Source = Box<dyn Fn(&mut Vec<Sample>) + Send>;

#[derive(Default)]
struct Shared {
    /// By name; the series of a family differ in their labels.
    series: BTreeMap<&'static str, Vec<(Labels, MetricValue)>>,
    sources: Vec<Source>,
}

impl Metrics {
    /// No metrics yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Increments a counter.
    pub fn count(&self, name: &'static str, labels: &[(&'static str, &str)]) {
        let mut shared = self.lock();
        if let MetricValue::Counter(count) = shared.series(name, labels, || MetricValue::Counter(0)) {
            *count = count.saturating_add(1);
        }
    }

    /// Sets a gauge.
    pub fn set(&self, name: &'static str, labels: &[(&'static str, &str)], to: f64) {
        *self.lock().series(name, labels, || MetricValue::Gauge(0.0)) = MetricValue::Gauge(to);
    }

    /// Records a duration in a histogram.
    pub fn observe(&self, name: &'static str, labels: &[(&'static str, &str)], took: Duration) {
        let empty = || {
            let buckets = BOUNDS.map(|bound| (bound, 0)).to_vec();
            MetricValue::Histogram { buckets, sum: 0.0, count: 0 }
        };
        let mut shared = self.lock();
        if let MetricValue::Histogram { buckets, sum, count } = shared.series(name, labels, empty) {
            let seconds = took.as_secs_f64();
            for (bound, below) in buckets {
                *below += u64::from(seconds <= *bound);
            }
            *sum += seconds;
            *count += 1;
        }
    }

    /// Adds samples that are computed when a snapshot is taken.
    pub fn source(&self, source: impl Fn(&mut Vec<Sample>) + Send + 'static) {
        self.lock().sources.push(Box::new(source));
    }

    /// All samples, by name.
    pub fn snapshot(&self) -> Vec<Sample> {
        let shared = self.lock();
        let stored = shared.series.iter().flat_map(|(name, family)| {
            family.iter().map(|(labels, value)| Sample { name, labels: labels.clone(), value: value.clone() })
        });
        let mut samples: Vec<_> = stored.collect();
        for source in &shared.sources {
            source(&mut samples);
        }
        samples.sort_by(|a, b| (a.name, &a.labels).cmp(&(b.name, &b.labels)));
        samples
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn series(
        &mut self,
        name: &'static str,
        labels: &[(&'static str, &str)],
        new: impl FnOnce() -> MetricValue,
    ) -> &mut MetricValue {
        let family = self.series.entry(name).or_default();
        let has_labels = |(known, _): &(Labels, _)| {
            known.len() == labels.len()
                && known.iter().zip(labels).all(|((key, value), label)| (*key, value.as_str()) == *label)
        };
        let position = family.iter().position(has_labels).unwrap_or_else(|| {
            let labels = labels.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
            family.push((labels, new()));
            family.len() - 1
        });
        &mut family[position].1
    }
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// Samples in the text format that Prometheus reads.
pub fn render(samples: &[Sample]) -> String {
    let mut text = String::new();
    let mut family = "";
    for Sample { name, labels, value } in samples {
        let kind = match value {
            MetricValue::Counter(_) => "counter",
            MetricValue::Gauge(_) => "gauge",
            MetricValue::Histogram { .. } => "histogram",
        };
        if family != *name {
            let _ = writeln!(text, "# TYPE {name} {kind}");
            family = name;
        }
        let _ = match value {
            MetricValue::Counter(count) => writeln!(text, "{name}{} {count}", braced(labels, None)),
            MetricValue::Gauge(number) => writeln!(text, "{name}{} {number}", braced(labels, None)),
            MetricValue::Histogram { buckets, sum, count } => {
                for (bound, below) in buckets {
                    let _ =
                        writeln!(text, "{name}_bucket{} {below}", braced(labels, Some(&bound.to_string())));
                }
                let _ = writeln!(text, "{name}_bucket{} {count}", braced(labels, Some("+Inf")));
                let _ = writeln!(text, "{name}_sum{} {sum}", braced(labels, None));
                writeln!(text, "{name}_count{} {count}", braced(labels, None))
            }
        };
    }
    text
}

fn braced(labels: &[(&'static str, String)], bound: Option<&str>) -> String {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let mut parts: Vec<_> =
        labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
    parts.extend(bound.map(|bound| format!("le=\"{bound}\"")));
    if parts.is_empty() { String::new() } else { format!("{{{}}}", parts.join(",")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_the_format_of_prometheus() {
        let metrics = Metrics::new();
        metrics.count("requests_total", &[("code", "200")]);
        metrics.count("requests_total", &[("code", "200")]);
        metrics.count("requests_total", &[("code", "a\"b")]);
        metrics.set("depth", &[], 3.0);
        metrics.observe("took_seconds", &[], Duration::from_millis(20));
        metrics.source(|samples| {
            samples.push(Sample { name: "computed", labels: Vec::new(), value: MetricValue::Gauge(1.5) });
        });
        let text = render(&metrics.snapshot());
        for line in [
            "# TYPE requests_total counter",
            "requests_total{code=\"200\"} 2",
            "requests_total{code=\"a\\\"b\"} 1",
            "depth 3",
            "computed 1.5",
            "took_seconds_bucket{le=\"0.01\"} 0",
            "took_seconds_bucket{le=\"0.1\"} 1",
            "took_seconds_bucket{le=\"+Inf\"} 1",
            "took_seconds_sum 0.02",
            "took_seconds_count 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
        assert_eq!(text.matches("# TYPE requests_total").count(), 1);
    }
}
