//! The queue itself: keys that are ready, delayed or being worked on.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use gantry_model::Timestamp;

use super::delayed::Delayed;
use super::{Outcome, RateLimiter, RetryDecision, RetryPolicy};

/// The keys of a controller, each processed by one worker at a time.
///
/// Adding a ready key changes nothing; adding a running key makes it ready again when its work is done. A delayed key
/// is stored separately and added when it is due, so it may be ready and delayed at once.
#[derive(Clone, Debug)]
pub struct WorkQueue<K> {
    /// Exactly the keys in state `Ready`, in the order in which workers get them, and when each was added.
    ready: VecDeque<(K, Timestamp)>,
    states: BTreeMap<K, State>,
    delayed: Delayed<K>,
    limiter: RateLimiter<K>,
    state: QueueState,
    adds: u64,
    handed_out: u64,
    retries: u64,
}

/// A key that a worker processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// When the key was added.
    pub added: Timestamp,
    /// When a worker took it.
    pub started: Timestamp,
}

/// The state of a key; a key without one is at most delayed.
#[derive(Clone, Copy, Debug)]
enum State {
    Ready,
    Running(Work),
    /// Running, and added again since.
    RunningAgain {
        work: Work,
        added: Timestamp,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueState {
    Open,
    ShuttingDown,
}

// === impl WorkQueue: work ===

impl<K: Ord + Clone> WorkQueue<K> {
    /// An empty queue.
    pub fn new() -> Self {
        Self {
            ready: VecDeque::new(),
            states: BTreeMap::new(),
            delayed: Delayed::new(),
            limiter: RateLimiter::new(),
            state: QueueState::Open,
            adds: 0,
            handed_out: 0,
            retries: 0,
        }
    }

    /// Adds `key`, to be processed as soon as possible.
    pub fn add(&mut self, key: K, now: Timestamp) {
        self.release_due(now);
        self.make_ready(key, now);
    }

    /// Adds `key` after `delay`; of several delays of one key the one that ends first wins.
    pub fn add_after(&mut self, key: K, delay: Duration, now: Timestamp) {
        self.release_due(now);
        if self.state == QueueState::ShuttingDown {
            return;
        }
        self.retries = self.retries.saturating_add(1);
        if delay.is_zero() {
            self.make_ready(key, now);
        } else {
            self.delayed.wait(key, now.plus(delay));
        }
    }

    /// Adds `key` when the rate limit allows it, and returns that delay.
    pub fn add_rate_limited(&mut self, key: K, now: Timestamp) -> Duration {
        let delay = self.limiter.delay(key.clone(), now);
        self.add_after(key, delay, now);
        delay
    }

    /// Returns the key that has been ready for longest; it is running until [`done`](Self::done).
    pub fn next(&mut self, now: Timestamp) -> Option<K> {
        self.release_due(now);
        let (key, added) = self.ready.pop_front()?;
        self.handed_out = self.handed_out.saturating_add(1);
        self.states.insert(key.clone(), State::Running(Work { added, started: now }));
        Some(key)
    }

    /// Ends the work on `key` and returns it; `None` if it was not running.
    pub fn done(&mut self, key: &K, now: Timestamp) -> Option<Work> {
        self.release_due(now);
        match *self.states.get(key)? {
            State::Ready => None,
            State::Running(work) => {
                self.states.remove(key);
                Some(work)
            }
            State::RunningAgain { work, added } => {
                self.states.insert(key.clone(), State::Ready);
                self.ready.push_back((key.clone(), added));
                Some(work)
            }
        }
    }

    /// Ends the work on `key`, and retries or forgets it as `policy` decides.
    pub fn finish(
        &mut self,
        key: &K,
        outcome: Outcome,
        policy: RetryPolicy,
        now: Timestamp,
    ) -> RetryDecision {
        let retry = policy.after(outcome, self.requeues(key));
        match retry {
            RetryDecision::Forget | RetryDecision::GiveUp => self.forget(key),
            RetryDecision::Requeue => {
                self.add_rate_limited(key.clone(), now);
            }
        }
        self.done(key, now);
        retry
    }

    /// Forgets the retries of `key`, but not the key itself.
    pub fn forget(&mut self, key: &K) {
        self.limiter.forget(key);
    }

    /// How often `key` was added with a rate limit since it was last forgotten.
    pub fn requeues(&self, key: &K) -> u32 {
        self.limiter.requeues(key)
    }

    /// When the next delayed key is due, which is when to call [`next`](Self::next) again.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.delayed.earliest()
    }

    /// Accepts no more keys and drops those that are delayed; ready keys are still returned.
    pub fn shut_down(&mut self, now: Timestamp) {
        self.release_due(now);
        self.state = QueueState::ShuttingDown;
        self.delayed.clear();
    }

    /// Whether the queue was shut down.
    pub fn is_shutting_down(&self) -> bool {
        self.state == QueueState::ShuttingDown
    }

    /// Whether the queue was shut down and no key is ready or running.
    pub fn is_drained(&self) -> bool {
        self.is_shutting_down() && self.states.is_empty()
    }

    /// Adds the due keys. Every call does this first, so that keys become ready in the order of time.
    fn release_due(&mut self, now: Timestamp) {
        while let Some((key, due)) = self.delayed.pop_due(now) {
            self.make_ready(key, due);
        }
    }

    fn make_ready(&mut self, key: K, added: Timestamp) {
        if self.state == QueueState::ShuttingDown {
            return;
        }
        match self.states.get(&key) {
            Some(State::Ready | State::RunningAgain { .. }) => return,
            Some(&State::Running(work)) => {
                self.states.insert(key, State::RunningAgain { work, added });
            }
            None => {
                self.states.insert(key.clone(), State::Ready);
                self.ready.push_back((key, added));
            }
        }
        self.adds = self.adds.saturating_add(1);
    }
}

// === impl WorkQueue: numbers for metrics ===

impl<K: Ord + Clone> WorkQueue<K> {
    /// The number of keys that need a worker: those that are ready and those added again while running.
    pub fn depth(&self) -> u64 {
        self.adds.saturating_sub(self.handed_out)
    }

    /// How many keys are delayed.
    pub fn delayed(&self) -> usize {
        self.delayed.len()
    }

    /// The total number of adds, without those that changed nothing.
    pub fn adds(&self) -> u64 {
        self.adds
    }

    /// The total number of delayed and rate-limited adds.
    pub fn retries(&self) -> u64 {
        self.retries
    }

    /// Since when the next key has been ready.
    pub fn waiting_since(&self) -> Option<Timestamp> {
        self.ready.front().map(|(_, added)| *added)
    }

    /// The work on `key`, if it is running.
    pub fn work(&self, key: &K) -> Option<Work> {
        self.states.get(key).copied().and_then(State::work)
    }

    /// All running keys. Visits every key: meant for a metrics scrape, not for a loop.
    pub fn running(&self) -> impl Iterator<Item = (&K, Work)> {
        self.states.iter().filter_map(|(key, state)| Some((key, state.work()?)))
    }
}

impl<K: Ord + Clone> Default for WorkQueue<K> {
    fn default() -> Self {
        Self::new()
    }
}

// === impl Work ===

impl Work {
    /// How long the key waited for a worker.
    pub fn waited(self) -> Duration {
        self.started.since(self.added)
    }

    /// How long the worker has had it.
    pub fn lasted(self, now: Timestamp) -> Duration {
        now.since(self.started)
    }
}

impl State {
    fn work(self) -> Option<Work> {
        match self {
            Self::Ready => None,
            Self::Running(work) | Self::RunningAgain { work, .. } => Some(work),
        }
    }
}
