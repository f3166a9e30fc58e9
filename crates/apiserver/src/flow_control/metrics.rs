//! Metrics of flow control, under Kubernetes' names.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use super::active::ActiveConfiguration;
use super::queue_set::RejectionReason;
use crate::metrics::{Histogram, Text};

const REASONS: [(RejectionReason, &str); 3] = [
    (RejectionReason::ConcurrencyLimit, "concurrency-limit"),
    (RejectionReason::QueueFull, "queue-full"),
    (RejectionReason::TimeOut, "time-out"),
];

/// The metrics of the requests of a FlowSchema.
#[derive(Debug)]
pub(super) struct FlowMetrics {
    schema: String,
    level: String,
    dispatched: AtomicU64,
    rejected: [AtomicU64; REASONS.len()],
    waiting: AtomicI64,
    executing: AtomicI64,
    seats: AtomicI64,
    /// The waits of requests that executed, and of those that were rejected.
    waited: [Histogram; 2],
}

impl FlowMetrics {
    pub(super) fn new(schema: &str, level: &str) -> Self {
        Self {
            schema: schema.to_owned(),
            level: level.to_owned(),
            dispatched: AtomicU64::default(),
            rejected: Default::default(),
            waiting: AtomicI64::default(),
            executing: AtomicI64::default(),
            seats: AtomicI64::default(),
            waited: Default::default(),
        }
    }

    pub(super) fn is_of(&self, schema: &str, level: &str) -> bool {
        self.schema == schema && self.level == level
    }

    /// Counts a request that executes.
    pub(super) fn begin(&self, seats: u32) {
        self.dispatched.fetch_add(1, Ordering::Relaxed);
        self.executing.fetch_add(1, Ordering::Relaxed);
        self.seats.fetch_add(i64::from(seats), Ordering::Relaxed);
    }

    /// Counts the end of a request.
    pub(super) fn end(&self, seats: u32) {
        self.executing.fetch_sub(1, Ordering::Relaxed);
        self.seats.fetch_sub(i64::from(seats), Ordering::Relaxed);
    }

    pub(super) fn reject(&self, reason: RejectionReason) {
        if let Some(slot) = REASONS.iter().position(|(known, _)| *known == reason) {
            self.rejected[slot].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Records how long a request waited.
    pub(super) fn waited(&self, executes: bool, took: Duration) {
        self.waited[usize::from(!executes)].record(took);
    }

    /// Counts a request as waiting until the result is dropped.
    pub(super) fn wait(&self) -> InQueue<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        InQueue(&self.waiting)
    }

    fn labels(&self) -> [(&'static str, &str); 2] {
        [("flow_schema", &self.schema), ("priority_level", &self.level)]
    }
}

/// A request that waits.
pub(super) struct InQueue<'a>(&'a AtomicI64);

impl Drop for InQueue<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Renders the metrics of a configuration.
pub(super) fn render(active: &ActiveConfiguration) -> String {
    let mut text = Text::default();
    render_rejections(&mut text, active);
    let name = "apiserver_flowcontrol_dispatched_requests_total";
    text.family(name, "counter", "Requests that executed.");
    for flow in active.all_metrics() {
        text.sample(name, &flow.labels(), flow.dispatched.load(Ordering::Relaxed));
    }
    for (name, help, gauge) in GAUGES {
        text.family(name, "gauge", help);
        for flow in active.all_metrics() {
            text.sample(name, &flow.labels(), gauge(flow).load(Ordering::Relaxed));
        }
    }
    let name = "apiserver_flowcontrol_request_wait_duration_seconds";
    text.family(name, "histogram", "How long requests waited for their seats.");
    for flow in active.all_metrics() {
        for (executes, waited) in ["true", "false"].iter().zip(&flow.waited) {
            if !waited.is_empty() {
                let [schema, level] = flow.labels();
                waited.render(name, &[("execute", executes), schema, level], &mut text);
            }
        }
    }
    render_seats(&mut text, active);
    text.finish()
}

type Gauge = fn(&FlowMetrics) -> &AtomicI64;

const GAUGES: [(&str, &str, Gauge); 3] = [
    ("apiserver_flowcontrol_current_inqueue_requests", "Requests that wait.", |flow| &flow.waiting),
    ("apiserver_flowcontrol_current_executing_requests", "Requests that execute.", |flow| &flow.executing),
    ("apiserver_flowcontrol_current_executing_seats", "Seats in use.", |flow| &flow.seats),
];

fn render_rejections(text: &mut Text, active: &ActiveConfiguration) {
    let name = "apiserver_flowcontrol_rejected_requests_total";
    text.family(name, "counter", "Requests that were rejected with 429.");
    for flow in active.all_metrics() {
        for ((_, reason), count) in REASONS.iter().zip(&flow.rejected) {
            let count = count.load(Ordering::Relaxed);
            if count > 0 {
                let [schema, level] = flow.labels();
                text.sample(name, &[schema, level, ("reason", reason)], count);
            }
        }
    }
}

fn render_seats(text: &mut Text, active: &ActiveConfiguration) {
    let names = ["apiserver_flowcontrol_nominal_limit_seats", "apiserver_flowcontrol_current_limit_seats"];
    for (name, help) in names.iter().zip(["Seats by shares.", "Seats after lending and borrowing."]) {
        text.family(name, "gauge", help);
        for (level, active) in &active.levels {
            let seats = if *name == names[0] { active.bounds.nominal } else { active.level.seats() };
            text.sample(name, &[("priority_level", level)], seats);
        }
    }
}
