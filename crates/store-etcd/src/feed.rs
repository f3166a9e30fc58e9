//! The queue between the task that follows etcd and the reader of the watch.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use gantry_store::{Error, Event, Notice, Revision, Watching};
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Feed {
    queue: Mutex<Queue>,
    /// Wakes the follower: there is space again, progress is requested, or the reader was dropped.
    wake_follower: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    notices: VecDeque<Notice>,
    bytes: usize,
    end: End,
    progress_wanted: bool,
    reader: Option<Waker>,
    is_reader_gone: bool,
}

#[derive(Debug, Default)]
enum End {
    #[default]
    Open,
    /// After the queued notices, this error.
    Failing(Error),
    Closed,
}

/// The reader's end; dropping it ends the watch.
#[derive(Debug)]
pub(crate) struct Reader(Arc<Feed>);

/// The queue limits at which the follower closes its etcd stream. It reopens it for the rest when there is space:
/// etcd keeps history on disk, this process would keep it in memory.
const NOTICES_MAX: usize = 4096;
const BYTES_MAX: usize = 8 << 20;

impl Feed {
    /// Queues whole revisions at once, so that a reader never waits in the middle of one.
    pub(crate) fn deliver(&self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let mut queue = self.lock();
        queue.bytes += events.iter().map(weight).sum::<usize>();
        queue.notices.extend(events.into_iter().map(|event| Notice::Change(Arc::new(event))));
        queue.wake_reader();
    }

    /// Queues a progress notice.
    pub(crate) fn mark(&self, revision: Revision) {
        let mut queue = self.lock();
        queue.notices.push_back(Notice::Progress(revision));
        queue.wake_reader();
    }

    /// Ends the watch with an error.
    pub(crate) fn fail(&self, error: Error) {
        let mut queue = self.lock();
        queue.end = End::Failing(error);
        queue.wake_reader();
    }

    pub(crate) fn is_full(&self) -> bool {
        self.lock().is_above(NOTICES_MAX, BYTES_MAX)
    }

    pub(crate) fn is_reader_gone(&self) -> bool {
        self.lock().is_reader_gone
    }

    /// Whether progress was requested since the last call.
    pub(crate) fn take_progress_request(&self) -> bool {
        std::mem::take(&mut self.lock().progress_wanted)
    }

    /// Waits for the reader's next request.
    pub(crate) async fn woken(&self) {
        self.wake_follower.notified().await;
    }

    /// Waits until the queue is mostly empty, or the reader was dropped.
    pub(crate) async fn wait_for_space(&self) {
        while !self.is_reader_gone() && self.lock().is_above(NOTICES_MAX / 2, BYTES_MAX / 2) {
            self.woken().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn is_above(&self, notices: usize, bytes: usize) -> bool {
        self.notices.len() > notices || self.bytes > bytes
    }

    fn wake_reader(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

impl Reader {
    pub(crate) fn new(feed: Arc<Feed>) -> Self {
        Self(feed)
    }
}

impl Watching for Reader {
    fn poll_notice(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Notice, Error>>> {
        let mut queue = self.0.lock();
        let was_above = queue.is_above(NOTICES_MAX / 2, BYTES_MAX / 2);
        if let Some(notice) = queue.notices.pop_front() {
            if let Notice::Change(event) = &notice {
                queue.bytes = queue.bytes.saturating_sub(weight(event));
            }
            if was_above && !queue.is_above(NOTICES_MAX / 2, BYTES_MAX / 2) {
                self.0.wake_follower.notify_one();
            }
            return Poll::Ready(Some(Ok(notice)));
        }
        match std::mem::take(&mut queue.end) {
            End::Open => {
                queue.reader = Some(context.waker().clone());
                Poll::Pending
            }
            End::Failing(error) => {
                queue.end = End::Closed;
                Poll::Ready(Some(Err(error)))
            }
            End::Closed => {
                queue.end = End::Closed;
                Poll::Ready(None)
            }
        }
    }

    fn request_progress(&mut self) {
        self.0.lock().progress_wanted = true;
        self.0.wake_follower.notify_one();
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.is_reader_gone = true;
        queue.notices.clear();
        self.0.wake_follower.notify_one();
    }
}

fn weight(event: &Event) -> usize {
    let value = event.value().map_or(0, bytes::Bytes::len);
    let previous = event.previous().map_or(0, |previous| previous.value.len());
    event.key.as_bytes().len() + value + previous
}
