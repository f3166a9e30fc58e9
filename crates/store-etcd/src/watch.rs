//! Watches: a task per watch that follows etcd, across lost connections, and fills the reader's queue.
//!
//! *No gap, no repetition.* The follower knows the last revision it has delivered completely, and every stream starts
//! there: at that revision, not after it, and what it has delivered is dropped. Starting after it would be wrong,
//! because etcd accepts a start at the very revision it compacted, where a delete is already lost.
//!
//! *Progress.* A watch requests progress from etcd, which responds when everything before has been sent. Old versions
//! respond too early (see `members`). There, the stream is widened to our own keys and all keys up to the prefix: it
//! then sees every write of every process of ours, in order, and a revision it has seen is a revision it is past.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use gantry_store::{Error, Prefix, Revision, Watch};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tonic::Streaming;

use crate::cluster::{Backoff, Cluster};
use crate::convert::{ConvertedEvent, event, number, revision};
use crate::fault::{EtcdRefusal, Fault};
use crate::feed::{Feed, Reader};
use crate::keyspace::{OURS, Range};
use crate::members::Link;
use crate::read::{self, Floor};
use crate::rpc;
use crate::wire::{
    RequestOp, TxnRequest, WatchCreateRequest, WatchEvent, WatchProgressRequest, WatchRequest,
    WatchRequestKind, WatchResponse,
};

struct Follower {
    cluster: Arc<Cluster>,
    floor: Arc<Floor>,
    feed: Arc<Feed>,
    prefix: Prefix,
    after: i64,
    /// Every change up to here has been delivered.
    delivered: i64,
    progress: Progress,
    permission: WatchPermission,
}

struct Current {
    link: Link,
    responses: Streaming<WatchResponse>,
    requests: mpsc::Sender<WatchRequest>,
    /// The events so far of a fragmented response.
    pieces: Vec<WatchEvent>,
}

/// The reader's progress request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    NotWanted,
    /// Requested: read the store's revision.
    Wanted,
    /// Requested at or after this revision; repeat the request to etcd at this time.
    Toward {
        goal: i64,
        remind_at: Instant,
    },
}

/// Whether etcd permits the watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchPermission {
    Granted,
    /// Denied once, perhaps because our token expired. etcd returns the same error for both.
    DeniedOnce,
}

enum Stop {
    ReaderGone,
    /// The reader's queue is full.
    Full,
    /// The stream broke.
    Broken,
    /// The watch cannot continue.
    Failed(Error),
}

/// The requests of one stream.
struct Requests(mpsc::Receiver<WatchRequest>);

/// How long etcd may take to respond to a progress request before it is repeated: it does not respond while it is
/// behind.
const REMINDER: Duration = Duration::from_millis(250);

/// A create request and some progress requests.
const REQUESTS_MAX: usize = 4;

/// Starts a watch; returns when etcd has accepted it.
pub(crate) async fn start(
    cluster: &Arc<Cluster>,
    floor: &Arc<Floor>,
    prefix: Prefix,
    after: Revision,
) -> Result<Watch, Error> {
    let feed = Arc::new(Feed::default());
    let mut follower = Follower {
        cluster: Arc::clone(cluster),
        floor: Arc::clone(floor),
        feed: Arc::clone(&feed),
        prefix,
        after: number(after),
        delivered: number(after),
        progress: Progress::NotWanted,
        permission: WatchPermission::Granted,
    };
    let deadline = cluster.deadline();
    let mut backoff = Backoff::default();
    let current = loop {
        match follower.open().await {
            Ok(current) => break current,
            Err(Fault::Refused(refusal)) if is_final(&refusal) => return Err(refusal.into_error()),
            Err(fault) => {
                if !backoff.pause_before(deadline).await {
                    return Err(fault.into_error());
                }
            }
        }
    };
    tokio::spawn(follower.run(current));
    Ok(Watch::new(Reader::new(feed)))
}

/// etcd's floor, known to be above this revision: a watch that starts there is refused with it.
pub(crate) async fn floor_above(cluster: &Cluster, at: i64) -> Result<i64, Error> {
    let key = Range::ours().start;
    let create = WatchCreateRequest { key, start_revision: at, ..WatchCreateRequest::default() };
    let deadline = cluster.deadline();
    let mut backoff = Backoff::default();
    loop {
        let (requests, receiver) = mpsc::channel(REQUESTS_MAX);
        let _ = requests.try_send(create.clone().into());
        let fault = match cluster.stream(|_| Requests(receiver)).await {
            Err(fault) => fault,
            Ok((link, mut responses)) => loop {
                match tokio::time::timeout_at(deadline, responses.message()).await {
                    Ok(Ok(Some(response))) if response.compact_revision > 0 => {
                        return Ok(response.compact_revision);
                    }
                    Ok(Ok(Some(response))) if !response.canceled => {}
                    Ok(Err(status)) => break cluster.fault_of(&status, &link).await,
                    _ => {
                        break Fault::Doubtful {
                            why: "etcd does not report its compacted revision".to_owned(),
                        };
                    }
                }
            },
        };
        if !backoff.pause_before(deadline).await {
            return Err(fault.into_error());
        }
    }
}

