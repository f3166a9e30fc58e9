//! What is said of a Deployment, word for word as Kubernetes says it.

use gantry_model::{Event, Name, Replicas};

/// A ReplicaSet got another size.
pub(super) fn scaled(set: &Name, from: Replicas, to: Replicas) -> Event {
    let direction = if to > from { "up" } else { "down" };
    Event::normal("ScalingReplicaSet", format!("Scaled {direction} replica set {set} from {from} to {to}"))
}

/// The new ReplicaSet could not be created.
pub(super) fn create_failed(message: String) -> Event {
    Event::warning("ReplicaSetCreateError", message)
}

/// A rollback is done, as far as the template goes.
pub(super) fn rolled_back(deployment: &Name, revision: i64) -> Event {
    Event::normal(
        "DeploymentRollback",
        format!("Rolled back deployment \"{deployment}\" to revision {revision}"),
    )
}

/// There is no revision before this one.
pub(super) fn no_last_revision() -> Event {
    revision_not_found("Unable to find last revision.")
}

/// There is no such revision.
pub(super) fn no_such_revision() -> Event {
    revision_not_found("Unable to find the revision to rollback to.")
}

/// The revision to go back to is the one that is there.
pub(super) fn template_unchanged(deployment: &Name) -> Event {
    Event::warning(
        "DeploymentRollbackTemplateUnchanged",
        format!("The rollback revision contains the same template as current deployment \"{deployment}\""),
    )
}

fn revision_not_found(message: &str) -> Event {
    Event::warning("DeploymentRollbackRevisionNotFound", message.to_owned())
}
