//! The reason why a ReplicaSet waits: one value for `gantry why` and the tests.

use std::fmt;

use gantry_model::{Replicas, Timestamp};

use super::expectations::{EXPECTATIONS_TIMEOUT, ExpectationState};
use super::manage::{Action, ReplicaDiff};
use super::manage_result::ManageError;
use super::{Observed, availability};

/// What a set waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitingOn {
    /// Nothing: it has all its pods, and they are available.
    Nothing,
    /// A usable selector; without one its pods are unknown.
    InvalidSelector {
        /// Why it cannot be used.
        problem: String,
    },
    /// Its deletion; it touches no pod.
    PendingDeletions,
    /// The cache to show its own creations and deletions.
    Expectations {
        /// Created pods that the cache does not show yet.
        creations: usize,
        /// Deleted pods that the cache does not show as terminating yet.
        deletions: usize,
        /// When the expectations time out.
        until: Timestamp,
    },
    /// Its next sync: one sync is limited to a burst.
    Burst {
        /// Pods to create or delete in later syncs.
        remaining: Replicas,
    },
    /// The API server to accept its pods.
    CreateRefused {
        /// The API server's message.
        message: String,
    },
    /// The API server to delete its pods.
    DeleteRefused {
        /// The API server's message.
        message: String,
    },
    /// Pods to become ready.
    PodsNotReady {
        /// Pods that are ready.
        ready: Replicas,
        /// Pods that should be ready.
        desired: Replicas,
    },
    /// Ready pods to stay ready for `minReadySeconds`.
    MinReadySeconds {
        /// The earliest time at which one of them becomes available; `None` if no readiness time is known.
        until: Option<Timestamp>,
    },
}

impl WaitingOn {
    /// What a set waits for, if the action succeeds.
    pub(super) fn after(now: Timestamp, observed: &Observed<'_>, action: &Action) -> Self {
        if observed.set.meta.is_deleting() {
            return Self::PendingDeletions;
        }
        if let ExpectationState::Pending { creations, deletions, until } = observed.expectation_state {
            return Self::Expectations { creations, deletions, until };
        }
        let remaining = ReplicaDiff::of(observed.set, observed.active.len()).beyond_burst();
        if !remaining.is_zero() {
            return Self::Burst { remaining };
        }
        let until = now.plus(EXPECTATIONS_TIMEOUT);
        match action {
            Action::CannotCreate(no_labels) => Self::CreateRefused { message: no_labels.to_string() },
            Action::Create { count, .. } => Self::Expectations { creations: *count, deletions: 0, until },
            Action::Delete { pods } => Self::Expectations { creations: 0, deletions: pods.len(), until },
            Action::Nothing => Self::pods(now, observed),
        }
    }

    /// What a set waits for after a refused action.
    pub(super) fn refused(error: &ManageError) -> Self {
        match error {
            ManageError::NoLabels(no_labels) => Self::CreateRefused { message: no_labels.to_string() },
            ManageError::Create(refusal) => Self::CreateRefused { message: refusal.message.clone() },
            ManageError::Delete(refusal) => Self::DeleteRefused { message: refusal.message.clone() },
        }
    }

    /// What a set with the right number of pods waits for.
    fn pods(now: Timestamp, observed: &Observed<'_>) -> Self {
        let min_ready_seconds = observed.set.min_ready_seconds;
        let ready = observed.active.iter().filter(|pod| pod.is_ready()).count();
        if ready < observed.active.len() {
            return Self::PodsNotReady { ready: Replicas::of(ready), desired: observed.set.replicas };
        }
        let is_available = |pod| availability::is_available(now, pod, min_ready_seconds);
        if observed.active.iter().all(|pod| is_available(pod)) {
            return Self::Nothing;
        }
        let until = availability::first_available(now, min_ready_seconds, observed.active.iter().copied());
        Self::MinReadySeconds { until }
    }
}

impl fmt::Display for WaitingOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing: all pods are available"),
            Self::InvalidSelector { problem } => write!(f, "a usable selector: {problem}"),
            Self::PendingDeletions => f.write_str("its own deletion"),
            Self::Expectations { creations, deletions, until } => write!(
                f,
                "the cache to show its own writes, {creations} created and {deletions} deleted, until {until}"
            ),
            Self::Burst { remaining } => write!(f, "its next turn, for {remaining} more pods"),
            Self::CreateRefused { message } => write!(f, "a pod to be accepted: {message}"),
            Self::DeleteRefused { message } => write!(f, "a pod to be deleted: {message}"),
            Self::PodsNotReady { ready, desired } => {
                write!(f, "pods to become ready: {ready} of {desired} are")
            }
            Self::MinReadySeconds { until: Some(until) } => {
                write!(f, "ready pods to become available, the next at {until}")
            }
            Self::MinReadySeconds { until: None } => {
                f.write_str("ready pods to become available, without a readiness transition time")
            }
        }
    }
}
