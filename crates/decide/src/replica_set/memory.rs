//! What the controller remembers from one sync to the next: nothing but its own writes.
//!
//! A restart loses it, which is safe: a fresh cache has seen everything.

use gantry_model::{ObjectKey, ReplicaSet, ResourceVersion, Timestamp};

use super::expectations::{Expectations, Settled, Standing};
use crate::written_versions::{ReadVersions, Resource, StaleCache, WrittenVersions};

/// The controller's memory of its own writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The pods that were created and deleted.
    pub expectations: Expectations,
    /// The versions that were written.
    pub written: WrittenVersions,
}

/// How a sync begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Begun<'a> {
    /// The set is gone; the sync is over and has succeeded.
    Gone,
    /// The set is there.
    Present(&'a ReplicaSet, Standing),
}

impl Memory {
    /// Begins a sync: are the caches fit to be read, is the set there, and may it act?
    ///
    /// This comes before the pods are listed; [`Expectations::standing`] says why.
    pub fn begin<'a>(
        &mut self,
        now: Timestamp,
        key: &ObjectKey,
        cached: Option<&'a ReplicaSet>,
        read: &ReadVersions,
    ) -> Result<Begun<'a>, StaleCache> {
        // The versions are forgotten once the caches have reached them, so there is nothing left to drop below.
        self.written.check(key, read)?;
        let Some(set) = cached else {
            self.expectations.forget(key);
            return Ok(Begun::Gone);
        };
        Ok(Begun::Present(set, self.expectations.standing(now, key)))
    }

    /// Takes note that something need not be waited for any more.
    pub fn settle(&mut self, settled: &Settled) {
        self.expectations.settle(settled);
        if let Settled::Everything { set, uid } = settled {
            self.written.forget(set, uid);
        }
    }

    /// Remembers that a write for the set was answered with this version.
    pub fn wrote(&mut self, set: &ReplicaSet, resource: Resource, version: &ResourceVersion) {
        self.written.wrote(&set.meta.key(), &set.meta.uid, resource, version);
    }
}
