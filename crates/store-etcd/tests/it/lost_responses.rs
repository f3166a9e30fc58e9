//! Writes and watches over connections that break between a request and its response.

use std::sync::Arc;
use std::time::Duration;

use gantry_store::suite::{key, prefix, soon};
use gantry_store::{Error, Event, Notice, Op, Revision, Store, Transaction};
use gantry_store_etcd::{LostAnswers, Settings};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::etcd::{Etcd, open};
use crate::proxy::Proxy;

/// One etcd, a store with a faulty connection to it, and one with a direct connection that observes its content.
struct Scene {
    proxy: Proxy,
    store: Arc<dyn Store>,
    direct: Arc<dyn Store>,
    start: Revision,
    etcd: Etcd,
}

impl Scene {
    async fn new() -> Self {
        // However busy the machine is, this is enough time to ask etcd for the outcome of a write.
        Self::resolving_within(Duration::from_secs(60)).await
    }

    async fn resolving_within(resolve_timeout: Duration) -> Self {
        let etcd = Etcd::quick();
        let direct = etcd.store().await;
        let proxy = Proxy::to(&etcd.urls()[0]).await;
        let settings = Settings { endpoints: vec![proxy.url().to_owned()], ..etcd.settings() };
        let store = open(&Settings { resolve_timeout, ..settings }).await;
        let start = direct.bounds().await.unwrap().current;
        Self { proxy, store, direct, start, etcd }
    }

    fn commit(&self, transaction: Transaction) -> JoinHandle<Result<Revision, Error>> {
        let store = Arc::clone(&self.store);
        tokio::spawn(async move { store.commit(transaction).await })
    }

    /// Sends the write so that etcd carries it out, and cuts the connection before the response.
    async fn commit_and_lose_the_response(&self, transaction: Transaction) -> Result<Revision, Error> {
        let before = self.direct.bounds().await.unwrap().current;
        self.proxy.drop_responses(true);
        let commit = self.commit(transaction);
        self.written_after(before).await;
        self.proxy.drop_responses(false);
        self.proxy.cut();
        soon("the commit's end", commit).await.unwrap()
    }

