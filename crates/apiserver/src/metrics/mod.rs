//! Metrics, under Kubernetes' names.
//!
//! Recording is a lookup under a read lock and a few relaxed additions; it allocates only for the first request of a
//! series. [`text`] writes Prometheus' format.

mod histogram;
mod labels;
mod process;
mod store;
mod text;

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http::{Response, StatusCode};

use crate::catalogue::Catalogues;
use crate::request_info::RequestInfo;
use crate::response::{Body, Chunks};
pub(crate) use histogram::Histogram;
use labels::{Labels, Lifetime};
pub(crate) use store::TimedStore;
pub(crate) use text::Text;

/// Status codes with a counter; all others are counted under the last.
const CODES: [u16; 21] =
    [200, 201, 202, 204, 301, 304, 400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 422, 429, 503, 504, 500];

/// The maximum number of series of requests. Clients that define kinds cannot exceed it: series of kinds that are no
/// longer served are dropped, and further series are counted by verb only.
const SERIES_MAX: usize = 2048;
/// The approximate size of a series as text.
const SERIES_BYTES: usize = 4 << 10;

/// All metrics of a server.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    series: RwLock<HashMap<Labels, Arc<Series>>>,
    reading: Arc<AtomicI64>,
    mutating: Arc<AtomicI64>,
    pub(crate) store: store::Operations,
}

/// The metrics of requests with the same labels.
#[derive(Debug, Default)]
struct Series {
    by_code: [AtomicU64; CODES.len()],
    seconds: Histogram,
    /// Long-running requests in progress.
    running: AtomicI64,
}

/// A request in progress.
pub(crate) struct RequestInProgress {
    labels: Labels,
    series: Arc<Series>,
    began: Instant,
    /// Counts the request as in flight until it is dropped.
    _in_flight: Option<InFlight>,
}

/// Increments a gauge until it is dropped.
struct InFlight(Arc<AtomicI64>);

/// A response stream that is counted until it ends.
struct CountedStream {
    chunks: Pin<Box<dyn Chunks>>,
    series: Arc<Series>,
}

impl Metrics {
    /// Starts measuring a request.
    pub(crate) fn begin(&self, info: &RequestInfo, catalogues: &Catalogues) -> RequestInProgress {
        let labels = Labels::of(info, catalogues);
        let gauge = if labels.is_mutating() { &self.mutating } else { &self.reading };
        let in_flight = (labels.lifetime == Lifetime::Short).then(|| InFlight::new(gauge));
        RequestInProgress {
            labels,
            series: self.series(labels, catalogues),
            began: Instant::now(),
            _in_flight: in_flight,
        }
    }

    fn series(&self, mut labels: Labels, catalogues: &Catalogues) -> Arc<Series> {
        // No panic can leave the map inconsistent.
        let known = self.series.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(series) = known.get(&labels) {
            return Arc::clone(series);
        }
        drop(known);
        let mut series = self.series.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if series.len() >= SERIES_MAX {
            series.retain(|labels, _| labels.are_served(catalogues));
        }
        if series.len() >= SERIES_MAX {
            labels = labels.by_verb_only();
        }
        Arc::clone(series.entry(labels).or_default())
    }

    /// Drops the series of kinds that are no longer served; returns the approximate length of all others as text.
    pub(crate) fn drop_unserved(&self, catalogues: &Catalogues) -> usize {
        let mut series = self.series.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        series.retain(|labels, _| labels.are_served(catalogues));
        series.len() * SERIES_BYTES
    }

