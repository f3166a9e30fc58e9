//! The roles and bindings of the store as one policy, which is never older than a write that was acknowledged here.
//!
//! Four watches feed it. Nobody runs them in the background: whoever needs the policy first takes in what the watches
//! have to say. After a write of a role or binding by this server, the next one also waits until the watches have come
//! as far as the store is, so that the write counts from its answer on. Writes of other servers count when the watches
//! tell of them, as with any cache.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use gantry_registry::access::Policy;
use gantry_registry::kinds::{Kind, kinds};
use gantry_store::{Change, Error, Event, ListRequest, Notice, Revision, Store, Watch};
use tokio::sync::Mutex;

use super::RBAC;
use crate::objects::Objects;
use crate::served;

/// The policy, and what keeps it current.
#[derive(Default)]
pub(super) struct Policies {
    feed: Mutex<Option<Feed>>,
    /// How many writes of roles and bindings this server has answered.
    writes: AtomicU64,
}

/// The policy as of the last look.
struct Feed {
    policy: Arc<Policy>,
    sources: Vec<Source>,
    /// How many writes it includes for certain.
    writes: u64,
}

/// The roles or bindings of one kind.
struct Source {
    kind: &'static Kind,
    watch: Watch,
    reached: Revision,
}

/// A write of a role or binding. It counts from the moment this is dropped, answered or given up.
pub(super) struct Writing<'a>(&'a Policies);

impl Policies {
    /// The policy, with every write of this server that was answered before.
    pub(super) async fn current(&self, store: &dyn Store) -> Result<Arc<Policy>, Error> {
        let mut feed = self.feed.lock().await;
        let writes = self.writes.load(Ordering::Acquire);
        if let Some(feed) = feed.as_mut()
            && feed.catch_up(store, writes).await.is_ok()
        {
            return Ok(Arc::clone(&feed.policy));
        }
        // Watches end, for example when they were left alone for so long that their history is forgotten.
        *feed = None;
        let loaded = Feed::load(store, writes).await?;
        let policy = Arc::clone(&loaded.policy);
        *feed = Some(loaded);
        Ok(policy)
    }

    pub(super) fn writing(&self) -> Writing<'_> {
        Writing(self)
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.writes.fetch_add(1, Ordering::AcqRel);
    }
}

impl Feed {
    async fn load(store: &dyn Store, writes: u64) -> Result<Self, Error> {
        let mut policy = Policy::default();
        let mut sources = Vec::new();
        for kind in kinds().all().filter(|kind| kind.group == RBAC) {
            let prefix = Objects::prefix(kind, None);
            let page = store.list(ListRequest::all(prefix.clone())).await?;
            for item in &page.items {
                // What cannot be read grants nothing.
                if let Ok(object) = served::parse(kind, &item.value, item.revision) {
                    policy.add(&object);
                }
            }
            let watch = store.watch(prefix, page.revision).await?;
            sources.push(Source { kind, watch, reached: page.revision });
        }
        Ok(Self { policy: Arc::new(policy), sources, writes })
    }

    /// Takes in what the watches have to say, and waits for what was written since.
    async fn catch_up(&mut self, store: &dyn Store, writes: u64) -> Result<(), Error> {
        let until = if self.writes < writes { Some(store.bounds().await?.current) } else { None };
        for source in &mut self.sources {
            if until.is_some() {
                source.watch.request_progress();
            }
            while let Some(event) = source.next(until).await? {
                take(Arc::make_mut(&mut self.policy), source.kind, &event)?;
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
                    return Err(Error::Unavailable { why: "a watch of roles ended".to_owned() });
                }
            }
        }
    }
}

/// Takes in a change. One that cannot be read makes all be read anew: it must not leave standing what it replaced.
fn take(policy: &mut Policy, kind: &Kind, event: &Event) -> Result<(), Error> {
    let (value, is_there) = match &event.change {
        Change::Created { value } | Change::Updated { value, .. } => (value, true),
        Change::Deleted { previous } => (&previous.value, false),
    };
    let object = served::parse(kind, value, event.revision)
        .map_err(|refusal| Error::Unavailable { why: refusal.message })?;
    if is_there {
        policy.add(&object);
    } else {
        policy.remove(&object);
    }
    Ok(())
}

impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Policies")
    }
}
