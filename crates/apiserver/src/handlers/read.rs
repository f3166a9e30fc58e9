//! Get and list.

use std::num::NonZeroU64;

use gantry_json::Value;
use gantry_registry::paging::{
    Continue, ListOptions, ListPlan, Rest, expired_list, expired_page, get_version, too_large,
};
use gantry_schema::encode::TypeMeta;
use gantry_schema::kinds::{Kind, Verb};
use gantry_store::{Error, Item, Key, ListRequest, Revision};

use super::call::Call;
use super::{list_body, require_verb, watch};
use crate::accept::View;
use crate::chunk_buffer::VERSION_BYTES;
use crate::error::ApiError;
use crate::flow_control::CollectionHash;
use crate::heavy_work::HEAVY_BYTES;
use crate::objects::Objects;
use crate::response::ApiResponse;
use crate::storage_codec;

/// The page size of reads from the store when a selector is applied.
const PAGE: usize = 500;
/// Larger lists are not indented, whatever the client prefers: that would require the whole list in memory.
const INDENTED_BYTES_MAX: usize = 8 << 20;
/// The size of a list beyond its items.
const HEADER_BYTES: usize = 512;

/// Gets one object.
pub(super) async fn object(call: &Call<'_>) -> Result<ApiResponse, ApiError> {
    require_verb(call.kind, Verb::Get)?;
    let version = get_version(call.info.query.first("resourceVersion").unwrap_or_default())?;
    if version > 0 {
        wait_for_revision(call, version).await?;
    }
    let found = call.server.objects.fetch(call.object_ref()).await?;
    let render = || call.render_stored(200, &found);
    let (response, slot) = call.server.heavy_work.run_keeping_slot(found.value.len(), render).await;
    Ok(response?.with_slot(slot))
}

/// Lists or watches a collection.
pub(super) async fn collection(call: &Call<'_>) -> Result<ApiResponse, ApiError> {
    if call.watch_by_path {
        let options = ListOptions::read(&watched_by_path(call), call.selectable())?;
        require_verb(call.kind, Verb::Watch)?;
        return watch::begin(call, &options).await;
    }
    let options = ListOptions::read(&call.info.query.0, call.selectable())?;
    if options.watch {
        require_verb(call.kind, Verb::Watch)?;
        return watch::begin(call, &options).await;
    }
    require_verb(call.kind, Verb::List)?;
    render(call, list(call, &options).await?).await
}

/// Renders a list; a large one while it is sent.
pub(super) async fn render(call: &Call<'_>, found: ListedObjects) -> Result<ApiResponse, ApiError> {
    let (bytes, is_plain) = (found.bytes(), matches!(call.view, View::Plain | View::Discovery));
    let is_yaml = call.info.wants_yaml();
    let is_indented = !is_yaml && call.info.wants_pretty() && bytes <= INDENTED_BYTES_MAX;
    if is_plain && bytes > HEAVY_BYTES && !is_indented {
        return Ok(list_body::response(call, found));
    }
    let (response, slot) = call.server.heavy_work.run_keeping_slot(bytes, || call.render_list(&found)).await;
    Ok(response?.with_slot(slot))
}

/// The query equivalent to a path of the old watch form, which may end in a name.
fn watched_by_path(call: &Call<'_>) -> Vec<(String, String)> {
    let others = call.info.query.0.iter().filter(|(key, _)| key != "watch").cloned();
    let mut query: Vec<_> = std::iter::once(("watch".to_owned(), "true".to_owned())).chain(others).collect();
    if let Some(name) = call.name {
        let given = call.info.query.first("fieldSelector").unwrap_or_default();
        let comma = if given.is_empty() { "" } else { "," };
        query.insert(0, ("fieldSelector".to_owned(), format!("{given}{comma}metadata.name={name}")));
    }
    query
}

/// The objects of a list at one revision.
pub(super) struct ListedObjects {
    pub(super) metadata: Value,
    pub(super) items: Vec<Item>,
    pub(super) revision: Revision,
}

impl ListedObjects {
    /// Decodes the objects, one after another.
    pub(super) fn values(&self, kind: &Kind) -> impl Iterator<Item = Result<Value, ApiError>> {
        self.items.iter().map(|item| storage_codec::decode(kind, &item.value, item.revision))
    }

    /// The size of the objects.
    fn bytes(&self) -> usize {
        stored_bytes(&self.items)
    }

    /// Encodes the list; every object is copied once, from the store into the response.
    pub(super) fn plain(&self, kind: &Kind) -> Result<Vec<u8>, ApiError> {
        let capacity = self.bytes() + self.items.len() * VERSION_BYTES + HEADER_BYTES;
        let mut out = Vec::with_capacity(capacity);
        list_body::start(kind, &self.metadata, &mut out);
        for (index, item) in self.items.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            storage_codec::write(kind, &item.value, item.revision, TypeMeta::LeftOut, &mut out)?;
        }
        out.extend_from_slice(b"]}\n");
        Ok(out)
    }
}

fn stored_bytes(items: &[Item]) -> usize {
    items.iter().map(|item| item.value.len()).sum()
}

