//! A store in memory that holds some of its calls at a gate, so that a test decides how long requests execute.

use std::sync::Arc;

use gantry_apiserver::{ApiServer, Settings};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use gantry_store::{
    Answer, Bounds, Fetched, Key, ListRequest, Page, Prefix, Revision, Store, Transaction, Watch,
};
use tokio::sync::Semaphore;

use super::Noon;

/// A call that the gate may hold.
pub enum StoreCall<'a> {
    List(&'a ListRequest),
    Commit(&'a Transaction),
}

#[derive(Debug)]
pub struct GatedStore {
    store: MemoryStore,
    is_held: fn(&StoreCall<'_>) -> bool,
    /// A permit for each call that has arrived at the gate.
    arrived: Semaphore,
    /// A permit for each call that may pass.
    gate: Semaphore,
}

impl GatedStore {
    /// A server over a store that holds these calls.
    pub async fn server(settings: Settings, is_held: fn(&StoreCall<'_>) -> bool) -> (ApiServer, Arc<Self>) {
        let store = Arc::new(Self {
            store: MemoryStore::new(HistoryLimits::default()),
            is_held,
            arrived: Semaphore::new(0),
            gate: Semaphore::new(0),
        });
        let server = ApiServer::new(store.clone(), Arc::new(Noon::default()), settings);
        server.prepare().await.unwrap();
        (server, store)
    }

    /// Waits until this many calls have arrived at the gate since the last time.
    pub async fn arrivals(&self, count: usize) {
        self.arrived.acquire_many(u32::try_from(count).unwrap()).await.unwrap().forget();
    }

    /// Allows this many calls to pass.
    pub fn open(&self, count: usize) {
        self.gate.add_permits(count);
    }

    async fn pass(&self, call: StoreCall<'_>) {
        if (self.is_held)(&call) {
            self.arrived.add_permits(1);
            self.gate.acquire().await.unwrap().forget();
        }
    }
}

impl Store for GatedStore {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        self.store.get(key)
    }
    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        Box::pin(async move {
            self.pass(StoreCall::List(&request)).await;
            self.store.list(request).await
        })
    }
    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
        Box::pin(async move {
            self.pass(StoreCall::Commit(&transaction)).await;
            self.store.commit(transaction).await
        })
    }
    fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch> {
        self.store.watch(prefix, after)
    }
    fn compact(&self, through: Revision) -> Answer<'_, ()> {
        self.store.compact(through)
    }
    fn bounds(&self) -> Answer<'_, Bounds> {
        self.store.bounds()
    }
}
