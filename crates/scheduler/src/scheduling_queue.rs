//! Pods waiting to be scheduled, with backoff: plain data that takes the time as an argument.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use gantry_model::Timestamp;

/// The pods that wait for a node.
///
/// Pods of higher priority are scheduled first, then those queued first. An unschedulable pod waits until a change
/// might help it, and at least until its backoff ends.
#[derive(Clone, Debug)]
pub(crate) struct SchedulingQueue<K> {
    pods: BTreeMap<K, QueuedPod>,
    active: BTreeSet<(Reverse<i32>, u64, K)>,
    /// Pods in backoff, by when it ends.
    backoff: BTreeSet<(Timestamp, K)>,
    arrivals: u64,
    moves: u64,
}

#[derive(Clone, Debug)]
struct QueuedPod {
    priority: i32,
    arrival: u64,
    attempts: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    /// A decision is in progress. `moves` is the queue's count when it began, so that later changes are noticed.
    InFlight {
        moves: u64,
    },
    /// Becomes active when the backoff ends.
    Backoff {
        until: Timestamp,
    },
    /// Moves to backoff on the next change; `until` is the end of its backoff.
    Unschedulable {
        until: Timestamp,
    },
}

/// kube-scheduler's backoff: it doubles with each failure up to the maximum.
const BACKOFF_INITIAL: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(10);

impl<K: Ord + Clone> SchedulingQueue<K> {
    pub(crate) fn new() -> Self {
        Self {
            pods: BTreeMap::new(),
            active: BTreeSet::new(),
            backoff: BTreeSet::new(),
            arrivals: 0,
            moves: 0,
        }
    }

    /// Adds a pod; one that is queued already keeps its position.
    pub(crate) fn add(&mut self, key: K, priority: i32) {
        if self.pods.contains_key(&key) {
            return;
        }
        self.arrivals += 1;
        let arrival = self.arrivals;
        self.pods.insert(key.clone(), QueuedPod { priority, arrival, attempts: 0, state: State::Active });
        self.active.insert((Reverse(priority), arrival, key));
    }

    pub(crate) fn remove(&mut self, key: &K) {
        if let Some(pod) = self.pods.remove(key) {
            self.remove_from_index(key, &pod);
        }
    }

    /// The next pod to decide on. It is in flight until it is marked unschedulable, backs off or is removed.
    pub(crate) fn pop(&mut self, now: Timestamp) -> Option<K> {
        while let Some((until, key)) = self.backoff.first().cloned().filter(|(until, _)| *until <= now) {
            self.backoff.remove(&(until, key.clone()));
            self.activate(&key);
        }
        let (_, _, key) = self.active.pop_first()?;
        if let Some(pod) = self.pods.get_mut(&key) {
            pod.state = State::InFlight { moves: self.moves };
        }
        Some(key)
    }

    /// Keeps the pod until something changes.
    pub(crate) fn mark_unschedulable(&mut self, key: &K, now: Timestamp) {
        self.requeue(key, now, |until| State::Unschedulable { until });
    }

    /// Retries the pod after its backoff.
    pub(crate) fn back_off(&mut self, key: &K, now: Timestamp) {
        self.requeue(key, now, |until| State::Backoff { until });
    }

    /// Moves unschedulable pods to backoff, because something changed that might help them.
    pub(crate) fn move_all_to_active_or_backoff(&mut self) {
        self.moves += 1;
        let unschedulable = self.pods.iter_mut().filter_map(|(key, pod)| match pod.state {
            State::Unschedulable { until } => {
                pod.state = State::Backoff { until };
                Some((until, key.clone()))
            }
            _ => None,
        });
        self.backoff.extend(unschedulable);
    }

    pub(crate) fn next_wake(&self) -> Option<Timestamp> {
        self.backoff.first().map(|(until, _)| *until)
    }

