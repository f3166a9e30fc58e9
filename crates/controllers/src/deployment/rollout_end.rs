//! Whether a status update ends a rollout.

use gantry_model::{DeploymentConditionType, DeploymentStatus};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RolloutEnd {
    /// All pods are updated and available.
    Complete,
    /// The progress deadline was exceeded.
    DeadlineExceeded,
}

/// How the rollout ended, if it did with this update.
pub(super) fn result(before: &DeploymentStatus, after: &DeploymentStatus) -> Option<RolloutEnd> {
    let of = |status: &DeploymentStatus| {
        let progressing = status.condition(&DeploymentConditionType::Progressing)?;
        match progressing.reason.as_str() {
            "NewReplicaSetAvailable" => Some(RolloutEnd::Complete),
            "ProgressDeadlineExceeded" => Some(RolloutEnd::DeadlineExceeded),
            _ => None,
        }
    };
    of(after).filter(|result| of(before) != Some(*result))
}

#[cfg(test)]
mod tests {
    use gantry_model::{ConditionStatus, DeploymentCondition};

    use super::*;

    fn status(reason: &str) -> DeploymentStatus {
        let progressing = DeploymentCondition {
            condition_type: DeploymentConditionType::Progressing,
            status: ConditionStatus::True,
            reason: reason.to_owned(),
            message: String::new(),
            last_update: None,
            last_transition: None,
        };
        DeploymentStatus { conditions: vec![progressing], ..DeploymentStatus::default() }
    }

    #[test]
    fn a_rollout_ends_once() {
        let (moving, done) = (status("ReplicaSetUpdated"), status("NewReplicaSetAvailable"));
        let late = status("ProgressDeadlineExceeded");
        assert_eq!(result(&moving, &done), Some(RolloutEnd::Complete));
        assert_eq!(result(&done, &done), None);
        assert_eq!(result(&moving, &late), Some(RolloutEnd::DeadlineExceeded));
        assert_eq!(result(&late, &done), Some(RolloutEnd::Complete));
        assert_eq!(result(&DeploymentStatus::default(), &moving), None);
    }
}
