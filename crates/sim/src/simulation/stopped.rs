//! A cluster that was stopped: what is in its store, to be changed and started again.

use bytes::Bytes;
use gantry_model::Timestamp;

use super::store::StoreContent;
use super::{SimCluster, SimOptions, run};

/// The objects of a simulated cluster that was stopped.
#[derive(Clone, Debug)]
pub struct StoppedCluster {
    pub(super) content: StoreContent,
    pub(super) stopped_at: Timestamp,
}

impl StoppedCluster {
    /// When it was stopped.
    pub fn stopped_at(&self) -> Timestamp {
        self.stopped_at
    }

    /// The stored objects whose keys begin with this, such as `/registry/pods/`: their keys, and their JSON as the server stores it.
    pub fn objects(&self, prefix: &str) -> Vec<(String, Bytes)> {
        self.content.objects(prefix)
    }

    /// Stores an object as if another server had done so. It has to be as the server stores it.
    ///
    /// # Panics
    /// If the key is empty or too long.
    pub fn put(&mut self, key: &str, object: Bytes) {
        self.content.put(key, object);
    }

    /// Runs `work` on a cluster that starts with these objects. Its seed must be another one, lest uids come up again.
    ///
    /// # Panics
    /// If the cluster does not start, which is a bug.
    pub fn start<T>(&self, options: SimOptions, work: impl AsyncFnOnce(&mut SimCluster) -> T) -> T {
        run(options, &self.content, work)
    }
}
