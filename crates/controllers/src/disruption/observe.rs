//! The snapshot: a budget and the pods that it selects.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLockReadGuard};

use gantry_decide::disruption::{Decision, Lookup, Observed, Scale, decide};
use gantry_model::{Deployment, Name, Namespace, ObjectKey, Pod, ReplicaSet, Replicas, Timestamp, Uid};
use gantry_runtime::Informer;
use gantry_runtime::informer::{
    Cached as _, CachedDeployment, CachedDisruptionBudget, CachedReplicaSet, CachedReplicationController,
    Plain, Store,
};
use k8s_openapi::api::apps::v1 as apps;

use crate::context::Assembly;

#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) budgets: Informer<CachedDisruptionBudget>,
    deployments: Informer<CachedDeployment>,
    sets: Informer<CachedReplicaSet>,
    replication_controllers: Informer<CachedReplicationController>,
    stateful_sets: Informer<Plain<apps::StatefulSet>>,
    pub(super) pods: Informer<Pod>,
}

#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) budget: Arc<CachedDisruptionBudget>,
    pub(super) pods: Vec<Arc<Pod>>,
}

/// The controllers of pods, locked during one lookup.
pub(super) struct Controllers<'a> {
    deployments: RwLockReadGuard<'a, Store<CachedDeployment>>,
    sets: RwLockReadGuard<'a, Store<CachedReplicaSet>>,
    replication_controllers: RwLockReadGuard<'a, Store<CachedReplicationController>>,
    stateful_sets: RwLockReadGuard<'a, Store<Plain<apps::StatefulSet>>>,
}

impl Caches {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        Self {
            budgets: assembly.informer(),
            deployments: assembly.informer(),
            sets: assembly.informer(),
            replication_controllers: assembly.informer(),
            stateful_sets: assembly.informer(),
            pods: assembly.informer(),
        }
    }

    /// `None` if the budget does not exist.
    pub(super) fn observe(&self, key: &ObjectKey) -> Option<Snapshot> {
        let budget = self.budgets.read().get(key)?.clone();
        let pods = match &budget.parsed.selector {
            Some(Ok(selector)) => {
                let store = self.pods.read();
                store.selected(&key.namespace, selector).into_iter().cloned().collect()
            }
            Some(Err(_)) | None => Vec::new(),
        };
        Some(Snapshot { budget, pods })
    }

    /// Locks the caches in a fixed order.
    pub(super) fn controllers(&self) -> Controllers<'_> {
        Controllers {
            deployments: self.deployments.read(),
            sets: self.sets.read(),
            replication_controllers: self.replication_controllers.read(),
            stateful_sets: self.stateful_sets.read(),
        }
    }
}

impl Snapshot {
    pub(super) fn pods(&self) -> Vec<&Pod> {
        self.pods.iter().map(|pod| &**pod).collect()
    }

    pub(super) fn decide(&self, now: Timestamp, scales: &BTreeMap<Uid, Scale>) -> Decision {
        decide(now, &Observed { budget: &self.budget.parsed, pods: &self.pods(), scales })
    }
}

impl Lookup for Controllers<'_> {
    fn deployment(&self, namespace: &Namespace, name: &Name) -> Option<&Deployment> {
        self.deployments.named(namespace, name).map(|deployment| &deployment.parsed)
    }

    fn replica_set(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet> {
        self.sets.named(namespace, name).map(|set| &set.parsed)
    }

    fn replication_controller(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet> {
        self.replication_controllers.named(namespace, name).map(|set| &set.parsed)
    }

    fn stateful_set(&self, namespace: &Namespace, name: &Name) -> Option<(Uid, Replicas)> {
        let set = self.stateful_sets.named(namespace, name)?;
        Some((set.uid().clone(), Replicas::parse(set.wire.spec.replicas.or(Some(1)))))
    }
}
