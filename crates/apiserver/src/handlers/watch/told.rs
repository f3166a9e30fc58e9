//! What watchers are told: an event in the form each of them wants, made once for all who want the same.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use gantry_registry::kinds::Kind;
use gantry_registry::selector::Selection;
use gantry_registry::table::{Headings, IncludeObject, Layout, Printer, Version, partial};
use gantry_registry::{Refusal, encode};
use gantry_store::{Change, Event, Item, Revision};
use serde_json::{Value, json};

use crate::ApiServer;
use crate::accept::View;
use crate::served;

/// What a watch of one client looks like.
pub(super) struct Form {
    pub(super) kind: Arc<Kind>,
    pub(super) selection: Selection,
    pub(super) view: View,
    pub(super) include: IncludeObject,
    pub(super) headings: Headings,
    pub(super) server: ApiServer,
}

/// What an event is to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Added,
    Modified,
    Deleted,
}

/// What was made of an event for the watchers of one kind; it goes with the event to all of them.
struct Told {
    kind: Arc<Kind>,
    before: OnceLock<Result<Option<Value>, Refusal>>,
    after: OnceLock<Result<Option<Value>, Refusal>>,
    /// By word.
    plain: [OnceLock<Result<Bytes, Refusal>>; 3],
    /// By word, in the current version of the form: the garbage collector watches everything like that.
    partial: [OnceLock<Result<Bytes, Refusal>>; 3],
}

impl Form {
    /// What a change is to this client, if it is anything.
    pub(super) fn event(&mut self, event: &Arc<Event>) -> Result<Option<Bytes>, Refusal> {
        let shared = event.attached(|_| Told::new(&self.kind));
        if Arc::ptr_eq(&shared.kind, &self.kind) {
            self.told(&shared, event)
        } else {
            // The same objects are watched in another version of the API.
            self.told(&Told::new(&self.kind), event)
        }
    }

    fn told(&mut self, told: &Told, event: &Event) -> Result<Option<Bytes>, Refusal> {
        let Some(word) = self.word(told, event)? else { return Ok(None) };
        match self.view {
            View::Plain | View::Discovery => told.plain(word, event).map(Some),
            View::Partial(Version::V1) | View::PartialList(Version::V1) => {
                told.partial(word, event).map(Some)
            }
            View::Partial(_) | View::PartialList(_) | View::Table(_) => {
                Ok(told.object(word, event)?.map(|object| self.line(word.text(), object)))
            }
        }
    }

    /// A change as the selection sees it: what leaves it is deleted, what enters it is added.
    fn word(&self, told: &Told, event: &Event) -> Result<Option<Word>, Refusal> {
        if self.selection.is_everything() {
            return Ok(Some(match event.change {
                Change::Created { .. } => Word::Added,
                Change::Updated { .. } => Word::Modified,
                Change::Deleted { .. } => Word::Deleted,
            }));
        }
        let matches = |object: Option<&Value>| object.is_some_and(|object| self.selection.matches(object));
        Ok(match (matches(told.before(event)?), matches(told.after(event)?)) {
            (false, true) => Some(Word::Added),
            (true, true) => Some(Word::Modified),
            (true, false) => Some(Word::Deleted),
            (false, false) => None,
        })
    }

    /// An object that was there when the watch began.
    pub(super) fn initial(&mut self, item: &Item, out: &mut Vec<u8>) -> Result<(), Refusal> {
        if matches!(self.view, View::Plain | View::Discovery) {
            return plain_into(Word::Added, &self.kind, &item.value, item.revision, out);
        }
        let object = served::parse(&self.kind, &item.value, item.revision)?;
        out.extend_from_slice(&self.line(Word::Added.text(), &object));
        Ok(())
    }

    /// How far the watch has come.
    pub(super) fn bookmark(&mut self, reached: Revision, annotations: Option<Value>) -> Bytes {
        let mut object = json!({"kind": self.kind.kind, "apiVersion": self.kind.api_version, "metadata": {}});
        if let Some(annotations) = annotations {
            object["metadata"]["annotations"] = annotations;
        }
        let object = served::versioned(object, reached);
        match self.view {
            View::Plain | View::Discovery => wrapped("BOOKMARK", &object),
            _ => self.line("BOOKMARK", &object),
        }
    }

    fn line(&mut self, word: &str, object: &Value) -> Bytes {
        match self.view {
            View::Plain | View::Discovery => wrapped(word, object),
            View::Partial(version) | View::PartialList(version) => wrapped(word, &partial(object, version)),
            View::Table(version) => {
                let layout = Layout { version, include: self.include, headings: self.headings };
                self.headings = Headings::Known;
                let printer = Printer::of_kind(&self.kind);
                wrapped(word, &printer.table_of_one(object, layout, self.server.surroundings.now()))
            }
        }
    }
}

/// Why a watch ends early.
pub(super) fn error(refusal: &Refusal) -> Bytes {
    wrapped("ERROR", &refusal.status())
}

impl Word {
    fn text(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

impl Told {
    fn new(kind: &Arc<Kind>) -> Self {
        Self {
            kind: Arc::clone(kind),
            before: OnceLock::new(),
            after: OnceLock::new(),
            plain: Default::default(),
            partial: Default::default(),
        }
    }

    /// The object before the change, at the version of the change: whoever loses it sees that.
    fn before(&self, event: &Event) -> Result<Option<&Value>, Refusal> {
        let read = self.before.get_or_init(|| {
            let previous = event.previous();
            previous.map(|previous| served::parse(&self.kind, &previous.value, event.revision)).transpose()
        });
        read.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    fn after(&self, event: &Event) -> Result<Option<&Value>, Refusal> {
        let read = self.after.get_or_init(|| {
            event.value().map(|value| served::parse(&self.kind, value, event.revision)).transpose()
        });
        read.as_ref().map(Option::as_ref).map_err(Clone::clone)
    }

    /// The object that belongs to a word.
    fn object(&self, word: Word, event: &Event) -> Result<Option<&Value>, Refusal> {
        match word {
            Word::Added | Word::Modified => self.after(event),
            Word::Deleted => self.before(event),
        }
    }

    fn plain(&self, word: Word, event: &Event) -> Result<Bytes, Refusal> {
        let made = self.plain[word as usize].get_or_init(|| {
            let previous = event.previous().map(|previous| &previous.value);
            let value = if word == Word::Deleted { previous } else { event.value() };
            let value = value.map_or(&[][..], |value| value);
            let mut line = Vec::with_capacity(value.len() + 96);
            plain_into(word, &self.kind, value, event.revision, &mut line)?;
            Ok(line.into())
        });
        made.clone()
    }

    fn partial(&self, word: Word, event: &Event) -> Result<Bytes, Refusal> {
        let made = self.partial[word as usize].get_or_init(|| {
            let object = self.object(word, event)?.unwrap_or(&Value::Null);
            Ok(wrapped(word.text(), &partial(object, Version::V1)))
        });
        made.clone()
    }
}

fn plain_into(
    word: Word,
    kind: &Kind,
    stored: &[u8],
    revision: Revision,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    begin_line(word.text(), out);
    served::write_object(kind, stored, revision, out)?;
    out.extend_from_slice(b"}\n");
    Ok(())
}

fn wrapped(word: &str, object: &Value) -> Bytes {
    let mut out = Vec::with_capacity(256);
    begin_line(word, &mut out);
    out.extend_from_slice(&encode::plain(object));
    out.extend_from_slice(b"}\n");
    out.into()
}

fn begin_line(word: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(word.as_bytes());
    out.extend_from_slice(b"\",\"object\":");
}
