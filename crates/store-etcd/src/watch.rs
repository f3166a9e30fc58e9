//! Watches: a task per watch that follows etcd, across lost connections, and feeds the reader.
//!
//! *No gap, no repetition.* The follower knows the last revision it has told completely, and every stream starts there:
//! at that revision, not behind it, and what it has told is dropped. Starting behind it would be wrong, because etcd takes
//! a start at the very revision it compacted, where a delete is already forgotten.
//!
//! *Progress.* A watch asks etcd, which answers when everything before has been sent. Old versions answer too early (see
//! `members`). There, the stream is widened to our bookkeeping and all keys up to the prefix: it then sees every write of
//! every process of ours, in order, and a revision it has seen is a revision it is past.

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
use crate::convert::{Told, event, number, revision};
use crate::fault::{Fault, Refusal};
use crate::feed::{Feed, Reader};
use crate::keyspace::{OURS, Range};
use crate::members::Link;
use crate::read::{self, Floor};
use crate::rpc;
use crate::wire::{
    RequestOp, TxnRequest, WatchCreateRequest, WatchEvent, WatchProgressRequest, WatchRequest,
    WatchRequestKind, WatchResponse,
};

/// Everything a follower needs, and how far it is.
struct Follower {
    cluster: Arc<Cluster>,
    floor: Arc<Floor>,
    feed: Arc<Feed>,
    prefix: Prefix,
    /// Where the watch starts.
    after: i64,
    /// Every change up to here has been told.
    told: i64,
    progress: Progress,
    rights: Rights,
}

/// An open stream of etcd.
struct Current {
    link: Link,
    responses: Streaming<WatchResponse>,
    requests: mpsc::Sender<WatchRequest>,
    /// The events of a response that came in pieces so far.
    pieces: Vec<WatchEvent>,
}

/// What the reader wants to know about progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    NotWanted,
    /// Wanted: ask how far the store is.
    Wanted,
    /// Wanted at or behind this revision; remind etcd at this time.
    Toward {
        goal: i64,
        remind_at: Instant,
    },
}

/// Whether etcd lets us watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rights {
    Granted,
    /// Denied once, perhaps because our token expired. etcd says the same for both.
    Doubted,
}

/// Why the follower stops following a stream.
enum Stop {
    /// Nobody reads.
    ReaderGone,
    /// The reader is too far behind.
    Full,
    /// The stream broke.
    Broken,
    /// The watch cannot go on.
    Failed(Error),
}

/// The requests of one stream, as the protocol wants them.
struct Requests(mpsc::Receiver<WatchRequest>);

/// How long etcd may take to answer a progress request before it is asked again: it does not answer while it is behind.
const REMINDER: Duration = Duration::from_millis(250);

/// A create request and some progress requests; more are not worth queueing.
const REQUESTS_MAX: usize = 4;

