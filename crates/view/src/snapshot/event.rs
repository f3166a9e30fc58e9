//! An event, parsed for display.

use gantry_model::{EventType, Name, Timestamp, Uid};
use k8s_openapi::api::core::v1 as wire;

/// An event of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedEvent {
    /// Its own name.
    pub name: Name,
    /// The uid of the object.
    pub about: Uid,
    /// That object's kind.
    pub kind: String,
    /// That object's name.
    pub of: Name,
    /// Its type: normal or warning.
    pub event_type: EventType,
    /// Its reason, one word in camel case.
    pub reason: String,
    /// Its message.
    pub message: String,
    /// How often it was seen.
    pub count: i32,
    /// When it was last seen.
    pub last: Option<Timestamp>,
}

impl ObservedEvent {
    /// Parses an event.
    ///
    /// There are three generations of counts and times: `count` and `lastTimestamp`, `series`, and `eventTime`.
    pub(super) fn parse(event: wire::Event) -> Self {
        let micro = |time: &k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime| {
            Timestamp::parse(&k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(time.0))
        };
        let series = event.series.as_ref();
        let last = [
            event.last_timestamp.as_ref().map(Timestamp::parse),
            series.and_then(|series| series.last_observed_time.as_ref()).map(micro),
            event.event_time.as_ref().map(micro),
            event.first_timestamp.as_ref().map(Timestamp::parse),
            event.metadata.creation_timestamp.as_ref().map(Timestamp::parse),
        ];
        Self {
            count: event.count.or(series.and_then(|series| series.count)).unwrap_or(1),
            last: last.into_iter().flatten().next(),
            name: super::name(event.metadata.name),
            about: Uid::from(event.involved_object.uid.unwrap_or_default()),
            kind: event.involved_object.kind.unwrap_or_default(),
            of: super::name(event.involved_object.name),
            event_type: if event.type_.as_deref() == Some("Warning") {
                EventType::Warning
            } else {
                EventType::Normal
            },
            reason: event.reason.unwrap_or_default(),
            message: event.message.unwrap_or_default(),
        }
    }
}
