//! Refused requests: pods of a ReplicaSet, or the new ReplicaSet itself.

use gantry_model::{ConditionStatus, Name};

use super::missing::Missing;
use super::reason::Reason;
use super::report::{Cause, Severity};
use crate::rollout_state::RolloutState;

/// The Deployment controller's reason for a ReplicaSet that it could not create.
const SET_REFUSED: &str = "ReplicaSetCreateError";

/// A set that cannot create or delete pods.
pub(super) fn pods(set: &Name, cluster_reason: &str, message: &str) -> Cause {
    let reason = match (quota(message), Missing::in_message(message)) {
        (Some(quota), _) => Reason::Quota { quota: quota.to_owned() },
        (None, Some(Missing { kind: "ServiceAccount", name: Some(name), .. })) => {
            Reason::ServiceAccount { name }
        }
        (None, _) => Reason::CreateRefused { cluster_reason: cluster_reason.to_owned() },
    };
    Cause::new(Severity::Blocks, reason).of_set(set).with_message(message)
}

/// The new ReplicaSet that could not be created, according to the Deployment's condition.
pub(super) fn set(rollout: &RolloutState<'_>) -> Option<Cause> {
    let progressing = rollout.snapshot.deployment.status.progressing()?;
    let is_refused = progressing.reason == SET_REFUSED && progressing.status == ConditionStatus::False;
    if !is_refused || rollout.new_set().is_some() {
        return None;
    }
    let reason = match quota(&progressing.message) {
        Some(quota) => Reason::Quota { quota: quota.to_owned() },
        None => Reason::SetRefused,
    };
    Some(Cause::new(Severity::Blocks, reason).with_message(&progressing.message))
}

/// The quota in a message: `… is forbidden: exceeded quota: NAME, requested: …`.
fn quota(message: &str) -> Option<&str> {
    let rest = message.split_once("exceeded quota: ")?.1;
    Some(rest.split_once(',').map_or(rest, |(name, _)| name).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quota_of_a_refusal_is_parsed() {
        let message = "pods \"web-1\" is forbidden: exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2";
        assert_eq!(quota(message), Some("team"));
        assert_eq!(quota("pods \"web-1\" is forbidden: violates PodSecurity"), None);
    }
}
