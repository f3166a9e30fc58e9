//! How many pods to create or delete, and which.

use gantry_model::{ObjectKey, PodDraft, ReplicaSet, Replicas, Timestamp};

use super::draft::{NoLabels, pod_draft};
use super::expectations::Expectations;
use super::{Observed, victims};

/// The most pods that one sync creates or deletes.
pub const BURST: usize = 500;

/// What to do about the pods of a set.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Leave them as they are.
    Nothing,
    /// Create pods, all alike, by slow start; see [`Creating`](super::Creating).
    Create {
        /// How many.
        count: usize,
        /// Each of them.
        draft: PodDraft,
    },
    /// There are too few pods, and there is no way to make one. Counts as a failed creation.
    CannotCreate(NoLabels),
    /// Delete these pods, all at once and gracefully; see [`Deleting`](super::Deleting).
    Delete {
        /// Their keys.
        pods: Vec<ObjectKey>,
    },
}

/// How far a set is from the size it should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// It has the pods it should have.
    None,
    /// So many are missing.
    TooFew(usize),
    /// So many are too many.
    TooMany(usize),
}

/// What to do about the pods of a set that may act on what it sees.
pub(super) fn manage(now: Timestamp, observed: &Observed<'_>) -> Action {
    match Gap::of(observed.set, observed.active.len()) {
        Gap::None => Action::Nothing,
        Gap::TooFew(missing) => match pod_draft(observed.set) {
            Ok(draft) => Action::Create { count: missing.min(BURST), draft },
            Err(no_labels) => Action::CannotCreate(no_labels),
        },
        Gap::TooMany(surplus) => {
            let victims = victims::choose(now, &observed.active, &observed.related, surplus.min(BURST));
            Action::Delete { pods: victims.into_iter().map(|pod| pod.meta.key()).collect() }
        }
    }
}

impl Action {
    /// Records what is about to be done, so that nothing more is done before it has been seen.
    ///
    /// Comes before the first call, for the cache may hear of a pod before the caller does.
    pub fn announce(&self, now: Timestamp, set: &ObjectKey, expectations: &mut Expectations) {
        match self {
            // Expectations that timed out are left alone: nothing was done that could be waited for.
            Self::Nothing | Self::CannotCreate(_) => {}
            Self::Create { count, .. } => expectations.expect_creations(now, set, *count),
            Self::Delete { pods } => expectations.expect_deletions(now, set, pods),
        }
    }
}

impl Gap {
    pub(super) fn of(set: &ReplicaSet, active: usize) -> Self {
        // No cache holds more pods than `Replicas` can count, and if it did this would still have the right sign.
        match Replicas::of(active).get() - set.replicas.get() {
            0 => Self::None,
            missing @ ..0 => Self::TooFew(usize::try_from(missing.unsigned_abs()).unwrap_or(usize::MAX)),
            surplus @ 1.. => Self::TooMany(usize::try_from(surplus).unwrap_or(usize::MAX)),
        }
    }

    /// What is left of the gap for later syncs.
    pub(super) fn beyond_burst(self) -> Replicas {
        match self {
            Self::None => Replicas::ZERO,
            Self::TooFew(pods) | Self::TooMany(pods) => Replicas::of(pods.saturating_sub(BURST)),
        }
    }
}
