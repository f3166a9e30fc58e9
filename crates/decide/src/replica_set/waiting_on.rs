//! Why a ReplicaSet goes no further: one value for `explain`, the dashboard and the tests.

use std::fmt;

use gantry_model::{Replicas, Timestamp};

use super::expectations::{EXPECTATIONS_TIMEOUT, Standing};
use super::manage::{Action, Gap};
use super::outcome::ManageError;
use super::{Observed, availability};

/// What a set waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitingOn {
    /// For nothing: it has all pods that it should have, and they are available.
    Nothing,
    /// For a selector that can be used; what pods are its own is not known.
    InvalidSelector {
        /// What is wrong with it.
        problem: String,
    },
    /// For its end: it is being deleted and touches no pod.
    Deleting,
    /// For the cache to show the pods that it created, and that the pods it deleted go.
    Expectations {
        /// Pods created and not seen yet.
        creations: usize,
        /// Pods deleted and not seen to go yet.
        deletions: usize,
        /// The moment after which it no longer believes in them.
        until: Timestamp,
    },
    /// For its next turn: one sync does only so much.
    Burst {
        /// Pods to create or delete after this turn.
        remaining: Replicas,
    },
    /// For the API server to accept its pods.
    CreateRefused {
        /// What the API server said.
        message: String,
    },
    /// For the API server to delete its pods.
    DeleteRefused {
        /// What the API server said.
        message: String,
    },
    /// For pods to become ready.
    PodsNotReady {
        /// Pods that are.
        ready: Replicas,
        /// Pods that should be.
        desired: Replicas,
    },
    /// For pods that are ready to stay so for `minReadySeconds`.
    MinReadySeconds {
        /// The earliest moment at which one of them will have; `None` if none says since when it is ready.
        until: Option<Timestamp>,
    },
}

impl WaitingOn {
    /// What a set waits for, if the action goes well.
    pub(super) fn after(now: Timestamp, observed: &Observed<'_>, action: &Action) -> Self {
        if observed.set.meta.is_deleting() {
            return Self::Deleting;
        }
        if let Standing::Pending { creations, deletions, until } = observed.standing {
            return Self::Expectations { creations, deletions, until };
        }
        let remaining = Gap::of(observed.set, observed.active.len()).beyond_burst();
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

    /// What a set waits for whose pods could not be managed.
    pub(super) fn refused(error: &ManageError) -> Self {
        match error {
            ManageError::NoLabels(no_labels) => Self::CreateRefused { message: no_labels.to_string() },
            ManageError::Create(refusal) => Self::CreateRefused { message: refusal.message.clone() },
            ManageError::Delete(refusal) => Self::DeleteRefused { message: refusal.message.clone() },
        }
    }

    /// What a set waits for that has the right number of pods.
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
            Self::Deleting => f.write_str("its own deletion"),
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
                f.write_str("ready pods to become available, which do not say since when they are ready")
            }
        }
    }
}
