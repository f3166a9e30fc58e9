//! How a rollout ended, as far as one status says more than the one before.

use gantry_model::{DeploymentConditionType, DeploymentStatus};

/// How a rollout ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RolloutOutcome {
    /// All pods are updated and available.
    Complete,
    /// No progress was made for as long as the Deployment allows.
    DeadlineExceeded,
}

/// The outcome that is in this status and was not in the one before.
pub(super) fn outcome(before: &DeploymentStatus, after: &DeploymentStatus) -> Option<RolloutOutcome> {
    let of = |status: &DeploymentStatus| {
        let progressing = status.condition(&DeploymentConditionType::Progressing)?;
        match progressing.reason.as_str() {
            "NewReplicaSetAvailable" => Some(RolloutOutcome::Complete),
            "ProgressDeadlineExceeded" => Some(RolloutOutcome::DeadlineExceeded),
            _ => None,
        }
    };
    of(after).filter(|outcome| of(before) != Some(*outcome))
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
        assert_eq!(outcome(&moving, &done), Some(RolloutOutcome::Complete));
        assert_eq!(outcome(&done, &done), None);
        assert_eq!(outcome(&moving, &late), Some(RolloutOutcome::DeadlineExceeded));
        assert_eq!(outcome(&late, &done), Some(RolloutOutcome::Complete));
        assert_eq!(outcome(&DeploymentStatus::default(), &moving), None);
    }
}
