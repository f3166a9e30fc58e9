//! The snapshot: a Deployment, its ReplicaSets and, for `Recreate`, their pods.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gantry_decide::deployment::{Decision, Observed, RefusedStep, Repairs, decide};
use gantry_decide::written_versions::{CachedResource, ReadVersions};
use gantry_model::{Name, ObjectKey, Pod, ReplicaSet, Selector, Strategy, Timestamp};
use gantry_runtime::Informer;
use gantry_runtime::informer::{CachedDeployment, CachedReplicaSet};

use super::last_writes::LastWrites;
use crate::context::Assembly;

#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) deployments: Informer<CachedDeployment>,
    pub(super) sets: Informer<CachedReplicaSet>,
    pub(super) pods: Informer<Pod>,
    /// By the key of the Deployment.
    last_writes: Arc<Mutex<BTreeMap<ObjectKey, LastWrites>>>,
}

/// The objects of one sync: from the caches, updated by the server's responses.
#[derive(Debug)]
pub(super) struct SyncSnapshot {
    pub(super) deployment: Arc<CachedDeployment>,
    /// Its own sets and orphans.
    pub(super) sets: BTreeMap<Name, Arc<CachedReplicaSet>>,
    pub(super) pods: Vec<Arc<Pod>>,
}

impl Caches {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        Self {
            deployments: assembly.informer(),
            sets: assembly.informer(),
            pods: assembly.informer(),
            last_writes: Arc::default(),
        }
    }

    /// The version that the cache of ReplicaSets has reached.
    pub(super) fn versions(&self) -> ReadVersions {
        ReadVersions::from([(CachedResource::ReplicaSets, self.sets.read().version().clone())])
    }

    /// The objects of a Deployment, those that were just written in the state in which they were stored; `None` if it
    /// does not exist.
    pub(super) fn observe(&self, key: &ObjectKey) -> Option<SyncSnapshot> {
        let snapshot = self.cached(key);
        let mut last_writes = self.last_writes();
        let Some(mut snapshot) = snapshot else {
            last_writes.remove(key);
            return None;
        };
        if let Some(written) = last_writes.get_mut(key) {
            written.update(&mut snapshot);
            if written.is_empty() {
                last_writes.remove(key);
            }
        }
        Some(snapshot)
    }

    /// Keeps what was written of these objects until the caches show it.
    pub(super) fn note_writes(&self, written: &SyncSnapshot) {
        let key = written.key();
        let Some(cached) = self.cached(&key) else { return };
        let newer = LastWrites::of(written, &cached);
        if !newer.is_empty() {
            self.last_writes().insert(key, newer);
        }
    }

    fn last_writes(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, LastWrites>> {
        self.last_writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cached(&self, key: &ObjectKey) -> Option<SyncSnapshot> {
        let deployment = self.deployments.read().get(key)?.clone();
        let meta = &deployment.parsed.meta;
        let sets: Vec<_> = {
            let store = self.sets.read();
            store.controlled_by(&meta.uid).chain(store.orphans(&meta.namespace)).cloned().collect()
        };
        let pods = match deployment.parsed.strategy {
            Strategy::Recreate => {
                let store = self.pods.read();
                sets.iter().flat_map(|set| store.controlled_by(&set.parsed.meta.uid)).cloned().collect()
            }
            Strategy::RollingUpdate(_) | Strategy::Unknown(_) => Vec::new(),
        };
        let sets = sets.into_iter().map(|set| (set.parsed.meta.name.clone(), set)).collect();
        Some(SyncSnapshot { deployment, sets, pods })
    }

    pub(super) fn set(&self, key: &ObjectKey) -> Option<Arc<CachedReplicaSet>> {
        self.sets.read().get(key).cloned()
    }
}

impl SyncSnapshot {
    /// The selector, unless it is invalid or selects everything.
    pub(super) fn selector(&self) -> Option<&Selector> {
        let selector = self.deployment.parsed.selector.as_ref().ok();
        selector.filter(|selector| **selector != Selector::Everything)
    }

    /// The decision, and whether the Deployment has to be read live first.
    pub(super) fn decide(
        &self,
        now: Timestamp,
        refused: Option<RefusedStep>,
        repairs: Repairs,
    ) -> (Decision, bool) {
        let sets: Vec<&ReplicaSet> = self.sets.values().map(|set| &set.parsed).collect();
        let pods: Vec<&Pod> = self.pods.iter().map(|pod| &**pod).collect();
        let observed =
            Observed { deployment: &self.deployment.parsed, sets: &sets, pods: &pods, refused, repairs };
        let decision = decide(now, &observed);
        let must_be_confirmed = decision.must_be_confirmed(&observed);
        (decision, must_be_confirmed)
    }
}
