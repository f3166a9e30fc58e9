//! The state of a rollout: the snapshot, with ReplicaSets classified as by the controller, and the rules' decision
//! about it.

use std::collections::BTreeMap;

use gantry_decide::deployment::{self, Action, Decision, Observed, Repairs, is_complete, revision_of};
use gantry_decide::ownership::{Claims, claim};
use gantry_decide::replica_set::is_available;
use gantry_model::{DeploymentStatus, Pod, ReplicaSet, Selector, Timestamp};

use crate::snapshot::{ObservedPod, Snapshot};

/// The reason of the Progressing condition of a complete rollout.
const COMPLETE_REASON: &str = "NewReplicaSetAvailable";

/// The state of a rollout.
#[derive(Clone, Debug)]
pub struct RolloutState<'a> {
    /// The Deployment with its related objects.
    pub snapshot: &'a Snapshot,
    /// When the decision was made.
    pub now: Timestamp,
    /// The Deployment's ReplicaSets that have or want pods, and the new one: that one first, then the youngest.
    pub sets: Vec<ReplicaSetState<'a>>,
    /// What the Deployment controller would decide.
    pub decision: Decision,
    /// The status computed from the ReplicaSets.
    pub status: DeploymentStatus,
    /// All revisions that have a ReplicaSet.
    history: BTreeMap<i64, Revision>,
}

#[derive(Clone, Copy, Debug)]
struct Revision {
    available: i64,
    is_current: bool,
}

/// A ReplicaSet of the rollout.
#[derive(Clone, Debug)]
pub struct ReplicaSetState<'a> {
    /// The set.
    pub set: &'a ReplicaSet,
    /// Whether it is the new set or an old one.
    pub role: SetRole,
    /// Its pods by age, terminating ones included.
    pub pods: Vec<&'a ObservedPod>,
}

/// The role of a ReplicaSet in a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetRole {
    /// It has the Deployment's template.
    New,
    /// It has another one.
    Old,
}

impl<'a> RolloutState<'a> {
    /// Classifies the ReplicaSets of a snapshot and computes the decision.
    pub fn of(now: Timestamp, snapshot: &'a Snapshot) -> Self {
        let own = own_sets(snapshot);
        let pods: Vec<&Pod> = snapshot.pods.iter().map(|seen| &seen.pod).collect();
        let observed = Observed {
            deployment: &snapshot.deployment,
            sets: &own,
            pods: &pods,
            refused: None,
            repairs: Repairs::default(),
        };
        let decision = deployment::decide(now, &observed);
        let status = decided_status(&decision).unwrap_or(&snapshot.deployment.status).clone();
        let history = history(snapshot, &own);
        Self { snapshot, now, sets: sort(snapshot, own), decision, status, history }
    }

    /// The ReplicaSet with the Deployment's template, if there is one.
    pub fn new_set(&self) -> Option<&ReplicaSetState<'a>> {
        self.sets.iter().find(|set| set.role == SetRole::New)
    }

    /// The others that have or want pods.
    pub fn old_sets(&self) -> impl Iterator<Item = &ReplicaSetState<'a>> {
        self.sets.iter().filter(|set| set.role == SetRole::Old)
    }

    /// Whether the rollout is complete.
    pub fn is_done(&self) -> bool {
        self.is_seen() && is_complete(&self.snapshot.deployment, &self.status) && !self.is_resizing()
    }

    /// Whether the controller has observed the current spec.
    pub fn is_seen(&self) -> bool {
        let deployment = &self.snapshot.deployment;
        deployment.status.observed_generation >= deployment.meta.generation
    }

    /// Whether the controller has reported that the current template is rolled out.
    pub fn is_rolled_out(&self) -> bool {
        let progressing = self.snapshot.deployment.status.progressing();
        self.is_seen() && progressing.is_some_and(|condition| condition.reason == COMPLETE_REASON)
    }

    /// The revision to roll back to: that with the most available pods, of those the last.
    pub fn revision_before(&self) -> Option<i64> {
        let earlier = self.history.iter().filter(|(_, revision)| !revision.is_current);
        earlier.max_by_key(|(number, revision)| (revision.available, **number)).map(|(number, _)| *number)
    }

    /// Whether `rollout undo` without a revision selects this one: it takes the second-highest (K6.2).
    pub fn undo_leads_to(&self, revision: i64) -> bool {
        self.history.keys().rev().nth(1) == Some(&revision)
    }

    /// Whether the decision creates or resizes a ReplicaSet.
    pub fn is_resizing(&self) -> bool {
        self.decision.steps.iter().any(|step| match &step.action {
            Action::CreateReplicaSet(_) => true,
            Action::UpdateReplicaSet { from, edit, .. } => *from != edit.replicas,
            _ => false,
        })
    }
}

