//! Deletion: finalizers hold an object, and pods are given time.

use std::time::Duration;

use gantry_model::{Deployment, ObjectKey, Pod, ReplicaSet, keys};

use super::{Cluster, Kind, Stored};

/// What becomes of the dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They are collected after it.
    Background,
    /// They go before it.
    Foreground,
    /// They stay.
    Orphan,
}

/// How long pods are given to end, in these clusters.
const GRACE: Duration = Duration::from_secs(30);

impl Cluster {
    pub(crate) fn delete(&mut self, kind: Kind, key: &ObjectKey, propagation: Propagation) {
        match kind {
            Kind::Deployment => self.delete_at_once::<Deployment>(key, propagation),
            Kind::ReplicaSet => self.delete_at_once::<ReplicaSet>(key, propagation),
            Kind::Pod => self.delete_gracefully(key),
        }
    }

    /// A pod's node says that nothing of it runs any more.
    pub(crate) fn finish_pod(&mut self, key: &ObjectKey) {
        let Some(pod) = self.pods.get(key) else { return };
        if pod.meta.finalizers.is_empty() {
            self.remove::<Pod>(key);
        }
    }

    fn delete_at_once<T: Stored>(&mut self, key: &ObjectKey, propagation: Propagation) {
        let now = self.now;
        self.update(key, |object: &mut T| {
            let meta = object.meta_mut();
            meta.finalizers.retain(|f| f != keys::FOREGROUND_FINALIZER && f != keys::ORPHAN_FINALIZER);
            match propagation {
                Propagation::Background => {}
                Propagation::Foreground => meta.finalizers.push(keys::FOREGROUND_FINALIZER.to_owned()),
                Propagation::Orphan => meta.finalizers.push(keys::ORPHAN_FINALIZER.to_owned()),
            }
            if meta.deleting.is_none() {
                meta.generation += 1;
                meta.deleting = Some(now.to_whole_seconds());
            }
        });
    }

    /// A pod that no node runs goes at once; any other is asked to end first.
    fn delete_gracefully(&mut self, key: &ObjectKey) {
        let Some(pod) = self.pods.get(key) else { return };
        if pod.node.is_none() || pod.phase.is_finished() {
            self.finish_pod(key);
            return;
        }
        let ends = self.now.plus(GRACE).to_whole_seconds();
        self.update(key, |pod: &mut Pod| {
            if pod.meta.deleting.is_none() {
                pod.meta.generation += 1;
                pod.meta.deleting = Some(ends);
            }
        });
    }
}
