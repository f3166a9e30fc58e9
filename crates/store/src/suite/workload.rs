//! The workloads of benchmarks, for any store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::task::JoinSet;

use crate::suite::{StoreUnderTest, key, prefix};
use crate::{Error, Notice, Revision, Transaction};

/// The result of a number of writers.
#[derive(Clone, Debug)]
pub struct Writes {
    /// The number of writers.
    pub writers: usize,
    /// How many writes were acknowledged.
    pub acknowledged: usize,
    /// How many failed.
    pub failed: usize,
    /// How long it took.
    pub took: Duration,
    /// The latency of each acknowledged write, sorted.
    pub latencies: Vec<Duration>,
}

/// The latency of watches.
#[derive(Clone, Debug)]
pub struct WatchLatencies {
    /// From the beginning of the write to its acknowledgement, sorted.
    pub acknowledged: Vec<Duration>,
    /// From the acknowledgement to the last watcher's event, sorted; zero when the watchers were faster.
    pub beyond: Vec<Duration>,
}

/// Runs writers that repeatedly update a separate key each, for a time.
pub async fn durable_writes(store: &StoreUnderTest, writers: usize, bytes: usize, time: Duration) -> Writes {
    let value = Bytes::from(vec![b'x'; bytes]);
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for writer in 0..writers {
        tasks.spawn(write_for(Arc::clone(store), format!("/bench/{writer}"), value.clone(), began + time));
    }
    let (mut latencies, mut failed) = (Vec::new(), 0);
    while let Some(result) = tasks.join_next().await {
        let (one, errors) = result.unwrap_or_default();
        latencies.extend(one);
        failed += errors;
    }
    latencies.sort_unstable();
    Writes { writers, acknowledged: latencies.len(), failed, took: began.elapsed(), latencies }
}

/// Creates that many objects of a size as fast as the store accepts them, and returns the time it took.
pub async fn fill(store: &StoreUnderTest, objects: usize, bytes: usize) -> Duration {
    const WRITERS: usize = 256;
    let value = Bytes::from(vec![b'x'; bytes]);
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for writer in 0..WRITERS {
        let (store, value) = (Arc::clone(store), value.clone());
        tasks.spawn(async move {
            for number in (writer..objects).step_by(WRITERS) {
                let name = key(format!("/registry/configmaps/namespace-{}/object-{number}", number % 100));
                store.commit(Transaction::create(name, value.clone())).await.unwrap();
            }
        });
    }
    while tasks.join_next().await.is_some() {}
    began.elapsed()
}

/// Writes one key from time to time while many watch it, and measures until the last of them has the event.
pub async fn write_to_watch(
    store: &StoreUnderTest,
    watchers: usize,
    writes: usize,
    bytes: usize,
) -> Result<WatchLatencies, Error> {
    let name = key("/bench/watched");
    let mut seen = store.get(&name).await?.found.map(|found| found.revision);
    let after = store.bounds().await?.current;
    let (sender, mut arrivals) = tokio::sync::mpsc::channel(watchers.max(1));
    for _ in 0..watchers {
        tokio::spawn(listen(Arc::clone(store), after, writes, sender.clone()));
    }
    for _ in 0..watchers {
        arrivals.recv().await;
    }
    let mut result = WatchLatencies { acknowledged: Vec::new(), beyond: Vec::new() };
    for _ in 0..writes {
        let value = vec![b'x'; bytes];
        let began = Instant::now();
        let transaction = match seen {
            None => Transaction::create(name.clone(), value),
            Some(seen) => Transaction::update(name.clone(), value, seen),
        };
        seen = Some(store.commit(transaction).await?);
        let acknowledged = Instant::now();
        let mut last = acknowledged;
        for _ in 0..watchers {
            last = last.max(arrivals.recv().await.unwrap_or(last));
        }
        result.acknowledged.push(acknowledged - began);
        result.beyond.push(last - acknowledged);
    }
    result.acknowledged.sort_unstable();
    result.beyond.sort_unstable();
    Ok(result)
}

/// The value below which that share of the sorted values is.
pub fn percentile(sorted: &[Duration], share: f64) -> Duration {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share"
    )]
    let index = (sorted.len() as f64 * share) as usize;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

impl Writes {
    /// Acknowledged writes per second.
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    pub fn per_second(&self) -> f64 {
        self.acknowledged as f64 / self.took.as_secs_f64()
    }
}

async fn write_for(
    store: StoreUnderTest,
    name: String,
    value: Bytes,
    until: Instant,
) -> (Vec<Duration>, usize) {
    let name = key(name);
    let mut seen: Option<Revision> = None;
    let (mut latencies, mut failed) = (Vec::new(), 0);
    while Instant::now() < until {
        let began = Instant::now();
        let transaction = match seen {
            None => Transaction::create(name.clone(), value.clone()),
            Some(seen) => Transaction::update(name.clone(), value.clone(), seen),
        };
        match store.commit(transaction).await {
            Ok(revision) => {
                seen = Some(revision);
                latencies.push(began.elapsed());
            }
            // The key exists from an earlier run.
            Err(Error::Conflict { current, .. }) => seen = current.map(|current| current.revision),
            Err(_) => failed += 1,
        }
    }
    (latencies, failed)
}

/// Reports when it is ready, and then the time of each change.
async fn listen(
    store: StoreUnderTest,
    after: Revision,
    changes: usize,
    sender: tokio::sync::mpsc::Sender<Instant>,
) {
    let Ok(mut watch) = store.watch(prefix("/bench/watched"), after).await else { return };
    let _ = sender.send(Instant::now()).await;
    let mut received = 0;
    while received < changes {
        match watch.next().await {
            Some(Ok(Notice::Change(_))) => {
                received += 1;
                let _ = sender.send(Instant::now()).await;
            }
            Some(Ok(Notice::Progress(_))) => {}
            _ => return,
        }
    }
}
