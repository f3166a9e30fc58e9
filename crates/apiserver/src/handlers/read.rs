//! Reading: one object, or many at one version.

use std::num::NonZeroU64;

use gantry_registry::Refusal;
use gantry_registry::kinds::Verb;
use gantry_registry::paging::{Continue, ListOptions, ListPlan, Rest, expired_list, expired_page, too_large};
use gantry_store::{Error, Key, ListRequest, Revision};
use serde_json::Value;

use super::call::Call;
use super::{allowed, watch};
use crate::answer::Answer;
use crate::objects::{Objects, failed, parse};

/// How many objects are read from the store at a time when only some of them are wanted.
const SCAN: usize = 500;

/// One object.
pub(super) async fn object(call: &Call<'_>) -> Result<Answer, Refusal> {
    allowed(call.kind, Verb::Get)?;
    let object = call.server.objects.get(call.place()).await?;
    call.render(200, &object)
}

/// A list, or a watch of one.
pub(super) async fn collection(call: &Call<'_>) -> Result<Answer, Refusal> {
    let mut options = ListOptions::read(&call.query.0, call.kind.group, call.kind.kind)?;
    options.watch |= call.watch_by_path;
    if options.watch {
        allowed(call.kind, Verb::Watch)?;
        return watch::begin(call, &options).await;
    }
    allowed(call.kind, Verb::List)?;
    let found = list(call, &options).await?;
    call.render_list(&found.metadata, &found.items)
}

/// Objects of one version of the store.
pub(super) struct Found {
    pub(super) metadata: Value,
    pub(super) items: Vec<Value>,
    pub(super) revision: Revision,
}

/// Lists as the options say.
pub(super) async fn list(call: &Call<'_>, options: &ListOptions) -> Result<Found, Refusal> {
    let prefix = Objects::prefix(call.kind, call.namespace);
    let root = String::from_utf8_lossy(prefix.as_bytes()).trim_end_matches('/').to_owned();
    let mut request = ListRequest::all(prefix);
    match options.list_plan()? {
        ListPlan::Latest | ListPlan::AtLeast(0) => {}
        ListPlan::AtLeast(version) => wait_for(call, version).await?,
        ListPlan::Exactly(version) => request.at = Revision::new(version),
        ListPlan::Continue(page) => {
            request.start = Key::new(format!("{root}{}", page.start)).ok();
            request.at = page.version.and_then(Revision::new);
        }
    }
    let page_size = options.page_size().and_then(|size| usize::try_from(NonZeroU64::get(size)).ok());
    // Without a selection a page of the store is a page of the answer; with one, it takes as many as it takes.
    let step = if options.selection.is_everything() { page_size.unwrap_or(0) } else { SCAN };
    let mut items = Vec::new();
    loop {
        let read = call.server.objects.store.list(request.clone().limit(step)).await;
        let page = read.map_err(|error| unlisted(&error, options))?;
        let mut unread = page.items.len();
        for item in &page.items {
            unread -= 1;
            let object = parse(&item.value, item.revision)?;
            if options.selection.matches(&object) {
                items.push(object);
            }
            let remaining = page.remaining.saturating_add(u64::try_from(unread).unwrap_or(u64::MAX));
            if page_size == Some(items.len()) && remaining > 0 {
                let key = String::from_utf8_lossy(item.key.as_bytes()).into_owned();
                let next = Continue::after(page.revision.get(), key.strip_prefix(&root).unwrap_or(&key));
                let metadata = options.metadata(page.revision.get(), Some(&Rest { next, remaining }));
                return Ok(Found { metadata, items, revision: page.revision });
            }
        }
        if page.next.is_none() {
            let metadata = options.metadata(page.revision.get(), None);
            return Ok(Found { metadata, items, revision: page.revision });
        }
        request.start = page.next;
        request.at = Some(page.revision);
    }
}

/// Waits a little for the store to reach a version.
async fn wait_for(call: &Call<'_>, version: u64) -> Result<(), Refusal> {
    let bounds = || call.server.objects.store.bounds();
    for _ in 0..30 {
        let current = bounds().await.map_err(|error| failed(&error))?.current;
        if current.get() >= version {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let current = bounds().await.map_err(|error| failed(&error))?.current;
    Err(too_large(version, current.get()))
}

fn unlisted(error: &Error, options: &ListOptions) -> Refusal {
    match (error, options.list_plan()) {
        (Error::Compacted { .. }, Ok(ListPlan::Continue(page))) => {
            let (refusal, _) = expired_page(&page);
            refusal
        }
        (Error::Compacted { .. }, _) => expired_list(),
        (Error::FutureRevision { current }, Ok(ListPlan::Exactly(version))) => {
            too_large(version, current.get())
        }
        _ => failed(error),
    }
}
