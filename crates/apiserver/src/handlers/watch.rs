//! Watches: a stream of all changes to the selected objects, in order.

mod watch_encoder;

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use gantry_json::json;
use gantry_primitives::{Refusal, StatusReason};
use gantry_registry::paging::{ListOptions, WatchPlan, expired_watch};
use gantry_registry::table::Headings;
use gantry_store::{Error, Event, Item, Notice, Revision, Watch};
use tokio::time::{Instant, Sleep, sleep_until};

use super::call::Call;
use super::read;
use crate::chunk_buffer::ChunkBuffer;
use crate::error::ApiError;
use crate::heavy_work::{BodySlot, HeavySlot};
use crate::objects::Objects;
use crate::response::{ApiResponse, Chunks};
use watch_encoder::WatchEncoder;

/// The default timeout of a watch is between this and twice this, so that watches do not end all at once.
const DEFAULT_SECONDS: u64 = 30 * 60;
/// The interval of bookmarks.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// The time of the last bookmark before the end of a watch.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

/// The stream of one watch.
struct Stream {
    encoder: WatchEncoder,
    /// The initial objects that are not sent yet.
    initial: std::vec::IntoIter<Item>,
    /// The revision of the initial objects, if a bookmark is to follow them.
    initial_end: Option<Revision>,
    /// Initial objects and large events that are not shared, which are sent in chunks to limit memory for slow readers.
    buffer: ChunkBuffer,
    slot: BodySlot,
    ready: VecDeque<Bytes>,
    watch: Watch,
    started: Revision,
    ends: Pin<Box<Sleep>>,
    bookmarks: Option<Bookmarks>,
    /// Completes when a custom kind is removed or changed, with the store's revision at that time.
    kind_removed: Option<Pin<Box<dyn Future<Output = Revision> + Send>>>,
    /// The revision up to which events are sent before the stream ends: the last objects of a kind may be deleted
    /// after the notification.
    last: Option<Revision>,
    over: bool,
}

/// The schedule of bookmarks.
struct Bookmarks {
    timer: Pin<Box<Sleep>>,
    /// Whether progress was requested from the store.
    progress_requested: bool,
}

/// Starts a watch.
pub(super) async fn begin(call: &Call<'_>, options: &ListOptions) -> Result<ApiResponse, ApiError> {
    let store = &call.server.objects.store;
    let encoder = WatchEncoder {
        kind: Arc::clone(call.kind),
        selection: options.selection.clone(),
        view: call.view,
        include: call.include()?,
        headings: Headings::Shown,
        server: call.server.clone(),
    };
    let (mut initial, mut initial_end) = (Vec::new(), None);
    let plan = options.watch_plan()?;
    if options.timeout_seconds.is_some_and(|seconds| seconds < 0) {
        return Ok(ApiResponse::json(200, expired_at_start(&plan)));
    }
    let after = match plan {
        WatchPlan::After(version) => Revision::new(version).unwrap_or(Revision::EMPTY),
        WatchPlan::FromNow => store.bounds().await?.current,
        WatchPlan::Initial { at_least, end_bookmark } => {
            if at_least > 0
                && let Err(too_new) = read::wait_for_revision(call, at_least).await
            {
                return Ok(ApiResponse::json(200, watch_encoder::error(&too_new)));
            }
            let everything = read::list(call, &options.initial()).await?;
            initial_end = end_bookmark.then_some(everything.revision);
            initial = everything.items;
            everything.revision
        }
    };
    let watch = match store.watch(Objects::prefix(call.kind, call.namespace), after).await {
        Ok(watch) => watch,
        Err(Error::Compacted { floor }) => {
            return Ok(ApiResponse::json(
                200,
                watch_encoder::error(&expired_watch(after.get(), floor.get()).into()),
            ));
        }
        Err(error) => return Err(error.into()),
    };
    let now = Instant::now();
    let end = now + length(call, options);
    let bookmarks = options.bookmarks.then(|| Bookmarks::new(now, end));
    Ok(ApiResponse::stream(Stream {
        encoder,
        initial: initial.into_iter(),
        initial_end,
        buffer: ChunkBuffer::new(&call.server.unsent_responses),
        slot: BodySlot::default(),
        ready: VecDeque::new(),
        watch,
        started: after,
        ends: Box::pin(sleep_until(end)),
        bookmarks,
        kind_removed: call.kind.nature.message().is_none().then(|| kind_removed(call)),
        last: None,
        over: false,
    }))
}

