//! Many concurrent clients that use the whole port on a few keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::suite::{Rng, key, prefix};
use crate::{Error, ListRequest, Notice, Op, Revision, Store, Transaction};

/// The size of a load.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The seed of all random choices.
    pub seed: u64,
    /// Clients that write.
    pub writers: u64,
    /// Clients that read.
    pub readers: u64,
    /// Clients that watch, disconnect and resume.
    pub watchers: u64,
    /// The maximum number of requests of each writer and reader.
    pub steps: u64,
}

/// The contended keys.
const KEYS: u64 = 12;

impl Load {
    /// Runs all clients until the writers are done, or the store stays unavailable.
    ///
    /// Clients retry while the store is unavailable for a while. `start` is where watchers begin.
    pub async fn run(self, store: Arc<dyn Store>, start: Revision) {
        let mut rng = Rng::new(self.seed);
        let done = Arc::new(AtomicBool::new(false));
        let mut writers = tokio::task::JoinSet::new();
        for id in 0..self.writers {
            writers.spawn(write(Arc::clone(&store), rng.split(), format!("{}-{id}", self.seed), self.steps));
        }
        let mut others = tokio::task::JoinSet::new();
        for _ in 0..self.readers {
            others.spawn(read(Arc::clone(&store), rng.split(), self.steps));
        }
        for _ in 0..self.watchers {
            others.spawn(follow(Arc::clone(&store), rng.split(), start, Arc::clone(&done)));
        }
        while writers.join_next().await.is_some() {}
        done.store(true, Ordering::Release);
        while others.join_next().await.is_some() {}
    }
}

async fn write(store: Arc<dyn Store>, mut rng: Rng, name: String, steps: u64) {
    for step in 0..steps {
        let first = some_key(&mut rng);
        let Some(op) = some_op(&store, &mut rng, &first, format!("{name}-{step}")).await else { continue };
        let mut transaction = Transaction::single(first, op);
        if rng.one_in(4) {
            let second = some_key(&mut rng);
            if let Some(op) = some_op(&store, &mut rng, &second, format!("{name}-{step}-also")).await {
                transaction = transaction.clone().and(second, op).unwrap_or(transaction);
            }
        }
        if let Err(Error::Unavailable { .. } | Error::OutcomeUnknown { .. }) = store.commit(transaction).await
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// An operation on a key, mostly with the right condition; every value is unique.
async fn some_op(store: &Arc<dyn Store>, rng: &mut Rng, key: &crate::Key, value: String) -> Option<Op> {
    let fetched = store.get(key).await.ok()?;
    let value = value.into();
    Some(match fetched.found {
        None => Op::Create { value },
        Some(_) if rng.one_in(10) => Op::Create { value },
        Some(seen) if rng.one_in(5) => Op::Delete { seen: seen.revision },
        Some(seen) if rng.one_in(10) => Op::Update { value, seen: seen.revision.before() },
        Some(seen) => Op::Update { value, seen: seen.revision },
    })
}

async fn read(store: Arc<dyn Store>, mut rng: Rng, steps: u64) {
    for _ in 0..steps {
        let request = ListRequest::all(prefix(some_prefix(&mut rng)));
        // Failures are not recorded; responses are checked later.
        drop(match rng.below(3) {
            0 => store.get(&some_key(&mut rng)).await.map(drop),
            1 => store.list(request).await.map(drop),
            _ => read_pages(&store, request.limit(2)).await,
        });
        tokio::task::yield_now().await;
    }
}

async fn read_pages(store: &Arc<dyn Store>, request: ListRequest) -> Result<(), Error> {
    let mut page = store.list(request.clone()).await?;
    while let Some(next) = page.next {
        page = store.list(request.clone().at(page.revision).start(next)).await?;
    }
    Ok(())
}

/// Watches, drops the watch at random times, and resumes after the last whole revision.
async fn follow(store: Arc<dyn Store>, mut rng: Rng, start: Revision, done: Arc<AtomicBool>) {
    let mut after = start;
    let under = some_prefix(&mut rng);
    loop {
        let finishing = done.load(Ordering::Acquire);
        let until = if finishing { store.bounds().await.ok().map(|bounds| bounds.current) } else { None };
        if finishing && until.is_none_or(|until| after >= until) {
            return;
        }
        let notices = if finishing { u64::MAX } else { rng.below(30) };
        tokio::task::yield_now().await;
        let followed = follow_for(&store, &under, after, notices, until).await;
        match followed {
            Some(reached) => after = after.max(reached),
            None => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

/// One connection: until this number of notices, or a revision, is reached, or a short pause passes.
async fn follow_for(
    store: &Arc<dyn Store>,
    under: &str,
    after: Revision,
    notices: u64,
    until: Option<Revision>,
) -> Option<Revision> {
    let mut watch = store.watch(prefix(under), after).await.ok()?;
    let mut reached = after;
    let mut last = after;
    for _ in 0..notices {
        // A store in memory is always ready; without this the watchers would occupy all threads.
        tokio::task::yield_now().await;
        watch.request_progress();
        let Ok(notice) = tokio::time::timeout(Duration::from_millis(200), watch.next()).await else { break };
        match notice?.ok()? {
            Notice::Progress(revision) => reached = revision,
            // Another revision begins, so the one before it is complete.
            Notice::Change(event) if event.revision > last => {
                reached = reached.max(last);
                last = event.revision;
            }
            Notice::Change(_) => {}
        }
        if until.is_some_and(|until| reached >= until) {
            break;
        }
    }
    Some(reached)
}

fn some_key(rng: &mut Rng) -> crate::Key {
    let number = rng.below(KEYS);
    key(format!("/{}/{number}", if number.is_multiple_of(2) { "even" } else { "odd" }))
}

fn some_prefix(rng: &mut Rng) -> String {
    ["/", "/even/", "/odd/", "/odd/3"][rng.index(4)].to_owned()
}