    /// Renders all metrics as text; `objects` are the numbers of stored objects by resource.
    pub(crate) fn render(&self, objects: &BTreeMap<String, u64>) -> String {
        let mut text = Text::default();
        self.render_requests(&mut text);
        text.family("apiserver_current_inflight_requests", "gauge", "Requests in progress.");
        for (kind, gauge) in [("mutating", &self.mutating), ("readOnly", &self.reading)] {
            let labels = [("request_kind", kind)];
            text.sample("apiserver_current_inflight_requests", &labels, gauge.load(Ordering::Relaxed));
        }
        text.family("apiserver_storage_objects", "gauge", "Objects that are stored, by resource.");
        for (resource, count) in objects {
            text.sample("apiserver_storage_objects", &[("resource", resource)], count);
        }
        self.store.render(&mut text);
        process::render(&mut text);
        text.family("kubernetes_build_info", "gauge", "Always 1; the labels have the version.");
        let version =
            [("git_version", "v1.37.0"), ("major", "1"), ("minor", "37"), ("platform", "linux/amd64")];
        text.sample("kubernetes_build_info", &version, 1);
        text.finish()
    }

    fn render_requests(&self, text: &mut Text) {
        let known = self.series.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let all: BTreeMap<_, _> =
            known.iter().map(|(labels, series)| (*labels, Arc::clone(series))).collect();
        drop(known);
        text.family("apiserver_request_total", "counter", "Requests by status code.");
        for (labels, series) in &all {
            for (code, count) in CODES.iter().zip(&series.by_code) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let code = code.to_string();
                    text.sample("apiserver_request_total", &labels.with("code", &code), count);
                }
            }
        }
        text.family("apiserver_request_duration_seconds", "histogram", "Latency of requests.");
        for (labels, series) in all.iter().filter(|(labels, _)| labels.lifetime == Lifetime::Short) {
            series.seconds.render("apiserver_request_duration_seconds", &labels.all(), text);
        }
        text.family(
            "apiserver_longrunning_requests",
            "gauge",
            "Watches and other long-running requests in progress.",
        );
        for (labels, series) in all.iter().filter(|(labels, _)| labels.lifetime == Lifetime::LongRunning) {
            let running = series.running.load(Ordering::Relaxed);
            text.sample("apiserver_longrunning_requests", &labels.all(), running);
        }
    }
}

impl RequestInProgress {
    /// Records the response; a stream is counted until it ends.
    pub(crate) fn end(self, response: Response<Body>) -> Response<Body> {
        self.series.count(response.status());
        if self.labels.lifetime == Lifetime::Short {
            self.series.seconds.record(self.began.elapsed());
        }
        let (head, body) = response.into_parts();
        let body = match body {
            Body::Stream(chunks) => {
                self.series.running.fetch_add(1, Ordering::Relaxed);
                Body::Stream(Box::pin(CountedStream { chunks, series: self.series }))
            }
            body @ (Body::Whole(_) | Body::Chunked(_)) => body,
        };
        Response::from_parts(head, body)
    }
}

impl Series {
    fn count(&self, status: StatusCode) {
        let slot = CODES.iter().position(|code| *code == status.as_u16()).unwrap_or(CODES.len() - 1);
        self.by_code[slot].fetch_add(1, Ordering::Relaxed);
    }
}

impl InFlight {
    fn new(gauge: &Arc<AtomicI64>) -> Self {
        gauge.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(gauge))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Chunks for CountedStream {
    fn poll_chunk(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.chunks.as_mut().poll_chunk(context)
    }

    fn remaining(&self) -> Option<u64> {
        self.chunks.remaining()
    }

    fn is_broken_off(&self) -> bool {
        self.chunks.is_broken_off()
    }
}

impl Drop for CountedStream {
    fn drop(&mut self) {
        self.series.running.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that defines many kinds one after another must not make the metrics grow.
    #[test]
    fn series_of_kinds_that_are_not_served_are_dropped() {
        let (metrics, catalogues) = (Metrics::default(), Catalogues::default());
        for index in 0..2 * SERIES_MAX {
            let group: &'static str = format!("g{index}.example.com").leak();
            metrics.series(Labels::of_kind("GET", group, "v1", "widgets"), &catalogues);
            assert!(metrics.series.read().unwrap().len() <= SERIES_MAX);
        }
        metrics.series(Labels::of_kind("GET", "", "v1", "pods"), &catalogues);
        assert_eq!(metrics.drop_unserved(&catalogues), SERIES_BYTES, "pods are served");
    }
}
