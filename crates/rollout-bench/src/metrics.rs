//! The counters of an API server, from the text of `/metrics`: Kubernetes' names, so any server has them.

use std::collections::BTreeMap;

/// Requests and store writes since the server started, or between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// By verb and resource, such as `PATCH pods/status`.
    pub(crate) requests: BTreeMap<String, u64>,
    pub(crate) store_writes: u64,
}

/// The operations of the store that write: `txn` are Gantry's, the others Kubernetes'.
const WRITES: [&str; 4] = ["txn", "create", "update", "delete"];

impl Counters {
    /// Reads the counters; lines of other metrics are skipped, and so are reads of `/metrics` itself.
    pub(crate) fn parse(text: &str) -> Self {
        let mut counters = Self::default();
        for line in text.lines() {
            if let Some(sample) = line.strip_prefix("apiserver_request_total{") {
                counters.add_requests(sample);
            } else if let Some(sample) = line.strip_prefix("etcd_request_duration_seconds_count{")
                && let Some((labels, count)) = split(sample)
                && WRITES.contains(&label(labels, "operation"))
            {
                counters.store_writes += count;
            }
        }
        counters
    }

    fn add_requests(&mut self, sample: &str) {
        let Some((labels, count)) = split(sample) else { return };
        let (resource, part) = (label(labels, "resource"), label(labels, "subresource"));
        let name = match (resource, part) {
            ("", "/metrics") => return,
            (resource, "") => resource.to_owned(),
            ("", path) => path.to_owned(),
            (resource, part) => format!("{resource}/{part}"),
        };
        *self.requests.entry(format!("{} {name}", label(labels, "verb"))).or_default() += count;
    }

    /// The difference to an earlier reading.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let before = |name: &String| earlier.requests.get(name).copied().unwrap_or(0);
        let requests =
            self.requests.iter().map(|(name, count)| (name.clone(), count.saturating_sub(before(name))));
        Self {
            requests: requests.filter(|(_, count)| *count > 0).collect(),
            store_writes: self.store_writes.saturating_sub(earlier.store_writes),
        }
    }

    /// Subtracts the requests of the measurement: the probe's requests, and this many lists that count pods.
    pub(crate) fn without_measuring(mut self, polls: u64) -> Self {
        self.requests.remove("GET configmaps");
        let probed = self.requests.remove("PATCH configmaps").unwrap_or(0);
        self.store_writes = self.store_writes.saturating_sub(probed);
        if let Some(lists) = self.requests.get_mut("LIST pods") {
            *lists = lists.saturating_sub(polls);
        }
        self.requests.retain(|_, count| *count > 0);
        self
    }

    /// The number of all requests.
    pub(crate) fn total(&self) -> u64 {
        self.requests.values().sum()
    }
}

fn split(sample: &str) -> Option<(&str, u64)> {
    let (labels, value) = sample.rsplit_once("} ")?;
    let whole = value.split('.').next()?;
    // Prometheus prints large counts as 1.234567e+06.
    let count = if value.contains('e') { exponent(value)? } else { whole.parse().ok()? };
    Some((labels, count))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are whole and positive")]
fn exponent(value: &str) -> Option<u64> {
    value.parse::<f64>().ok().map(|value| value.round() as u64)
}

fn label<'a>(labels: &'a str, name: &str) -> &'a str {
    let found = labels.split("\",").find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix("=\""));
    found.map_or("", |value| value.trim_end_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",resource="pods",subresource="status",verb="PATCH"} 5
apiserver_request_total{code="409",component="apiserver",resource="pods",subresource="status",verb="PATCH"} 2
apiserver_request_total{component="apiserver",resource="events",subresource="",verb="POST",code="201"} 1.5e+06
apiserver_request_total{component="apiserver",resource="",subresource="/metrics",verb="GET",code="200"} 9
apiserver_requested_deprecated_apis{group="x"} 1
etcd_request_duration_seconds_count{operation="get",type=""} 7
etcd_request_duration_seconds_count{operation="txn"} 11
"#;

    #[test]
    fn requests_are_added_up_by_verb_and_resource() {
        let counters = Counters::parse(TEXT);
        let expected = [("PATCH pods/status", 7), ("POST events", 1_500_000)];
        assert_eq!(counters.requests, BTreeMap::from(expected.map(|(name, count)| (name.to_owned(), count))));
        assert_eq!(counters.store_writes, 11);
    }

    #[test]
    fn a_difference_has_only_what_was_counted_in_between() {
        let (before, mut after) = (Counters::parse(TEXT), Counters::parse(TEXT));
        *after.requests.get_mut("PATCH pods/status").unwrap() += 3;
        after.store_writes += 4;
        let difference = after.since(&before);
        assert_eq!((difference.total(), difference.store_writes, difference.requests.len()), (3, 4, 1));
    }

    #[test]
    fn measuring_is_not_counted() {
        let counts = [("GET configmaps", 8), ("PATCH configmaps", 6), ("LIST pods", 5), ("POST pods", 2)];
        let requests = BTreeMap::from(counts.map(|(name, count)| (name.to_owned(), count)));
        let left = Counters { requests, store_writes: 8 }.without_measuring(5);
        assert_eq!((left.total(), left.store_writes), (2, 2));
    }
}
