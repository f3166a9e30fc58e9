//! A store whose ConfigMaps can be read only through a gate, so that a test decides how long requests execute.

use std::sync::Arc;

use gantry_apiserver::{ApiServer, Settings};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use gantry_store::{
    Answer, Bounds, Fetched, Key, ListRequest, Page, Prefix, Revision, Store, Transaction, Watch,
};
use tokio::sync::Semaphore;

use crate::harness::Noon;

#[derive(Debug)]
pub(crate) struct GatedStore {
    store: MemoryStore,
    /// A permit for each read that has arrived at the gate.
    arrived: Semaphore,
    /// A permit for each read that may pass.
    gate: Semaphore,
}

impl GatedStore {
    pub(crate) async fn server(settings: Settings) -> (ApiServer, Arc<Self>) {
        let store = Arc::new(Self {
            store: MemoryStore::new(HistoryLimits::default()),
            arrived: Semaphore::new(0),
            gate: Semaphore::new(0),
        });
        let server = ApiServer::new(store.clone(), Arc::new(Noon::default()), settings);
        server.prepare().await.unwrap();
        (server, store)
    }

    /// Waits until this many reads have arrived at the gate since the last call.
    pub(crate) async fn arrivals(&self, count: usize) {
        self.arrived.acquire_many(u32::try_from(count).unwrap()).await.unwrap().forget();
    }

    /// Lets this many reads pass.
    pub(crate) fn open(&self, count: usize) {
        self.gate.add_permits(count);
    }
}

impl Store for GatedStore {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        self.store.get(key)
    }
    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        Box::pin(async move {
            if request.prefix.as_bytes().starts_with(b"/registry/configmaps/default/") {
                self.arrived.add_permits(1);
                self.gate.acquire().await.unwrap().forget();
            }
            self.store.list(request).await
        })
    }
    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
        self.store.commit(transaction)
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
