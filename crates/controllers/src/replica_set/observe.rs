//! The snapshot: a set, its pods and orphans and, if pods have to be chosen between, related sets and pods.

use std::collections::BTreeMap;
use std::sync::Arc;

use gantry_decide::replica_set::{Observed, is_choice_needed};
use gantry_decide::written_versions::{CachedResource, ReadVersions};
use gantry_model::{Pod, ReplicaSet};
use gantry_runtime::Informer;

use super::kind::CachedSet;
use crate::context::Assembly;

#[derive(Debug)]
pub(super) struct Caches<S> {
    pub(super) sets: Informer<S>,
    pub(super) pods: Informer<Pod>,
}

/// The sets of the same owner, and the pods that these may select.
#[derive(Debug)]
pub(super) struct RelatedObjects<S> {
    pub(super) sets: Vec<Arc<S>>,
    pub(super) pods: Vec<Arc<Pod>>,
}

impl<S: CachedSet> Caches<S> {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        Self { sets: assembly.informer(), pods: assembly.informer() }
    }

    /// The versions that the caches have reached.
    pub(super) fn versions(&self) -> ReadVersions {
        let replica_sets = self.sets.read().version().clone();
        let pods = self.pods.read().version().clone();
        ReadVersions::from([(CachedResource::Pods, pods), (CachedResource::ReplicaSets, replica_sets)])
    }

    /// The set's own pods, and orphans.
    pub(super) fn pods_of(&self, set: &ReplicaSet) -> Vec<Arc<Pod>> {
        let pods = self.pods.read();
        pods.controlled_by(&set.meta.uid).chain(pods.orphans(&set.meta.namespace)).cloned().collect()
    }

    /// Empty unless the set has to choose between its pods.
    pub(super) fn related_to(&self, observed: &Observed<'_>) -> RelatedObjects<S> {
        let set = observed.set;
        let owner = set.meta.controller().filter(|_| is_choice_needed(set, observed.active.len()));
        let Some(owner) = owner else { return RelatedObjects { sets: Vec::new(), pods: Vec::new() } };
        let sets: Vec<_> = self.sets.read().controlled_by(&owner.uid).cloned().collect();
        let store = self.pods.read();
        let selectors = sets.iter().filter_map(|set| set.parsed().selector.as_ref().ok());
        let found = selectors.flat_map(|selector| store.candidates(&set.meta.namespace, selector));
        // Two selectors may match the same pod.
        let pods: BTreeMap<_, _> = found.map(|pod| (pod.meta.name.clone(), pod.clone())).collect();
        RelatedObjects { sets, pods: pods.into_values().collect() }
    }
}

impl<S> Clone for Caches<S> {
    fn clone(&self) -> Self {
        Self { sets: self.sets.clone(), pods: self.pods.clone() }
    }
}