    fn requeue(&mut self, key: &K, now: Timestamp, state: impl Fn(Timestamp) -> State) {
        let Some(pod) = self.pods.get_mut(key) else { return };
        pod.attempts = pod.attempts.saturating_add(1);
        let until =
            now.plus(BACKOFF_INITIAL.saturating_mul(1 << (pod.attempts - 1).min(10)).min(BACKOFF_MAX));
        let moved = matches!(pod.state, State::InFlight { moves } if moves != self.moves);
        pod.state = if moved { State::Backoff { until } } else { state(until) };
        if let State::Backoff { until } = pod.state {
            self.backoff.insert((until, key.clone()));
        }
    }

    fn activate(&mut self, key: &K) {
        if let Some(pod) = self.pods.get_mut(key) {
            pod.state = State::Active;
            self.active.insert((Reverse(pod.priority), pod.arrival, key.clone()));
        }
    }

    fn remove_from_index(&mut self, key: &K, pod: &QueuedPod) {
        match pod.state {
            State::Active => drop(self.active.remove(&(Reverse(pod.priority), pod.arrival, key.clone()))),
            State::Backoff { until } => drop(self.backoff.remove(&(until, key.clone()))),
            State::InFlight { .. } | State::Unschedulable { .. } => {}
        }
    }
}

impl<K: Ord + Clone> Default for SchedulingQueue<K> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_secs(1_767_268_800);

    fn after(seconds: u64) -> Timestamp {
        NOON.plus(Duration::from_secs(seconds))
    }

    #[test]
    fn pods_are_ordered_by_priority_then_arrival() {
        let mut queue = SchedulingQueue::new();
        for (key, priority) in [("a", 0), ("b", 0), ("vip", 10), ("a", 99)] {
            queue.add(key, priority);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop(NOON)).collect();
        assert_eq!(order, ["vip", "a", "b"]);
    }

    #[test]
    fn an_unschedulable_pod_waits_for_a_change_and_for_its_backoff() {
        let mut queue = SchedulingQueue::new();
        queue.add("a", 0);
        for wait in [1, 2, 4, 8, 10, 10] {
            let now = queue.next_wake().unwrap_or(NOON);
            assert_eq!(queue.pop(now), Some("a"));
            queue.mark_unschedulable(&"a", now);
            assert_eq!(queue.pop(now.plus(Duration::from_hours(1))), None, "nothing has changed");
            queue.move_all_to_active_or_backoff();
            assert_eq!(queue.next_wake(), Some(now.plus(Duration::from_secs(wait))));
            assert_eq!(queue.pop(now), None, "the backoff is not over");
        }
    }

    #[test]
    fn a_change_while_a_pod_is_in_flight_is_not_missed() {
        let mut queue = SchedulingQueue::new();
        queue.add("a", 0);
        assert_eq!(queue.pop(NOON), Some("a"));
        queue.move_all_to_active_or_backoff();
        queue.mark_unschedulable(&"a", NOON);
        assert_eq!(queue.pop(after(1)), Some("a"));
    }

    #[test]
    fn a_failed_pod_is_retried_after_its_backoff() {
        let mut queue = SchedulingQueue::new();
        queue.add("a", 0);
        queue.pop(NOON);
        queue.back_off(&"a", NOON);
        assert_eq!(queue.pop(NOON), None);
        assert_eq!(queue.pop(after(1)), Some("a"));
    }

    #[test]
    fn a_removed_pod_is_not_returned() {
        let mut queue = SchedulingQueue::new();
        for key in ["active", "backoff", "unschedulable", "in flight"] {
            queue.add(key, 0);
        }
        queue.remove(&"active");
        for key in ["backoff", "unschedulable", "in flight"] {
            assert_eq!(queue.pop(NOON), Some(key));
        }
        queue.back_off(&"backoff", NOON);
        queue.mark_unschedulable(&"unschedulable", NOON);
        for key in ["backoff", "unschedulable", "in flight"] {
            queue.remove(&key);
            queue.mark_unschedulable(&key, NOON);
        }
        queue.move_all_to_active_or_backoff();
        assert_eq!((queue.pop(after(60)), queue.next_wake()), (None, None));
    }
}
