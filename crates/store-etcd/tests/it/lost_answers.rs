//! Writes and watches across connections that break at the worst moment.

use std::sync::Arc;
use std::time::Duration;

use gantry_store::suite::{key, prefix, soon};
use gantry_store::{Error, Event, Notice, Op, Revision, Store, Transaction};
use gantry_store_etcd::Settings;
use tokio::task::JoinHandle;

use crate::etcd::{Etcd, open};
use crate::proxy::Proxy;

/// One etcd, a store with a bad connection to it, and one with a good connection that sees what is true.
struct Scene {
    proxy: Proxy,
    store: Arc<dyn Store>,
    truth: Arc<dyn Store>,
    start: Revision,
    etcd: Etcd,
}

impl Scene {
    async fn new() -> Self {
        let etcd = Etcd::quick();
        let truth = etcd.store().await;
        let proxy = Proxy::to(&etcd.urls()[0]).await;
        let settings = Settings { endpoints: vec![proxy.url().to_owned()], ..etcd.settings() };
        let store = open(&Settings { resolve_timeout: Duration::from_secs(5), ..settings }).await;
        let start = truth.bounds().await.unwrap().current;
        Self { proxy, store, truth, start, etcd }
    }

    fn commit(&self, transaction: Transaction) -> JoinHandle<Result<Revision, Error>> {
        let store = Arc::clone(&self.store);
        tokio::spawn(async move { store.commit(transaction).await })
    }

    /// Sends the write so that etcd does it, and breaks the connection before the answer.
    async fn commit_and_lose_the_answer(&self, transaction: Transaction) -> Result<Revision, Error> {
        let before = self.truth.bounds().await.unwrap().current;
        self.proxy.swallow_answers(true);
        let commit = self.commit(transaction);
        while self.truth.bounds().await.unwrap().current == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.proxy.swallow_answers(false);
        self.proxy.cut();
        soon("the commit's end", commit).await.unwrap()
    }

    /// Sends the write so that it does not reach etcd before `meanwhile` is over and the connection is broken.
    async fn commit_and_hold_it_back(
        &self,
        transaction: Transaction,
        meanwhile: impl Future<Output = ()>,
    ) -> Result<Revision, Error> {
        self.proxy.hold_requests(true);
        let commit = self.commit(transaction);
        tokio::time::sleep(Duration::from_millis(100)).await;
        meanwhile.await;
        // The new connection is held back as well until the old one has been replaced.
        self.proxy.cut();
        tokio::time::sleep(Duration::from_millis(10)).await;
        self.proxy.hold_requests(false);
        soon("the commit's end", commit).await.unwrap()
    }

    /// Everything that happened since the scene began.
    async fn log(&self) -> Vec<Arc<Event>> {
        let mut watch = self.truth.watch(prefix("/"), self.start).await.unwrap();
        watch.request_progress();
        let mut log = Vec::new();
        while let Notice::Change(event) = soon("the log", watch.next()).await.unwrap().unwrap() {
            log.push(event);
        }
        log
    }

    async fn create(&self, name: &str, value: &'static str) -> Revision {
        self.truth.commit(Transaction::create(key(name), value)).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_answer_was_lost_is_known_to_have_happened() {
    let scene = Scene::new().await;
    let created = scene.commit_and_lose_the_answer(Transaction::create(key("/a"), "one")).await.unwrap();
    let updated = Transaction::update(key("/a"), "two", created);
    let updated = scene.commit_and_lose_the_answer(updated).await.unwrap();
    let several = Transaction::delete(key("/a"), updated).and(key("/b"), Op::Create { value: "b".into() });
    let several = scene.commit_and_lose_the_answer(several.unwrap()).await.unwrap();
    let deleted = scene.commit_and_lose_the_answer(Transaction::delete(key("/b"), several)).await.unwrap();
    let log: Vec<_> = scene.log().await.iter().map(|event| event.revision).collect();
    assert_eq!(log, [created, updated, several, several, deleted], "each happened once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_whose_answer_was_lost_is_still_a_conflict() {
    let scene = Scene::new().await;
    let there = scene.create("/a", "there").await;
    scene.proxy.swallow_answers(true);
    let commit = scene.commit(Transaction::create(key("/a"), "there"));
    tokio::time::sleep(Duration::from_millis(200)).await;
    scene.proxy.swallow_answers(false);
    scene.proxy.cut();
    let conflict = soon("the commit's end", commit).await.unwrap().unwrap_err();
    assert!(matches!(conflict, Error::Conflict { current: Some(current), .. } if current.revision == there));
}

/// Created, deleted by someone, and then the first, forgotten request arrives: it must not create again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_arrives_late_does_nothing_any_more() {
    let scene = Scene::new().await;
    scene.proxy.hold_requests(true);
    let commit = scene.commit(Transaction::create(key("/a"), "one"));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let bypass = Proxy::to(&scene.etcd.urls()[0]).await;
    drop(bypass);
    // The held connection stays held; a connection made after the cut is not looked at until it is released.
    scene.proxy.cut();
    tokio::time::sleep(Duration::from_millis(50)).await;
    scene.proxy.hold_requests(false);
    let created = soon("the commit's end", commit).await.unwrap().unwrap();
    scene.truth.commit(Transaction::delete(key("/a"), created)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(scene.truth.get(&key("/a")).await.unwrap().found, None);
    assert_eq!(scene.log().await.len(), 2);
}