/// Whether a retry would not help. A token can be renewed, and a busy member avoided.
fn is_final(refusal: &EtcdRefusal) -> bool {
    !matches!(refusal, EtcdRefusal::NotNow { .. } | EtcdRefusal::Token)
}

impl Follower {
    /// Follows one stream after another until the watch ends.
    async fn run(mut self, first: Current) {
        let mut current = Some(first);
        let mut backoff = Backoff::default();
        loop {
            let stop = match current.take() {
                Some(stream) => {
                    backoff = Backoff::default();
                    self.follow(stream).await
                }
                None => match self.open().await {
                    Ok(stream) => {
                        current = Some(stream);
                        continue;
                    }
                    Err(Fault::Refused(refusal)) if is_final(&refusal) => Stop::Failed(refusal.into_error()),
                    Err(_) => Stop::Broken,
                },
            };
            match stop {
                Stop::ReaderGone => return,
                Stop::Failed(error) => return self.feed.fail(error),
                Stop::Full => self.feed.wait_for_space().await,
                Stop::Broken => {
                    tokio::select! {
                        () = backoff.pause() => {}
                        () = self.feed.woken() => {}
                    }
                }
            }
            if self.feed.is_reader_gone() {
                return;
            }
        }
    }

    /// Opens a stream at the last delivered revision.
    async fn open(&mut self) -> Result<Current, Fault> {
        let (requests, receiver) = mpsc::channel(REQUESTS_MAX);
        let (link, responses) = self
            .cluster
            .stream(|link| {
                // The channel is new and empty.
                let _ = requests.try_send(self.create(link).into());
                Requests(receiver)
            })
            .await?;
        let mut current = Current { link, responses, requests, pieces: Vec::new() };
        // This is the first response of a stream.
        match tokio::time::timeout_at(self.cluster.deadline(), current.responses.message()).await {
            Ok(Ok(Some(response))) if response.created && !response.canceled => {
                self.permission = WatchPermission::Granted;
                Ok(current)
            }
            Ok(Ok(Some(response))) => Err(Fault::Refused(self.denied(&response.cancel_reason).await)),
            Ok(Err(status)) => Err(self.cluster.fault_of(&status, &current.link).await),
            _ => Err(Fault::Doubtful { why: format!("{}: no response to the watch", current.link.url) }),
        }
    }

    /// The first denial drops our token, the second one is final.
    async fn denied(&mut self, why: &str) -> EtcdRefusal {
        self.cluster.forget_token().await;
        match std::mem::replace(&mut self.permission, WatchPermission::DeniedOnce) {
            WatchPermission::Granted => EtcdRefusal::Token,
            WatchPermission::DeniedOnce => {
                EtcdRefusal::Never { why: format!("etcd refuses to watch: {why}") }
            }
        }
    }

    fn create(&self, link: &Link) -> WatchCreateRequest {
        let range =
            if link.progress_in_order { Range::of(&self.prefix, None) } else { Range::widened(&self.prefix) };
        WatchCreateRequest {
            key: range.start,
            range_end: range.end,
            start_revision: self.delivered,
            progress_notify: true,
            prev_kv: true,
            fragment: true,
        }
    }

    async fn follow(&mut self, mut current: Current) -> Stop {
        if self.progress != Progress::NotWanted {
            self.progress = Progress::Wanted;
        }
        loop {
            let step = tokio::select! {
                response = current.responses.message() => match response {
                    Ok(Some(response)) => self.handle(&mut current, response).await,
                    Ok(None) => Err(Stop::Broken),
                    Err(status) => {
                        self.cluster.fault_of(&status, &current.link).await;
                        Err(Stop::Broken)
                    }
                },
                () = self.feed.woken() => Ok(()),
                () = self.progress.due() => self.seek_progress(&current).await,
            };
            if let Err(stop) = step {
                return stop;
            }
            if self.feed.is_reader_gone() {
                return Stop::ReaderGone;
            }
            if self.feed.is_full() {
                return Stop::Full;
            }
            if self.feed.take_progress_request() {
                self.progress = Progress::Wanted;
            }
            self.deliver_progress();
        }
    }

