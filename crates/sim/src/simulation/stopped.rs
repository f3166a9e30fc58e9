//! A cluster that was stopped, to be started again with the content of its store.

use bytes::Bytes;

use super::store::StoreContent;
use super::{SimCluster, SimOptions, run};

/// The objects of a simulated cluster that was stopped.
#[derive(Clone, Debug)]
pub struct StoppedCluster {
    pub(super) content: StoreContent,
}

impl StoppedCluster {
    /// The objects whose keys begin with this prefix, such as `/registry/pods/`, as they are stored.
    pub fn objects(&self, prefix: &str) -> Vec<Bytes> {
        self.content.under(prefix)
    }

    /// Stores an object that does not exist yet, in the form of [`StoppedCluster::objects`].
    pub fn add(&mut self, key: &str, object: Bytes) {
        self.content.add(key, object);
    }

    /// Runs `work` on a cluster that starts with these objects. Its seed must differ, so that uids are not generated
    /// again.
    ///
    /// # Panics
    /// If the cluster does not start, which is a bug.
    pub fn start<T>(&self, options: SimOptions, work: impl AsyncFnOnce(&mut SimCluster) -> T) -> T {
        run(options, &self.content, work)
    }
}
