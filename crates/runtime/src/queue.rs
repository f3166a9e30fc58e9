//! The work queue of `decide` with workers: it waits, wakes, locks and counts, and decides nothing.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gantry_decide::Wake;
use gantry_decide::queue::{Outcome, RetryDecision, RetryPolicy, WorkQueue};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::metrics::{MetricValue, Metrics, Sample};
use crate::shutdown::Shutdown;

/// How long a running sync may take after shutdown was requested.
const GRACE: Duration = Duration::from_secs(5);

/// A work queue. Cheap to clone; clones share their keys.
pub struct Queue<K> {
    shared: Arc<Shared<K>>,
}

/// The sync of a key.
type SyncFn<K> = Box<dyn Fn(K) -> BoxFuture<'static, (Outcome, Wake)> + Send>;

struct Shared<K> {
    name: &'static str,
    clock: Clock,
    metrics: Metrics,
    queue: Mutex<WorkQueue<K>>,
    /// One waiting worker is woken per key that became ready.
    ready: Notify,
}

impl<K: Ord + Clone + fmt::Display + Send + Sync + 'static> Queue<K> {
    /// The name is the label of its metrics.
    pub fn new(name: &'static str, clock: Clock, metrics: &Metrics) -> Self {
        let shared = Shared {
            name,
            clock,
            metrics: metrics.clone(),
            queue: Mutex::new(WorkQueue::new()),
            ready: Notify::new(),
        };
        let queue = Self { shared: Arc::new(shared) };
        let weak = Arc::downgrade(&queue.shared);
        metrics.source(move |samples| {
            if let Some(shared) = weak.upgrade() {
                shared.sample(samples);
            }
        });
        queue
    }

    /// Adds `key`, to be processed as soon as possible.
    pub fn add(&self, key: K) {
        let now = self.shared.clock.steady();
        self.lock().add(key, now);
        self.shared.ready.notify_one();
    }

    /// Adds `key` after `delay`.
    pub fn add_after(&self, key: K, delay: Duration) {
        let now = self.shared.clock.steady();
        self.lock().add_after(key, delay, now);
        // A worker that waits for a later key has to be woken for an earlier one.
        self.shared.ready.notify_one();
    }

    /// Adds `key` when the rate limit allows it.
    pub fn add_rate_limited(&self, key: K) {
        let now = self.shared.clock.steady();
        self.lock().add_rate_limited(key, now);
        self.shared.ready.notify_one();
    }

    /// The number of keys that need a worker.
    pub fn depth(&self) -> u64 {
        self.lock().depth()
    }

    /// Runs so many workers until shutdown, and returns when the last one has finished.
    ///
    /// A panic in the work counts as a failure of its key: one broken sync must not stop the others.
    /// The work is boxed so that workers are compiled once per type of key.
    pub fn work<F, W>(
        &self,
        workers: usize,
        policy: RetryPolicy,
        shutdown: Shutdown,
        work: F,
    ) -> BoxFuture<'static, ()>
    where
        F: Fn(K) -> W + Clone + Send + 'static,
        W: Future<Output = (Outcome, Wake)> + Send + 'static,
    {
        let boxed = || -> SyncFn<K> {
            let work = work.clone();
            Box::new(move |key| Box::pin(work(key)))
        };
        let syncs = (0..workers).map(|_| boxed()).collect();
        Box::pin(self.clone().run_workers(syncs, policy, shutdown))
    }

    async fn run_workers(self, syncs: Vec<SyncFn<K>>, policy: RetryPolicy, shutdown: Shutdown) {
        let mut tasks = JoinSet::new();
        for sync in syncs {
            tasks.spawn(self.clone().run_worker(sync, policy, shutdown.clone()));
        }
        shutdown.wait().await;
        self.lock().shut_down(self.shared.clock.steady());
        while tasks.join_next().await.is_some() {}
    }

    async fn run_worker(self, sync: SyncFn<K>, policy: RetryPolicy, shutdown: Shutdown) {
        while let Some(key) = shutdown.unless(self.next()).await {
            let ended = AssertUnwindSafe(sync(key.clone())).catch_unwind();
            let late = async {
                shutdown.wait().await;
                tokio::time::sleep(GRACE).await;
            };
            tokio::select! {
                biased;
                ended = ended => self.end(&key, ended.unwrap_or_else(|_| self.panicked(&key)), policy),
                () = late => return,
            }
        }
    }

    /// The result of a sync that panicked.
    fn panicked(&self, key: &K) -> (Outcome, Wake) {
        tracing::error!(queue = self.shared.name, %key, "the sync panicked; this is a bug, please report it");
        (Outcome::Failure, Wake::OnChange)
    }

    /// Waits for the next key.
    async fn next(&self) -> K {
        loop {
            // Other ready tasks run first: changes that have arrived reach the caches, and one sync sees all of them.
            tokio::task::yield_now().await;
            let ready = self.shared.ready.notified();
            let mut ready = std::pin::pin!(ready);
            // Registers before checking: a key that is added in between is not missed.
            ready.as_mut().enable();
            let wake = {
                let mut queue = self.lock();
                if let Some(key) = queue.next(self.shared.clock.steady()) {
                    if queue.depth() > 0 {
                        self.shared.ready.notify_one();
                    }
                    let waited = queue.work(&key).map(gantry_decide::queue::Work::waited).unwrap_or_default();
                    drop(queue);
                    self.shared.observe("workqueue_queue_duration_seconds", waited);
                    return key;
                }
                queue.next_wake()
            };
            match wake {
                None => ready.await,
                Some(wake) => {
                    let due = self.shared.clock.instant(wake);
                    let _ = tokio::time::timeout_at(due, ready).await;
                }
            }
        }
    }

    fn end(&self, key: &K, (outcome, wake): (Outcome, Wake), policy: RetryPolicy) {
        let now = self.shared.clock.steady();
        let mut queue = self.lock();
        let took = queue.work(key).map(|work| work.lasted(now)).unwrap_or_default();
        match wake {
            Wake::OnChange => {}
            Wake::Soon => {
                queue.add_rate_limited(key.clone(), now);
            }
            Wake::After(delay) => queue.add_after(key.clone(), delay, now),
        }
        let retry = queue.finish(key, outcome, policy, now);
        drop(queue);
        self.shared.ready.notify_one();
        self.shared.observe("workqueue_work_duration_seconds", took);
        if retry == RetryDecision::GiveUp {
            tracing::warn!(queue = self.shared.name, %key, "failed too often; not retried until something changes");
        }
    }

    fn lock(&self) -> MutexGuard<'_, WorkQueue<K>> {
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Ord + Clone> Shared<K> {
    fn observe(&self, name: &'static str, took: Duration) {
        self.metrics.observe(name, &[("name", self.name)], took);
    }

    fn sample(&self, samples: &mut Vec<Sample>) {
        let now = self.clock.steady();
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let running: Vec<_> = queue.running().map(|(_, work)| work.lasted(now).as_secs_f64()).collect();
        let mut push = |name, value| {
            samples.push(Sample { name, labels: vec![("name", self.name.to_owned())], value });
        };
        push("workqueue_adds_total", MetricValue::Counter(queue.adds()));
        push("workqueue_retries_total", MetricValue::Counter(queue.retries()));
        push(
            "workqueue_depth",
            MetricValue::Gauge(f64::from(u32::try_from(queue.depth()).unwrap_or(u32::MAX))),
        );
        push(
            "workqueue_unfinished_work_seconds",
            MetricValue::Gauge(running.iter().fold(0.0, |sum, seconds| sum + seconds)),
        );
        let longest = running.iter().copied().fold(0.0, f64::max);
        push("workqueue_longest_running_processor_seconds", MetricValue::Gauge(longest));
    }
}

