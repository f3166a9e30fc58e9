//! Expectations: creations and deletions that a ReplicaSet has requested and not yet seen in the pod cache.
//!
//! The cache lags behind the controller's own writes. A controller that counted pods right after creating ten would
//! find none and create ten more; so a set with unmet expectations leaves its pods alone until they are met or time
//! out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use gantry_model::{ObjectKey, Timestamp, Uid};

/// When an unmet expectation times out.
pub const EXPECTATIONS_TIMEOUT: Duration = Duration::from_mins(5);

/// The expectations of all ReplicaSets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectations {
    by_set: BTreeMap<ObjectKey, Expected>,
}

/// Expectations that are met, or will never be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetExpectation {
    /// So many pods have appeared, or never will.
    Creations {
        /// The set that expected them.
        set: ObjectKey,
        /// How many.
        count: usize,
    },
    /// A pod is being deleted, or will not be.
    Deletion {
        /// The set that expected it.
        set: ObjectKey,
        /// The pod.
        pod: ObjectKey,
    },
    /// The set is deleted, which drops its expectations and written versions.
    Everything {
        /// The set.
        set: ObjectKey,
        /// The uid of the deleted set.
        uid: Uid,
    },
}

/// Whether a set may act on what the pod cache shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectationState {
    /// All expectations are met or timed out.
    Satisfied,
    /// The cache is stale.
    Pending {
        /// Created pods that the cache does not show yet.
        creations: usize,
        /// Deleted pods that the cache does not show as terminating yet.
        deletions: usize,
        /// When the expectations time out.
        until: Timestamp,
    },
}

/// The expectations of one set.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expected {
    /// Negative when pods appear that were not expected.
    creations: i64,
    deletions: i64,
    /// The pods whose deletion is expected: each counts once, though it is observed twice.
    deleting: BTreeSet<ObjectKey>,
    since: Timestamp,
}

impl Expectations {
    /// Expects so many pods to appear, replacing previous expectations.
    pub fn expect_creations(&mut self, now: Timestamp, set: &ObjectKey, count: usize) {
        let creations = i64::try_from(count).unwrap_or(i64::MAX);
        let expected = Expected { creations, deletions: 0, deleting: BTreeSet::new(), since: now };
        self.by_set.insert(set.clone(), expected);
    }

    /// Expects these pods to be deleted, replacing previous expectations.
    pub fn expect_deletions<'a>(
        &mut self,
        now: Timestamp,
        set: &ObjectKey,
        pods: impl IntoIterator<Item = &'a ObjectKey>,
    ) {
        let deleting: BTreeSet<_> = pods.into_iter().cloned().collect();
        let deletions = i64::try_from(deleting.len()).unwrap_or(i64::MAX);
        self.by_set.insert(set.clone(), Expected { creations: 0, deletions, deleting, since: now });
    }

    /// Lowers the expectations of a set.
    pub fn lower(&mut self, met: &MetExpectation) {
        match met {
            MetExpectation::Creations { set, count } => {
                if let Some(expected) = self.by_set.get_mut(set) {
                    let count = i64::try_from(*count).unwrap_or(i64::MAX);
                    expected.creations = expected.creations.saturating_sub(count);
                }
            }
            MetExpectation::Deletion { set, pod } => {
                if let Some(expected) = self.by_set.get_mut(set)
                    && expected.deleting.remove(pod)
                {
                    expected.deletions = expected.deletions.saturating_sub(1);
                }
            }
            MetExpectation::Everything { set, .. } => self.forget(set),
        }
    }

    /// Drops the expectations of a set.
    pub fn forget(&mut self, set: &ObjectKey) {
        self.by_set.remove(set);
    }

    /// Whether the set may act on what the pod cache shows.
    ///
    /// Call this **before** listing the pods. A pod that arrives between the list and this call would meet the
    /// expectation without being in the list, and one pod too many would be created.
    pub fn expectation_state(&self, now: Timestamp, set: &ObjectKey) -> ExpectationState {
        match self.by_set.get(set) {
            Some(expected) if expected.is_pending(now) => ExpectationState::Pending {
                creations: usize::try_from(expected.creations).unwrap_or(0),
                deletions: usize::try_from(expected.deletions).unwrap_or(0),
                until: expected.since.plus(EXPECTATIONS_TIMEOUT),
            },
            Some(_) | None => ExpectationState::Satisfied,
        }
    }
}

impl Expected {
    fn is_pending(&self, now: Timestamp) -> bool {
        (self.creations > 0 || self.deletions > 0) && now.since(self.since) <= EXPECTATIONS_TIMEOUT
    }
}
