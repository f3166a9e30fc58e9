//! A cluster with its controllers, and a virtual clock.

use std::time::Duration;

use gantry_decide::deployment::Decision;
use gantry_decide::events::EventRecord;
use gantry_model::{Name, ObjectKey, Phase, Pod, Readiness, Timestamp};

use crate::cluster::PlainCluster;
use crate::controllers::EventLog;
use crate::controllers::deployment::{self, Deployments};
use crate::controllers::garbage::Garbage;
use crate::controllers::replica_set::ReplicaSets;
use gantry_rng::Rng;

/// How long nothing may happen until the world counts as settled.
const QUIET: Duration = Duration::from_millis(500);

/// The most syncs without the clock advancing; more mean an endless loop.
const SYNCS_MAX: usize = 100_000;

/// A cluster with its controllers in virtual time.
#[derive(Clone, Debug)]
pub struct World {
    /// The objects.
    pub cluster: PlainCluster,
    deployments: Deployments,
    replica_sets: ReplicaSets,
    garbage: Garbage,
    event_log: EventLog,
    interleaving: Interleaving,
    /// The number of bound pods; each goes to another node.
    bound: usize,
    /// Whether terminating pods are deleted by themselves.
    pub reaping: bool,
}

/// The order of the controllers when several have work.
#[derive(Clone, Debug)]
pub enum Interleaving {
    /// The ReplicaSet controller, the garbage collector, the Deployment controller: a Deployment is synced again
    /// after its sets have reacted, as in a cluster that is not overloaded.
    FixedOrder,
    /// Random.
    Random(Rng),
}

impl World {
    /// An empty world.
    pub fn new(start: Timestamp, interleaving: Interleaving) -> Self {
        Self {
            cluster: PlainCluster::new(start),
            deployments: Deployments::new(),
            replica_sets: ReplicaSets::new(),
            garbage: Garbage::new(),
            event_log: EventLog::new(),
            interleaving,
            bound: 0,
            reaping: true,
        }
    }

    /// The virtual time.
    pub fn now(&self) -> Timestamp {
        self.cluster.now
    }

    /// All events, as an API server would store them.
    pub fn events(&self) -> impl Iterator<Item = &EventRecord> {
        self.event_log.events.values()
    }

    /// The steps of the controllers since the last call, a line each.
    pub fn take_trace(&mut self) -> Vec<String> {
        std::mem::take(&mut self.event_log.trace)
    }

    /// The decision about a Deployment if it were synced now.
    pub fn preview_decision(&self, name: &str) -> Option<Decision> {
        deployment::preview_decision(&self.cluster, &PlainCluster::key(name), None)
    }

    // === time ===

    /// Runs the controllers until nothing happens for half a second.
    pub fn settle(&mut self) {
        loop {
            self.work_now();
            let quiet_at = self.now().plus(QUIET);
            match self.next_wake() {
                Some(wake) if wake <= quiet_at => self.cluster.now = wake.max(self.now()),
                _ => {
                    self.cluster.now = quiet_at;
                    return;
                }
            }
        }
    }

    /// Advances the clock by `duration`, with everything that happens in it.
    pub fn pass(&mut self, duration: Duration) {
        let end = self.now().plus(duration);
        loop {
            self.work_now();
            match self.next_wake() {
                Some(wake) if wake <= end => self.cluster.now = wake.max(self.now()),
                _ => break,
            }
        }
        self.cluster.now = end;
        self.work_now();
    }

    /// Does all work that is due now.
    ///
    /// # Panics
    /// If that never ends: two controllers undo each other's work.
    pub fn work_now(&mut self) {
        let mut syncs = 0;
        while self.step() {
            syncs += 1;
            assert!(syncs < SYNCS_MAX, "the controllers run in a circle: {:?}", self.event_log.trace.last());
        }
    }

    /// Does one sync, or completes one deletion. Returns whether there was anything to do.
    pub fn step(&mut self) -> bool {
        self.deliver_changes();
        let first = match &mut self.interleaving {
            Interleaving::FixedOrder => 0,
            Interleaving::Random(rng) => rng.index(3),
        };
        let worked = (0..3).any(|turn| self.work_of((first + turn) % 3));
        worked || (self.reaping && self.reap())
    }

    fn work_of(&mut self, controller: usize) -> bool {
        match controller {
            0 => self.replica_sets.work(&mut self.cluster, &mut self.event_log),
            1 => self.garbage.work(&mut self.cluster, &mut self.event_log),
            _ => self.deployments.work(&mut self.cluster, &mut self.event_log),
        }
    }

    fn deliver_changes(&mut self) {
        for change in self.cluster.take_changes() {
            self.deployments.watch(&change, &self.cluster);
            self.replica_sets.watch(&change, &self.cluster);
            self.garbage.watch(&change, &self.cluster, &mut self.event_log);
        }
    }

    fn next_wake(&self) -> Option<Timestamp> {
        let wakes = [
            self.deployments.queue.next_wake(),
            self.replica_sets.queue.next_wake(),
            self.garbage.to_delete.next_wake(),
            self.garbage.to_orphan.next_wake(),
        ];
        wakes.into_iter().flatten().min()
    }

    // === what nodes do ===

    /// Sets a pod to running, ready or not; binds it first if necessary.
    pub fn run_pod(&mut self, pod: &Name, ready: bool) {
        self.set_pod(pod, Phase::Running, ready);
    }

    /// Sets a pod to failed.
    pub fn fail_pod(&mut self, pod: &Name) {
        self.set_pod(pod, Phase::Failed, false);
    }

    fn set_pod(&mut self, pod: &Name, phase: Phase, ready: bool) {
        let key = ObjectKey { namespace: PlainCluster::NAMESPACE.into(), name: pod.clone() };
        let since = Some(self.now().to_whole_seconds());
        if self.cluster.pods.get(&key).is_some_and(|pod| pod.node.is_none()) {
            let node = Name::from(format!("node-{}", self.bound % 3));
            self.bound += 1;
            self.cluster.update(&key, |pod: &mut Pod| pod.node = Some(node));
        }
        self.cluster.update_status(&key, |pod: &mut Pod| {
            pod.phase = phase;
            pod.readiness = if ready { Readiness::Ready { since } } else { Readiness::NotReady };
        });
    }

    /// Deletes every terminating pod. Returns whether there was one.
    pub fn reap(&mut self) -> bool {
        let terminating =
            self.cluster.pods.iter().filter(|pod| pod.meta.is_deleting() && pod.meta.finalizers.is_empty());
        let terminating: Vec<_> = terminating.map(|pod| pod.meta.key()).collect();
        for pod in &terminating {
            self.cluster.finish_pod(pod);
        }
        !terminating.is_empty()
    }
}
