//! The checker judges: the in-memory store passes, and a store that lies in each of the known ways does not.

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
        assert!(recorder.len() > 300, "the load did something");
        assert_eq!(recorder.verdict(&*store, Revision::EMPTY).await, Ok(()), "GANTRY_SEED={seed}");
    }
}

/// How a store can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    /// Acknowledges without writing.
    LoseWrite,
    /// Writes without acknowledging, and says it did not.
    DenyWrite,
    /// Answers a read from before.
    StaleRead,
    /// Shows another value than was written.
    WrongValue,
    /// Reports a conflict that is none.
    FalseConflict,
    /// Leaves a change out of a watch.
    SkipChange,
    /// Tells a change twice.
    RepeatChange,
    /// Marks progress that was not made.
    OvertakingProgress,
    /// Leaves an item out of a list.
    ShortList,
}

/// A correct store with one lie every now and then.
#[derive(Debug)]
struct Liar {
    store: MemoryStore,
    lie: Lie,
    asked: AtomicU64,
}

impl Liar {
    fn lies(&self, lie: Lie) -> bool {
        self.lie == lie && self.asked.fetch_add(1, Ordering::Relaxed) % 20 == 19
    }
}

impl Store for Liar {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Fetched> {
        Box::pin(async move {
            let mut fetched = self.store.get(key).await?;
            if self.lies(Lie::StaleRead) {
                fetched = Fetched { revision: Revision::EMPTY, found: None };
            }
            if self.lies(Lie::WrongValue) {
                fetched.found.iter_mut().for_each(|found| found.value = "never written".into());
            }
            Ok(fetched)
        })
    }

    fn list(&self, request: ListRequest) -> Answer<'_, Page> {
        Box::pin(async move {
            let mut page = self.store.list(request).await?;
            if self.lies(Lie::ShortList) {
                page.items.pop();
            }
            Ok(page)
        })
    }

    fn commit(&self, transaction: Transaction) -> Answer<'_, Revision> {
        Box::pin(async move {
            if self.lies(Lie::LoseWrite) {
                return Ok(self.store.bounds().await?.current.next());
            }
            if self.lies(Lie::FalseConflict) {
                let (key, _) = transaction.into_ops().next().expect("a transaction is never empty");
                return Err(Error::Conflict { key, current: None });
            }
            let revision = self.store.commit(transaction).await?;
            if self.lies(Lie::DenyWrite) {
                return Err(Error::Unavailable { why: "a lie".into() });
            }
            Ok(revision)
        })
    }

    fn watch(&self, prefix: Prefix, after: Revision) -> Answer<'_, Watch> {
        Box::pin(async move {
            let watch = self.store.watch(prefix, after).await?;
            Ok(Watch::new(LyingWatch { watch, lie: self.lie, item_texts: 0, again: None }))
        })
    }

    fn compact(&self, through: Revision) -> Answer<'_, ()> {
        self.store.compact(through)
    }

    fn bounds(&self) -> Answer<'_, Bounds> {
        self.store.bounds()
    }
}

struct LyingWatch {
    watch: Watch,
    lie: Lie,
    item_texts: u64,
    again: Option<Notice>,
}

impl Watching for LyingWatch {
    fn poll_notice(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Notice, Error>>> {
        if let Some(again) = self.again.take() {
            return Poll::Ready(Some(Ok(again)));
        }
        loop {
            let polled = std::pin::pin!(self.watch.next()).poll(context);
            let Poll::Ready(Some(Ok(Notice::Change(event)))) = polled else { return polled };
            self.item_texts += 1;
            let notice = Notice::Change(event);
            match self.lie {
                Lie::SkipChange if self.item_texts % 3 == 2 => {}
                Lie::RepeatChange if self.item_texts % 3 == 2 => {
                    self.again = Some(notice.clone());
                    return Poll::Ready(Some(Ok(notice)));
                }
                Lie::OvertakingProgress if self.item_texts % 3 == 2 => {
                    let Notice::Change(event) = &notice else { return Poll::Pending };
                    let mark = Notice::Progress(event.revision);
                    self.again = Some(notice);
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

/// Runs a load against a liar; the log the verdict is based on comes from the honest store behind it.
async fn violations_of(lie: Lie) -> Vec<Violation> {
    let honest = MemoryStore::new(HistoryLimits::UNLIMITED);
    let liar = Arc::new(Liar { store: honest.clone(), lie, asked: AtomicU64::new(0) });
    let recorder = HistoryRecorder::new();
    load(1).run(Recorded::new(liar, &recorder), Revision::EMPTY).await;
    let verdict = recorder.verdict(&honest, Revision::EMPTY).await;
    verdict.err().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_lie_is_found() {
    type Expected = fn(&Violation) -> bool;
    let cases: [(Lie, Expected); 9] = [
        (Lie::LoseWrite, |found| matches!(found, Violation::LostWrite(..) | Violation::SharedRevision(_))),
        (Lie::DenyWrite, |found| matches!(found, Violation::Phantom(_))),
        (Lie::StaleRead, |found| matches!(found, Violation::Stale { .. })),
        (Lie::WrongValue, |found| matches!(found, Violation::WrongRead(_))),
        (Lie::FalseConflict, |found| matches!(found, Violation::WrongConflict(_))),
        (Lie::SkipChange, |found| matches!(found, Violation::WrongWatch { .. })),
        (Lie::RepeatChange, |found| matches!(found, Violation::WrongWatch { .. })),
        (Lie::OvertakingProgress, |found| matches!(found, Violation::WrongWatch { .. })),
        (Lie::ShortList, |found| matches!(found, Violation::WrongRead(_))),
    ];
    for (lie, expected) in cases {
        let found = violations_of(lie).await;
        assert!(found.iter().any(expected), "{lie:?} was found as {:?}", &found[..found.len().min(3)]);
    }
}
