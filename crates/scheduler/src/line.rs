//! Who waits to be placed, in which order, and until when: plain data that is handed the time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use gantry_model::Timestamp;

/// The line of pods that wait for a place.
///
/// Pods of higher priority come first, then those that came first. A pod that found no place is parked until something
/// changes that might help it, and not before its back-off is over.
#[derive(Clone, Debug)]
pub(crate) struct Line<K> {
    pods: BTreeMap<K, Waiting>,
    ready: BTreeSet<(Reverse<i32>, u64, K)>,
    /// Those whose back-off is still to end, by when.
    resting: BTreeSet<(Timestamp, K)>,
    arrivals: u64,
    stirs: u64,
}

#[derive(Clone, Debug)]
struct Waiting {
    priority: i32,
    arrival: u64,
    attempts: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    /// Somebody decides on it; what was stirred meanwhile counts.
    InHand {
        stirs: u64,
    },
    /// It comes back when the time has come.
    Resting {
        until: Timestamp,
    },
    /// It comes back when something changes, but not before.
    Parked {
        until: Timestamp,
    },
}

/// The wait after the first failure ...
const BACK_OFF: Duration = Duration::from_secs(1);
/// ... which doubles up to this; kube-scheduler's numbers.
const BACK_OFF_MAX: Duration = Duration::from_secs(10);

impl<K: Ord + Clone> Line<K> {
    /// Nobody waits.
    pub(crate) fn new() -> Self {
        Self {
            pods: BTreeMap::new(),
            ready: BTreeSet::new(),
            resting: BTreeSet::new(),
            arrivals: 0,
            stirs: 0,
        }
    }

    /// Adds a pod; one that waits already keeps its turn.
    pub(crate) fn enter(&mut self, key: K, priority: i32) {
        if self.pods.contains_key(&key) {
            return;
        }
        self.arrivals += 1;
        let arrival = self.arrivals;
        self.pods.insert(key.clone(), Waiting { priority, arrival, attempts: 0, state: State::Ready });
        self.ready.insert((Reverse(priority), arrival, key));
    }

    /// A pod does not wait any longer.
    pub(crate) fn leave(&mut self, key: &K) {
        if let Some(pod) = self.pods.remove(key) {
            self.forget(key, &pod);
        }
    }

    /// The next pod to decide on. It is in hand until it is parked, rests or leaves.
    pub(crate) fn take(&mut self, now: Timestamp) -> Option<K> {
        while let Some((until, key)) = self.resting.first().cloned().filter(|(until, _)| *until <= now) {
            self.resting.remove(&(until, key.clone()));
            self.make_ready(&key);
        }
        let (_, _, key) = self.ready.pop_first()?;
        if let Some(pod) = self.pods.get_mut(&key) {
            pod.state = State::InHand { stirs: self.stirs };
        }
        Some(key)
    }

    /// A pod found no place: it waits for something to change.
    pub(crate) fn park(&mut self, key: &K, now: Timestamp) {
        self.set_aside(key, now, |until| State::Parked { until });
    }

    /// Something went wrong on the way: the pod tries again after a while.
    pub(crate) fn rest(&mut self, key: &K, now: Timestamp) {
        self.set_aside(key, now, |until| State::Resting { until });
    }

    /// Something changed that might help those who found no place.
    pub(crate) fn stir(&mut self) {
        self.stirs += 1;
        let parked = self.pods.iter_mut().filter_map(|(key, pod)| match pod.state {
            State::Parked { until } => {
                pod.state = State::Resting { until };
                Some((until, key.clone()))
            }
            _ => None,
        });
        self.resting.extend(parked);
    }

    /// When the next back-off ends.
    pub(crate) fn next_wake(&self) -> Option<Timestamp> {
        self.resting.first().map(|(until, _)| *until)
    }

    fn set_aside(&mut self, key: &K, now: Timestamp, state: impl Fn(Timestamp) -> State) {
        let Some(pod) = self.pods.get_mut(key) else { return };
        pod.attempts = pod.attempts.saturating_add(1);
        let until = now.plus(BACK_OFF.saturating_mul(1 << (pod.attempts - 1).min(10)).min(BACK_OFF_MAX));
        let missed = matches!(pod.state, State::InHand { stirs } if stirs != self.stirs);
        pod.state = if missed { State::Resting { until } } else { state(until) };
        if let State::Resting { until } = pod.state {
            self.resting.insert((until, key.clone()));
        }
    }

    fn make_ready(&mut self, key: &K) {
        if let Some(pod) = self.pods.get_mut(key) {
            pod.state = State::Ready;
            self.ready.insert((Reverse(pod.priority), pod.arrival, key.clone()));
        }
    }

    fn forget(&mut self, key: &K, pod: &Waiting) {
        match pod.state {
            State::Ready => drop(self.ready.remove(&(Reverse(pod.priority), pod.arrival, key.clone()))),
            State::Resting { until } => drop(self.resting.remove(&(until, key.clone()))),
            State::InHand { .. } | State::Parked { .. } => {}
        }
    }
}

impl<K: Ord + Clone> Default for Line<K> {
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
    fn the_important_come_first_then_the_early() {
        let mut line = Line::new();
        for (key, priority) in [("a", 0), ("b", 0), ("vip", 10), ("a", 99)] {
            line.enter(key, priority);
        }
        let order: Vec<_> = std::iter::from_fn(|| line.take(NOON)).collect();
        assert_eq!(order, ["vip", "a", "b"]);
    }

    #[test]
    fn whoever_found_no_place_waits_for_a_change_and_for_the_back_off() {
        let mut line = Line::new();
        line.enter("a", 0);
        for wait in [1, 2, 4, 8, 10, 10] {
            let now = line.next_wake().unwrap_or(NOON);
            assert_eq!(line.take(now), Some("a"));
            line.park(&"a", now);
            assert_eq!(line.take(now.plus(Duration::from_hours(1))), None, "nothing has changed");
            line.stir();
            assert_eq!(line.next_wake(), Some(now.plus(Duration::from_secs(wait))));
            assert_eq!(line.take(now), None, "the back-off is not over");
        }
    }

    #[test]
    fn a_change_while_a_pod_is_in_hand_is_not_missed() {
        let mut line = Line::new();
        line.enter("a", 0);
        assert_eq!(line.take(NOON), Some("a"));
        line.stir();
        line.park(&"a", NOON);
        assert_eq!(line.take(after(1)), Some("a"));
    }

    #[test]
    fn trouble_on_the_way_is_waited_out() {
        let mut line = Line::new();
        line.enter("a", 0);
        line.take(NOON);
        line.rest(&"a", NOON);
        assert_eq!(line.take(NOON), None);
        assert_eq!(line.take(after(1)), Some("a"));
    }

    #[test]
    fn whoever_leaves_is_not_called() {
        let mut line = Line::new();
        for key in ["ready", "resting", "parked", "in hand"] {
            line.enter(key, 0);
        }
        line.leave(&"ready");
        for key in ["resting", "parked", "in hand"] {
            assert_eq!(line.take(NOON), Some(key));
        }
        line.rest(&"resting", NOON);
        line.park(&"parked", NOON);
        for key in ["resting", "parked", "in hand"] {
            line.leave(&key);
            line.park(&key, NOON);
        }
        line.stir();
        assert_eq!((line.take(after(60)), line.next_wake()), (None, None));
    }
}
