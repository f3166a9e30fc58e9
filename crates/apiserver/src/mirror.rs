//! Some objects of the store as a picture of them all, which is never older than a write that was acknowledged here.
//!
//! A watch of each kind feeds it. Nobody runs them in the background: whoever needs the picture first takes in what the
//! watches have to say. After a write of such an object by this server, the next one also waits until the watches have
//! come as far as the store is, so that the write counts from its answer on. Writes of other servers count when the
//! watches tell of them, as with any cache.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use gantry_registry::kinds::{Kind, kinds};
use gantry_store::{Change, Error, Event, ListRequest, Notice, Revision, Store, Watch};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::objects::Objects;
use crate::served;

/// What is made of all objects together.
pub(crate) trait Picture: Clone + Default {
    /// Whether objects of this kind belong to it.
    fn shows(kind: &Kind) -> bool;

    /// Takes in an object, in place of an older one of the same name.
    fn add(&mut self, object: &Value);

    /// Forgets an object.
    fn remove(&mut self, object: &Value);
}

/// A picture, and what keeps it current.
pub(crate) struct Mirror<P> {
    feed: Mutex<Option<Feed<P>>>,
    /// How many writes of such objects this server has answered.
    writes: AtomicU64,
}

/// The picture as of the last look.
struct Feed<P> {
    picture: Arc<P>,
    sources: Vec<Source>,
    /// How many writes it includes for certain.
    writes: u64,
}

/// The objects of one kind.
struct Source {
    kind: &'static Kind,
    watch: Watch,
    reached: Revision,
}

/// A write of such an object. It counts from the moment this is dropped, answered or given up.
pub(crate) struct Writing<'a>(&'a AtomicU64);

impl<P: Picture> Mirror<P> {
    /// The picture, with every write of this server that was answered before.
    pub(crate) async fn current(&self, store: &dyn Store) -> Result<Arc<P>, Error> {
        let mut feed = self.feed.lock().await;
        let writes = self.writes.load(Ordering::Acquire);
        if let Some(feed) = feed.as_mut()
            && feed.catch_up(store, writes).await.is_ok()
        {
            return Ok(Arc::clone(&feed.picture));
        }
        // Watches end, for example when they were left alone for so long that their history is forgotten.
        *feed = None;
        let loaded = Feed::load(store, writes).await?;
        let picture = Arc::clone(&loaded.picture);
        *feed = Some(loaded);
        Ok(picture)
    }

    pub(crate) fn writing(&self) -> Writing<'_> {
        Writing(&self.writes)
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

impl<P: Picture> Feed<P> {
    async fn load(store: &dyn Store, writes: u64) -> Result<Self, Error> {
        let mut picture = P::default();
        let mut sources = Vec::new();
        for kind in kinds().all().filter(|kind| P::shows(kind)) {
            let prefix = Objects::prefix(kind, None);
            let page = store.list(ListRequest::all(prefix.clone())).await?;
            for item in &page.items {
                // What cannot be read is not shown.
                if let Ok(object) = served::parse(kind, &item.value, item.revision) {
                    picture.add(&object);
                }
            }
            let watch = store.watch(prefix, page.revision).await?;
            sources.push(Source { kind, watch, reached: page.revision });
        }
        Ok(Self { picture: Arc::new(picture), sources, writes })
    }

    /// Takes in what the watches have to say, and waits for what was written since.
    async fn catch_up(&mut self, store: &dyn Store, writes: u64) -> Result<(), Error> {
        let until = if self.writes < writes { Some(store.bounds().await?.current) } else { None };
        for source in &mut self.sources {
            if until.is_some() {
                source.watch.request_progress();
            }
            while let Some(event) = source.next(until).await? {
                take(Arc::make_mut(&mut self.picture), source.kind, &event)?;
            }
        }
        self.writes = writes;
        Ok(())
    }
}

impl Source {
    /// The next change, if there is one by now, or one up to that revision.
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

/// Takes in a change. One that cannot be read makes all be read anew: it must not leave standing what it replaced.
fn take(picture: &mut impl Picture, kind: &Kind, event: &Event) -> Result<(), Error> {
    let (value, is_there) = match &event.change {
        Change::Created { value } | Change::Updated { value, .. } => (value, true),
        Change::Deleted { previous } => (&previous.value, false),
    };
    let object = served::parse(kind, value, event.revision)
        .map_err(|refusal| Error::Unavailable { why: refusal.message })?;
    if is_there {
        picture.add(&object);
    } else {
        picture.remove(&object);
    }
    Ok(())
}

impl<P> Default for Mirror<P> {
    fn default() -> Self {
        Self { feed: Mutex::default(), writes: AtomicU64::default() }
    }
}

impl<P> fmt::Debug for Mirror<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mirror")
    }
}
