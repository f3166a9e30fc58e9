//! The working state of one decision: what was observed, plus what the decision has changed so far.

use std::borrow::Cow;

use gantry_model::{
    Annotations, Deployment, DeploymentStatus, Event, Name, ReplicaSet, ReplicaSetEdit, Replicas, Timestamp,
    keys,
};

use super::decision::{Action, Deadline, Decision, IfRefused, Step, SyncResult};
use super::limits::Limits;
use super::repairs::Repairs;
use super::waiting::WaitingOn;
use super::{Observed, events};
use crate::Wake;

pub(super) struct SyncState<'a> {
    pub(super) now: Timestamp,
    pub(super) deployment: &'a Deployment,
    pub(super) limits: Limits,
    pub(super) repairs: Repairs,
    /// The status as cached, plus what this decision has set.
    pub(super) status: DeploymentStatus,
    /// The Deployment's annotations, as cached, plus the revision if this decision has set it.
    pub(super) annotations: Cow<'a, Annotations>,
    /// All claimed ReplicaSets by age, and last the one that this decision creates.
    pub(super) sets: Vec<SetState<'a>>,
    /// The index of the set with the current template.
    pub(super) new: Option<usize>,
    pub(super) wake: Wake,
    steps: Vec<Step>,
    waiting_on: Vec<WaitingOn>,
}

/// A ReplicaSet with the size and annotations that this decision gives it.
pub(super) struct SetState<'a> {
    /// `None` when this decision creates it.
    pub(super) observed: Option<Cow<'a, ReplicaSet>>,
    pub(super) name: Name,
    pub(super) replicas: Replicas,
    pub(super) min_ready_seconds: i32,
    pub(super) annotations: Cow<'a, Annotations>,
}

/// Whether a resize to the same size still writes, to refresh the annotations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Resize {
    WhenNeeded,
    Forced,
}

impl<'a> SyncState<'a> {
    pub(super) fn new(now: Timestamp, observed: &Observed<'a>) -> Self {
        let mut sets = observed.sets.to_vec();
        sets.sort_by(|a, b| a.meta.age_order().cmp(&b.meta.age_order()));
        Self {
            now,
            deployment: observed.deployment,
            limits: Limits::of(observed.deployment),
            repairs: observed.repairs,
            status: observed.deployment.status.clone(),
            annotations: Cow::Borrowed(&observed.deployment.meta.annotations),
            sets: sets.into_iter().map(|set| SetState::observed(Cow::Borrowed(set))).collect(),
            new: None,
            wake: Wake::OnChange,
            steps: Vec::new(),
            waiting_on: Vec::new(),
        }
    }

    pub(super) fn conclude(self, result: SyncResult) -> Decision {
        let deadline = self.deadline();
        Decision { steps: self.steps, result, waiting_on: self.waiting_on, deadline, wake: self.wake }
    }

    /// `spec.replicas`.
    pub(super) fn desired(&self) -> i64 {
        self.deployment.replicas.get()
    }

    pub(super) fn new_set(&self) -> Option<&SetState<'a>> {
        self.new.map(|index| &self.sets[index])
    }

    /// All sets but the new one, by age, inactive ones included.
    pub(super) fn old_sets(&self) -> impl Iterator<Item = &SetState<'a>> {
        let new = self.new;
        self.sets.iter().enumerate().filter(move |(index, _)| Some(*index) != new).map(|(_, set)| set)
    }

    /// The indices of the old sets, for loops that resize them.
    pub(super) fn old_indices(&self) -> Vec<usize> {
        (0..self.sets.len()).filter(|index| Some(*index) != self.new).collect()
    }

    /// The sum of `spec.replicas` over all sets.
    pub(super) fn total_size(&self) -> i64 {
        self.sets.iter().map(|set| set.replicas.get()).sum()
    }

    pub(super) fn total_available(&self) -> i64 {
        self.sets.iter().map(SetState::available).sum()
    }

    pub(super) fn push(&mut self, action: Action, if_refused: IfRefused) {
        self.steps.push(Step { action, if_refused });
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.push(Action::Emit(event), IfRefused::Ignore);
    }

    pub(super) fn wait_on(&mut self, reason: WaitingOn) {
        self.waiting_on.push(reason);
    }

    /// Adds a status write, and continues as if it was written.
    pub(super) fn write_status(
        &mut self,
        status: DeploymentStatus,
        revision: Option<String>,
        if_refused: IfRefused,
    ) {
        self.status = status.clone();
        if let Some(revision) = &revision {
            self.annotations.to_mut().insert(keys::REVISION.to_owned(), revision.clone());
        }
        self.push(Action::UpdateStatus { status: Box::new(status), revision }, if_refused);
    }

    /// Resizes a set and returns whether its size changed.
    ///
    /// Size and annotations are in one write: with two, a crash in between would leave a permanent scaling event.
    pub(super) fn resize(&mut self, index: usize, to: Replicas, how: Resize, if_refused: IfRefused) -> bool {
        let set = &mut self.sets[index];
        let from = set.replicas;
        if how == Resize::WhenNeeded && from == to {
            return false;
        }
        let size_annotations = self.limits.size_annotations();
        if from == to && size_annotations.is_on(&set.annotations) {
            return false;
        }
        size_annotations.write_on(set.annotations.to_mut());
        set.replicas = to;
        self.put_set(index, from, if_refused);
        if from != to {
            let event = events::scaled(&self.sets[index].name, from, to);
            self.emit(event);
        }
        from != to
    }

    /// Adds the update of a set.
    pub(super) fn put_set(&mut self, index: usize, from: Replicas, if_refused: IfRefused) {
        let set = &self.sets[index];
        let edit = ReplicaSetEdit {
            replicas: set.replicas,
            annotations: set.annotations.clone().into_owned(),
            min_ready_seconds: set.min_ready_seconds,
        };
        let set = set.name.clone();
        self.push(Action::UpdateReplicaSet { set, from, edit }, if_refused);
    }

    fn deadline(&self) -> Deadline {
        super::progress::deadline(self.deployment, &self.status)
    }
}

impl<'a> SetState<'a> {
    pub(super) fn observed(set: Cow<'a, ReplicaSet>) -> Self {
        let annotations = match &set {
            Cow::Borrowed(set) => Cow::Borrowed(&set.meta.annotations),
            Cow::Owned(set) => Cow::Owned(set.meta.annotations.clone()),
        };
        Self {
            name: set.meta.name.clone(),
            replicas: set.replicas,
            min_ready_seconds: set.min_ready_seconds,
            annotations,
            observed: Some(set),
        }
    }

    pub(super) fn is_active(&self) -> bool {
        !self.replicas.is_zero()
    }

    /// Its available pods; a set that is being created has none.
    pub(super) fn available(&self) -> i64 {
        self.observed.as_ref().map_or(0, |set| set.status.available.get())
    }

    /// The `desired-replicas` annotation, if it is a number.
    pub(super) fn sized_for(&self) -> Option<i64> {
        count_annotation(&self.annotations, keys::DESIRED_REPLICAS)
    }

    /// The `max-replicas` annotation, if it is a number.
    pub(super) fn sized_for_max(&self) -> Option<i64> {
        count_annotation(&self.annotations, keys::MAX_REPLICAS)
    }
}

/// An annotation that holds a count: plain digits, at most what 32 bits hold. Anything else counts as absent.
fn count_annotation(annotations: &Annotations, key: &str) -> Option<i64> {
    let written = annotations.get(key)?;
    let digits_only = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
    let count: i64 = if digits_only { written.parse().ok()? } else { return None };
    (count <= Replicas::MAX.get()).then_some(count)
}