    async fn handle(&mut self, current: &mut Current, response: WatchResponse) -> Result<(), Stop> {
        if response.compact_revision > 0 {
            return Err(Stop::Failed(Error::Compacted { floor: revision(response.compact_revision) }));
        }
        if response.canceled {
            // For instance after the user's permissions changed. Reopening shows whether it is final.
            return Err(Stop::Broken);
        }
        let is_mark = response.events.is_empty() && !response.created && !response.fragment;
        if is_mark && current.pieces.is_empty() {
            // Unrequested progress is always in order; the responses to requests (-1) are where etcd's bug was.
            let at = response.header.map_or(0, |header| header.revision);
            if response.watch_id >= 0 || current.link.progress_in_order {
                self.delivered = self.delivered.max(at);
            }
            return Ok(());
        }
        current.pieces.extend(response.events);
        if response.fragment {
            return Ok(());
        }
        let events = std::mem::take(&mut current.pieces);
        self.deliver(events).await
    }

    /// Delivers the new events under the prefix.
    async fn deliver(&mut self, received: Vec<WatchEvent>) -> Result<(), Stop> {
        let reached = received.iter().filter_map(|event| Some(event.kv.as_ref()?.mod_revision)).max();
        let mut events = Vec::with_capacity(received.len());
        for received in received.into_iter().filter(|event| self.is_delivered(event)) {
            match event(received) {
                ConvertedEvent::Event(event) => events.push(event),
                ConvertedEvent::Unnameable => {}
                ConvertedEvent::PreviousForgotten => return Err(Stop::Failed(self.forgotten().await)),
            }
        }
        // etcd sends them in the order of the transaction, which need not be the key order.
        events.sort_by(|one, other| (one.revision, &one.key).cmp(&(other.revision, &other.key)));
        self.feed.deliver(events);
        self.delivered = self.delivered.max(reached.unwrap_or(0));
        Ok(())
    }

    fn is_delivered(&self, event: &WatchEvent) -> bool {
        let Some(kv) = &event.kv else { return false };
        kv.mod_revision > self.delivered
            && kv.key.starts_with(self.prefix.as_bytes())
            && !kv.key.starts_with(OURS)
    }

    async fn forgotten(&self) -> Error {
        read::explain(&self.cluster, &self.floor, EtcdRefusal::Compacted).await
    }

    /// Determines the store's revision, or makes the stream reach it.
    async fn seek_progress(&mut self, current: &Current) -> Result<(), Stop> {
        let remind_at = Instant::now() + REMINDER;
        let goal = match self.progress {
            Progress::NotWanted => return Ok(()),
            Progress::Toward { goal, .. } if goal >= self.after => goal,
            // Before the store has reached the watch's start, there is no progress.
            Progress::Wanted | Progress::Toward { .. } => {
                let Ok(goal) = read::current(&self.cluster).await else { return Err(Stop::Broken) };
                goal
            }
        };
        self.progress = Progress::Toward { goal, remind_at };
        if goal <= self.delivered {
            return Ok(());
        }
        if current.link.progress_in_order {
            let request = WatchRequest { kind: Some(WatchRequestKind::Progress(WatchProgressRequest {})) };
            // A full queue means that etcd has not read the last request yet.
            let _ = current.requests.try_send(request);
        } else {
            self.touch_mark().await;
        }
        Ok(())
    }

    /// Writes one of our own keys, so that a widened stream has an event. If it fails, the request is repeated later.
    async fn touch_mark(&self) {
        let key = Bytes::from_static(b"!gantry/progress");
        let success = vec![RequestOp::put(key, Bytes::new())];
        let request = TxnRequest { success, ..TxnRequest::default() };
        let _ = self.cluster.once(&rpc::TXN, request, Instant::now() + REMINDER).await;
    }

    fn deliver_progress(&mut self) {
        if let Progress::Toward { goal, .. } = self.progress
            && (self.after..=self.delivered).contains(&goal)
        {
            self.feed.mark(revision(self.delivered));
            self.progress = Progress::NotWanted;
        }
    }
}

impl Progress {
    /// Waits until the next request is due.
    async fn due(self) {
        match self {
            Self::NotWanted => std::future::pending().await,
            Self::Wanted => {}
            Self::Toward { remind_at, .. } => tokio::time::sleep_until(remind_at).await,
        }
    }
}

impl Stream for Requests {
    type Item = WatchRequest;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<WatchRequest>> {
        self.0.poll_recv(context)
    }
}

impl From<WatchCreateRequest> for WatchRequest {
    fn from(create: WatchCreateRequest) -> Self {
        Self { kind: Some(WatchRequestKind::Create(create)) }
    }
}