/// Returns the events of a watch with a negative timeout: none, or an error if the latest revision must be read first.
fn expired_at_start(plan: &WatchPlan) -> Bytes {
    match plan {
        WatchPlan::FromNow => {
            let refusal = Refusal::new(StatusReason::InternalError, "context deadline exceeded");
            watch_encoder::error(&refusal.into())
        }
        WatchPlan::After(_) | WatchPlan::Initial { .. } => Bytes::new(),
    }
}

/// Completes when a custom kind is removed or changed, with the store's revision at that time.
fn kind_removed(call: &Call<'_>) -> Pin<Box<dyn Future<Output = Revision> + Send>> {
    let objects = &call.server.objects;
    let (removed, store) =
        (Arc::clone(&objects.catalogues).kind_removed(call.kind), Arc::clone(&objects.store));
    Box::pin(async move {
        removed.await;
        // A store that fails delivers no more events.
        store.bounds().await.map_or(Revision::EMPTY, |bounds| bounds.current)
    })
}

/// The timeout of a watch.
fn length(call: &Call<'_>, options: &ListOptions) -> Duration {
    let requested = options.timeout_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    let seconds = requested.filter(|seconds| *seconds > 0).unwrap_or_else(|| {
        let random = call
            .server
            .environment
            .uid()
            .bytes()
            .fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        DEFAULT_SECONDS + random % DEFAULT_SECONDS
    });
    Duration::from_secs(seconds)
}

impl Chunks for Stream {
    fn poll_chunk(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            let slot = if self.is_next_heavy() { Some(ready!(self.poll_slot(context))) } else { None };
            let chunk = self.chunk(slot.is_some());
            drop(slot);
            if let Some(chunk) = chunk {
                return Poll::Ready(Some(chunk));
            }
            if let Some(line) = self.ready.pop_front() {
                return Poll::Ready(Some(line));
            }
            if self.over {
                return Poll::Ready(None);
            }
            if self.ends.as_mut().poll(context).is_ready() {
                return Poll::Ready(None);
            }
            if let Poll::Ready(notice) = self.watch.poll(context) {
                self.take(notice);
            } else if !self.is_kind_removed(context) && !self.is_bookmark_due(context) {
                return Poll::Pending;
            }
        }
    }
}

impl Stream {
    /// The next chunk of the buffer.
    fn chunk(&mut self, has_slot: bool) -> Option<Bytes> {
        self.fill_chunk(has_slot);
        let chunk = self.buffer.take();
        if !chunk.is_empty() {
            return Some(chunk.into());
        }
        let revision = if self.over { None } else { self.initial_end.take() }?;
        let annotations = json!({"k8s.io/initial-events-end": "true"});
        Some(self.encoder.bookmark(revision, Some(annotations)))
    }

    /// Whether encoding the next initial object takes long.
    fn is_next_heavy(&self) -> bool {
        !self.over && self.initial.as_slice().first().is_some_and(|item| self.encoder.is_heavy(item))
    }

    fn poll_slot(&mut self, context: &mut Context<'_>) -> Poll<HeavySlot> {
        self.slot.poll(&self.encoder.server.heavy_work, context)
    }

