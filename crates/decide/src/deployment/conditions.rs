//! The conditions of a Deployment, and the predicates that they depend on.

use gantry_model::{
    ConditionStatus, Deployment, DeploymentCondition, DeploymentConditionType, DeploymentStatus, Name,
    ReplicaSetCondition, Timestamp,
};

use super::sync_state::SetState;

pub(super) const NEW_SET_AVAILABLE: &str = "NewReplicaSetAvailable";
pub(super) const DEADLINE_EXCEEDED: &str = "ProgressDeadlineExceeded";
pub(super) const PAUSED: &str = "DeploymentPaused";

/// A condition without its times, which depend on the existing condition.
pub(super) struct Condition {
    condition_type: DeploymentConditionType,
    status: ConditionStatus,
    reason: &'static str,
    pub(super) message: String,
}

impl Condition {
    fn progressing(status: ConditionStatus, reason: &'static str, message: String) -> Self {
        Self { condition_type: DeploymentConditionType::Progressing, status, reason, message }
    }

    pub(super) fn created_new_set(set: &Name) -> Self {
        let message = format!("Created new replica set \"{set}\"");
        Self::progressing(ConditionStatus::True, "NewReplicaSetCreated", message)
    }

    pub(super) fn found_new_set(set: &Name) -> Self {
        let message = format!("Found new replica set \"{set}\"");
        Self::progressing(ConditionStatus::True, "FoundNewReplicaSet", message)
    }

    pub(super) fn create_failed(message: String) -> Self {
        Self::progressing(ConditionStatus::False, "ReplicaSetCreateError", message)
    }

    pub(super) fn paused() -> Self {
        Self::progressing(ConditionStatus::Unknown, PAUSED, "Deployment is paused".to_owned())
    }

    pub(super) fn resumed() -> Self {
        Self::progressing(ConditionStatus::Unknown, "DeploymentResumed", "Deployment is resumed".to_owned())
    }

    pub(super) fn updated(deployment: &Deployment, new: Option<&SetState<'_>>) -> Self {
        let message = format!("{} is progressing.", subject(deployment, new));
        Self::progressing(ConditionStatus::True, "ReplicaSetUpdated", message)
    }

    pub(super) fn available_new_set(deployment: &Deployment, new: Option<&SetState<'_>>) -> Self {
        let message = format!("{} has successfully progressed.", subject(deployment, new));
        Self::progressing(ConditionStatus::True, NEW_SET_AVAILABLE, message)
    }

    pub(super) fn deadline_exceeded(deployment: &Deployment, new: Option<&SetState<'_>>) -> Self {
        let message = format!("{} has timed out progressing.", subject(deployment, new));
        Self::progressing(ConditionStatus::False, DEADLINE_EXCEEDED, message)
    }

    pub(super) fn minimum_available(available: bool) -> Self {
        let (status, reason, message) = if available {
            (ConditionStatus::True, "MinimumReplicasAvailable", "Deployment has minimum availability.")
        } else {
            (
                ConditionStatus::False,
                "MinimumReplicasUnavailable",
                "Deployment does not have minimum availability.",
            )
        };
        Self {
            condition_type: DeploymentConditionType::Available,
            status,
            reason,
            message: message.to_owned(),
        }
    }
}

/// Sets a condition. One of the same status and reason stays as it was first recorded; any other is replaced and
/// moves to the end.
pub(super) fn set(status: &mut DeploymentStatus, condition: Condition, now: Timestamp) {
    let current = status.condition(&condition.condition_type);
    if current.is_some_and(|c| c.status == condition.status && c.reason == condition.reason) {
        return;
    }
    replace(status, condition, now);
}

/// Sets a condition even if only its time changes. The transition time stays while the status does.
pub(super) fn replace(status: &mut DeploymentStatus, condition: Condition, now: Timestamp) {
    let current = status.condition(&condition.condition_type);
    let last_transition = match current {
        Some(current) if current.status == condition.status => current.last_transition,
        _ => Some(now),
    };
    push(
        status,
        DeploymentCondition {
            condition_type: condition.condition_type,
            status: condition.status,
            reason: condition.reason.to_owned(),
            message: condition.message,
            last_update: Some(now),
            last_transition,
        },
    );
}

/// Copies a ReplicaSet's failure with its time, or removes the condition when no set has one.
pub(super) fn copy_failure(status: &mut DeploymentStatus, failure: Option<&ReplicaSetCondition>) {
    let Some(failure) = failure else {
        remove(status, &DeploymentConditionType::ReplicaFailure);
        return;
    };
    let current = status.condition(&DeploymentConditionType::ReplicaFailure);
    if current.is_some_and(|c| c.status == failure.status && c.reason == failure.reason) {
        return;
    }
    let same_status = current.filter(|current| current.status == failure.status);
    let last_transition = same_status.map_or(failure.last_transition, |current| current.last_transition);
    push(
        status,
        DeploymentCondition {
            condition_type: DeploymentConditionType::ReplicaFailure,
            status: failure.status.clone(),
            reason: failure.reason.clone(),
            message: failure.message.clone(),
            last_update: failure.last_transition,
            last_transition,
        },
    );
}

pub(super) fn remove(status: &mut DeploymentStatus, condition_type: &DeploymentConditionType) {
    status.conditions.retain(|condition| condition.condition_type != *condition_type);
}

fn push(status: &mut DeploymentStatus, condition: DeploymentCondition) {
    remove(status, &condition.condition_type);
    status.conditions.push(condition);
}

/// Whether the rollout is complete according to a status.
pub fn is_complete(deployment: &Deployment, status: &DeploymentStatus) -> bool {
    status.updated == deployment.replicas
        && status.replicas == deployment.replicas
        && status.available == deployment.replicas
        && status.observed_generation >= deployment.meta.generation
}

/// Whether the rollout moved from one status to the next: more new pods, fewer old ones, more ready or available.
pub fn is_progressing(before: &DeploymentStatus, after: &DeploymentStatus) -> bool {
    let old_pods = |status: &DeploymentStatus| status.replicas.get() - status.updated.get();
    after.updated > before.updated
        || old_pods(after) < old_pods(before)
        || after.ready > before.ready
        || after.available > before.available
}

fn subject(deployment: &Deployment, new: Option<&SetState<'_>>) -> String {
    match new {
        Some(set) => format!("ReplicaSet \"{}\"", set.name),
        None => format!("Deployment \"{}\"", deployment.meta.name),
    }
}
