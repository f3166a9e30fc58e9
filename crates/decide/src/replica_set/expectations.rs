//! Expectations: what a ReplicaSet has asked for and not yet seen in the pod cache.
//!
//! The cache lags behind the controller's own writes. Whoever counted it right after creating ten pods would find
//! none and create ten more; so a set that expects something leaves its pods alone until it has seen it, or until it
//! has waited long enough to doubt that it ever will.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use gantry_model::{ObjectKey, Timestamp, Uid};

/// How long an expectation is waited for.
pub const EXPECTATIONS_TIMEOUT: Duration = Duration::from_mins(5);

/// What all ReplicaSets expect to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectations {
    by_set: BTreeMap<ObjectKey, Expected>,
}

/// Something that need not be waited for any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// So many pods have appeared, or never will.
    Creations {
        /// The set that expected them.
        set: ObjectKey,
        /// How many.
        count: usize,
    },
    /// A pod is on its way out, or will not be.
    Deletion {
        /// The set that expected it.
        set: ObjectKey,
        /// The pod.
        pod: ObjectKey,
    },
    /// The set is gone, and all that it expected and wrote with it.
    Everything {
        /// The set.
        set: ObjectKey,
        /// Which of the sets that had this name.
        uid: Uid,
    },
}

/// Whether a set may act on what the pod cache shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The cache has seen all that the set did, or had long enough for it.
    Satisfied,
    /// The cache is behind.
    Pending {
        /// Pods created and not seen yet.
        creations: usize,
        /// Pods deleted and not seen to go yet.
        deletions: usize,
        /// The last moment at which this is believed.
        until: Timestamp,
    },
}

/// What one set expects to see.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expected {
    /// Goes below zero when pods appear that were not counted on.
    creations: i64,
    deletions: i64,
    /// The pods whose deletion has not been seen: each counts once, though it is heard of twice.
    deleting: BTreeSet<ObjectKey>,
    since: Timestamp,
}

impl Expectations {
    /// Expects so many pods to appear, and forgets what was expected before.
    pub fn expect_creations(&mut self, now: Timestamp, set: &ObjectKey, count: usize) {
        let creations = i64::try_from(count).unwrap_or(i64::MAX);
        let expected = Expected { creations, deletions: 0, deleting: BTreeSet::new(), since: now };
        self.by_set.insert(set.clone(), expected);
    }

    /// Expects these pods to go, and forgets what was expected before.
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

    /// Takes note that something need not be waited for any more.
    pub fn settle(&mut self, settled: &Settled) {
        match settled {
            Settled::Creations { set, count } => {
                if let Some(expected) = self.by_set.get_mut(set) {
                    let count = i64::try_from(*count).unwrap_or(i64::MAX);
                    expected.creations = expected.creations.saturating_sub(count);
                }
            }
            Settled::Deletion { set, pod } => {
                if let Some(expected) = self.by_set.get_mut(set)
                    && expected.deleting.remove(pod)
                {
                    expected.deletions = expected.deletions.saturating_sub(1);
                }
            }
            Settled::Everything { set, .. } => self.forget(set),
        }
    }

    /// Forgets all that a set expects.
    pub fn forget(&mut self, set: &ObjectKey) {
        self.by_set.remove(set);
    }

    /// Whether the set may act on what the pod cache shows.
    ///
    /// Ask **before** listing the pods. A pod that arrives between a list and the question would satisfy the
    /// expectation without being in the list, and one pod too many would be created.
    pub fn standing(&self, now: Timestamp, set: &ObjectKey) -> Standing {
        match self.by_set.get(set) {
            Some(expected) if expected.is_pending(now) => Standing::Pending {
                creations: usize::try_from(expected.creations).unwrap_or(0),
                deletions: usize::try_from(expected.deletions).unwrap_or(0),
                until: expected.since.plus(EXPECTATIONS_TIMEOUT),
            },
            Some(_) | None => Standing::Satisfied,
        }
    }
}

impl Expected {
    fn is_pending(&self, now: Timestamp) -> bool {
        (self.creations > 0 || self.deletions > 0) && now.since(self.since) <= EXPECTATIONS_TIMEOUT
    }
}
