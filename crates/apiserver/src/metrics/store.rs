//! A store with metrics of its latency, under the name of etcd's.

use std::sync::Arc;
use std::time::Instant;

use gantry_store::{
    Answer, Bounds, Fetched, Key, ListRequest, Page, Prefix, Revision, Store, Transaction, Watch,
};

use super::Metrics;
use super::histogram::Histogram;
use super::text::Text;

/// The latency of each operation.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    get: Histogram,
    list: Histogram,
    commit: Histogram,
}

/// A store with metrics of its latency.
#[derive(Debug)]
pub(crate) struct TimedStore {
    store: Arc<dyn Store>,
    metrics: Arc<Metrics>,
}

impl TimedStore {
    pub(crate) fn new(store: Arc<dyn Store>, metrics: Arc<Metrics>) -> Self {
        Self { store, metrics }
    }
}

/// Records the latency of an operation.
fn timed<'a, T: 'a>(times: &'a Histogram, answer: Answer<'a, T>) -> Answer<'a, T> {
    let began = Instant::now();
    Box::pin(async move {
        let answer = answer.await;
        times.record(began.elapsed());
        answer
    })
}

impl Store for TimedStore {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        timed(&self.metrics.store.get, self.store.get(key))
    }

    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        timed(&self.metrics.store.list, self.store.list(request))
    }

    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
        timed(&self.metrics.store.commit, self.store.commit(transaction))
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

    fn commits_both_or_neither(&self) -> bool {
        self.store.commits_both_or_neither()
    }

    fn health(&self) -> Answer<'_, ()> {
        self.store.health()
    }
}

impl Operations {
    pub(super) fn render(&self, text: &mut Text) {
        let name = "etcd_request_duration_seconds";
        text.family(name, "histogram", "Latency of the store.");
        for (operation, times) in [("get", &self.get), ("list", &self.list), ("txn", &self.commit)] {
            times.render(name, &[("operation", operation)], text);
        }
    }
}
