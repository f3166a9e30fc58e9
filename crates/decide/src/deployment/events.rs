//! Events about Deployments, with Kubernetes' reasons and messages.

use gantry_model::{Event, Name, Replicas};

pub(super) fn scaled(set: &Name, from: Replicas, to: Replicas) -> Event {
    let direction = if to > from { "up" } else { "down" };
    Event::normal("ScalingReplicaSet", format!("Scaled {direction} replica set {set} from {from} to {to}"))
}

pub(super) fn create_failed(message: String) -> Event {
    Event::warning("ReplicaSetCreateError", message)
}

pub(super) fn rolled_back(deployment: &Name, revision: i64) -> Event {
    Event::normal(
        "DeploymentRollback",
        format!("Rolled back deployment \"{deployment}\" to revision {revision}"),
    )
}

pub(super) fn no_last_revision() -> Event {
    revision_not_found("Unable to find last revision.")
}

pub(super) fn no_such_revision() -> Event {
    revision_not_found("Unable to find the revision to rollback to.")
}

pub(super) fn template_unchanged(deployment: &Name) -> Event {
    Event::warning(
        "DeploymentRollbackTemplateUnchanged",
        format!("The rollback revision contains the same template as current deployment \"{deployment}\""),
    )
}

fn revision_not_found(message: &str) -> Event {
    Event::warning("DeploymentRollbackRevisionNotFound", message.to_owned())
}
