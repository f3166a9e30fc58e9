//! Informers: a cache of one resource that follows the server, and notifies of every change.
//!
//! ```text
//! server ──lines──► source ──objects──► Store (indexes) ──InformerEvent──► subscribers, in order, one at a time
//!                                         ▲
//!                             controllers read under a short lock
//! ```
//!
//! The store is changed before the subscribers are notified, in the task of the source: a subscriber that is
//! notified of a pod finds it in the store. Expectations depend on this.
//!
//! **Locks.** A reader that needs several stores at once locks them in the order Deployments, sets, pods, never one
//! of them twice. No lock is held across an `await`, which the compiler would refuse to send.

mod cached;
mod index;
mod lines;
mod protocol;
mod reflector;
mod registry;
mod scope;
mod source;
mod store;
mod stored;
mod templates;
#[cfg(test)]
mod tests;
mod trimming;
mod wire_object;

pub use cached::{
    Cached, CachedDisruptionBudget, CachedEndpointSlice, CachedEndpoints, CachedReplicationController,
    MetadataOnly, Object, ParsedFrom, Plain, PreviousState, Typed, resource_of,
};
pub use registry::Informers;
pub use scope::InformerScope;
pub use store::Store;
pub use stored::{CachedDeployment, CachedReplicaSet, ParsedWorkload, Stored};
pub(crate) use trimming::without_managed_fields;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use gantry_client::RequestError;
use gantry_decide::gc::Resource;
use gantry_model::ResourceVersion;
use tokio::sync::watch;

use crate::api::Api;
use crate::clock::Clock;
use crate::latch::Latch;
use crate::shutdown::Shutdown;
use source::{Decoder, Source};

/// A change of an object.
#[derive(Debug)]
pub enum InformerEvent<T> {
    /// It was seen for the first time.
    Added(Arc<T>),
    /// It changed.
    Updated {
        /// The previous state.
        old: Arc<T>,
        /// The current state.
        new: Arc<T>,
    },
    /// It was deleted; its last known state.
    Deleted(Arc<T>),
}

/// A cache of one resource. Cheap to clone; clones share their store.
pub struct Informer<T> {
    shared: Arc<Shared<T>>,
}

type Subscriber<T> = Box<dyn Fn(&InformerEvent<T>) + Send + Sync>;

struct Shared<T> {
    resource: Resource,
    scope: InformerScope,
    store: RwLock<Store<T>>,
    /// Locked while a change is made and notified, so that subscribers get changes in order.
    subscribers: Mutex<Vec<Subscriber<T>>>,
    synced: Latch,
    /// The failure of the last request to the server.
    error: watch::Sender<Option<RequestError>>,
}

impl<T: Cached> Informer<T> {
    /// An empty cache of all objects until it [runs](Self::run).
    pub fn new(resource: Resource) -> Self {
        Self::scoped(resource, InformerScope::all())
    }

    /// An empty cache of some objects until it [runs](Self::run).
    pub fn scoped(resource: Resource, scope: InformerScope) -> Self {
        let shared = Shared {
            resource,
            scope,
            store: RwLock::new(Store::new()),
            subscribers: Mutex::new(Vec::new()),
            synced: Latch::default(),
            error: watch::channel(None).0,
        };
        Self { shared: Arc::new(shared) }
    }

    /// The cached resource.
    pub fn resource(&self) -> &Resource {
        &self.shared.resource
    }

    /// The current objects. Keep the guard only briefly: changes wait for it.
    pub fn read(&self) -> RwLockReadGuard<'_, Store<T>> {
        self.shared.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes this function to every change, beginning with the objects that exist already.
    ///
    /// It is subscribed until the watch ends. It is called in the source's task and delays all other subscribers: it
    /// should only enqueue keys.
    pub fn subscribe(&self, subscriber: impl Fn(&InformerEvent<T>) + Send + Sync + 'static) {
        let mut subscribers = self.subscribers();
        let present: Vec<_> = self.read().iter().cloned().collect();
        for object in present {
            subscriber(&InformerEvent::Added(object));
        }
        subscribers.push(Box::new(subscriber));
    }

    fn unsubscribe_all(&self) {
        // Dropped without the lock, because a subscriber may hold an informer.
        let subscribers = std::mem::take(&mut *self.subscribers());
        drop(subscribers);
    }

    /// Whether the initial list has arrived.
    pub fn is_synced(&self) -> bool {
        self.shared.synced.is_set()
    }

    /// Returns when the initial list has arrived.
    pub async fn synced(&self) {
        self.shared.synced.wait().await;
    }

    /// The failure of the last request to the server; `None` while the connection is up. Requests are repeated.
    pub fn error(&self) -> watch::Receiver<Option<RequestError>> {
        self.shared.error.subscribe()
    }

    /// Follows the server until shutdown, with a watch of its own.
    pub async fn run(&self, api: Api, clock: Clock, shutdown: Shutdown) {
        let (resource, scope) = (self.shared.resource.clone(), self.shared.scope.clone());
        let source = Source::new(resource, scope, T::FORM, Decoder::of::<T::Wire>());
        source.attach(self, source::parse);
        reflector::run(&source, &api, &clock, &shutdown).await;
    }

    fn apply(&self, object: T) {
        let subscribers = self.subscribers();
        let change = self.write().apply(object);
        notify(&subscribers, change.as_slice());
    }

    fn remove(&self, last: T) {
        let subscribers = self.subscribers();
        let change = self.write().remove(last);
        notify(&subscribers, change.as_slice());
    }

    fn replace(&self, all: Vec<T>, version: ResourceVersion) {
        let subscribers = self.subscribers();
        let changes = self.write().replace(all, version);
        notify(&subscribers, &changes);
        drop(subscribers);
        self.shared.synced.set();
    }

    fn advance_to(&self, version: ResourceVersion) {
        let _subscribers = self.subscribers();
        self.write().advance_to(version);
    }

    /// Changes are made while the subscribers are locked.
    fn write(&self) -> RwLockWriteGuard<'_, Store<T>> {
        self.shared.store.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn subscribers(&self) -> MutexGuard<'_, Vec<Subscriber<T>>> {
        self.shared.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn notify<T>(subscribers: &[Subscriber<T>], changes: &[InformerEvent<T>]) {
    for change in changes {
        for subscriber in subscribers {
            subscriber(change);
        }
    }
}

/// Sets the error; notifies the receivers unless there was none before and is none now.
fn set_error(known: &watch::Sender<Option<RequestError>>, error: Option<&RequestError>) {
    known.send_if_modified(|known| {
        let is_change = known.is_some() || error.is_some();
        *known = error.cloned();
        is_change
    });
}

impl<T> Clone for Informer<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> fmt::Debug for Informer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer").field("resource", &self.shared.resource.plural).finish_non_exhaustive()
    }
}

impl<T> InformerEvent<T> {
    /// The object in its current or last state.
    pub fn object(&self) -> &Arc<T> {
        match self {
            Self::Added(object) | Self::Updated { new: object, .. } | Self::Deleted(object) => object,
        }
    }
}
