//! A decision as a value: the steps to carry out, and why it goes no further.

use std::fmt;

use gantry_model::{
    DeploymentEdit, DeploymentStatus, Event, InvalidLimit, InvalidSelector, Name, Refusal, ReplicaSet,
    ReplicaSetDraft, ReplicaSetEdit, Replicas, Timestamp, keys,
};

use super::{Observed, WaitingOn};
use crate::Wake;

/// The decision about one Deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The steps to carry out, in order.
    pub steps: Vec<Step>,
    /// The result of the sync once all steps are done.
    pub result: SyncResult,
    /// Why the rollout is not further along; empty when it waits for nothing.
    pub waiting_on: Vec<WaitingOn>,
    /// The progress deadline.
    pub deadline: Deadline,
    /// When to requeue the Deployment.
    pub wake: Wake,
}

/// An action, and what to do if the API refuses it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The action.
    pub action: Action,
    /// The handling of a refusal by the API.
    pub if_refused: IfRefused,
}

/// One write, or one event.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Create the ReplicaSet of the current template.
    CreateReplicaSet(Box<ReplicaSetDraft>),
    /// Update annotations, size or minReadySeconds of a ReplicaSet, with the version last seen as precondition.
    UpdateReplicaSet {
        /// Its name.
        set: Name,
        /// Its size before.
        from: Replicas,
        /// Its new fields.
        edit: ReplicaSetEdit,
    },
    /// Delete a ReplicaSet beyond the revision history limit; not found counts as success.
    DeleteReplicaSet {
        /// Its name.
        set: Name,
    },
    /// Update the Deployment's status, with the version last seen as precondition.
    UpdateStatus {
        /// The whole status.
        status: Box<DeploymentStatus>,
        /// The revision annotation, when it changes along with the status.
        revision: Option<String>,
    },
    /// Update the Deployment's template and annotations: a rollback.
    UpdateDeployment(Box<DeploymentEdit>),
    /// Record an event. Never fails, never delays.
    Emit(Event),
}

/// The handling of a refused step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfRefused {
    /// The sync fails and the key is retried.
    Fail,
    /// The sync continues with the next step.
    Ignore,
    /// Decide again with [`RefusedStep::CreateRefused`].
    DecideOnCreate,
    /// Decide again with [`RefusedStep::ScaleDownFailed`].
    DecideOnScaleDown,
}

/// The step that was refused while a decision was carried out; the input of the decision made right after it.
///
/// That decision observes the same objects, as they are after the steps that succeeded.
#[derive(Clone, Debug, PartialEq)]
pub enum RefusedStep {
    /// The new ReplicaSet could not be created.
    CreateRefused {
        /// The API's response.
        refusal: Refusal,
        /// The cached ReplicaSet of that name, if any.
        existing: Option<Box<ReplicaSet>>,
    },
    /// An old ReplicaSet could not be scaled down; the sync continues without that.
    ScaleDownFailed,
}

/// The result of a sync.
#[derive(Clone, Debug, PartialEq)]
pub enum SyncResult {
    /// All steps are done.
    Done,
    /// The key has to be retried once the steps are carried out.
    Failed(SyncError),
}

/// Why a sync fails.
#[derive(Clone, Debug, PartialEq)]
pub enum SyncError {
    /// The selector is invalid.
    InvalidSelector(InvalidSelector),
    /// `maxSurge` or `maxUnavailable` is neither a number nor a percentage.
    InvalidLimit(InvalidLimit),
    /// `spec.strategy.type` is neither `RollingUpdate` nor `Recreate`.
    UnknownStrategy(String),
    /// Another ReplicaSet has the name that the new one would get.
    NameTaken(Name),
    /// The API reports that a ReplicaSet of that name exists, and the cache does not have it yet.
    NotYetSeen(Name),
    /// The new ReplicaSet could not be created.
    CreateFailed(String),
    /// The namespace is terminating, so the new ReplicaSet cannot be created; not retried.
    NamespaceTerminating,
}

/// The state of the progress deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// There is no deadline, or the rollout is complete.
    None,
    /// The deadline passes at this time, unless there is progress before.
    At(Timestamp),
    /// The deadline has passed.
    Exceeded,
}

impl Decision {
    /// Whether the Deployment has to be read live before this is carried out.
    ///
    /// ReplicaSets that disappeared may have been collected because the Deployment itself is gone, and the controller
    /// may see that later than the deletion of its sets. It would then create one set too many.
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

/// One line for stories and for `gantry why`.
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