/// Lists the objects that the options select.
pub(super) async fn list(call: &Call<'_>, options: &ListOptions) -> Result<ListedObjects, ApiError> {
    let prefix = Objects::prefix(call.kind, call.namespace);
    let root = String::from_utf8_lossy(prefix.as_bytes()).trim_end_matches('/').to_owned();
    let mut request = ListRequest::all(prefix);
    match options.list_plan()? {
        ListPlan::Latest | ListPlan::AtLeast(0) => {}
        ListPlan::AtLeast(version) => wait_for_revision(call, version).await?,
        ListPlan::Exactly(version) => request.at = Revision::new(version),
        ListPlan::Continue(page) => {
            request.start = Key::new(format!("{root}{}", page.start)).ok();
            request.at = page.version.and_then(Revision::new);
        }
    }
    let page_size = options.page_size().and_then(|size| usize::try_from(NonZeroU64::get(size)).ok());
    let everything = options.selection.is_everything();
    // Without a selector a page of the store is a page of the list.
    let step = if everything { page_size.unwrap_or(0) } else { PAGE };
    let mut items = Vec::new();
    let mut size = ReadSize::default();
    loop {
        let read = call.server.objects.store.list(request.clone().limit(step)).await;
        let page = read.map_err(|error| list_error(error, options))?;
        let mut unread = page.items.len();
        size.add(&page.items);
        size.note(call, page.remaining);
        let selected = if everything {
            vec![true; unread]
        } else {
            let is_selected = |item| is_selected(call.kind, options, item);
            let select = || page.items.iter().map(is_selected).collect::<Result<_, _>>();
            call.server.heavy_work.run(decoded_bytes(call.kind, options, &page.items), select).await?
        };
        for (item, is_selected) in page.items.into_iter().zip(selected) {
            unread -= 1;
            if is_selected {
                items.push(item);
            }
            let remaining = page.remaining.saturating_add(u64::try_from(unread).unwrap_or(u64::MAX));
            if page_size == Some(items.len()) && remaining > 0 {
                let last = items.last().map_or(&[][..], |item| item.key.as_bytes());
                let key = String::from_utf8_lossy(last);
                let next = Continue::after(page.revision.get(), key.strip_prefix(&root).unwrap_or(&key));
                let metadata = options.metadata(page.revision.get(), Some(&Rest { next, remaining }));
                return Ok(ListedObjects { metadata, items, revision: page.revision });
            }
        }
        if page.next.is_none() {
            let metadata = options.metadata(page.revision.get(), None);
            return Ok(ListedObjects { metadata, items, revision: page.revision });
        }
        request.start = page.next;
        request.at = Some(page.revision);
    }
}

/// The number and size of the objects that a list has read from the store.
#[derive(Default)]
struct ReadSize {
    objects: u64,
    bytes: u64,
}

impl ReadSize {
    fn add(&mut self, items: &[Item]) {
        self.objects += items.len() as u64;
        self.bytes += items.iter().map(|item| item.value.len() as u64).sum::<u64>();
    }

    /// Records the size of the whole collection, `unread` objects of which were not read, for the estimates of later
    /// lists.
    fn note(&self, call: &Call<'_>, unread: u64) {
        let all = self.objects.saturating_add(unread);
        let bytes = self.bytes.saturating_mul(all) / self.objects.max(1);
        let (group, resource) = (call.kind.group, call.kind.resource);
        let collection = CollectionHash::of(group, resource, call.namespace.unwrap_or_default());
        call.server.flow_control.note_list(collection, all, bytes);
    }
}

/// The size of the objects that have to be decoded to select some of them.
fn decoded_bytes(kind: &Kind, options: &ListOptions, items: &[Item]) -> usize {
    let by_labels = options.selection.is_by_labels();
    let decoded = items.iter().filter(|item| !by_labels || storage_codec::needs_decoding(kind, &item.value));
    decoded.map(|item| item.value.len()).sum()
}

fn is_selected(kind: &Kind, options: &ListOptions, item: &Item) -> Result<bool, ApiError> {
    let decode =
        if options.selection.is_by_labels() { storage_codec::decode_labels } else { storage_codec::decode };
    Ok(options.selection.matches(&decode(kind, &item.value, item.revision)?))
}

/// Waits up to three seconds for the store to reach a revision.
pub(super) async fn wait_for_revision(call: &Call<'_>, version: u64) -> Result<(), ApiError> {
    let bounds = || call.server.objects.store.bounds();
    for _ in 0..30 {
        let current = bounds().await?.current;
        if current.get() >= version {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let current = bounds().await?.current;
    Err(too_large(version, current.get()).into())
}

fn list_error(error: Error, options: &ListOptions) -> ApiError {
    match (error, options.list_plan()) {
        (Error::Compacted { .. }, Ok(ListPlan::Continue(page))) => expired_page(&page).into(),
        (Error::Compacted { .. }, _) => expired_list().into(),
        (Error::FutureRevision { current }, Ok(ListPlan::Exactly(version))) => {
            too_large(version, current.get()).into()
        }
        (Error::FutureRevision { current }, Ok(ListPlan::Continue(page))) => {
            too_large(page.version.unwrap_or_default(), current.get()).into()
        }
        (error, _) => error.into(),
    }
}