impl ReplicaSetState<'_> {
    /// Its revision, if it is a number.
    pub fn revision(&self) -> Option<i64> {
        revision_of(&self.set.meta.annotations)
    }

    /// The images of its pods, in the order of their containers.
    pub fn images(&self) -> Vec<&str> {
        self.set.template.images().collect()
    }

    /// Whether one of its pods is available.
    pub fn counts_available(&self, now: Timestamp, seen: &ObservedPod) -> bool {
        seen.pod.is_active() && is_available(now, &seen.pod, self.set.min_ready_seconds)
    }
}

/// The Deployment's ReplicaSets: by its selector if that is valid, else by ownership alone.
fn own_sets(snapshot: &Snapshot) -> Vec<&ReplicaSet> {
    let meta = &snapshot.deployment.meta;
    match &snapshot.deployment.selector {
        Ok(selector @ Selector::All(_)) => {
            let Claims { owned, adopt, .. } = claim(meta, selector, &snapshot.sets);
            owned.into_iter().chain(adopt).collect()
        }
        Ok(Selector::Everything) | Err(_) => {
            snapshot.sets.iter().filter(|set| set.meta.is_controlled_by(&meta.uid)).collect()
        }
    }
}

/// The oldest set with the current template is the new one (D5.3), as for the rules; of the others those with pods.
fn sort<'a>(snapshot: &'a Snapshot, mut own: Vec<&'a ReplicaSet>) -> Vec<ReplicaSetState<'a>> {
    own.sort_by(|a, b| a.meta.age_order().cmp(&b.meta.age_order()));
    let new = own.iter().position(|set| set.template == snapshot.deployment.template);
    let rollout = |(index, set): (usize, &'a ReplicaSet)| {
        let role = if Some(index) == new { SetRole::New } else { SetRole::Old };
        ReplicaSetState { set, role, pods: pods_of(snapshot, set) }
    };
    let matters = |rollout: &ReplicaSetState<'_>| {
        let ReplicaSetState { set, role, pods } = rollout;
        *role == SetRole::New || set.is_active() || !set.status.replicas.is_zero() || !pods.is_empty()
    };
    let mut sets: Vec<_> = own.into_iter().enumerate().map(rollout).filter(matters).collect();
    sets.reverse();
    sets.sort_by_key(|set| set.role == SetRole::Old);
    sets
}

fn history(snapshot: &Snapshot, own: &[&ReplicaSet]) -> BTreeMap<i64, Revision> {
    let numbered = own.iter().filter_map(|set| {
        let number = revision_of(&set.meta.annotations).filter(|number| *number > 0)?;
        let is_current = set.template == snapshot.deployment.template;
        Some((number, Revision { available: set.status.available.get(), is_current }))
    });
    numbered.collect()
}

fn pods_of<'a>(snapshot: &'a Snapshot, set: &ReplicaSet) -> Vec<&'a ObservedPod> {
    let is_its = |seen: &&ObservedPod| seen.pod.meta.is_controlled_by(&set.meta.uid);
    let mut pods: Vec<_> = snapshot.pods.iter().filter(is_its).collect();
    pods.sort_by(|a, b| a.pod.meta.age_order().cmp(&b.pod.meta.age_order()));
    pods
}

/// The last status that a decision writes.
fn decided_status(decision: &Decision) -> Option<&DeploymentStatus> {
    decision.steps.iter().rev().find_map(|step| match &step.action {
        Action::UpdateStatus { status, .. } => Some(&**status),
        _ => None,
    })
}
