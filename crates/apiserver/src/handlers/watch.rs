//! Watches: everything that happens to the objects asked for, in order, none of it twice.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use gantry_registry::kinds::Kind;
use gantry_registry::paging::{ListOptions, WatchPlan, expired_watch};
use gantry_registry::selector::Selection;
use gantry_registry::table::{Headings, IncludeObject, Layout, Printer, Version, partial};
use gantry_registry::{Moment, Refusal, encode};
use gantry_store::{Change, Error, Event, Notice, Revision, Watch};
use serde_json::{Value, json};
use tokio::time::Sleep;

use super::call::Call;
use super::read;
use crate::ApiServer;
use crate::accept::View;
use crate::answer::{Answer, Chunks};
use crate::objects::{Objects, failed, parse, versioned};

/// How long a watch lasts if nobody says.
const DEFAULT_SECONDS: u64 = 45 * 60;
/// How often a silent watch says how far it has come.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);

/// What a watch of one client looks like.
struct Form {
    kind: &'static Kind,
    selection: Selection,
    view: View,
    include: IncludeObject,
    headings: Headings,
    server: ApiServer,
}

/// The store's watch while it waits for the next thing to happen.
type Waiting = Pin<Box<dyn Future<Output = (Watch, Option<Result<Notice, Error>>)> + Send>>;

/// The stream of one watch.
struct Stream {
    form: Form,
    ready: VecDeque<Bytes>,
    next: Waiting,
    ends: Pin<Box<Sleep>>,
    bookmark: Option<Pin<Box<Sleep>>>,
    reached: Revision,
    started: Revision,
    over: bool,
}

/// Begins a watch.
pub(super) async fn begin(call: &Call<'_>, options: &ListOptions) -> Result<Answer, Refusal> {
    let store = &call.server.objects.store;
    let mut form = Form {
        kind: call.kind,
        selection: options.selection.clone(),
        view: call.view,
        include: call.include()?,
        headings: Headings::Shown,
        server: call.server.clone(),
    };
    let mut ready = VecDeque::new();
    let after = match options.watch_plan()? {
        WatchPlan::After(version) => Revision::new(version).unwrap_or(Revision::EMPTY),
        WatchPlan::FromNow => store.bounds().await.map_err(|error| failed(&error))?.current,
        WatchPlan::Initial { end_bookmark, .. } => {
            let everything = read::list(call, &initial(options, call)?).await?;
            for object in &everything.items {
                ready.push_back(form.line("ADDED", object));
            }
            if end_bookmark {
                let annotations = json!({"k8s.io/initial-events-end": "true"});
                ready.push_back(form.bookmark(everything.revision, Some(annotations)));
            }
            everything.revision
        }
    };
    let prefix = Objects::prefix(call.kind, call.namespace);
    let watch = match store.watch(prefix, after).await {
        Ok(watch) => watch,
        Err(Error::Compacted { floor }) => {
            let line = form.error(&expired_watch(after.get(), floor.get()));
            return Ok(Answer::json(200, line));
        }
        Err(error) => return Err(failed(&error)),
    };
    let seconds = options
        .timeout_seconds
        .and_then(|seconds| u64::try_from(seconds).ok())
        .filter(|seconds| *seconds > 0);
    Ok(Answer::stream(Stream {
        form,
        ready,
        next: next(watch),
        ends: Box::pin(tokio::time::sleep(Duration::from_secs(seconds.unwrap_or(DEFAULT_SECONDS)))),
        bookmark: options.bookmarks.then(|| Box::pin(tokio::time::sleep(BOOKMARK_EVERY))),
        reached: after,
        started: after,
        over: false,
    }))
}

/// The list with which a watch begins: the same selection, the latest state.
fn initial(options: &ListOptions, call: &Call<'_>) -> Result<ListOptions, Refusal> {
    let query: Vec<_> = call
        .query
        .0
        .iter()
        .filter(|(key, _)| matches!(key.as_str(), "labelSelector" | "fieldSelector"))
        .cloned()
        .collect();
    let list = ListOptions::read(&query, call.kind.group, call.kind.kind)?;
    debug_assert_eq!(list.selection, options.selection);
    Ok(list)
}

fn next(mut watch: Watch) -> Waiting {
    Box::pin(async move {
        let notice = watch.next().await;
        (watch, notice)
    })
}

