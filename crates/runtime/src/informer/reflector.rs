//! The task of an informer: sends the requests of the protocol, and passes the responses to the store.

use std::time::Duration;

use futures::Stream;
use gantry_model::ResourceVersion;
use serde::Deserialize as _;
use serde_json::Value;
use tokio::time::Instant;

use super::Informer;
use super::cached::Cached;
use super::lines::{Line, Lines};
use super::protocol::{NextRequest, Protocol, RequestEnd};
use crate::api::Api;
use crate::failure::Failure;
use crate::jitter::{random, with_jitter};
use crate::request::Target;
use crate::shutdown::Shutdown;

/// The page size of lists; as in client-go.
const PAGE: &str = "500";
/// The minimum duration of a watch in seconds. Servers end it after one to two times this.
const WATCH_SECONDS: u64 = 5 * 60;
/// How long after that a silent connection is closed.
const WATCH_GRACE: Duration = Duration::from_secs(30);
/// The timeout of a streamed list.
const LIST_MAX: Duration = Duration::from_secs(60);
/// A watch that ends sooner, without an event, counts as closed at once.
const AT_ONCE: Duration = Duration::from_secs(1);

pub(super) async fn run<T: Cached>(informer: &Informer<T>, api: &Api, shutdown: &Shutdown) {
    let resource = &informer.resource().plural;
    let mut protocol = Protocol::new();
    loop {
        let Some(ended) = shutdown.unless(next_request(informer, api, &protocol.next_request)).await else {
            return;
        };
        match &ended {
            RequestEnd::Failed(_, failure) if failure.is_of_rights() => {
                tracing::warn!(resource, %failure, "not allowed to watch");
            }
            RequestEnd::Failed(_, failure) => {
                tracing::debug!(resource, next_request = ?protocol.next_request, %failure, "the informer was interrupted");
            }
            _ => {}
        }
        // Up to twice as long, so that the clients of a restarted server do not all come at once.
        let pause = protocol.after(ended);
        if !pause.is_zero() && shutdown.unless(tokio::time::sleep(with_jitter(pause, 1.0))).await.is_none() {
            return;
        }
    }
}

async fn next_request<T: Cached>(
    informer: &Informer<T>,
    api: &Api,
    next_request: &NextRequest,
) -> RequestEnd {
    let target = Target::collection(informer.resource(), None);
    let seconds = WATCH_SECONDS + u64::from(random(300));
    let timeout = seconds.to_string();
    let mut query = vec![("watch", "true"), ("allowWatchBookmarks", "true"), ("timeoutSeconds", &timeout)];
    query.extend(informer.shared.fields.map(|fields| ("fieldSelector", fields)));
    match next_request {
        NextRequest::StreamList => {
            query.extend([("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan")]);
        }
        NextRequest::Watch(version) => query.push(("resourceVersion", version.as_str())),
        NextRequest::PagedList => return list(informer, api, &target).await,
    }
    let stream = match api.stream(target.watch(T::FORM, &query)).await {
        Ok(stream) => stream,
        Err(failure) => return RequestEnd::Failed(None, failure),
    };
    let mut lines = Lines::new(Box::pin(stream));
    let until = Instant::now() + Duration::from_secs(seconds) + WATCH_GRACE;
    match next_request {
        NextRequest::Watch(version) => follow(informer, &mut lines, version.clone(), until).await,
        NextRequest::StreamList | NextRequest::PagedList => match initial(informer, &mut lines).await {
            Ok(version) => follow(informer, &mut lines, version, until).await,
            Err(ended) => ended,
        },
    }
}

