//! The task of a source: sends the requests of the protocol, and passes the decoded objects to the informers.

use std::time::Duration;

use futures::future::BoxFuture;
use gantry_client::{RequestError, WatchLines};
use gantry_model::ResourceVersion;
use tokio::time::Instant;

use super::protocol::{NextRequest, Protocol, RequestEnd};
use super::source::{Received, Source};
use crate::api::Api;
use crate::clock::Clock;
use crate::shutdown::Shutdown;

/// The page size of lists; as in client-go.
const PAGE: &str = "500";
/// The minimum duration of a watch in seconds. Servers end it after one to two times this.
const WATCH_SECONDS: u64 = 5 * 60;
/// How long after that a connection without events is closed.
const WATCH_GRACE: Duration = Duration::from_secs(30);
/// The timeout of a streamed list.
const LIST_MAX: Duration = Duration::from_secs(60);
/// A watch that ends sooner, without an event, counts as closed at once.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Drops the subscribers of a source's informers when its task ends, also if it is aborted.
///
/// A subscriber often holds informers, which hold their subscribers: as long as one of such a cycle exists, so do the
/// caches of all.
struct UnsubscribeAtEnd<'a>(&'a Source);

impl Drop for UnsubscribeAtEnd<'_> {
    fn drop(&mut self) {
        self.0.unsubscribe_all();
    }
}

/// Follows the server until shutdown.
pub(super) fn run<'a>(
    source: &'a Source,
    api: &'a Api,
    clock: &'a Clock,
    shutdown: &'a Shutdown,
) -> BoxFuture<'a, ()> {
    let unsubscribe = UnsubscribeAtEnd(source);
    Box::pin(async move {
        let _unsubscribe = unsubscribe;
        follow_server(source, api, clock, shutdown).await;
    })
}

async fn follow_server(source: &Source, api: &Api, clock: &Clock, shutdown: &Shutdown) {
    let resource = &source.watched().resource.plural;
    let mut protocol = Protocol::new();
    loop {
        let ended = tokio::select! {
            biased;
            () = shutdown.wait() => return,
            () = source.watched().relist.notified() => {
                protocol = Protocol::new();
                continue;
            }
            ended = next_request(source, api, clock, &protocol.next_request) => ended,
        };
        let failure = match &ended {
            RequestEnd::Failed(_, failure) => Some(failure.clone()),
            _ => None,
        };
        let request = protocol.next_request.clone();
        // Up to twice as long, so that the clients of a restarted server do not all send requests at once.
        let pause = protocol.after(ended);
        if let Some(failure) = failure {
            if failure.lacks_permission() {
                tracing::warn!(resource, %failure, "not allowed to watch");
            } else {
                tracing::debug!(resource, ?request, %failure, "the watch was interrupted");
            }
            // Without a pause the failed request is replaced by another one.
            if !pause.is_zero() {
                source.set_error(Some(&failure));
            }
        }
        if !pause.is_zero()
            && shutdown.unless(tokio::time::sleep(clock.with_jitter(pause, 1.0))).await.is_none()
        {
            return;
        }
    }
}

async fn next_request(source: &Source, api: &Api, clock: &Clock, next_request: &NextRequest) -> RequestEnd {
    let seconds = WATCH_SECONDS + u64::from(clock.random(300));
    let timeout = seconds.to_string();
    let mut query = vec![("allowWatchBookmarks", "true"), ("timeoutSeconds", timeout.as_str())];
    let watched = source.watched();
    query.extend(watched.scope.query());
    match next_request {
        NextRequest::StreamList => {
            source.begin_list();
            query.extend([("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan")]);
        }
        NextRequest::Watch(version) => query.push(("resourceVersion", version.as_str())),
        NextRequest::PagedList => return list(source, api).await,
    }
    let request = watched.scope.path(&watched.resource).watch(watched.form, &query);
    let request = source.next_encoding().request(request);
    let mut lines = match api.watch(&request).await {
        Ok(lines) => lines,
        Err(failure) => return RequestEnd::Failed(None, failure),
    };
    source.set_error(None);
    let until = Instant::now() + Duration::from_secs(seconds) + WATCH_GRACE;
    match next_request {
        NextRequest::Watch(version) => follow(source, &mut lines, version.clone(), until).await,
        NextRequest::StreamList | NextRequest::PagedList => match initial(source, &mut lines).await {
            Ok(version) => follow(source, &mut lines, version, until).await,
            Err(ended) => ended,
        },
    }
}

/// Reads a streamed list to its end.
async fn initial(source: &Source, lines: &mut WatchLines) -> Result<ResourceVersion, RequestEnd> {
    let until = Instant::now() + LIST_MAX;
    loop {
        let line = match tokio::time::timeout_at(until, lines.next()).await {
            Err(_) => return Err(RequestEnd::NoEndOfList),
            Ok(None) => {
                return Err(RequestEnd::Failed(None, RequestError::unanswered("the list was cut off")));
            }
            Ok(Some(Err(failure))) => return Err(RequestEnd::Failed(None, failure)),
            Ok(Some(Ok(line))) => line,
        };
        match source.receive_listed(&line, lines.is_protobuf) {
            Received::EndOfList(version) => {
                source.end_list(&version);
                return Ok(version);
            }
            Received::Failed(failure) => return Err(RequestEnd::Failed(None, failure)),
            Received::Listed | Received::Reached(_) => {}
        }
    }
}

/// Passes changes to the informers until the stream ends.
async fn follow(
    source: &Source,
    lines: &mut WatchLines,
    from: ResourceVersion,
    until: Instant,
) -> RequestEnd {
    let began = Instant::now();
    let mut reached = from;
    let mut received = false;
    loop {
        let line = match tokio::time::timeout_at(until, lines.next()).await {
            Ok(None) if received || began.elapsed() > AT_ONCE => return RequestEnd::Completed(reached),
            Ok(None) => return RequestEnd::AtOnce(reached),
            Err(_) => return RequestEnd::Completed(reached),
            Ok(Some(Err(failure))) => return RequestEnd::Failed(Some(reached), failure),
            Ok(Some(Ok(line))) => line,
        };
        match source.receive_change(&line, lines.is_protobuf) {
            Received::Reached(version) | Received::EndOfList(version) => reached = version,
            Received::Failed(failure) => return RequestEnd::Failed(received.then_some(reached), failure),
            Received::Listed => {}
        }
        received = true;
    }
}

/// Lists page by page.
async fn list(source: &Source, api: &Api) -> RequestEnd {
    source.begin_list();
    let watched = source.watched();
    let path = watched.scope.path(&watched.resource);
    let encoding = source.next_encoding();
    let mut next = String::new();
    loop {
        let mut query = vec![("limit", PAGE), ("continue", next.as_str())];
        query.extend(watched.scope.query());
        let page = match api.list_raw(&path, (watched.form, encoding), &query).await {
            Ok(page) => source.receive_page(&page),
            Err(failure) => Err(failure),
        };
        let metadata = match page {
            Ok(metadata) => metadata,
            Err(failure) => return RequestEnd::Failed(None, failure),
        };
        next = metadata.continue_.unwrap_or_default();
        if next.is_empty() {
            let version = ResourceVersion::from(metadata.resource_version.as_deref().unwrap_or_default());
            source.set_error(None);
            source.end_list(&version);
            return RequestEnd::Completed(version);
        }
    }
}
