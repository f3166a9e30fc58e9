//! Pods for tests.

use gantry_model::{Phase, Pod, PodNetwork, Readiness, ReplicaSet, Restarts, Timestamp};

use crate::{labels, meta};

/// An unowned, pending, unassigned pod labelled `app=web`.
pub fn pod(name: &str) -> Pod {
    let mut meta = meta(name);
    meta.labels = labels(&[("app", "web")]);
    Pod {
        meta,
        phase: Phase::Pending,
        node: None,
        readiness: Readiness::NotReady,
        readiness_changed: None,
        network: PodNetwork::default(),
        restarts: Restarts::default(),
        deletion_cost: 0,
    }
}

/// What tests say of a Pod.
pub trait PodWords: Sized {
    /// The ReplicaSet controls it.
    fn owned_by(self, owner: &ReplicaSet) -> Self;
    /// It was assigned to this node.
    fn on(self, node: &str) -> Self;
    /// Its life has come so far.
    fn phase(self, phase: Phase) -> Self;
    /// It runs and has been ready since this moment.
    fn ready_since(self, when: Timestamp) -> Self;
    /// It runs and is ready, but does not say since when.
    fn ready(self) -> Self;
    /// It minds being deleted so much.
    fn cost(self, cost: i32) -> Self;
    /// Its containers were restarted so often.
    fn restarted(self, times: i32) -> Self;
    /// Its sidecars were restarted so often.
    fn sidecars_restarted(self, times: i32) -> Self;
    /// It has this uid.
    fn uid(self, uid: &str) -> Self;
    /// It was created at this moment.
    fn created(self, when: Timestamp) -> Self;
    /// Its deletion was asked for at this moment.
    fn deleting_since(self, when: Timestamp) -> Self;
    /// It has these labels and no others.
    fn labelled(self, pairs: &[(&str, &str)]) -> Self;
}

impl PodWords for Pod {
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
