//! Pods for tests.

use gantry_model::{Phase, Pod, Readiness, ReplicaSet, Timestamp};

use crate::{labels, meta};

/// An unowned, pending, unassigned pod labelled `app=web`.
pub fn pod(name: &str) -> Pod {
    let mut meta = meta(name);
    meta.labels = labels(&[("app", "web")]);
    Pod::pending(meta)
}

/// Builder methods of a Pod.
pub trait PodBuilder: Sized {
    /// Makes the ReplicaSet its controller.
    fn owned_by(self, owner: &ReplicaSet) -> Self;
    /// Assigns it to this node.
    fn on(self, node: &str) -> Self;
    /// Sets its phase.
    fn phase(self, phase: Phase) -> Self;
    /// Makes it running and ready since this time.
    fn ready_since(self, when: Timestamp) -> Self;
    /// Makes it running and ready, without a time.
    fn ready(self) -> Self;
    /// Sets its deletion cost.
    fn cost(self, cost: i32) -> Self;
    /// Sets the restart count of its containers.
    fn restarted(self, times: i32) -> Self;
    /// Sets the restart count of its sidecars.
    fn sidecars_restarted(self, times: i32) -> Self;
    /// Sets its uid.
    fn uid(self, uid: &str) -> Self;
    /// Sets its creation timestamp.
    fn created(self, when: Timestamp) -> Self;
    /// Sets its deletion timestamp.
    fn deleting_since(self, when: Timestamp) -> Self;
    /// Replaces its labels.
    fn labelled(self, pairs: &[(&str, &str)]) -> Self;
}

impl PodBuilder for Pod {
    fn owned_by(mut self, owner: &ReplicaSet) -> Self {
        self.meta.owners = vec![owner.reference()];
        self
    }

    fn on(mut self, node: &str) -> Self {
        self.node = Some(node.into());
        self
    }

    fn phase(mut self, phase: Phase) -> Self {
        self.phase = phase;
        self
    }

    fn ready_since(mut self, when: Timestamp) -> Self {
        self.phase = Phase::Running;
        self.readiness = Readiness::Ready { since: Some(when) };
        self
    }

    fn ready(mut self) -> Self {
        self.phase = Phase::Running;
        self.readiness = Readiness::Ready { since: None };
        self
    }

    fn cost(mut self, cost: i32) -> Self {
        self.deletion_cost = cost;
        self
    }

    fn restarted(mut self, times: i32) -> Self {
        self.restarts.containers = times;
        self
    }

    fn sidecars_restarted(mut self, times: i32) -> Self {
        self.restarts.sidecars = times;
        self
    }

    fn uid(mut self, uid: &str) -> Self {
        self.meta.uid = uid.into();
        self
    }

    fn created(mut self, when: Timestamp) -> Self {
        self.meta.created = Some(when);
        self
    }

    fn deleting_since(mut self, when: Timestamp) -> Self {
        self.meta.deleting = Some(when);
        self
    }

    fn labelled(mut self, pairs: &[(&str, &str)]) -> Self {
        self.meta.labels = labels(pairs);
        self
    }
}
