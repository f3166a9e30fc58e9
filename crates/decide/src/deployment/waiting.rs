//! The reasons why a rollout waits.

use std::fmt;

use gantry_model::{Name, Replicas};

/// One reason why a rollout goes no further. Several may hold at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitingOn {
    /// The selector selects everything; the user has to narrow it.
    Selector,
    /// The Deployment is being deleted; only its status is updated.
    Deletion,
    /// The Deployment is paused; the user has to resume it.
    Resume,
    /// The steps of this sync; the next sync sees their effect.
    OwnWrites,
    /// The pods reach the surge limit, so no new ones are added.
    SurgeLimit {
        /// The sum of `spec.replicas` over all ReplicaSets.
        total: i64,
        /// The maximum number of pods.
        limit: i64,
    },
    /// No more old pods can be removed without falling below the availability floor.
    AvailabilityFloor {
        /// Available pods over all ReplicaSets.
        available: i64,
        /// The minimum number of available pods.
        minimum: i64,
        /// New pods that are not available yet; each lowers the number of old pods that may be removed.
        new_unavailable: i64,
    },
    /// The new ReplicaSet's pods are not all available.
    NewPods {
        /// The new ReplicaSet.
        set: Name,
        /// Pods it should have.
        wanted: Replicas,
        /// Pods of it that are available.
        available: Replicas,
    },
    /// A ReplicaSet fails to create or delete pods.
    ReplicaFailure {
        /// The ReplicaSet.
        set: Name,
        /// The reason of its condition.
        reason: String,
        /// The message of its condition.
        message: String,
    },
    /// Old pods still exist although their ReplicaSets are scaled to zero.
    OldPods {
        /// The old ReplicaSets that still count pods.
        remaining: i64,
    },
    /// `Recreate` with several active ReplicaSets cannot be scaled: restore the count or change the strategy back.
    ScalingRecreate {
        /// How many ReplicaSets are active.
        active: usize,
    },
    /// The status of a ReplicaSet does not reflect its present size: it is stale.
    LaggingStatus {
        /// The ReplicaSet.
        set: Name,
    },
}

impl fmt::Display for WaitingOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Selector => f.write_str("the selector is empty and would select all pods"),
            Self::Deletion => f.write_str("the deployment is being deleted"),
            Self::Resume => f.write_str("the deployment is paused"),
            Self::OwnWrites => f.write_str("changes just made have to take effect"),
            Self::SurgeLimit { total, limit } => write!(f, "total {total} of at most {limit}"),
            Self::AvailabilityFloor { available, minimum, new_unavailable } => {
                write!(f, "available {available} of at least {minimum}, {new_unavailable} new not available")
            }
            Self::NewPods { set, wanted, available } => {
                write!(f, "{set} has {available} of {wanted} pods available")
            }
            Self::ReplicaFailure { set, reason, message } => write!(f, "{set} reports {reason}: {message}"),
            Self::OldPods { remaining } => write!(f, "{remaining} old pods are not deleted"),
            Self::ScalingRecreate { active } => {
                write!(f, "{active} sets are active, which Recreate cannot scale")
            }
            Self::LaggingStatus { set } => write!(f, "the status of {set} lags behind its size"),
        }
    }
}
