//! Why a rollout is where it is.

use std::fmt;

use gantry_model::{Name, Replicas};

/// One thing that keeps a rollout from going further. Several may hold at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitingOn {
    /// The selector would select everything; the user has to name what it should.
    Selector,
    /// The Deployment is being deleted; only its status is kept up to date.
    Deletion,
    /// The Deployment is paused; the user has to resume it.
    Resume,
    /// Something was just written; what comes next shows when that has taken effect.
    OwnWrites,
    /// There are as many pods as the surge allows, so no new ones are added.
    SurgeLimit {
        /// Pods wished for, over all ReplicaSets.
        total: i64,
        /// The most there may be.
        limit: i64,
    },
    /// No more old pods can go without falling below the minimum that must be available.
    AvailabilityFloor {
        /// Pods available now, over all ReplicaSets.
        available: i64,
        /// The fewest there may be.
        minimum: i64,
        /// New pods that are wished for and not available yet; each takes one from what may go.
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
    /// A ReplicaSet cannot create or delete pods, for this reason.
    ReplicaFailure {
        /// Which one.
        set: Name,
        /// Its word for it.
        reason: String,
        /// What the API said.
        message: String,
    },
    /// Old pods still exist although no ReplicaSet wants them any more.
    OldPods {
        /// The old ReplicaSets that still count pods.
        remaining: i64,
    },
    /// `Recreate` with several active ReplicaSets cannot be scaled: restore the count or change the strategy back.
    ScalingRecreate {
        /// How many ReplicaSets are active.
        active: usize,
    },
    /// An old ReplicaSet reports more available pods than it should have; its status has to catch up.
    LaggingStatus {
        /// Which one.
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
            Self::OldPods { remaining } => write!(f, "{remaining} old pods are not gone"),
            Self::ScalingRecreate { active } => {
                write!(f, "{active} sets are active, which Recreate cannot scale")
            }
            Self::LaggingStatus { set } => write!(f, "the status of {set} lags behind its size"),
        }
    }
}