/// Reads a streamed list to its end.
async fn initial<T, S>(informer: &Informer<T>, lines: &mut Lines<S>) -> Result<ResourceVersion, RequestEnd>
where
    T: Cached,
    S: Stream<Item = Result<bytes::Bytes, Failure>> + Unpin,
{
    let until = Instant::now() + LIST_MAX;
    let mut all = Vec::new();
    loop {
        let line = match tokio::time::timeout_at(until, lines.next()).await {
            Err(_) => return Err(RequestEnd::NoEndOfList),
            Ok(None) => return Err(RequestEnd::Failed(None, Failure::unanswered("the list was cut off"))),
            Ok(Some(Err(failure))) => return Err(RequestEnd::Failed(None, failure)),
            Ok(Some(Ok(line))) => line,
        };
        match Line::<T>::parse(informer.resource(), &line) {
            Line::Applied(object) => all.push(object),
            Line::EndOfList(version) => {
                informer.replace(all, version.clone());
                return Ok(version);
            }
            Line::Unreadable(_, why) => warn_unreadable(informer, &why),
            Line::Failed(failure) => return Err(RequestEnd::Failed(None, failure)),
            Line::Deleted(_) | Line::Bookmark(_) => {}
        }
    }
}

/// Applies changes until the stream ends.
async fn follow<T, S>(
    informer: &Informer<T>,
    lines: &mut Lines<S>,
    from: ResourceVersion,
    until: Instant,
) -> RequestEnd
where
    T: Cached,
    S: Stream<Item = Result<bytes::Bytes, Failure>> + Unpin,
{
    let began = Instant::now();
    let mut reached = from;
    let mut heard = false;
    loop {
        let line = match tokio::time::timeout_at(until, lines.next()).await {
            Ok(None) if heard || began.elapsed() > AT_ONCE => return RequestEnd::Completed(reached),
            Ok(None) => return RequestEnd::AtOnce(reached),
            Err(_) => return RequestEnd::Completed(reached),
            Ok(Some(Err(failure))) => return RequestEnd::Failed(Some(reached), failure),
            Ok(Some(Ok(line))) => line,
        };
        match Line::<T>::parse(informer.resource(), &line) {
            Line::Applied(object) => {
                reached = object.version().clone();
                informer.apply(object);
            }
            Line::Deleted(object) => {
                reached = object.version().clone();
                informer.remove(object);
            }
            Line::Bookmark(version) | Line::EndOfList(version) => {
                reached = version.clone();
                informer.advance_to(version);
            }
            Line::Unreadable(version, why) => {
                warn_unreadable(informer, &why);
                reached = version;
            }
            Line::Failed(failure) => return RequestEnd::Failed(heard.then_some(reached), failure),
        }
        heard = true;
    }
}

/// Lists page by page.
async fn list<T: Cached>(informer: &Informer<T>, api: &Api, target: &Target) -> RequestEnd {
    let mut all = Vec::new();
    let mut next = String::new();
    loop {
        let mut query = vec![("limit", PAGE)];
        query.extend(informer.shared.fields.map(|fields| ("fieldSelector", fields)));
        if !next.is_empty() {
            query.push(("continue", &next));
        }
        let mut page = match api.list::<Value>(target, T::FORM, &query).await {
            Ok(page) => page,
            Err(failure) => return RequestEnd::Failed(None, failure),
        };
        let items = page["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
        for item in items {
            match parse_item(informer, item) {
                Ok(object) => all.push(object),
                Err(why) => warn_unreadable(informer, &why),
            }
        }
        let meta = &page["metadata"];
        meta["continue"].as_str().unwrap_or_default().clone_into(&mut next);
        if next.is_empty() {
            let version = ResourceVersion::from(meta["resourceVersion"].as_str().unwrap_or_default());
            informer.replace(all, version.clone());
            return RequestEnd::Completed(version);
        }
    }
}

fn parse_item<T: Cached>(informer: &Informer<T>, item: Value) -> Result<T, String> {
    let wire = T::Wire::deserialize(item).map_err(|error| error.to_string())?;
    T::parse(informer.resource(), wire).map_err(|error| error.to_string())
}

fn warn_unreadable<T>(informer: &Informer<T>, why: &str) {
    let resource = &informer.shared.resource.plural;
    tracing::warn!(resource, why, "an object cannot be read and is treated as if it were not there");
}
