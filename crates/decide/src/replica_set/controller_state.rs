//! The state of the controller between syncs: expectations about its own writes.
//!
//! A restart loses it, which is safe: a fresh cache contains everything.

use gantry_model::{ObjectKey, ReplicaSet, ResourceVersion, Timestamp};

use super::expectations::{ExpectationState, Expectations, MetExpectation};
use crate::written_versions::{CachedResource, ReadVersions, StaleCache, WrittenVersions};

/// The controller's own writes that its caches may not have seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControllerState {
    /// Pods created and deleted.
    pub expectations: Expectations,
    /// Versions written.
    pub written: WrittenVersions,
}

/// The first step of a sync.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SyncStart<'a> {
    /// The set does not exist; the sync has succeeded.
    Gone,
    /// The set exists.
    Present(&'a ReplicaSet, ExpectationState),
}

impl ControllerState {
    /// Begins a sync: checks the caches for staleness, looks up the set and its expectations.
    ///
    /// It is called before the pods are listed; see [`Expectations::expectation_state`].
    pub fn begin_sync<'a>(
        &mut self,
        now: Timestamp,
        key: &ObjectKey,
        cached: Option<&'a ReplicaSet>,
        read: &ReadVersions,
    ) -> Result<SyncStart<'a>, StaleCache> {
        // The versions are forgotten once the caches have reached them, so nothing remains to be dropped below.
        self.written.check(key, read)?;
        let Some(set) = cached else {
            self.expectations.forget(key);
            return Ok(SyncStart::Gone);
        };
        Ok(SyncStart::Present(set, self.expectations.expectation_state(now, key)))
    }

    /// Lowers the expectations of a set.
    pub fn lower(&mut self, met: &MetExpectation) {
        self.expectations.lower(met);
        if let MetExpectation::Everything { set, uid } = met {
            self.written.forget(set, uid);
        }
    }

    /// Records the version that a write for the set returned.
    pub fn wrote(&mut self, set: &ReplicaSet, resource: CachedResource, version: &ResourceVersion) {
        self.written.wrote(&set.meta.key(), &set.meta.uid, resource, version);
    }
}
