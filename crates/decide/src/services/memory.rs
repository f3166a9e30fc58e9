//! The state of a controller of endpoints between syncs. A restart loses it, which is safe.

use gantry_model::{ObjectKey, ResourceVersion, Service};

use super::TriggerTimes;
use crate::written_versions::{CachedResource, ReadVersions, StaleCache, WrittenVersions};

/// The memory of a controller of endpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// When pods and Services last changed.
    pub times: TriggerTimes,
    written: WrittenVersions,
}

impl Memory {
    /// Checks that the cache has reached all versions that were written for a Service.
    pub fn check(&mut self, service: &ObjectKey, read: &ReadVersions) -> Result<(), StaleCache> {
        self.written.check(service, read)
    }

    /// Records the version that a write for the Service returned.
    pub fn wrote(&mut self, service: &Service, resource: CachedResource, version: &ResourceVersion) {
        self.written.wrote(&service.meta.key(), &service.meta.uid, resource, version);
    }
}