    /// Waits until etcd has carried out a write after this revision: the transaction, or the creation of a new mark for
    /// it.
    async fn written_after(&self, before: Revision) {
        let written = async {
            while self.direct.bounds().await.unwrap().current == before {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        soon("a write", written).await;
    }

    /// Sends the write so that etcd does not receive it before `thaw`, awaits `meanwhile`, and cuts the connection.
    async fn commit_and_hold_it_back(
        &self,
        transaction: Transaction,
        meanwhile: impl Future<Output = ()>,
    ) -> Result<Revision, Error> {
        self.proxy.freeze();
        let commit = self.commit(transaction);
        self.proxy.holds_back_a_request().await;
        meanwhile.await;
        self.proxy.cut();
        soon("the commit's end", commit).await.unwrap()
    }

    /// All events since the scene began.
    async fn log(&self) -> Vec<Arc<Event>> {
        let mut watch = self.direct.watch(prefix("/"), self.start).await.unwrap();
        watch.request_progress();
        let mut log = Vec::new();
        while let Notice::Change(event) = soon("the log", watch.next()).await.unwrap().unwrap() {
            log.push(event);
        }
        log
    }

    async fn create(&self, name: &str, value: &'static str) -> Revision {
        self.direct.commit(Transaction::create(key(name), value)).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_with_a_lost_response_is_known_to_have_succeeded() {
    let scene = Scene::new().await;
    let created = scene.commit_and_lose_the_response(Transaction::create(key("/a"), "one")).await.unwrap();
    let updated = Transaction::update(key("/a"), "two", created);
    let updated = scene.commit_and_lose_the_response(updated).await.unwrap();
    let several = Transaction::delete(key("/a"), updated).and(key("/b"), Op::Create { value: "b".into() });
    let several = scene.commit_and_lose_the_response(several.unwrap()).await.unwrap();
    let deleted = scene.commit_and_lose_the_response(Transaction::delete(key("/b"), several)).await.unwrap();
    let log: Vec<_> = scene.log().await.iter().map(|event| event.revision).collect();
    assert_eq!(log, [created, updated, several, several, deleted], "each happened once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_with_a_lost_response_is_still_a_conflict() {
    let scene = Scene::new().await;
    let created = scene.create("/a", "there").await;
    let before = scene.proxy.dropped();
    scene.proxy.drop_responses(true);
    let commit = scene.commit(Transaction::create(key("/a"), "there"));
    scene.proxy.drops_more_than(before).await;
    scene.proxy.drop_responses(false);
    scene.proxy.cut();
    let conflict = soon("the commit's end", commit).await.unwrap().unwrap_err();
    assert!(
        matches!(conflict, Error::Conflict { current: Some(current), .. } if current.revision == created)
    );
}

/// An object is created and deleted by another client; then the first request arrives late. It must not create it again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delayed_request_has_no_effect() {
    let scene = Scene::new().await;
    let create = Transaction::create(key("/a"), "one");
    let created = scene.commit_and_hold_it_back(create, async {}).await.unwrap();
    scene.direct.commit(Transaction::delete(key("/a"), created)).await.unwrap();
    scene.proxy.thaw().await;
    assert_eq!(scene.direct.get(&key("/a")).await.unwrap().found, None);
    assert_eq!(scene.log().await.len(), 2);
}

/// An identical write of another client is not taken for ours: otherwise both would report success.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_identical_write_of_another_client_is_distinguished() {
    let scene = Scene::new().await;
    let seen = scene.create("/counter", "5").await;
    let update = || Transaction::update(key("/counter"), "6", seen);
    let theirs = async { assert!(scene.direct.commit(update()).await.is_ok()) };
    let ours = scene.commit_and_hold_it_back(update(), theirs).await;
    assert!(matches!(ours, Err(Error::Conflict { current: Some(_), .. })), "{ours:?}");
    scene.proxy.thaw().await;

    let seen = scene.direct.get(&key("/counter")).await.unwrap().found.unwrap().revision;
    let delete = || Transaction::delete(key("/counter"), seen);
    let theirs = async { assert!(scene.direct.commit(delete()).await.is_ok()) };
    let ours = scene.commit_and_hold_it_back(delete(), theirs).await;
    assert!(matches!(ours, Err(Error::Conflict { current: None, .. })), "{ours:?}");
    scene.proxy.thaw().await;
    assert_eq!(scene.log().await.len(), 3, "one create, one update, one delete");
}

/// etcd is not available again within the timeout, so whether the write was carried out is unknown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_that_cannot_be_determined_is_unknown() {
    let mut scene = Scene::resolving_within(Duration::from_secs(5)).await;
    let before = scene.direct.bounds().await.unwrap().current;
    scene.proxy.drop_responses(true);
    let commit = scene.commit(Transaction::create(key("/a"), "one"));
    scene.written_after(before).await;
    scene.etcd.kill(0);
    let error = soon("the commit's end", commit).await.unwrap().unwrap_err();
    assert!(matches!(error, Error::OutcomeUnknown { .. }), "{error:?}");
}

/// Without marks, writes are plain Kubernetes writes, and a lost response is reported as an unknown outcome.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_marks_a_lost_response_is_an_unknown_outcome() {
    let mut scene = Scene::new().await;
    scene.etcd.ctl(&["del", "--prefix", "!gantry/"]);
    let settings = Settings { endpoints: vec![scene.proxy.url().to_owned()], ..scene.etcd.settings() };
    scene.store = open(&Settings { lost_answers: LostAnswers::Report, ..settings }).await;
    let error = scene.commit_and_lose_the_response(Transaction::create(key("/a"), "one")).await.unwrap_err();
    assert!(matches!(error, Error::OutcomeUnknown { .. }), "{error:?}");
    assert_eq!(scene.log().await.len(), 1);
    assert_eq!(scene.etcd.ctl(&["get", "--prefix", "!gantry/writers/"]), "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_mark_is_created_again() {
    let scene = Scene::new().await;
    scene.store.commit(Transaction::create(key("/a"), "one")).await.unwrap();
    scene.etcd.ctl(&["del", "--prefix", "!gantry/"]);
    scene.store.commit(Transaction::create(key("/b"), "one")).await.unwrap();
    assert_eq!(scene.log().await.len(), 2);
}

/// The connection is cut repeatedly, with and without responses that are lost before; the watch returns every change once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_survives_lost_connections_without_gap_or_repetition() {
    let scene = Scene::new().await;
    let mut watch = scene.store.watch(prefix("/w/"), scene.start).await.unwrap();
    // The writer is at most a few changes ahead of the watch, so that connections are cut while it writes.
    let (writer, ahead) = (Arc::clone(&scene.direct), Arc::new(Semaphore::new(10)));
    let permits = Arc::clone(&ahead);
    let writing = tokio::spawn(async move {
        let mut written = Vec::new();
        for number in 0..150 {
            permits.acquire().await.unwrap().forget();
            written.push(writer.commit(Transaction::create(key(format!("/w/{number}")), "v")).await.unwrap());
        }
        written
    });
    let mut received = Vec::new();
    while received.len() < 150 {
        if received.len() % 40 == 7 {
            let before = scene.proxy.dropped();
            scene.proxy.drop_responses(true);
            ahead.add_permits(1);
            scene.proxy.drops_more_than(before).await;
            scene.proxy.cut();
            scene.proxy.drop_responses(false);
        } else if received.len() % 20 == 7 {
            scene.proxy.cut();
        }
        match soon("a change", watch.next()).await.unwrap().unwrap() {
            Notice::Change(event) => {
                received.push(event.revision);
                ahead.add_permits(1);
            }
            Notice::Progress(_) => {}
        }
    }
    assert_eq!(received, writing.await.unwrap());
}
