//! The checker accepts the in-memory store, and reports a store with any of the known faults.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use gantry_store::checker::{HistoryRecorder, Load, Recorded, Violation};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use gantry_store::suite::seeds;
use gantry_store::{
    Answer, Bounds, Error, Fetched, Key, ListRequest, Notice, Page, Prefix, Revision, Store, Transaction,
    Watch, Watching,
};

fn load(seed: u64) -> Load {
    Load { seed, writers: 4, readers: 2, watchers: 6, steps: 40 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_in_memory_store_is_linearizable_under_load() {
    for seed in seeds(10, 1000) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(HistoryLimits::UNLIMITED));
        let recorder = HistoryRecorder::new();
        load(seed).run(Recorded::new(Arc::clone(&store), &recorder), Revision::EMPTY).await;
        assert!(recorder.len() > 300, "the load sent requests");
        assert_eq!(recorder.verdict(&*store, Revision::EMPTY).await, Ok(()), "GANTRY_SEED={seed}");
    }
}

/// A way in which a store can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Acknowledges without writing.
    LoseWrite,
    /// Writes without acknowledging, and reports a failure.
    DenyWrite,
    /// Returns an older state from a read.
    StaleRead,
    /// Returns another value than was written.
    WrongValue,
    /// Reports a conflict that does not exist.
    FalseConflict,
    /// Leaves a change out of a watch.
    SkipChange,
    /// Returns a change twice.
    RepeatChange,
    /// Reports progress before a change that it includes.
    OvertakingProgress,
    /// Leaves an item out of a list.
    ShortList,
}

/// A correct store with one fault every now and then.
#[derive(Debug)]
struct FaultyStore {
    store: MemoryStore,
    fault: Fault,
    requests: AtomicU64,
}

impl FaultyStore {
    fn is_due(&self, fault: Fault) -> bool {
        self.fault == fault && self.requests.fetch_add(1, Ordering::Relaxed) % 20 == 19
    }
}

impl Store for FaultyStore {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        Box::pin(async move {
            let mut fetched = self.store.get(key).await?;
            if self.is_due(Fault::StaleRead) {
                fetched = Fetched { revision: Revision::EMPTY, found: None };
            }
            if self.is_due(Fault::WrongValue) {
                fetched.found.iter_mut().for_each(|found| found.value = "never written".into());
            }
            Ok(fetched)
        })
    }

    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        Box::pin(async move {
            let mut page = self.store.list(request).await?;
            if self.is_due(Fault::ShortList) {
                page.items.pop();
            }
            Ok(page)
        })
    }

    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
        Box::pin(async move {
            if self.is_due(Fault::LoseWrite) {
                return Ok(self.store.bounds().await?.current.next());
            }
            if self.is_due(Fault::FalseConflict) {
                let (key, _) = transaction.into_ops().next().expect("a transaction is never empty");
                return Err(Error::Conflict { key, current: None });
            }
            let revision = self.store.commit(transaction).await?;
            if self.is_due(Fault::DenyWrite) {
                return Err(Error::Unavailable { why: "a fault".into() });
            }
            Ok(revision)
        })
    }

    fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch> {
        Box::pin(async move {
            let watch = self.store.watch(prefix, after).await?;
            Ok(Watch::new(FaultyWatch { watch, fault: self.fault, changes: 0, queued: None }))
        })
    }

    fn compact(&self, through: Revision) -> Answer<'_, ()> {
        self.store.compact(through)
    }

    fn bounds(&self) -> Answer<'_, Bounds> {
        self.store.bounds()
    }
}

struct FaultyWatch {
    watch: Watch,
    fault: Fault,
    changes: u64,
    queued: Option<Notice>,
}

impl Watching for FaultyWatch {
    fn poll_notice(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Notice, Error>>> {
        if let Some(queued) = self.queued.take() {
            return Poll::Ready(Some(Ok(queued)));
        }
        loop {
            let polled = std::pin::pin!(self.watch.next()).poll(context);
            let Poll::Ready(Some(Ok(Notice::Change(event)))) = polled else { return polled };
            self.changes += 1;
            let notice = Notice::Change(event);
            match self.fault {
                Fault::SkipChange if self.changes % 3 == 2 => {}
                Fault::RepeatChange if self.changes % 3 == 2 => {
                    self.queued = Some(notice.clone());
                    return Poll::Ready(Some(Ok(notice)));
                }
                Fault::OvertakingProgress if self.changes % 3 == 2 => {
                    let Notice::Change(event) = &notice else { return Poll::Pending };
                    let mark = Notice::Progress(event.revision);
                    self.queued = Some(notice);
                    return Poll::Ready(Some(Ok(mark)));
                }
                _ => return Poll::Ready(Some(Ok(notice))),
            }
        }
    }

    fn request_progress(&mut self) {
        self.watch.request_progress();
    }
}

/// Runs a load against a faulty store, and checks it against the log of the correct store behind it.
async fn violations_of(fault: Fault) -> Vec<Violation> {
    let correct = MemoryStore::new(HistoryLimits::UNLIMITED);
    let faulty = Arc::new(FaultyStore { store: correct.clone(), fault, requests: AtomicU64::new(0) });
    let recorder = HistoryRecorder::new();
    load(1).run(Recorded::new(faulty, &recorder), Revision::EMPTY).await;
    let verdict = recorder.verdict(&correct, Revision::EMPTY).await;
    verdict.err().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_violation_is_detected() {
    type Expected = fn(&Violation) -> bool;
    let cases: [(Fault, Expected); 9] = [
        (Fault::LoseWrite, |found| matches!(found, Violation::LostWrite(..) | Violation::SharedRevision(_))),
        (Fault::DenyWrite, |found| matches!(found, Violation::Phantom(_))),
        (Fault::StaleRead, |found| matches!(found, Violation::Stale { .. })),
        (Fault::WrongValue, |found| matches!(found, Violation::WrongRead(_))),
        (Fault::FalseConflict, |found| matches!(found, Violation::WrongConflict(_))),
        (Fault::SkipChange, |found| matches!(found, Violation::WrongWatch { .. })),
        (Fault::RepeatChange, |found| matches!(found, Violation::WrongWatch { .. })),
        (Fault::OvertakingProgress, |found| matches!(found, Violation::WrongWatch { .. })),
        (Fault::ShortList, |found| matches!(found, Violation::WrongRead(_))),
    ];
    for (fault, expected) in cases {
        let found = violations_of(fault).await;
        assert!(found.iter().any(expected), "{fault:?} was found as {:?}", &found[..found.len().min(3)]);
    }
}