    /// Encodes initial objects until a chunk is full; heavy ones only in a slot.
    fn fill_chunk(&mut self, has_slot: bool) {
        loop {
            match self.buffer.fill() {
                Ok(true) => return,
                Ok(false) => {}
                Err(_not_read) => {
                    // In the middle of a line: no error can be sent.
                    self.buffer.take();
                    self.over = true;
                }
            }
            if self.over || !has_slot && self.is_next_heavy() {
                return;
            }
            let Some(item) = self.initial.next() else { return };
            if let Err(error) = self.encoder.initial(&item, &mut self.buffer) {
                self.fail(&error);
            }
        }
    }

    fn take(&mut self, notice: Option<Result<Notice, Error>>) {
        match notice {
            Some(Ok(Notice::Change(event))) => {
                if let Err(error) = self.take_event(&event) {
                    self.fail(&error);
                }
            }
            Some(Ok(Notice::Progress(revision))) => {
                if self
                    .bookmarks
                    .as_mut()
                    .is_some_and(|bookmarks| std::mem::take(&mut bookmarks.progress_requested))
                {
                    let line = self.encoder.bookmark(revision, None);
                    self.ready.push_back(line);
                }
                match self.last {
                    Some(last) if revision < last => self.watch.request_progress(),
                    Some(_) => self.over = true,
                    None => {}
                }
            }
            Some(Err(Error::Compacted { floor })) => {
                self.fail(&expired_watch(self.started.get(), floor.get()).into());
            }
            Some(Err(error)) => self.fail(&error.into()),
            None => self.over = true,
        }
    }

    fn take_event(&mut self, event: &Arc<Event>) -> Result<(), ApiError> {
        match self.encoder.event(event)? {
            Some(line) if self.encoder.are_events_shared() => self.ready.push_back(line),
            Some(line) => self.buffer.push_encoded(line)?,
            None => {}
        }
        Ok(())
    }

    /// Sends an error and nothing after it.
    fn fail(&mut self, error: &ApiError) {
        self.ready.push_back(watch_encoder::error(error));
        self.over = true;
    }

    /// Whether the kind was removed since the last call. The watch then ends after the events up to that revision.
    fn is_kind_removed(&mut self, context: &mut Context<'_>) -> bool {
        let removed = self.kind_removed.as_mut().map(|removed| removed.as_mut().poll(context));
        let Some(Poll::Ready(last)) = removed else { return false };
        self.kind_removed = None;
        self.last = Some(last);
        self.watch.request_progress();
        true
    }

    /// Requests progress from the store when a bookmark is due; it arrives after all earlier events.
    fn is_bookmark_due(&mut self, context: &mut Context<'_>) -> bool {
        let end = self.ends.deadline();
        let Some(bookmarks) = &mut self.bookmarks else { return false };
        if bookmarks.timer.as_mut().poll(context).is_pending() {
            return false;
        }
        bookmarks.timer.as_mut().reset(next_bookmark(Instant::now(), end));
        bookmarks.progress_requested = true;
        self.watch.request_progress();
        true
    }
}

impl Bookmarks {
    fn new(now: Instant, end: Instant) -> Self {
        Self { timer: Box::pin(sleep_until(next_bookmark(now, end))), progress_requested: false }
    }
}

/// The time of the next bookmark: every minute, and shortly before the end.
fn next_bookmark(now: Instant, end: Instant) -> Instant {
    let regular = now + BOOKMARK_EVERY;
    let last = end.checked_sub(LAST_BOOKMARK).filter(|last| *last > now);
    last.map_or(regular, |last| last.min(regular))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A4.15: a bookmark is sent about every minute and two seconds before the end; a shorter watch gets none.
    #[test]
    fn bookmarks_come_every_minute_and_before_the_end() {
        let now = Instant::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        assert_eq!(next_bookmark(now, after(600)), after(60));
        assert_eq!(next_bookmark(now, after(30)), after(28));
        assert_eq!(next_bookmark(after(28), after(30)), after(88), "no bookmark is sent after the end");
        assert!(next_bookmark(now, after(2)) > after(2));
    }
}
