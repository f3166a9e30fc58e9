//! The staleness check: which versions were written for an object, and whether the caches have reached them.
//!
//! Expectations count pods; this compares versions, and so also covers adoptions and status writes. A shell whose
//! caches are never behind its store does not need it.

use std::collections::BTreeMap;
use std::fmt;

use gantry_model::{ObjectKey, ResourceVersion, Uid};

/// The newest versions that were written for each object of a controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenVersions {
    by_owner: BTreeMap<ObjectKey, Written>,
}

/// The caches that a sync reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CachedResource {
    /// Pods: created, adopted and released.
    Pods,
    /// ReplicaSets: their status is written.
    ReplicaSets,
    /// Endpoints of Services.
    Endpoints,
    /// EndpointSlices of Services.
    EndpointSlices,
}

/// The versions that the caches of a sync have reached; empty before they have seen any.
pub type ReadVersions = BTreeMap<CachedResource, ResourceVersion>;

/// A cache has not reached a version that was written for the object. The sync fails and is retried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleCache {
    /// Which cache.
    pub resource: CachedResource,
    /// The version it has reached.
    pub read: ResourceVersion,
    /// The version it has to reach.
    pub written: ResourceVersion,
}

/// The versions that were written for the present object of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Written {
    uid: Uid,
    versions: BTreeMap<CachedResource, ResourceVersion>,
}

impl WrittenVersions {
    /// Records the version that a write for the object returned.
    ///
    /// Responses may arrive out of order: only the newest counts. A version that is not a number cannot be compared
    /// and is not recorded.
    pub fn wrote(
        &mut self,
        owner: &ObjectKey,
        uid: &Uid,
        resource: CachedResource,
        version: &ResourceVersion,
    ) {
        if version.has_reached(version).is_none() {
            return;
        }
        let fresh = || Written { uid: uid.clone(), versions: BTreeMap::new() };
        let written = self.by_owner.entry(owner.clone()).or_insert_with(fresh);
        if written.uid != *uid {
            *written = fresh();
        }
        let newest = written.versions.entry(resource).or_insert_with(|| version.clone());
        if version.has_reached(newest) == Some(true) {
            *newest = version.clone();
        }
    }

    /// Checks that the caches have reached all recorded versions, and forgets them if so.
    pub fn check(&mut self, owner: &ObjectKey, read: &ReadVersions) -> Result<(), StaleCache> {
        let Some(written) = self.by_owner.get(owner) else { return Ok(()) };
        for (resource, version) in &written.versions {
            let reached = read.get(resource).cloned().unwrap_or_else(|| "".into());
            // A version that is not a number must not block the object permanently; a cache that has seen nothing must.
            let is_behind = reached.as_str().is_empty() || reached.has_reached(version) == Some(false);
            if is_behind {
                return Err(StaleCache { resource: *resource, read: reached, written: version.clone() });
            }
        }
        self.by_owner.remove(owner);
        Ok(())
    }

    /// Forgets what was written for the object with this uid; a successor of the same name keeps its record.
    pub fn forget(&mut self, owner: &ObjectKey, uid: &Uid) {
        if self.by_owner.get(owner).is_some_and(|written| written.uid == *uid) {
            self.by_owner.remove(owner);
        }
    }
}

impl fmt::Display for CachedResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pods => "pods",
            Self::ReplicaSets => "replicasets.apps",
            Self::Endpoints => "endpoints",
            Self::EndpointSlices => "endpointslices.discovery.k8s.io",
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
