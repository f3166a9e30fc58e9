//! The snapshot: which pods have no node any more, and since when.

use std::collections::BTreeMap;

use gantry_model::{Name, ObjectKey, Pod, Timestamp, Uid};
use gantry_runtime::Informer;
use gantry_runtime::informer::Plain;
use k8s_openapi::api::core::v1 as core;

use super::QUARANTINE;
use crate::context::Assembly;

#[derive(Clone, Debug)]
pub(super) struct Caches {
    nodes: Informer<Plain<core::Node>>,
    pods: Informer<Pod>,
}

/// The nodes that pods are bound to and that do not exist, and since when.
#[derive(Clone, Debug, Default)]
pub(super) struct AbsentNodes {
    since: BTreeMap<Name, Timestamp>,
}

/// A pod that no kubelet will terminate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OrphanedPod {
    pub(super) pod: ObjectKey,
    pub(super) uid: Uid,
    /// Its node, if it was bound: it is read live before the pod is deleted.
    pub(super) node: Option<Name>,
}

impl Caches {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        Self { nodes: assembly.informer(), pods: assembly.informer() }
    }

    pub(super) fn orphaned(&self, missing: &mut AbsentNodes, now: Timestamp) -> Vec<OrphanedPod> {
        let nodes = self.nodes.read();
        let is_node = |name: &Name| nodes.get(&ObjectKey::new("", name.clone())).is_some();
        let pods = self.pods.read();
        missing.record_missing(
            pods.iter().filter_map(|pod| pod.node.as_ref()).filter(|node| !is_node(node)),
            now,
        );
        pods.iter().filter(|pod| is_orphaned(pod, missing, now)).map(|pod| OrphanedPod::of(pod)).collect()
    }
}

impl AbsentNodes {
    /// Records the nodes that are absent now, and drops those that exist again.
    fn record_missing<'a>(&mut self, missing: impl Iterator<Item = &'a Name>, now: Timestamp) {
        let before = std::mem::take(&mut self.since);
        for node in missing {
            let since = before.get(node).copied().unwrap_or(now);
            self.since.insert(node.clone(), since);
        }
    }

    fn is_expired(&self, node: &Name, now: Timestamp) -> bool {
        self.since.get(node).is_some_and(|since| now.since(*since) >= QUARANTINE)
    }
}

impl OrphanedPod {
    fn of(pod: &Pod) -> Self {
        Self { pod: pod.meta.key(), uid: pod.meta.uid.clone(), node: pod.node.clone() }
    }
}

fn is_orphaned(pod: &Pod, missing: &AbsentNodes, now: Timestamp) -> bool {
    match &pod.node {
        Some(node) => missing.is_expired(node, now),
        None => pod.meta.is_deleting() && pod.meta.finalizers.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_secs(seconds)
    }

    #[test]
    fn a_node_expires_after_it_was_absent_for_long_enough() {
        let (mut missing, n1) = (AbsentNodes::default(), Name::from("n1"));
        missing.record_missing([&n1].into_iter(), at(0));
        assert!(!missing.is_expired(&n1, at(39)));
        missing.record_missing([&n1].into_iter(), at(40));
        assert!(missing.is_expired(&n1, at(40)));
        missing.record_missing([].into_iter(), at(60));
        missing.record_missing([&n1].into_iter(), at(80));
        assert!(!missing.is_expired(&n1, at(80)), "the node existed in between");
    }
}
