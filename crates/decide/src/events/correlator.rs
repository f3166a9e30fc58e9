//! Aggregation, counting and rate limiting of events, in this order.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use gantry_model::{Event, EventType, Name, Namespace, Timestamp, Uid};

use super::lru::Lru;
use super::{EventRecord, Recording, Subject};
use crate::queue::TokenBucket;

/// The capacity of each cache.
const CACHE_CAPACITY: usize = 4096;
/// The capacity per source of caches that many sources share.
const CACHE_CAPACITY_SHARED: usize = 16;
/// The number of messages of one reason that are recorded one by one; all others are aggregated.
const SINGLE_MESSAGES_MAX: usize = 9;
/// After an interval longer than this, a reason's messages are recorded one by one again.
const AGGREGATION_INTERVAL: Duration = Duration::from_mins(10);
/// The message prefix of aggregated events.
const AGGREGATE_PREFIX: &str = "(combined from similar events): ";
/// The burst of events of one type about one object ...
const RATE_BURST: u32 = 25;
/// ... and the period of one event after that.
const RATE_PERIOD: Duration = Duration::from_mins(5);

/// The events that this process has recorded.
#[derive(Clone, Debug)]
pub struct EventCorrelator {
    aggregations: Lru<AggregationKey, RecordedMessages>,
    series_by_key: Lru<EventSeries, SeriesRecord>,
    rate_limits: Lru<(EventOrigin, EventType), TokenBucket>,
    last_stamp: Option<i64>,
}

/// The source and object of an event; the object's version does not matter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EventOrigin {
    source: &'static str,
    api_version: Cow<'static, str>,
    kind: Cow<'static, str>,
    namespace: Option<Namespace>,
    name: Name,
    uid: Uid,
}

/// Events that differ in nothing but the message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct AggregationKey {
    origin: EventOrigin,
    event_type: EventType,
    reason: &'static str,
}

/// Events that share one object on the server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EventSeries {
    /// Identical events.
    Single(AggregationKey, String),
    /// The aggregated events of a key.
    Aggregated(AggregationKey),
}

/// The messages of an aggregation key that are recorded one by one.
#[derive(Clone, Debug)]
struct RecordedMessages {
    messages: BTreeSet<String>,
    last: Timestamp,
}

/// The object of a series.
#[derive(Clone, Debug)]
struct SeriesRecord {
    name: Name,
    times: i32,
    first: Timestamp,
}

impl EventCorrelator {
    /// Without any events.
    pub fn new() -> Self {
        Self::with_capacity(CACHE_CAPACITY)
    }

    /// With caches that have room for the events of this many sources: for a few of each, and for as many as in client-go
    /// at least.
    pub fn shared_by(sources: usize) -> Self {
        Self::with_capacity(CACHE_CAPACITY.max(sources.saturating_mul(CACHE_CAPACITY_SHARED)))
    }

    /// With caches of this capacity.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            aggregations: Lru::new(capacity),
            series_by_key: Lru::new(capacity),
            rate_limits: Lru::new(capacity),
            last_stamp: None,
        }
    }

    /// Decides what to write for an event of `source` about `subject`.
    ///
    /// An event is counted before its rate is checked: dropped occurrences show up in the count of the next one that
    /// is written.
    pub fn record(
        &mut self,
        source: &'static str,
        subject: &Subject,
        event: &Event,
        now: Timestamp,
    ) -> Recording {
        let key = AggregationKey::new(source, subject, event);
        let budget = (key.origin.clone(), event.event_type);
        let series = self.series(key, &event.message, now);
        let record = self.count(series, subject, event, now);
        let bucket =
            self.rate_limits.get_or_insert_with(budget, || TokenBucket::new(RATE_BURST, RATE_PERIOD));
        match record.count {
            _ if !bucket.try_take(now) => Recording::Drop,
            1 => Recording::Create(record),
            _ => Recording::Increase(record),
        }
    }

    /// Decides whether a message is recorded by itself or aggregated.
    ///
    /// client-go evicts an arbitrary message of a full key; here the new one is aggregated, so that the first few
    /// keep their own counts.
    fn series(&mut self, key: AggregationKey, message: &str, now: Timestamp) -> EventSeries {
        let recorded = self
            .aggregations
            .get_or_insert_with(key.clone(), || RecordedMessages { messages: BTreeSet::new(), last: now });
        if now.since(recorded.last) > AGGREGATION_INTERVAL {
            recorded.messages.clear();
        }
        recorded.last = now;
        if recorded.messages.contains(message) {
            return EventSeries::Single(key, message.to_owned());
        }
        if recorded.messages.len() >= SINGLE_MESSAGES_MAX {
            return EventSeries::Aggregated(key);
        }
        recorded.messages.insert(message.to_owned());
        EventSeries::Single(key, message.to_owned())
    }

    /// Counts the event in its series and returns the object to write.
    fn count(
        &mut self,
        series: EventSeries,
        subject: &Subject,
        event: &Event,
        now: Timestamp,
    ) -> EventRecord {
        let key = series.key();
        let (source, reporting_component) = (key.origin.source, series.reporting_component());
        let message = series.message(event);
        let last_stamp = &mut self.last_stamp;
        let counted = self.series_by_key.get_or_insert_with(series, || SeriesRecord {
            name: subject.event_name(next_stamp(last_stamp, now)),
            times: 0,
            first: now,
        });
        counted.times = counted.times.saturating_add(1);
        EventRecord {
            name: counted.name.clone(),
            namespace: subject.event_namespace(),
            subject: subject.clone(),
            source,
            reporting_component,
            event_type: event.event_type,
            reason: event.reason,
            message,
            count: counted.times,
            first: counted.first,
            last: now,
        }
    }
}

impl Default for EventCorrelator {
    fn default() -> Self {
        Self::new()
    }
}

impl AggregationKey {
    fn new(source: &'static str, subject: &Subject, event: &Event) -> Self {
        let origin = EventOrigin {
            source,
            api_version: subject.api_version.clone(),
            kind: subject.kind.clone(),
            namespace: subject.namespace.clone(),
            name: subject.name.clone(),
            uid: subject.uid.clone(),
        };
        Self { origin, event_type: event.event_type, reason: event.reason }
    }
}

impl EventSeries {
    fn key(&self) -> &AggregationKey {
        match self {
            Self::Single(key, _) | Self::Aggregated(key) => key,
        }
    }

    fn message(&self, event: &Event) -> String {
        match self {
            Self::Single(..) => event.message.clone(),
            Self::Aggregated(_) => format!("{AGGREGATE_PREFIX}{}", event.message),
        }
    }

    fn reporting_component(&self) -> Option<&'static str> {
        match self {
            Self::Single(key, _) => Some(key.origin.source),
            Self::Aggregated(_) => None,
        }
    }
}

/// The time in nanoseconds, incremented where needed so that no two events of this process share a name.
///
/// Real clocks seldom stand still between two events; the simulator's does.
fn next_stamp(last: &mut Option<i64>, now: Timestamp) -> i64 {
    let stamp = last.map_or(now.as_nanos(), |last| now.as_nanos().max(last.saturating_add(1)));
    *last = Some(stamp);
    stamp
}
