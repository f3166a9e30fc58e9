//! The memory that makes repetition bearable: combining, counting and a budget, in this order.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use gantry_model::{Event, EventType, Name, Namespace, Timestamp, Uid};

use super::lru::Lru;
use super::{EventRecord, Recording, Subject};
use crate::queue::TokenBucket;

/// Each memory holds so many entries.
const MEMORY: usize = 4096;
/// So many messages of one reason are told one by one; all others are combined.
const SINGLE_MESSAGES_MAX: usize = 9;
/// After a silence longer than this, a reason may tell its messages one by one again.
const SILENCE: Duration = Duration::from_mins(10);
/// What combined events begin with.
const COMBINED: &str = "(combined from similar events): ";
/// So many events of one type about one object are let through at once ...
const BUDGET_BURST: u32 = 25;
/// ... and then one per period.
const BUDGET_PERIOD: Duration = Duration::from_mins(5);

/// What one process has told so far.
#[derive(Clone, Debug)]
pub struct Recorder {
    topics: Lru<Topic, Told>,
    threads: Lru<Thread, Counted>,
    budgets: Lru<(Teller, EventType), TokenBucket>,
    last_stamp: Option<i64>,
}

/// Who tells it, about what. The version of the object does not matter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Teller {
    source: &'static str,
    api_version: Cow<'static, str>,
    kind: Cow<'static, str>,
    namespace: Option<Namespace>,
    name: Name,
    uid: Uid,
}

/// Events that differ in nothing but the message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Topic {
    teller: Teller,
    event_type: EventType,
    reason: &'static str,
}

/// Events that share one object on the server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thread {
    /// They are identical.
    Single(Topic, String),
    /// They are all that a topic tells beyond its first few messages.
    Combined(Topic),
}

/// The messages of a topic that are told one by one.
#[derive(Clone, Debug)]
struct Told {
    messages: BTreeSet<String>,
    last: Timestamp,
}

/// The object of a thread.
#[derive(Clone, Debug)]
struct Counted {
    name: Name,
    times: i32,
    first: Timestamp,
}

impl Recorder {
    /// Nothing was told yet.
    pub fn new() -> Self {
        Self::with_memory(MEMORY)
    }

    /// As `new`, with room for so many entries in each of the three memories.
    pub(super) fn with_memory(capacity: usize) -> Self {
        Self {
            topics: Lru::new(capacity),
            threads: Lru::new(capacity),
            budgets: Lru::new(capacity),
            last_stamp: None,
        }
    }

    /// Decides what becomes of an event that `source` tells about `subject`.
    ///
    /// An event is counted before the budget is asked: those that are dropped show up in the count of the next one
    /// that is not.
    pub fn record(
        &mut self,
        source: &'static str,
        subject: &Subject,
        event: &Event,
        now: Timestamp,
    ) -> Recording {
        let topic = Topic::new(source, subject, event);
        let budget = (topic.teller.clone(), event.event_type);
        let thread = self.thread(topic, &event.message, now);
        let record = self.count(thread, subject, event, now);
        let bucket = self.budgets.recall(budget, || TokenBucket::new(BUDGET_BURST, BUDGET_PERIOD));
        match record.count {
            _ if !bucket.try_take(now) => Recording::Drop,
            1 => Recording::Create(record),
            _ => Recording::Increase(record),
        }
    }

    /// Decides whether a message is told by itself or combined with others.
    ///
    /// client-go forgets an arbitrary message of a full topic; we forget the new one, so that the first few keep
    /// their own counts and everything else is combined.
    fn thread(&mut self, topic: Topic, message: &str, now: Timestamp) -> Thread {
        let told = self.topics.recall(topic.clone(), || Told { messages: BTreeSet::new(), last: now });
        if now.since(told.last) > SILENCE {
            told.messages.clear();
        }
        told.last = now;
        if told.messages.contains(message) {
            return Thread::Single(topic, message.to_owned());
        }
        if told.messages.len() >= SINGLE_MESSAGES_MAX {
            return Thread::Combined(topic);
        }
        told.messages.insert(message.to_owned());
        Thread::Single(topic, message.to_owned())
    }

    /// Counts the event in its thread and makes the object that says so.
    fn count(&mut self, thread: Thread, subject: &Subject, event: &Event, now: Timestamp) -> EventRecord {
        let topic = thread.topic();
        let (source, reporting_component) = (topic.teller.source, thread.reporting_component());
        let message = thread.message(event);
        let last_stamp = &mut self.last_stamp;
        let counted = self.threads.recall(thread, || Counted {
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

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl Topic {
    fn new(source: &'static str, subject: &Subject, event: &Event) -> Self {
        let teller = Teller {
            source,
            api_version: subject.api_version.clone(),
            kind: subject.kind.clone(),
            namespace: subject.namespace.clone(),
            name: subject.name.clone(),
            uid: subject.uid.clone(),
        };
        Self { teller, event_type: event.event_type, reason: event.reason }
    }
}

impl Thread {
    fn topic(&self) -> &Topic {
        match self {
            Self::Single(topic, _) | Self::Combined(topic) => topic,
        }
    }

    fn message(&self, event: &Event) -> String {
        match self {
            Self::Single(..) => event.message.clone(),
            Self::Combined(_) => format!("{COMBINED}{}", event.message),
        }
    }

    fn reporting_component(&self) -> Option<&'static str> {
        match self {
            Self::Single(topic, _) => Some(topic.teller.source),
            Self::Combined(_) => None,
        }
    }
}

/// The time in nanoseconds, moved on where needed so that no two events of this process share a name.
///
/// Real clocks seldom stand still between two events; the simulator's does.
fn next_stamp(last: &mut Option<i64>, now: Timestamp) -> i64 {
    let stamp = last.map_or(now.as_nanos(), |last| now.as_nanos().max(last.saturating_add(1)));
    *last = Some(stamp);
    stamp
}
