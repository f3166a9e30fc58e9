//! Events on their way to the server: folded by `decide`, written behind everybody's back.
//!
//! A sync hands its event over and goes on. If more pile up than fit, the newest are dropped and counted: an event is
//! never worth a late sync.

use std::time::Duration;

use gantry_decide::events::{EventRecord, Recorder, Recording, Subject};
use gantry_decide::gc::Resource;
use gantry_model::patch::PatchForm;
use gantry_model::{Event, EventType, RefusalKind, Timestamp};
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::api::Api;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::informer::resource_of;
use crate::metrics::Metrics;
use crate::repeats::Repeats;
use crate::request::Target;
use crate::shutdown::Shutdown;

/// How many events may wait to be written; client-go's number. A burst of 500 pods fits.
const WAITING_MAX: usize = 1000;
/// So many objects have their events written side by side.
const LANES: usize = 8;
/// How many events may wait in one lane; the queue before it is where most of them wait.
const LANE_WAITING_MAX: usize = 16;
/// How often an event is tried that no server answers; client-go's numbers, like the next.
const TRIES_MAX: u32 = 12;
/// How long between two tries.
const RETRY_EVERY: Duration = Duration::from_secs(10);

/// Takes events. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EventRecorder {
    queue: mpsc::Sender<Told>,
    clock: Clock,
    metrics: Metrics,
}

/// Writes them: run it once.
#[derive(Debug)]
pub struct EventWriter {
    queue: mpsc::Receiver<Told>,
    api: Api,
}

/// Writes the events of some objects, one after the other.
#[derive(Debug)]
struct Lane {
    api: Api,
}

/// One event as it was told.
#[derive(Debug)]
struct Told {
    source: &'static str,
    subject: Subject,
    event: Event,
    now: Timestamp,
}

impl EventRecorder {
    /// Both ends of the way to the server.
    pub fn new(api: Api, clock: Clock) -> (Self, EventWriter) {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        let metrics = api.metrics().clone();
        (Self { queue: sender, clock, metrics }, EventWriter { queue: receiver, api })
    }

    /// Tells an event that `source` has to say about `subject`. Never waits, never fails.
    pub fn record(&self, source: &'static str, subject: Subject, event: Event) {
        let told = Told { source, subject, event, now: self.clock.now() };
        if let Err(full) = self.queue.try_send(told) {
            self.metrics.count("gantry_events_dropped_total", &[("source", source)]);
            let (mpsc::error::TrySendError::Full(told) | mpsc::error::TrySendError::Closed(told)) = full;
            tracing::warn!(source, reason = told.event.reason, about = %told.subject.name, "an event was dropped");
        }
    }
}

impl EventWriter {
    /// Writes events until it is time to end.
    pub async fn run(self, shutdown: Shutdown) {
        let Self { queue, api } = self;
        let mut lanes = Vec::new();
        let mut tasks = JoinSet::new();
        for _ in 0..LANES {
            let (lane, waiting) = mpsc::channel(LANE_WAITING_MAX);
            lanes.push(lane);
            tasks.spawn(Lane { api: api.clone() }.run(waiting, shutdown.clone()));
        }
        shutdown.unless(fold(queue, lanes, api.repeats())).await;
        while tasks.join_next().await.is_some() {}
    }
}

/// Folds what was told, and hands each recording to the lane of its object, where order is kept.
async fn fold(mut queue: mpsc::Receiver<Told>, lanes: Vec<mpsc::Sender<Recording>>, repeats: &Repeats) {
    let mut recorder = Recorder::new();
    while let Some(told) = queue.recv().await {
        let lane = told.subject.uid.as_str().bytes().fold(0_usize, |sum, byte| sum + usize::from(byte));
        let recording = recorder.record(told.source, &told.subject, &told.event, told.now);
        if matches!(recording, Recording::Create(_)) {
            told.log(repeats);
        }
        // A lane ends when everything does, and then it does not matter any more.
        let _ = lanes[lane % LANES].send(recording).await;
    }
}

impl Told {
    /// Logs what goes wrong, folded; how a rollout goes on is in the events, how it ended is logged by its controller.
    fn log(&self, repeats: &Repeats) {
        let Self { subject, event, now, .. } = self;
        let (kind, message) = (&subject.kind, &event.message);
        let namespace = subject.namespace.as_ref().map_or("", gantry_model::Namespace::as_str);
        let about = format!("{kind} {namespace}/{}", subject.name);
        match (event.event_type, repeats.count(subject, event, *now)) {
            (EventType::Warning, Some(1)) => tracing::warn!("{about}: {message}"),
            (EventType::Warning, Some(count)) => {
                tracing::warn!("{about}: {message} (the {count}th like this)");
            }
            (EventType::Warning, None) | (EventType::Normal, _) => tracing::debug!("{about}: {message}"),
        }
    }
}

impl Lane {
    async fn run(self, mut waiting: mpsc::Receiver<Recording>, shutdown: Shutdown) {
        while let Some(Some(recording)) = shutdown.unless(waiting.recv()).await {
            if shutdown.unless(self.write(recording)).await.is_none() {
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
                    // The server has an opinion and will not change it: the namespace is going, or we may not.
                    tracing::debug!(event = %record.name, %failure, "an event was refused");
                    return;
                }
                Err(failure) => {
                    tracing::debug!(event = %record.name, %failure, "an event could not be sent; trying again");
                    tokio::time::sleep(RETRY_EVERY).await;
                }
            }
        }
        tracing::warn!(event = %record.name, reason = record.reason, "an event could not be sent and is dropped");
    }

    async fn create(&self, record: &EventRecord) -> Result<(), Failure> {
        let target = Target::collection(&events(), Some(&record.namespace));
        self.api.create::<Value>(&target, &render(record)).await.map(drop)
    }

    async fn increase(&self, record: &EventRecord) -> Result<(), Failure> {
        let target = Target::object(&events(), Some(&record.namespace), &record.name);
        let body = json!({
            "count": record.count, "message": record.message, "lastTimestamp": record.last.render(),
        });
        self.api.patch::<Value>(&target, PatchForm::StrategicMerge, &body).await.map(drop)
    }
}

fn events() -> Resource {
    resource_of::<core::Event>()
}

/// The event as the wire carries it.
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
