//! Writes events to the server: correlated by `decide`, asynchronously to the syncs that record them.
//!
//! A sync queues its event and continues. If the queue is full, the newest events are dropped and counted: events never
//! delay a sync.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use gantry_decide::events::{EventCorrelator, EventRecord, Recording, Subject};
use gantry_decide::gc::Resource;
use gantry_json::json;
use gantry_model::patch::PatchForm;
use gantry_model::{Event, EventType, RefusalKind, Timestamp};
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::api::Api;
use crate::clock::Clock;
use crate::informer::resource_of;
use crate::log_throttle::{LogThrottle, is_power_of_ten};
use crate::metrics::Metrics;
use crate::request::ResourcePath;
use crate::shutdown::Shutdown;
use gantry_client::RequestError;

/// The maximum number of queued events; as in client-go. A burst of 500 pods fits.
const QUEUE_MAX: usize = 1000;
/// The number of concurrent writers of a recorder with a single source; each object has one of them.
const SHARDS: usize = 8;
/// The maximum number of concurrent writers of a recorder with many sources. Each source has one, as a kubelet does:
/// with more requests in flight, other requests would wait for them.
const SHARDS_MAX: usize = 64;
/// The queue length of one writer; most events wait in the queue before it.
const SHARD_QUEUE_MAX: usize = 16;
/// How often an event without a response is tried; as in client-go, like the next.
const TRIES_MAX: u32 = 12;
const RETRY_EVERY: Duration = Duration::from_secs(10);

/// Records events. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EventRecorder {
    queue: mpsc::Sender<Box<PendingEvent>>,
    clock: Clock,
    metrics: Metrics,
    /// Whether events of type Normal are recorded.
    has_normal: bool,
    /// How many events were dropped because the queue was full.
    dropped: Arc<AtomicU64>,
}

/// Writes the recorded events: run it once.
#[derive(Debug)]
pub struct EventWriter {
    queue: mpsc::Receiver<Box<PendingEvent>>,
    api: Api,
    /// The number of sources that record events.
    sources: usize,
}

/// The concurrent writers of a recorder's events. Each is started when it is first needed.
struct EventShards {
    api: Api,
    shutdown: Shutdown,
    /// The queues. Their items are boxed, because a queue has room for 32 from the start.
    queues: Vec<Option<mpsc::Sender<Box<Recording>>>>,
    tasks: JoinSet<()>,
}

/// Writes the events of some objects, one after the other.
#[derive(Debug)]
struct EventShard {
    api: Api,
}

#[derive(Debug)]
struct PendingEvent {
    source: &'static str,
    subject: Subject,
    event: Event,
    now: Timestamp,
}

impl EventRecorder {
    /// The recorder and its writer.
    pub fn new(api: Api, clock: Clock) -> (Self, EventWriter) {
        Self::shared_by(1, api, clock)
    }

    /// A recorder for this many sources, such as nodes, which record events about different objects. The memory for the
    /// correlation of events is limited for all of them together; their queue is as long as the queues of all would be.
    pub fn shared_by(sources: usize, api: Api, clock: Clock) -> (Self, EventWriter) {
        let sources = sources.max(1);
        let (sender, receiver) = mpsc::channel(QUEUE_MAX.saturating_mul(sources));
        let metrics = api.metrics().clone();
        (
            Self { queue: sender, clock, metrics, has_normal: true, dropped: Arc::default() },
            EventWriter { queue: receiver, api, sources },
        )
    }

    /// Records events of type Normal, or warnings only.
    #[must_use]
    pub fn with_normal_events(self, has_normal: bool) -> Self {
        Self { has_normal, ..self }
    }

    /// Records an event of `source` about `subject`. Never waits, never fails.
    pub fn record(&self, source: &'static str, subject: Subject, event: Event) {
        if event.event_type == EventType::Normal && !self.has_normal {
            return;
        }
        let pending = Box::new(PendingEvent { source, subject, event, now: self.clock.now() });
        if let Err(full) = self.queue.try_send(pending) {
            self.metrics.count("gantry_events_dropped_total", &[("source", source)]);
            let (mpsc::error::TrySendError::Full(pending) | mpsc::error::TrySendError::Closed(pending)) =
                full;
            let count = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
            if is_power_of_ten(count) {
                let (reason, about) = (pending.event.reason, &pending.subject.name);
                tracing::warn!(source, reason, %about, count, "events are dropped, their queue is full");
            }
        }
    }
}

impl EventWriter {
    /// Writes events until shutdown.
    pub fn run(self, shutdown: Shutdown) -> BoxFuture<'static, ()> {
        Box::pin(self.write(shutdown))
    }

    async fn write(self, shutdown: Shutdown) {
        let Self { queue, api, sources } = self;
        let shards = if sources == 1 { SHARDS } else { sources.min(SHARDS_MAX) };
        let (queues, tasks) = (vec![None; shards], JoinSet::new());
        let mut shards = EventShards { api, shutdown: shutdown.clone(), queues, tasks };
        shutdown.unless(shards.correlate(queue, EventCorrelator::shared_by(sources))).await;
        let EventShards { queues, mut tasks, .. } = shards;
        drop(queues);
        while tasks.join_next().await.is_some() {}
    }
}

