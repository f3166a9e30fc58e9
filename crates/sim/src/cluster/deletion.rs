//! Deletion: finalizers delay it, and pods have a grace period.

use std::time::Duration;

use gantry_decide::gc::Propagation;
use gantry_model::{Deployment, ObjectKey, Pod, ReplicaSet, keys};

use super::{PlainCluster, Stored, WorkloadKind};

/// The grace period of pods.
const GRACE: Duration = Duration::from_secs(30);

impl PlainCluster {
    pub(crate) fn delete(&mut self, kind: WorkloadKind, key: &ObjectKey, propagation: Propagation) {
        match kind {
            WorkloadKind::Deployment => self.delete_at_once::<Deployment>(key, propagation),
            WorkloadKind::ReplicaSet => self.delete_at_once::<ReplicaSet>(key, propagation),
            WorkloadKind::Pod => self.delete_gracefully(key),
        }
    }

    /// Completes the deletion of a pod, as its kubelet does.
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

    /// A pod without a node is deleted at once; any other becomes terminating.
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
