//! How many pods to create or delete, and which.

use gantry_model::{ObjectKey, PodDraft, ReplicaSet, Replicas, Timestamp};

use super::draft::{NoLabels, pod_draft};
use super::expectations::Expectations;
use super::{Observed, victims};

/// The maximum number of pods that one sync creates or deletes.
pub const BURST: usize = 500;

/// The action on the pods of a set.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Leave them as they are.
    Nothing,
    /// Create identical pods by slow start; see [`PendingCreations`](super::PendingCreations).
    Create {
        /// The number of pods.
        count: usize,
        /// The pod.
        draft: PodDraft,
    },
    /// Pods are missing, but the template is unusable. Counts as a failed creation.
    CannotCreate(NoLabels),
    /// Delete these pods at once and gracefully; see [`PendingDeletions`](super::PendingDeletions).
    Delete {
        /// The pods.
        pods: Vec<ObjectKey>,
    },
}

/// The difference between the desired and the active pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplicaDiff {
    None,
    TooFew(usize),
    TooMany(usize),
}

pub(super) fn manage(now: Timestamp, observed: &Observed<'_>) -> Action {
    match ReplicaDiff::of(observed.set, observed.active.len()) {
        ReplicaDiff::None => Action::Nothing,
        ReplicaDiff::TooFew(missing) => match pod_draft(observed.set) {
            Ok(draft) => Action::Create { count: missing.min(BURST), draft },
            Err(no_labels) => Action::CannotCreate(no_labels),
        },
        ReplicaDiff::TooMany(surplus) => {
            let victims = victims::choose(now, &observed.active, &observed.related, surplus.min(BURST));
            Action::Delete { pods: victims.into_iter().map(|pod| pod.meta.key()).collect() }
        }
    }
}

impl Action {
    /// Sets the expectations of this action.
    ///
    /// Has to be called before the first request, because the cache may see a pod before the response arrives.
    pub fn set_expectations(&self, now: Timestamp, set: &ObjectKey, expectations: &mut Expectations) {
        match self {
            // Expectations that timed out are left alone: there is nothing new to expect.
            Self::Nothing | Self::CannotCreate(_) => {}
            Self::Create { count, .. } => expectations.expect_creations(now, set, *count),
            Self::Delete { pods } => expectations.expect_deletions(now, set, pods),
        }
    }
}

impl ReplicaDiff {
    pub(super) fn of(set: &ReplicaSet, active: usize) -> Self {
        // No cache holds more pods than `Replicas` can count, and if it did this would still have the right sign.
        match Replicas::of(active).get() - set.replicas.get() {
            0 => Self::None,
            missing @ ..0 => Self::TooFew(usize::try_from(missing.unsigned_abs()).unwrap_or(usize::MAX)),
            surplus @ 1.. => Self::TooMany(usize::try_from(surplus).unwrap_or(usize::MAX)),
        }
    }

    /// The difference that this sync leaves to later ones.
    pub(super) fn beyond_burst(self) -> Replicas {
        match self {
            Self::None => Replicas::ZERO,
            Self::TooFew(pods) | Self::TooMany(pods) => Replicas::of(pods.saturating_sub(BURST)),
        }
    }
}
