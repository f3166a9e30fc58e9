//! The second interpreter of the decisions: each controller carries them out on the cluster's plain data.
//!
//! All have one shape: `watch` turns a change into keys on the queue, `work` takes one key and syncs it. Their caches
//! are the cluster itself, so they are never stale.

pub(crate) mod deployment;
mod event_log;
pub(crate) mod garbage;
pub(crate) mod replica_set;

pub(crate) use event_log::EventLog;

use gantry_decide::deployment::triggers;
use gantry_model::{Deployment, Name, Namespace, ObjectKey, ReplicaSet};

use crate::cluster::PlainCluster;

fn key(namespace: &Namespace, name: &Name) -> ObjectKey {
    ObjectKey { namespace: namespace.clone(), name: name.clone() }
}

impl triggers::Lookup for PlainCluster {
    fn deployment(&self, namespace: &Namespace, name: &Name) -> Option<&Deployment> {
        self.deployments.get(&key(namespace, name))
    }

    fn deployments(&self, namespace: &Namespace) -> impl Iterator<Item = &Deployment> {
        self.deployments.iter().filter(move |deployment| deployment.meta.namespace == *namespace)
    }

    fn replica_set(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet> {
        self.sets.get(&key(namespace, name))
    }
}

impl gantry_decide::replica_set::triggers::Lookup for PlainCluster {
    fn replica_set(&self, namespace: &Namespace, name: &Name) -> Option<&ReplicaSet> {
        self.sets.get(&key(namespace, name))
    }

    fn replica_sets(&self, namespace: &Namespace) -> impl Iterator<Item = &ReplicaSet> {
        self.sets.iter().filter(move |set| set.meta.namespace == *namespace)
    }
}