/// Starts a watch; when it returns, etcd has accepted it.
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
        told: number(after),
        progress: Progress::NotWanted,
        rights: Rights::Granted,
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
                    Ok(Err(status)) => break cluster.judge(&status, &link).await,
                    _ => {
                        break Fault::Doubtful {
                            why: "etcd does not tell its compacted revision".to_owned(),
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

/// Whether trying again would not help; a token can be renewed, a busy member be avoided.
fn is_final(refusal: &Refusal) -> bool {
    !matches!(refusal, Refusal::NotNow { .. } | Refusal::Token)
}

impl Follower {
    /// Follows one stream after the other until the watch ends.
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
                Stop::Full => self.feed.room().await,
                Stop::Broken => {
                    tokio::select! {
                        () = backoff.pause() => {}
                        () = self.feed.nudged() => {}
                    }
                }
            }
            if self.feed.is_reader_gone() {
                return;
            }
        }
    }

    /// Opens a stream at the last revision told.
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
        // Nothing else comes before this answer.
        match tokio::time::timeout_at(self.cluster.deadline(), current.responses.message()).await {
            Ok(Ok(Some(response))) if response.created && !response.canceled => {
                self.rights = Rights::Granted;
                Ok(current)
            }
            Ok(Ok(Some(response))) => Err(Fault::Refused(self.denied(&response.cancel_reason).await)),
            Ok(Err(status)) => Err(self.cluster.judge(&status, &current.link).await),
            _ => Err(Fault::Doubtful { why: format!("{}: the watch was not answered", current.link.url) }),
        }
    }

    /// The first denial costs us our token, the second is believed.
    async fn denied(&mut self, why: &str) -> Refusal {
        self.cluster.forget_token().await;
        match std::mem::replace(&mut self.rights, Rights::Doubted) {
            Rights::Granted => Refusal::Token,
            Rights::Doubted => Refusal::Never { why: format!("etcd refuses to watch: {why}") },
        }
    }

    fn create(&self, link: &Link) -> WatchCreateRequest {
        let range =
            if link.progress_in_order { Range::of(&self.prefix, None) } else { Range::widened(&self.prefix) };
        WatchCreateRequest {
            key: range.start,
            range_end: range.end,
            start_revision: self.told,
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
                    Ok(Some(response)) => self.hear(&mut current, response).await,
                    Ok(None) => Err(Stop::Broken),
                    Err(status) => {
                        self.cluster.judge(&status, &current.link).await;
                        Err(Stop::Broken)
                    }
                },
                () = self.feed.nudged() => Ok(()),
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
            if self.feed.take_progress_wish() {
                self.progress = Progress::Wanted;
            }
            self.tell_progress();
        }
    }

    async fn hear(&mut self, current: &mut Current, response: WatchResponse) -> Result<(), Stop> {
        if response.compact_revision > 0 {
            return Err(Stop::Failed(Error::Compacted { floor: revision(response.compact_revision) }));
        }
        if response.canceled {
            // For instance after the user's rights changed. Opening anew tells whether it is final.
            return Err(Stop::Broken);
        }
        let is_mark = response.events.is_empty() && !response.created && !response.fragment;
        if is_mark && current.pieces.is_empty() {
            // Marks without being asked are always in order; the answers to requests (-1) are where etcd's bug was.
            let at = response.header.map_or(0, |header| header.revision);
            if response.watch_id >= 0 || current.link.progress_in_order {
                self.told = self.told.max(at);
            }
            return Ok(());
        }
        current.pieces.extend(response.events);
        if response.fragment {
            return Ok(());
        }
        let events = std::mem::take(&mut current.pieces);
        self.tell(events).await
    }

    /// Tells the reader what is new and its.
    async fn tell(&mut self, heard: Vec<WatchEvent>) -> Result<(), Stop> {
        let reached = heard.iter().filter_map(|event| Some(event.kv.as_ref()?.mod_revision)).max();
        let mut events = Vec::with_capacity(heard.len());
        for heard in heard.into_iter().filter(|event| self.is_to_be_told(event)) {
            match event(heard) {
                Told::Event(event) => events.push(event),
                Told::Unnameable => {}
                Told::PreviousForgotten => return Err(Stop::Failed(self.forgotten().await)),
            }
        }
        // etcd tells them in the order of the transaction, which need not have been ours.
        events.sort_by(|one, other| (one.revision, &one.key).cmp(&(other.revision, &other.key)));
        self.feed.tell(events);
        self.told = self.told.max(reached.unwrap_or(0));
        Ok(())
    }

    fn is_to_be_told(&self, event: &WatchEvent) -> bool {
        let Some(kv) = &event.kv else { return false };
        kv.mod_revision > self.told && kv.key.starts_with(self.prefix.as_bytes()) && !kv.key.starts_with(OURS)
    }

    async fn forgotten(&self) -> Error {
        read::explain(&self.cluster, &self.floor, Refusal::Compacted).await
    }

    /// Finds out how far the store is, or moves the stream to tell that it is that far.
    async fn seek_progress(&mut self, current: &Current) -> Result<(), Stop> {
        let remind_at = Instant::now() + REMINDER;
        let goal = match self.progress {
            Progress::NotWanted => return Ok(()),
            Progress::Toward { goal, .. } if goal >= self.after => goal,
            // Until the store is at the watch's start, there is no progress to tell, only to wait for.
            Progress::Wanted | Progress::Toward { .. } => {
                let Ok(goal) = read::current(&self.cluster).await else { return Err(Stop::Broken) };
                goal
            }
        };
        self.progress = Progress::Toward { goal, remind_at };
        if goal <= self.told {
            return Ok(());
        }
        if current.link.progress_in_order {
            let request = WatchRequest { kind: Some(WatchRequestKind::Progress(WatchProgressRequest {})) };
            // A full queue means that etcd has not read the last request yet.
            let _ = current.requests.try_send(request);
        } else {
            self.stir().await;
        }
        Ok(())
    }

    /// Changes a key of ours, so that a widened stream has something to see. If it fails, a reminder follows.
    async fn stir(&self) {
        let key = Bytes::from_static(b"!gantry/progress");
        let success = vec![RequestOp::put(key, Bytes::new())];
        let request = TxnRequest { success, ..TxnRequest::default() };
        let _ = self.cluster.once(rpc::TXN, request, Instant::now() + REMINDER).await;
    }

    fn tell_progress(&mut self) {
        if let Progress::Toward { goal, .. } = self.progress
            && (self.after..=self.told).contains(&goal)
        {
            self.feed.mark(revision(self.told));
            self.progress = Progress::NotWanted;
        }
    }
}

impl Progress {
    /// Waits until it is time to do something about it.
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