impl Chunks for Stream {
    fn poll_chunk(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Poll::Ready(Some(line));
            }
            if self.over || self.ends.as_mut().poll(context).is_ready() {
                return Poll::Ready(None);
            }
            if let Poll::Ready((watch, notice)) = self.next.as_mut().poll(context) {
                self.next = next(watch);
                self.take(notice);
                continue;
            }
            let due = self.bookmark.as_mut().is_some_and(|timer| timer.as_mut().poll(context).is_ready());
            if !due {
                return Poll::Pending;
            }
            self.bookmark = Some(Box::pin(tokio::time::sleep(BOOKMARK_EVERY)));
            let reached = self.reached;
            let line = self.form.bookmark(reached, None);
            self.ready.push_back(line);
        }
    }
}

impl Stream {
    fn take(&mut self, notice: Option<Result<Notice, Error>>) {
        match notice {
            Some(Ok(Notice::Change(event))) => {
                self.reached = event.revision;
                let line = self.form.event(&event);
                self.ready.extend(line);
            }
            Some(Ok(Notice::Progress(revision))) => self.reached = revision,
            Some(Err(Error::Compacted { floor })) => {
                let line = self.form.error(&expired_watch(self.started.get(), floor.get()));
                self.ready.push_back(line);
                self.over = true;
            }
            Some(Err(error)) => {
                let line = self.form.error(&failed(&error));
                self.ready.push_back(line);
                self.over = true;
            }
            None => self.over = true,
        }
    }
}

/// An event in the form that most clients want, made once for all of them.
struct Encoded(Option<Bytes>);

impl Form {
    /// What a change is to this client, if it is anything.
    fn event(&mut self, event: &Arc<Event>) -> Option<Bytes> {
        if self.view == View::Plain && self.selection.is_everything() {
            let kind = self.kind;
            return event.attached(|event| Encoded(plain(kind, event))).0.clone();
        }
        let (word, object) = self.transition(event)?;
        Some(self.line(word, &object))
    }

    /// A change as the selection sees it: what leaves it is deleted, what enters it is added.
    fn transition(&self, event: &Event) -> Option<(&'static str, Value)> {
        let before = event.previous().and_then(|previous| parse(&previous.value, event.revision).ok());
        let after = event.value().and_then(|value| parse(value, event.revision).ok());
        let matches =
            |object: &Option<Value>| object.as_ref().is_some_and(|object| self.selection.matches(object));
        match (matches(&before), matches(&after)) {
            (false, true) => Some(("ADDED", after?)),
            (true, true) => Some(("MODIFIED", after?)),
            (true, false) => Some(("DELETED", before?)),
            (false, false) => None,
        }
    }

    fn line(&mut self, word: &str, object: &Value) -> Bytes {
        match self.view {
            View::Plain | View::Discovery => line(word, object, self.kind),
            View::Partial(version) | View::PartialList(version) => wrapped(word, &partial(object, version)),
            View::Table(version) => {
                let now = self.server.surroundings.now();
                let table = self.table(version, object, now);
                wrapped(word, &table)
            }
        }
    }

    fn table(&mut self, version: Version, object: &Value, now: Moment) -> Value {
        let layout = Layout { version, include: self.include, headings: self.headings };
        self.headings = Headings::Known;
        Printer::of(self.kind.group, self.kind.kind).table_of_one(object, layout, now)
    }

    fn bookmark(&mut self, reached: Revision, annotations: Option<Value>) -> Bytes {
        let mut object =
            json!({"kind": self.kind.kind, "apiVersion": self.kind.api_version(), "metadata": {}});
        if let Some(annotations) = annotations {
            object["metadata"]["annotations"] = annotations;
        }
        let object = versioned(object, reached);
        match self.view {
            View::Plain | View::Discovery => wrapped("BOOKMARK", &object),
            _ => self.line("BOOKMARK", &object),
        }
    }

    #[expect(clippy::unused_self, reason = "an error looks the same in every form, but belongs to the watch")]
    fn error(&self, refusal: &Refusal) -> Bytes {
        wrapped("ERROR", &refusal.status())
    }
}

fn plain(kind: &Kind, event: &Event) -> Option<Bytes> {
    let (word, value) = match &event.change {
        Change::Created { value } => ("ADDED", value),
        Change::Updated { value, .. } => ("MODIFIED", value),
        Change::Deleted { previous } => ("DELETED", &previous.value),
    };
    parse(value, event.revision).ok().map(|object| line(word, &object, kind))
}

fn line(word: &str, object: &Value, kind: &Kind) -> Bytes {
    let mut bytes = format!("{{\"type\":\"{word}\",\"object\":").into_bytes();
    encode::object_into(object, kind.message, &mut bytes);
    bytes.extend_from_slice(b"}\n");
    bytes.into()
}

fn wrapped(word: &str, object: &Value) -> Bytes {
    let mut bytes = format!("{{\"type\":\"{word}\",\"object\":").into_bytes();
    bytes.extend_from_slice(&encode::plain(object));
    bytes.extend_from_slice(b"}\n");
    bytes.into()
}
