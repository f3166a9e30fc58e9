//! A cache of a value computed from all objects of some kinds, at least as new as every write that this server
//! acknowledged.
//!
//! A watch of each kind updates it. No task runs in the background: reads apply the pending watch events first. After
//! a write to such an object by this server, the next read waits until the watches have reached the store's revision.
//! Writes of other servers become visible when the watches deliver them.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use gantry_json::Value;
use gantry_schema::kinds::{Kind, kinds};
use gantry_store::{Change, Error, Event, ListRequest, Notice, Revision, Store, Watch};
use tokio::sync::Mutex;

use crate::objects::Objects;
use crate::storage_codec;

/// A value computed from objects.
pub(crate) trait Projection: Clone + Default {
    /// Whether objects of this kind are part of it.
    fn includes(kind: &Kind) -> bool;

    /// Adds an object, replacing an older one of the same name.
    fn add(&mut self, object: &Value);

    /// Removes an object.
    fn remove(&mut self, object: &Value);
}

/// A cached projection.
pub(crate) struct StoreCache<P> {
    state: Mutex<Option<CacheState<P>>>,
    /// The number of acknowledged writes of this server.
    writes: AtomicU64,
}

/// The projection and the watches that update it.
struct CacheState<P> {
    projection: Arc<P>,
    watches: Vec<WatchedKind>,
    /// The number of writes that are included.
    writes: u64,
}

/// The watch of one kind.
struct WatchedKind {
    kind: &'static Kind,
    watch: Watch,
    reached: Revision,
}

/// A pending write. It is counted when this is dropped, whether it succeeded or not.
pub(crate) struct PendingWrite<'a>(&'a AtomicU64);

impl<P: Projection> StoreCache<P> {
    /// The projection, including every write of this server that was acknowledged before.
    pub(crate) async fn current(&self, store: &dyn Store) -> Result<Arc<P>, Error> {
        let mut state = self.state.lock().await;
        let writes = self.writes.load(Ordering::Acquire);
        if let Some(state) = state.as_mut()
            && state.catch_up(store, writes).await.is_ok()
        {
            return Ok(Arc::clone(&state.projection));
        }
        // Watches fail, for example when their history was compacted.
        *state = None;
        let loaded = CacheState::load(store, writes).await?;
        let projection = Arc::clone(&loaded.projection);
        *state = Some(loaded);
        Ok(projection)
    }

    pub(crate) fn pending_write(&self) -> PendingWrite<'_> {
        PendingWrite(&self.writes)
    }
}

impl Drop for PendingWrite<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

impl<P: Projection> CacheState<P> {
    async fn load(store: &dyn Store, writes: u64) -> Result<Self, Error> {
        let mut projection = P::default();
        let mut watches = Vec::new();
        for kind in kinds().all().filter(|kind| P::includes(kind)) {
            let prefix = Objects::prefix(kind, None);
            let page = store.list(ListRequest::all(prefix.clone())).await?;
            for item in &page.items {
                // Objects that cannot be decoded are left out.
                if let Ok(object) = storage_codec::decode(kind, &item.value, item.revision) {
                    projection.add(&object);
                }
            }
            let watch = store.watch(prefix, page.revision).await?;
            watches.push(WatchedKind { kind, watch, reached: page.revision });
        }
        Ok(Self { projection: Arc::new(projection), watches, writes })
    }

    /// Applies pending watch events; waits for those of acknowledged writes.
    async fn catch_up(&mut self, store: &dyn Store, writes: u64) -> Result<(), Error> {
        let until = if self.writes < writes { Some(store.bounds().await?.current) } else { None };
        for watched in &mut self.watches {
            if until.is_some() {
                watched.watch.request_progress();
            }
            while let Some(event) = watched.next(until).await? {
                apply_event(Arc::make_mut(&mut self.projection), watched.kind, &event)?;
            }
        }
        self.writes = writes;
        Ok(())
    }
}

impl WatchedKind {
    /// The next event that is ready, or that is at or before this revision.
    async fn next(&mut self, until: Option<Revision>) -> Result<Option<Arc<Event>>, Error> {
        loop {
            let notice = if until.is_some_and(|until| self.reached < until) {
                Poll::Ready(self.watch.next().await)
            } else {
                let mut next = pin!(self.watch.next());
                std::future::poll_fn(|context| Poll::Ready(next.as_mut().poll(context))).await
            };
            match notice {
                Poll::Pending => return Ok(None),
                Poll::Ready(Some(Ok(Notice::Progress(revision)))) => {
                    self.reached = self.reached.max(revision);
                }
                Poll::Ready(Some(Ok(Notice::Change(event)))) => {
                    self.reached = self.reached.max(event.revision);
                    return Ok(Some(event));
                }
                Poll::Ready(Some(Err(error))) => return Err(error),
                Poll::Ready(None) => {
                    return Err(Error::Unavailable {
                        why: format!("a watch of {} ended", self.kind.resource),
                    });
                }
            }
        }
    }
}

/// Applies an event. An object that cannot be decoded is an error, which reloads the cache.
fn apply_event(projection: &mut impl Projection, kind: &Kind, event: &Event) -> Result<(), Error> {
    let (value, is_there) = match &event.change {
        Change::Created { value } | Change::Updated { value, .. } => (value, true),
        Change::Deleted { previous } => (&previous.value, false),
    };
    let object = storage_codec::decode(kind, value, event.revision)
        .map_err(|error| Error::Unavailable { why: error.refusal().message })?;
    if is_there {
        projection.add(&object);
    } else {
        projection.remove(&object);
    }
    Ok(())
}

impl<P> Default for StoreCache<P> {
    fn default() -> Self {
        Self { state: Mutex::default(), writes: AtomicU64::default() }
    }
}

impl<P> fmt::Debug for StoreCache<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreCache")
    }
}
