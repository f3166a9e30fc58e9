//! The value that a decision is: steps to carry out, and why it goes no further.

use std::fmt;

use gantry_model::{
    DeploymentEdit, DeploymentStatus, Event, InvalidLimit, InvalidSelector, Name, Refusal, ReplicaSet,
    ReplicaSetDraft, ReplicaSetEdit, Replicas, Timestamp, keys,
};

use super::{Observed, WaitingOn};
use crate::Wake;

/// All that one look at a Deployment leads to, and why it goes no further.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What to do, in order.
    pub steps: Vec<Step>,
    /// What the sync comes to once all steps are done.
    pub outcome: Outcome,
    /// Why the rollout is not further than this; empty when there is nothing to wait for.
    pub waiting_on: Vec<WaitingOn>,
    /// When the lack of progress is, or was, reported.
    pub deadline: Deadline,
    /// When to look again.
    pub wake: Wake,
}

/// One thing to do, and what then if the API refuses it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What to do.
    pub action: Action,
    /// What then, if it is refused.
    pub if_refused: IfRefused,
}

/// One write, or one event.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Create the ReplicaSet of the present template.
    CreateReplicaSet(Box<ReplicaSetDraft>),
    /// Put a ReplicaSet back with other annotations, size or minReadySeconds, under the version last seen.
    UpdateReplicaSet {
        /// Which one.
        set: Name,
        /// Its size before.
        from: Replicas,
        /// What it becomes.
        edit: ReplicaSetEdit,
    },
    /// Delete a ReplicaSet that nobody will roll back to; that it is gone already is fine.
    DeleteReplicaSet {
        /// Which one.
        set: Name,
    },
    /// Put the Deployment's status subresource, under the version last seen.
    UpdateStatus {
        /// The whole status.
        status: Box<DeploymentStatus>,
        /// The revision annotation, when it changes along with the status.
        revision: Option<String>,
    },
    /// Put the Deployment itself back with another template and other annotations: a rollback.
    UpdateDeployment(Box<DeploymentEdit>),
    /// Tell people. Never fails, never delays.
    Emit(Event),
}

/// What becomes of the sync when a step is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfRefused {
    /// The sync fails and the key is tried again.
    Fail,
    /// The sync goes on with the next step.
    Ignore,
    /// Decide again with [`Setback::CreateRefused`].
    DecideOnCreate,
    /// Decide again with [`Setback::ShrinkFailed`].
    DecideOnShrink,
}

/// What was refused while a decision was carried out, told to the one made right after it.
///
/// That one looks at the same objects, as they are after the steps that did succeed.
#[derive(Clone, Debug, PartialEq)]
pub enum Setback {
    /// The new ReplicaSet could not be created.
    CreateRefused {
        /// What the API said.
        refusal: Refusal,
        /// The ReplicaSet that has the name, as the cache has it, if it has it.
        existing: Option<Box<ReplicaSet>>,
    },
    /// An old ReplicaSet could not be made smaller; the rest of the sync goes on without.
    ShrinkFailed,
}

/// What a sync comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All that could be done is done.
    Done,
    /// The key has to be tried again, once the steps are carried out.
    Failed(SyncError),
}

/// Why a sync fails.
#[derive(Clone, Debug, PartialEq)]
pub enum SyncError {
    /// The selector is not one.
    InvalidSelector(InvalidSelector),
    /// `maxSurge` or `maxUnavailable` is neither a number nor a percentage.
    InvalidLimit(InvalidLimit),
    /// `spec.strategy.type` is neither `RollingUpdate` nor `Recreate`.
    UnknownStrategy(String),
    /// Another ReplicaSet has the name that the new one would get.
    NameTaken(Name),
    /// The API says there is a ReplicaSet of that name, and the cache has not seen it yet.
    NotYetSeen(Name),
    /// The new ReplicaSet could not be created.
    CreateFailed(String),
    /// The new ReplicaSet could not be created because the namespace is on its way out; not worth a retry.
    NamespaceTerminating,
}

/// When the lack of progress is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// Never: there is none, or the rollout is done.
    None,
    /// At this moment, unless there is progress before.
    At(Timestamp),
    /// It has been.
    Exceeded,
}

impl Decision {
    /// Whether the Deployment has to be read past the cache before this is carried out.
    ///
    /// Sets that there were and that are gone may have been collected because the Deployment itself is gone, and of that the
    /// controller may hear later than of its sets. A new set would be one too many.
    pub fn must_be_confirmed(&self, observed: &Observed<'_>) -> bool {
        let had_sets = observed.deployment.meta.annotations.contains_key(keys::REVISION);
        let creates = |step: &Step| matches!(step.action, Action::CreateReplicaSet(_));
        had_sets && observed.sets.is_empty() && self.steps.iter().any(creates)
    }

    /// The events among the steps.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Emit(event) => Some(event),
            _ => None,
        })
    }
}

/// One line in domain words, for stories and for people.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateReplicaSet(draft) => write!(f, "create {} size {}", draft.name, draft.replicas),
            Self::UpdateReplicaSet { set, from, edit } if *from == edit.replicas => {
                write!(f, "annotate {set}")
            }
            Self::UpdateReplicaSet { set, from, edit } => {
                write!(f, "scale {set} {from} -> {}", edit.replicas)
            }
            Self::DeleteReplicaSet { set } => write!(f, "delete {set}"),
            Self::UpdateStatus { status, revision } => {
                let DeploymentStatus { replicas, updated, ready, available, .. } = **status;
                write!(f, "report {replicas} pods, {updated} updated, {ready} ready, {available} available")?;
                revision.as_ref().map_or(Ok(()), |revision| write!(f, ", revision {revision}"))
            }
            Self::UpdateDeployment(edit) if edit.template.is_some() => f.write_str("restore template"),
            Self::UpdateDeployment(_) => f.write_str("drop rollback request"),
            Self::Emit(event) => {
                write!(f, "event {} {}: {}", event.event_type.as_str(), event.reason, event.message)
            }
        }
    }
}

impl fmt::Display for SyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidSelector(invalid) => write!(f, "spec.selector: {invalid}"),
            Self::InvalidLimit(invalid) => write!(f, "spec.strategy.rollingUpdate: {invalid}"),
            Self::UnknownStrategy(strategy) => write!(f, "unexpected deployment strategy type: {strategy}"),
            Self::NameTaken(name) => write!(f, "replicasets.apps {:?} already exists", name.as_str()),
            Self::NotYetSeen(name) => write!(f, "replicaset.apps {:?} not found", name.as_str()),
            Self::CreateFailed(error) => f.write_str(error),
            Self::NamespaceTerminating => f.write_str("the namespace is being terminated"),
        }
    }
}

impl std::error::Error for SyncError {}
