//! Aggregation, counting and rate limiting of events, in this order.

use std::time::Duration;

use gantry_model::{Event, Timestamp};

use super::fingerprint::Fingerprint;
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

/// The events that this process has recorded. Only fingerprints of their keys and messages are kept: otherwise deleted
/// objects and their messages would stay in memory.
#[derive(Clone, Debug)]
pub struct EventCorrelator {
    /// By everything but the message.
    aggregations: Lru<RecordedMessages>,
    series: Lru<SeriesRecord>,
    /// By origin and type.
    rate_limits: Lru<TokenBucket>,
    last_stamp: Option<i64>,
}

/// Events that share one object on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventSeries {
    /// Identical events.
    Single(Fingerprint),
    /// Events that differ in nothing but the message, and whose messages are too many.
    Aggregated(Fingerprint),
}

/// The messages that are recorded one by one, of events that differ in nothing else.
#[derive(Clone, Debug)]
struct RecordedMessages {
    messages: [Option<MessageHash>; SINGLE_MESSAGES_MAX],
    last: Timestamp,
}

type MessageHash = std::num::NonZeroU64;

/// The object of a series.
#[derive(Clone, Debug)]
struct SeriesRecord {
    /// The part of its name that is not the subject's.
    stamp: i64,
    times: i32,
    first: Timestamp,
}

impl EventCorrelator {
    /// A correlator that has recorded no events.
    pub fn new() -> Self {
        Self::with_capacity(CACHE_CAPACITY)
    }

    /// A correlator with caches for the events of this many sources: for a few of each, and for at least as
    /// many as in client-go.
    pub fn shared_by(sources: usize) -> Self {
        Self::with_capacity(CACHE_CAPACITY.max(sources.saturating_mul(CACHE_CAPACITY_SHARED)))
    }

    /// A correlator with caches of this capacity.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            aggregations: Lru::new(capacity),
            series: Lru::new(capacity),
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
        let Subject { api_version, kind, namespace, name, uid, resource_version: _ } = subject;
        let origin = Fingerprint::of(&(source, api_version, kind, namespace, name, uid));
        let budget = Fingerprint::of(&(origin, event.event_type));
        let series = self.series(Fingerprint::of(&(budget, event.reason)), &event.message, now);
        let record = self.count(series, source, subject, event, now);
        let bucket =
            self.rate_limits.get_or_insert_with(budget, || TokenBucket::new(RATE_BURST, RATE_PERIOD));
        match record.count {
            _ if !bucket.try_take(now) => Recording::Drop,
            1 => Recording::Create(record),
            _ => Recording::Increase(record),
        }
    }

    /// Decides whether a message is recorded as its own event or aggregated.
    ///
    /// client-go evicts an arbitrary message of a full key; here the new one is aggregated, so that the first few
    /// keep their own counts.
    fn series(&mut self, key: Fingerprint, message: &str, now: Timestamp) -> EventSeries {
        let recorded = self.aggregations.get_or_insert_with(key, || RecordedMessages {
            messages: [None; SINGLE_MESSAGES_MAX],
            last: now,
        });
        if now.since(recorded.last) > AGGREGATION_INTERVAL {
            recorded.messages = [None; SINGLE_MESSAGES_MAX];
        }
        recorded.last = now;
        let single = Fingerprint::of(&(key, message));
        let hash = MessageHash::new(single.low_bits() | 1);
        match recorded.messages.iter_mut().find(|other| other.is_none() || **other == hash) {
            Some(place) => {
                *place = hash;
                EventSeries::Single(single)
            }
            None => EventSeries::Aggregated(key),
        }
    }

    /// Counts the event in its series and returns the object to write.
    fn count(
        &mut self,
        series: EventSeries,
        source: &'static str,
        subject: &Subject,
        event: &Event,
        now: Timestamp,
    ) -> EventRecord {
        let (EventSeries::Single(key) | EventSeries::Aggregated(key)) = series;
        let last_stamp = &mut self.last_stamp;
        let counted = self.series.get_or_insert_with(key, || SeriesRecord {
            stamp: next_stamp(last_stamp, now),
            times: 0,
            first: now,
        });
        counted.times = counted.times.saturating_add(1);
        EventRecord {
            name: subject.event_name(counted.stamp),
            namespace: subject.event_namespace(),
            subject: subject.clone(),
            source,
            reporting_component: series.reporting_component(source),
            event_type: event.event_type,
            reason: event.reason,
            message: series.message(event),
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

impl EventSeries {
    fn message(self, event: &Event) -> String {
        match self {
            Self::Single(_) => event.message.clone(),
            Self::Aggregated(_) => format!("{AGGREGATE_PREFIX}{}", event.message),
        }
    }

    fn reporting_component(self, source: &'static str) -> Option<&'static str> {
        match self {
            Self::Single(_) => Some(source),
            Self::Aggregated(_) => None,
        }
    }
}

/// The time in nanoseconds, incremented where needed so that no two events of this process share a name.
///
/// A real clock usually advances between two events; the simulator's does not.
fn next_stamp(last: &mut Option<i64>, now: Timestamp) -> i64 {
    let stamp = last.map_or(now.as_nanos(), |last| now.as_nanos().max(last.saturating_add(1)));
    *last = Some(stamp);
    stamp
}