impl<K> Clone for Queue<K> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<K> fmt::Debug for Queue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use gantry_model::Timestamp;
    use tokio::time::Instant;

    use super::*;
    use crate::shutdown::shutdown;

    fn queue() -> (Queue<&'static str>, Metrics) {
        let metrics = Metrics::new();
        (Queue::new("web", Clock::of_tokio(Timestamp::EPOCH), &metrics), metrics)
    }

    /// Runs the queue until the clock has advanced so far, and returns which keys were processed and when.
    async fn worked(
        queue: &Queue<&'static str>,
        workers: usize,
        seconds: u64,
        outcome: Outcome,
    ) -> Vec<(&'static str, Duration)> {
        let (switch, signal) = shutdown();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (began, seen) = (Instant::now(), log.clone());
        let work = move |key| {
            let seen = seen.clone();
            async move {
                seen.lock().unwrap().push((key, began.elapsed()));
                (outcome, Wake::OnChange)
            }
        };
        let running = queue.work(workers, RetryPolicy::REPLICA_SET, signal, work);
        tokio::join!(running, async {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            switch.turn();
        });
        let log = log.lock().unwrap();
        log.clone()
    }

    /// D2.1: duplicates collapse, and a delayed key is returned when it is due.
    #[tokio::test(start_paused = true)]
    async fn keys_are_processed_once_and_when_they_are_due() {
        let (queue, _) = queue();
        queue.add("a");
        queue.add("a");
        queue.add_after("late", Duration::from_secs(3));
        let worked = worked(&queue, 5, 10, Outcome::Success).await;
        assert_eq!(worked.iter().map(|(key, _)| *key).collect::<Vec<_>>(), ["a", "late"]);
        let at = worked[1].1;
        assert!((Duration::from_secs(3)..Duration::from_millis(3010)).contains(&at), "{at:?}");
    }

    /// D2.1: a key has one worker at a time, and a key added meanwhile runs again.
    #[tokio::test(start_paused = true)]
    async fn one_key_has_one_worker() {
        let (queue, _) = queue();
        let (switch, signal) = shutdown();
        let (now_in, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let runs = Arc::new(AtomicUsize::new(0));
        let work = {
            let (queue, now_in, most, runs) = (queue.clone(), now_in.clone(), most.clone(), runs.clone());
            move |key: &'static str| {
                let (queue, now_in, most, runs) = (queue.clone(), now_in.clone(), most.clone(), runs.clone());
                async move {
                    most.fetch_max(now_in.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    if runs.fetch_add(1, Ordering::SeqCst) < 3 {
                        queue.add(key);
                    }
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    now_in.fetch_sub(1, Ordering::SeqCst);
                    (Outcome::Success, Wake::OnChange)
                }
            }
        };
        queue.add("a");
        tokio::join!(queue.work(5, RetryPolicy::REPLICA_SET, signal, work), async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            switch.turn();
        });
        assert_eq!((runs.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (4, 1));
    }

    /// D2.3: a failing key is retried with growing delays, and its metrics show it.
    #[tokio::test(start_paused = true)]
    async fn a_failing_key_is_retried_with_growing_delays() {
        let (queue, metrics) = queue();
        queue.add("a");
        let worked = worked(&queue, 2, 1, Outcome::Failure).await;
        // 0, 5, 15, 35, ... 635 ms.
        assert_eq!(worked.len(), 8, "{worked:?}");
        let text = crate::metrics::render(&metrics.snapshot());
        assert!(text.contains("workqueue_adds_total{name=\"web\"} 8"), "{text}");
        assert!(text.contains("workqueue_work_duration_seconds_count{name=\"web\"} 8"), "{text}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_sync_that_panics_is_a_failed_sync() {
        let (queue, _) = queue();
        let (switch, signal) = shutdown();
        let runs = Arc::new(AtomicUsize::new(0));
        let count = runs.clone();
        queue.add("a");
        let work = move |_| {
            let count = count.clone();
            async move {
                assert!(count.fetch_add(1, Ordering::SeqCst) > 0, "the first sync panics");
                (Outcome::Success, Wake::OnChange)
            }
        };
        tokio::join!(queue.work(1, RetryPolicy::REPLICA_SET, signal, work), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            switch.turn();
        });
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }
}
