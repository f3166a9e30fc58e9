//! Informers: a copy of one resource that follows the server, and tells of every change.
//!
//! ```text
//! server ──lines──► reflector ──protocol──► Store (indexes) ──Change──► subscribers, in order, one at a time
//!                                             ▲
//!                                 controllers read under a short lock
//! ```
//!
//! The store is changed first and the subscribers hear of it second, in the task of the informer: whoever was told of
//! a pod finds it, and whoever finds a store without it has not been told yet. Expectations rest on this.
//!
//! **Locks.** A reader that needs several stores at once takes them in the order Deployments, sets, pods, never one of
//! them twice. Nobody holds one across an `await`, which the compiler would refuse to send.

mod cached;
mod lines;
mod protocol;
mod reflector;
mod registry;
mod store;
#[cfg(test)]
mod tests;

pub use cached::{
    Cached, CachedDeployment, CachedDisruptionBudget, CachedEndpointSlice, CachedEndpoints, CachedReplicaSet,
    CachedReplicationController, MetadataOnly, Noun, Object, Plain, Typed, resource_of,
};
pub use registry::Informers;
pub use store::Store;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use gantry_decide::gc::Resource;
use gantry_model::ResourceVersion;
use tokio::sync::watch;

use crate::api::Api;
use crate::shutdown::Shutdown;

/// Something that happened to an object.
#[derive(Debug)]
pub enum Change<T> {
    /// It was seen for the first time.
    Added(Arc<T>),
    /// It changed.
    Updated {
        /// As it was known before.
        old: Arc<T>,
        /// As it is now.
        new: Arc<T>,
    },
    /// It is gone; this is the last that was known of it.
    Deleted(Arc<T>),
}

/// A copy of one resource. Cheap to clone; all clones are one.
pub struct Informer<T> {
    shared: Arc<Shared<T>>,
}

type Subscriber<T> = Box<dyn Fn(&Change<T>) + Send + Sync>;

struct Shared<T> {
    resource: Resource,
    fields: Option<&'static str>,
    store: RwLock<Store<T>>,
    /// Locked while a change is made and told, so that subscribers hear of changes in order.
    subscribers: Mutex<Vec<Subscriber<T>>>,
    synced: watch::Sender<bool>,
}

impl<T: Cached> Informer<T> {
    /// A copy of this resource, empty until it [runs](Self::run).
    pub fn new(resource: Resource) -> Self {
        Self::selecting(resource, None)
    }

    /// A copy of those objects that this field selector selects.
    pub fn selecting(resource: Resource, fields: Option<&'static str>) -> Self {
        let shared = Shared {
            resource,
            fields,
            store: RwLock::new(Store::new()),
            subscribers: Mutex::new(Vec::new()),
            synced: watch::channel(false).0,
        };
        Self { shared: Arc::new(shared) }
    }

    /// What is copied.
    pub fn resource(&self) -> &Resource {
        &self.shared.resource
    }

    /// The objects as they are now. Keep it for a moment only: changes wait for it.
    pub fn read(&self) -> RwLockReadGuard<'_, Store<T>> {
        self.shared.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has every change told to this function, beginning with what is there already.
    ///
    /// It is called in the informer's task and delays everybody else: it should put keys into queues and do no more.
    pub fn subscribe(&self, subscriber: impl Fn(&Change<T>) + Send + Sync + 'static) {
        let mut subscribers = self.subscribers();
        let present: Vec<_> = self.read().iter().cloned().collect();
        for object in present {
            subscriber(&Change::Added(object));
        }
        subscribers.push(Box::new(subscriber));
    }

    /// Whether the first list is in.
    pub fn is_synced(&self) -> bool {
        *self.shared.synced.borrow()
    }

    /// Returns when the first list is in.
    pub async fn synced(&self) {
        // The sender lives as long as `self`, so this cannot fail.
        let _ = self.shared.synced.subscribe().wait_for(|synced| *synced).await;
    }

    /// Follows the server until it is time to end.
    pub async fn run(&self, api: Api, shutdown: Shutdown) {
        reflector::run(self, &api, &shutdown).await;
    }

    fn apply(&self, object: T) {
        self.tell(|store| store.apply(object).into_iter().collect());
    }

    fn remove(&self, last: T) {
        self.tell(|store| store.remove(last).into_iter().collect());
    }

    fn replace(&self, all: Vec<T>, version: ResourceVersion) {
        self.tell(|store| store.replace(all, version));
        self.shared.synced.send_replace(true);
    }

    fn reach(&self, version: ResourceVersion) {
        self.tell(|store| {
            store.reach(version);
            Vec::new()
        });
    }

    fn tell(&self, hear: impl FnOnce(&mut Store<T>) -> Vec<Change<T>>) {
        let subscribers = self.subscribers();
        let changes = hear(&mut self.shared.store.write().unwrap_or_else(PoisonError::into_inner));
        for change in &changes {
            for subscriber in subscribers.iter() {
                subscriber(change);
            }
        }
    }

    fn subscribers(&self) -> MutexGuard<'_, Vec<Subscriber<T>>> {
        self.shared.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

impl<T> Change<T> {
    /// The object as it is now, or was last.
    pub fn object(&self) -> &Arc<T> {
        match self {
            Self::Added(object) | Self::Updated { new: object, .. } | Self::Deleted(object) => object,
        }
    }
}
