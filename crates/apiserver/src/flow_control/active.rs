//! The configuration that is in effect, with its levels and their requests. It is replaced as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::HeaderValue;
use tokio::time::Instant;

use super::classification::{RequestDigest, classify};
use super::configuration::{FlowConfiguration, FlowSchema};
use super::level::Level;
use super::metrics::FlowMetrics;
use super::seat_allocation::{SeatBounds, allocate};
use super::shuffle_sharding::flow_hash;

/// The configuration in effect.
#[derive(Debug)]
pub(super) struct ActiveConfiguration {
    parsed: FlowConfiguration,
    /// The state of each schema, in the same order.
    schemas: Vec<ActiveSchema>,
    /// The levels with limits.
    pub(super) levels: BTreeMap<String, ActiveLevel>,
}

/// The properties of a schema that its requests need.
#[derive(Debug)]
pub(super) struct ActiveSchema {
    /// `None` for the exempt level.
    pub(super) level: Option<Arc<Level>>,
    /// The maximum number of seats of one request.
    pub(super) width_max: u32,
    /// Whether the level has several queues, so that flows are distinguished.
    has_flows: bool,
    /// The uids of the FlowSchema and of the level.
    pub(super) uids: [Option<HeaderValue>; 2],
    pub(super) metrics: Arc<FlowMetrics>,
}

/// A level with its limits.
#[derive(Debug)]
pub(super) struct ActiveLevel {
    pub(super) level: Arc<Level>,
    pub(super) bounds: SeatBounds,
}

impl ActiveConfiguration {
    /// Puts a configuration into effect; levels that exist are kept.
    pub(super) fn new(
        parsed: FlowConfiguration,
        before: Option<&Self>,
        server_seats: u32,
        epoch: Instant,
    ) -> Self {
        let limited =
            || parsed.levels.iter().filter_map(|(name, level)| Some((name, level.limits.as_ref()?)));
        let all_shares = limited().map(|(_, limits)| u64::from(limits.shares)).sum();
        let levels: BTreeMap<_, _> = limited()
            .map(|(name, limits)| {
                let existing = before.and_then(|before| before.levels.get(name));
                let level = existing
                    .map_or_else(|| Arc::new(Level::new(epoch)), |existing| Arc::clone(&existing.level));
                (
                    name.clone(),
                    ActiveLevel { level, bounds: SeatBounds::of(limits, server_seats, all_shares) },
                )
            })
            .collect();
        let schemas = parsed.schemas.iter().map(|schema| {
            let level = &parsed.levels[&schema.level];
            let active = levels.get(&schema.level);
            let queuing = level.limits.as_ref().and_then(|limits| limits.queuing);
            let known = before.and_then(|before| before.metrics(&schema.name, &schema.level));
            ActiveSchema {
                level: active.map(|active| Arc::clone(&active.level)),
                width_max: active.map_or(1, |active| active.bounds.width_max),
                has_flows: queuing.is_some_and(|queuing| queuing.queues > 1),
                uids: [&schema.uid, &level.uid].map(|uid| header(uid)),
                metrics: known.unwrap_or_else(|| Arc::new(FlowMetrics::new(&schema.name, &schema.level))),
            }
        });
        let schemas = schemas.collect();
        let active = Self { parsed, schemas, levels };
        active.rebalance();
        active
    }

    /// Whether this is the configuration in effect.
    pub(super) fn is(&self, parsed: &FlowConfiguration) -> bool {
        self.parsed == *parsed
    }

    /// The schema that a request matches.
    pub(super) fn classify(&self, request: &RequestDigest<'_>) -> usize {
        classify(&self.parsed.schemas, request)
    }

    pub(super) fn schema(&self, index: usize) -> &ActiveSchema {
        &self.schemas[index]
    }

    /// The hash of the request's flow.
    pub(super) fn flow_hash(&self, index: usize, request: &RequestDigest<'_>) -> u64 {
        if !self.schemas[index].has_flows {
            return 0;
        }
        let FlowSchema { name, distinguisher, .. } = &self.parsed.schemas[index];
        flow_hash(name, request.distinguished(*distinguisher))
    }

    /// Divides the seats by the demand since the last time.
    pub(super) fn rebalance(&self) {
        let demands: Vec<_> =
            self.levels.values().map(|active| (active.bounds, active.level.take_demand())).collect();
        for ((name, active), seats) in self.levels.iter().zip(allocate(&demands)) {
            let limits = self.parsed.levels.get(name).and_then(|level| level.limits.as_ref());
            active.level.configure(limits.and_then(|limits| limits.queuing), seats);
        }
    }

    pub(super) fn all_metrics(&self) -> impl Iterator<Item = &FlowMetrics> {
        self.schemas.iter().map(|schema| schema.metrics.as_ref())
    }

    fn metrics(&self, schema: &str, level: &str) -> Option<Arc<FlowMetrics>> {
        let metrics = self.schemas.iter().map(|schema| &schema.metrics);
        metrics.into_iter().find(|metrics| metrics.is_of(schema, level)).cloned()
    }
}

/// A uid as the value of a header; `None` for an object that is not stored.
fn header(uid: &str) -> Option<HeaderValue> {
    if uid.is_empty() { None } else { HeaderValue::from_str(uid).ok() }
}
