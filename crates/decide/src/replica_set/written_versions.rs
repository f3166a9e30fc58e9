//! The staleness check: which versions were written for a ReplicaSet, and whether the caches have reached them.
//!
//! Expectations count pods; this compares versions, and so also covers adoptions and status writes. A shell whose
//! caches are never behind its store does not need it.

use std::collections::BTreeMap;
use std::fmt;

use gantry_model::{ObjectKey, ResourceVersion, Uid};

/// The newest versions that were written for each ReplicaSet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenVersions {
    by_set: BTreeMap<ObjectKey, Written>,
}

/// The caches that a sync reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CachedResource {
    /// Pods: created, adopted and released.
    Pods,
    /// ReplicaSets: their status is written.
    ReplicaSets,
}

/// The versions that the caches have reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadVersions {
    /// The version that the pod cache has reached; empty before it has seen any.
    pub pods: ResourceVersion,
    /// The version that the ReplicaSet cache has reached; empty before it has seen any.
    pub replica_sets: ResourceVersion,
}

/// A cache has not reached a version that was written for the set. The sync fails and is retried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleCache {
    /// Which cache.
    pub resource: CachedResource,
    /// The version it has reached.
    pub read: ResourceVersion,
    /// The version it has to reach.
    pub written: ResourceVersion,
}

/// What was written for the set that has the name now.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Written {
    uid: Uid,
    versions: BTreeMap<CachedResource, ResourceVersion>,
}

impl WrittenVersions {
    /// Records the version that a write for the set returned.
    ///
    /// Responses may arrive out of order: only the newest counts. A version that is not a number cannot be compared
    /// and is not recorded.
    pub fn wrote(&mut self, set: &ObjectKey, uid: &Uid, resource: CachedResource, version: &ResourceVersion) {
        if version.has_reached(version).is_none() {
            return;
        }
        let fresh = || Written { uid: uid.clone(), versions: BTreeMap::new() };
        let written = self.by_set.entry(set.clone()).or_insert_with(fresh);
        if written.uid != *uid {
            *written = fresh();
        }
        let newest = written.versions.entry(resource).or_insert_with(|| version.clone());
        if version.has_reached(newest) == Some(true) {
            *newest = version.clone();
        }
    }

    /// Checks that the caches have reached all recorded versions, and forgets them if so.
    pub fn check(&mut self, set: &ObjectKey, read: &ReadVersions) -> Result<(), StaleCache> {
        let Some(written) = self.by_set.get(set) else { return Ok(()) };
        for (resource, version) in &written.versions {
            let reached = read.of(*resource);
            // A version that is not a number must not block the set for ever; a cache that has seen nothing must.
            let is_behind = reached.as_str().is_empty() || reached.has_reached(version) == Some(false);
            if is_behind {
                let (read, written) = (reached.clone(), version.clone());
                return Err(StaleCache { resource: *resource, read, written });
            }
        }
        self.by_set.remove(set);
        Ok(())
    }

    /// Forgets what was written for the set with this uid; a successor of the same name keeps its record.
    pub fn forget(&mut self, set: &ObjectKey, uid: &Uid) {
        if self.by_set.get(set).is_some_and(|written| written.uid == *uid) {
            self.by_set.remove(set);
        }
    }
}

impl ReadVersions {
    fn of(&self, resource: CachedResource) -> &ResourceVersion {
        match resource {
            CachedResource::Pods => &self.pods,
            CachedResource::ReplicaSets => &self.replica_sets,
        }
    }
}

impl fmt::Display for CachedResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pods => "pods",
            Self::ReplicaSets => "replicasets.apps",
        })
    }
}

impl fmt::Display for StaleCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, read, written } = self;
        if read.as_str().is_empty() {
            write!(f, "read version is not synced (written version: {written}) for group resource {resource}")
        } else {
            write!(
                f,
                "read version: {read} is not as new as written version: {written} for group resource {resource}"
            )
        }
    }
}

impl std::error::Error for StaleCache {}