impl EventShards {
    /// Correlates recorded events, and passes each to the writer of its object, which keeps their order.
    async fn correlate(
        &mut self,
        mut queue: mpsc::Receiver<Box<PendingEvent>>,
        mut recorder: EventCorrelator,
    ) {
        while let Some(pending) = queue.recv().await {
            let hash = pending.subject.uid.text().bytes().fold(0_usize, |sum, byte| sum + usize::from(byte));
            let recording = recorder.record(pending.source, &pending.subject, &pending.event, pending.now);
            if matches!(recording, Recording::Create(_)) {
                pending.log(self.api.log_throttle());
            }
            // A writer ends only at shutdown, when events are dropped anyway.
            let _ = self.queue(hash).send(Box::new(recording)).await;
        }
    }

    /// The queue of the writer of all objects with this hash. It is started if it does not run yet.
    fn queue(&mut self, hash: usize) -> &mpsc::Sender<Box<Recording>> {
        let Self { api, shutdown, queues, tasks } = self;
        let number = hash % queues.len();
        queues[number].get_or_insert_with(|| {
            let (queue, waiting) = mpsc::channel(SHARD_QUEUE_MAX);
            tasks.spawn(EventShard { api: api.clone() }.run(waiting, shutdown.clone()));
            queue
        })
    }
}

impl PendingEvent {
    /// Logs warnings, throttled; the progress of a rollout is recorded in events, its end is logged by its controller.
    fn log(&self, log_throttle: &LogThrottle) {
        let Self { subject, event, now, .. } = self;
        let (kind, message) = (&subject.kind, &event.message);
        let namespace = subject.namespace.as_ref().map_or("", gantry_model::Namespace::as_str);
        let about = format_args!("{kind} {namespace}/{}", subject.name);
        if event.event_type == EventType::Normal {
            tracing::debug!("{about}: {message}");
            return;
        }
        match log_throttle.count(subject, event, *now) {
            Some(1) => tracing::warn!("{about}: {message}"),
            Some(count) => tracing::warn!("{about}: {message} (the {count}th like this)"),
            None => tracing::debug!("{about}: {message}"),
        }
    }
}

impl EventShard {
    async fn run(self, mut waiting: mpsc::Receiver<Box<Recording>>, shutdown: Shutdown) {
        while let Some(Some(recording)) = shutdown.unless(waiting.recv()).await {
            if shutdown.unless(self.write(*recording)).await.is_none() {
                return;
            }
        }
    }

    async fn write(&self, recording: Recording) {
        let Some(record) = recording.record() else { return };
        for _ in 0..TRIES_MAX {
            let written = match &recording {
                Recording::Increase(record) => match self.increase(record).await {
                    Err(failure) if failure.kind() == RefusalKind::NotFound => self.create(record).await,
                    written => written,
                },
                _ => self.create(record).await,
            };
            match written {
                Ok(()) => return,
                Err(failure) if failure.code.is_some() => {
                    // The server has refused it: the namespace is terminating, or access is denied.
                    tracing::debug!(event = %record.name, %failure, "an event was refused");
                    return;
                }
                Err(failure) => {
                    tracing::debug!(event = %record.name, %failure, "an event could not be sent; retrying");
                    tokio::time::sleep(RETRY_EVERY).await;
                }
            }
        }
        tracing::warn!(event = %record.name, reason = record.reason, "an event could not be sent and is dropped");
    }

    async fn create(&self, record: &EventRecord) -> Result<(), RequestError> {
        let target = ResourcePath::collection(&events(), Some(&record.namespace));
        self.api.create(&target, &render(record)).await
    }

    async fn increase(&self, record: &EventRecord) -> Result<(), RequestError> {
        let target = ResourcePath::object(&events(), Some(&record.namespace), &record.name);
        let body = json!({
            "count": record.count, "message": record.message, "lastTimestamp": record.last.render(),
        });
        self.api.patch(&target, PatchForm::StrategicMerge, &body).await
    }
}

fn events() -> Resource {
    resource_of::<core::Event>()
}

/// The event in its wire format.
fn render(record: &EventRecord) -> core::Event {
    let subject = &record.subject;
    core::Event {
        metadata: ObjectMeta {
            name: Some(record.name.to_string()),
            namespace: Some(record.namespace.to_string()),
            ..ObjectMeta::default()
        },
        involved_object: core::ObjectReference {
            api_version: Some(subject.api_version.to_string()),
            kind: Some(subject.kind.to_string()),
            namespace: subject.namespace.as_ref().map(ToString::to_string),
            name: Some(subject.name.to_string()),
            uid: Some(subject.uid.to_string()),
            resource_version: Some(subject.resource_version.to_string()),
            field_path: None,
        },
        source: Some(core::EventSource { component: Some(record.source.to_owned()), host: None }),
        reporting_component: record.reporting_component.map(ToOwned::to_owned),
        type_: Some(record.event_type.as_str().to_owned()),
        reason: Some(record.reason.to_owned()),
        message: Some(record.message.clone()),
        count: Some(record.count),
        first_timestamp: Some(record.first.render()),
        last_timestamp: Some(record.last.render()),
        ..core::Event::default()
    }
}
