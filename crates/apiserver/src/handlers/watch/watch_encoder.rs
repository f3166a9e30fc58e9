//! Encodes watch events in the representation of each watcher; equal encodings are shared.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use gantry_json::{Value, json};
use gantry_registry::selector::Selection;
use gantry_registry::table::{Headings, IncludeObject, Layout, Printer, Version, partial};
use gantry_schema::encode::{self, TypeMeta};
use gantry_schema::kinds::Kind;
use gantry_store::{Change, Event, Item, Revision};

use crate::ApiServer;
use crate::accept::View;
use crate::chunk_buffer::{self, ChunkBuffer};
use crate::error::ApiError;
use crate::heavy_work::{HEAVY_BYTES, off_worker_if_heavy};
use crate::storage_codec;

/// Encodes the events of one watch.
pub(super) struct WatchEncoder {
    pub(super) kind: Arc<Kind>,
    pub(super) selection: Selection,
    pub(super) view: View,
    pub(super) include: IncludeObject,
    pub(super) headings: Headings,
    pub(super) server: ApiServer,
}

/// The type of an event for a watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventType {
    Added,
    Modified,
    Deleted,
}

/// The encodings of an event, shared by all watchers of the same kind.
struct EncodedEvent {
    kind: Arc<Kind>,
    before: OnceLock<Result<Option<Value>, ApiError>>,
    after: OnceLock<Result<Option<Value>, ApiError>>,
    /// By event type.
    plain: [OnceLock<Result<Bytes, ApiError>>; 3],
    /// By event type, as PartialObjectMetadata v1: the garbage collector watches all kinds in this form.
    partial: [OnceLock<Result<Bytes, ApiError>>; 3],
}

impl WatchEncoder {
    /// Encodes an event; `None` if the watch does not select it.
    pub(super) fn event(&mut self, event: &Arc<Event>) -> Result<Option<Bytes>, ApiError> {
        let shared = event.attached(|_| EncodedEvent::new(&self.kind));
        if Arc::ptr_eq(&shared.kind, &self.kind) {
            self.encode(&shared, event)
        } else {
            // Another version of the same kind.
            self.encode(&EncodedEvent::new(&self.kind), event)
        }
    }

    fn encode(&mut self, encoded: &EncodedEvent, event: &Event) -> Result<Option<Bytes>, ApiError> {
        let Some(event_type) = self.event_type(encoded, event)? else { return Ok(None) };
        match self.view {
            View::Plain | View::Discovery => encoded.plain(event_type, event).map(Some),
            View::Partial(Version::V1) | View::PartialList(Version::V1) => {
                encoded.partial(event_type, event).map(Some)
            }
            View::Partial(_) | View::PartialList(_) | View::Table(_) => {
                Ok(encoded.object(event_type, event)?.map(|object| self.line(event_type.text(), object)))
            }
        }
    }

    /// The event type according to the watch's selection: an object that starts to match is added, one that ceases to
    /// is deleted.
    fn event_type(&self, encoded: &EncodedEvent, event: &Event) -> Result<Option<EventType>, ApiError> {
        if self.selection.is_everything() {
            return Ok(Some(match event.change {
                Change::Created { .. } => EventType::Added,
                Change::Updated { .. } => EventType::Modified,
                Change::Deleted { .. } => EventType::Deleted,
            }));
        }
        let matches = |object: Option<&Value>| object.is_some_and(|object| self.selection.matches(object));
        Ok(match (matches(encoded.before(event)?), matches(encoded.after(event)?)) {
            (false, true) => Some(EventType::Added),
            (true, true) => Some(EventType::Modified),
            (true, false) => Some(EventType::Deleted),
            (false, false) => None,
        })
    }

    /// Encodes an object that existed when the watch started.
    pub(super) fn initial(&mut self, item: &Item, out: &mut ChunkBuffer) -> Result<(), ApiError> {
        if matches!(self.view, View::Plain | View::Discovery) {
            let whole = out.chunk().len();
            begin_line(EventType::Added.text(), out.chunk());
            let pushed = out.push_stored(&self.kind, item, TypeMeta::Written, LINE_END);
            return pushed.inspect_err(|_| out.chunk().truncate(whole));
        }
        let line = off_worker_if_heavy(item.value.len(), || {
            let object = storage_codec::decode(&self.kind, &item.value, item.revision)?;
            Ok::<_, ApiError>(self.line(EventType::Added.text(), &object))
        })?;
        out.push_encoded(line)
    }

    /// Whether encoding an initial object takes long.
    pub(super) fn is_heavy(&self, item: &Item) -> bool {
        match self.view {
            View::Plain | View::Discovery => chunk_buffer::is_heavy(&self.kind, item),
            View::Partial(_) | View::PartialList(_) | View::Table(_) => item.value.len() > HEAVY_BYTES,
        }
    }

