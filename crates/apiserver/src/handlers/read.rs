//! Reading: one object, or many at one version.

use std::num::NonZeroU64;

use gantry_registry::Refusal;
use gantry_registry::kinds::Verb;
use gantry_registry::paging::{Continue, ListOptions, ListPlan, expired_list, expired_page, too_large};
use gantry_store::{Error, Key, ListRequest, Revision};
use serde_json::{Value, json};

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
    let (at, mut start) = match options.list_plan()? {
        ListPlan::Latest | ListPlan::AtLeast(0) => (None, None),
        ListPlan::AtLeast(version) => {
            wait_for(call, version).await?;
            (None, None)
        }
        ListPlan::Exactly(version) => (Revision::new(version), None),
        ListPlan::Continue(page) => {
            let start = Key::new(format!("{root}{}", page.start)).ok();
            (page.version.and_then(Revision::new), start)
        }
    };
    let page_size = options.page_size().and_then(|size| usize::try_from(NonZeroU64::get(size)).ok());
    let is_everything = options.selection.is_everything();
    let mut items = Vec::new();
    let mut at = at;
    loop {
        let wanted = page_size.map(|size| size - items.len());
        let step = if is_everything { wanted.unwrap_or(0) } else { SCAN };
        let mut request = ListRequest::all(prefix.clone()).limit(step);
        request.start = start.take();
        request.at = at;
        let page =
            call.server.objects.store.list(request).await.map_err(|error| unlisted(&error, options))?;
        at = Some(page.revision);
        let mut last = None;
        for item in page.items {
            let object = parse(&item.value, item.revision)?;
            if options.selection.matches(&object) {
                items.push(object);
            }
            let is_full = page_size.is_some_and(|size| items.len() >= size);
            last = Some(item.key);
            if is_full {
                break;
            }
        }
        let is_full = page_size.is_some_and(|size| items.len() >= size);
        let more = match (&page.next, &last) {
            (None, _) | (_, None) => None,
            (Some(_), Some(last)) => Some(last.clone()),
        };
        match more {
            Some(last) if is_full => {
                let key = String::from_utf8_lossy(last.as_bytes()).into_owned();
                let token = Continue::after(page.revision.get(), key.strip_prefix(&root).unwrap_or(&key));
                let mut metadata = json!({
                    "resourceVersion": page.revision.get().to_string(), "continue": token.encode(),
                });
                if is_everything {
                    metadata["remainingItemCount"] = json!(page.remaining);
                }
                return Ok(Found { metadata, items, revision: page.revision });
            }
            Some(_) if page_size.is_some() || !is_everything => start = page.next,
            _ => {
                let metadata = json!({"resourceVersion": page.revision.get().to_string()});
                return Ok(Found { metadata, items, revision: page.revision });
            }
        }
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