    /// Whether all watchers get the same bytes of an event.
    pub(super) fn are_events_shared(&self) -> bool {
        match self.view {
            View::Plain | View::Discovery => true,
            View::Partial(version) | View::PartialList(version) => version == Version::V1,
            View::Table(_) => false,
        }
    }

    /// Encodes a bookmark.
    pub(super) fn bookmark(&mut self, reached: Revision, annotations: Option<Value>) -> Bytes {
        let mut object = json!({"kind": self.kind.kind, "apiVersion": self.kind.api_version, "metadata": {}});
        if let Some(annotations) = annotations {
            object["metadata"]["annotations"] = annotations;
        }
        let object = storage_codec::with_version(object, reached);
        match self.view {
            View::Plain | View::Discovery => event_line("BOOKMARK", &object),
            _ => self.line("BOOKMARK", &object),
        }
    }

    fn line(&mut self, event_type: &str, object: &Value) -> Bytes {
        match self.view {
            View::Plain | View::Discovery => event_line(event_type, object),
            View::Partial(version) | View::PartialList(version) => {
                event_line(event_type, &partial(object, version))
            }
            View::Table(version) => {
                let layout = Layout { version, include: self.include, headings: self.headings };
                self.headings = Headings::Known;
                let printer = Printer::of_kind(&self.kind);
                event_line(event_type, &printer.table_of_one(object, layout, self.server.environment.now()))
            }
        }
    }
}

/// Encodes an error that ends the watch.
pub(super) fn error(error: &ApiError) -> Bytes {
    event_line("ERROR", &error.refusal().status())
}

impl EventType {
    fn text(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

impl EncodedEvent {
    fn new(kind: &Arc<Kind>) -> Self {
        Self {
            kind: Arc::clone(kind),
            before: OnceLock::new(),
            after: OnceLock::new(),
            plain: Default::default(),
            partial: Default::default(),
        }
    }

    /// The object before the change, with the version of the change.
    fn before(&self, event: &Event) -> Result<Option<&Value>, ApiError> {
        let read = self.before.get_or_init(|| {
            let previous = event.previous();
            previous
                .map(|previous| storage_codec::decode(&self.kind, &previous.value, event.revision))
                .transpose()
        });
        read.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    fn after(&self, event: &Event) -> Result<Option<&Value>, ApiError> {
        let read = self.after.get_or_init(|| {
            event.value().map(|value| storage_codec::decode(&self.kind, value, event.revision)).transpose()
        });
        read.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// The object of an event of this type.
    fn object(&self, event_type: EventType, event: &Event) -> Result<Option<&Value>, ApiError> {
        match event_type {
            EventType::Added | EventType::Modified => self.after(event),
            EventType::Deleted => self.before(event),
        }
    }

    fn plain(&self, event_type: EventType, event: &Event) -> Result<Bytes, ApiError> {
        let made = self.plain[event_type as usize].get_or_init(|| {
            let previous = event.previous().map(|previous| &previous.value);
            let value = if event_type == EventType::Deleted { previous } else { event.value() };
            let value = value.cloned().unwrap_or_default();
            let mut line = Vec::with_capacity(value.len() + 96);
            write_plain(event_type, &self.kind, &value, event.revision, &mut line)?;
            Ok(line.into())
        });
        made.clone()
    }

    fn partial(&self, event_type: EventType, event: &Event) -> Result<Bytes, ApiError> {
        let made = self.partial[event_type as usize].get_or_init(|| {
            let object = self.object(event_type, event)?.unwrap_or(&Value::Null);
            Ok(event_line(event_type.text(), &partial(object, Version::V1)))
        });
        made.clone()
    }
}

fn write_plain(
    event_type: EventType,
    kind: &Kind,
    stored: &Bytes,
    revision: Revision,
    out: &mut Vec<u8>,
) -> Result<(), ApiError> {
    begin_line(event_type.text(), out);
    storage_codec::write(kind, stored, revision, TypeMeta::Written, out)?;
    out.extend_from_slice(LINE_END);
    Ok(())
}

fn event_line(event_type: &str, object: &Value) -> Bytes {
    let mut out = Vec::with_capacity(256);
    begin_line(event_type, &mut out);
    out.extend_from_slice(&encode::plain(object));
    out.extend_from_slice(LINE_END);
    out.into()
}

/// The end of an event, after its object.
const LINE_END: &[u8] = b"}\n";

fn begin_line(event_type: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(event_type.as_bytes());
    out.extend_from_slice(b"\",\"object\":");
}
