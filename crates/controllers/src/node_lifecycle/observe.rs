//! The snapshot: nodes, their heartbeats, their taints, and the pods on them.

use gantry_decide::node_lifecycle::{
    EFFECTS, NO_EXECUTE, NOT_READY, NoExecuteTaint, ReadyStatus, Toleration, UNREACHABLE, taint_of,
};
use gantry_model::{Name, Pod, Readiness, ResourceVersion, Timestamp, Uid};
use gantry_runtime::Informer;
use gantry_runtime::informer::{Cached as _, Plain};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1 as core;

use crate::context::Assembly;

#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) nodes: Informer<Plain<core::Node>>,
    leases: Informer<Plain<Lease>>,
    pods: Informer<Pod>,
}

/// A node, parsed for this controller.
#[derive(Clone, Debug)]
pub(super) struct ObservedNode {
    pub(super) name: Name,
    pub(super) uid: Uid,
    pub(super) version: ResourceVersion,
    pub(super) ready: ReadyStatus,
    /// The last heartbeat, as text: a different one is a new heartbeat.
    pub(super) heartbeat: String,
    /// Its conditions, by type.
    pub(super) conditions: Vec<String>,
    pub(super) taints: Vec<core::Taint>,
    /// The keys of the taints for the resources that are short on the node.
    pub(super) pressures: Vec<&'static str>,
}

/// The conditions of nodes that are short of a resource, and the taint of each, which keeps new pods away.
const PRESSURE_TAINTS: [(&str, &str); 4] = [
    ("MemoryPressure", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "node.kubernetes.io/disk-pressure"),
    ("PIDPressure", "node.kubernetes.io/pid-pressure"),
    ("NetworkUnavailable", "node.kubernetes.io/network-unavailable"),
];
const NO_SCHEDULE: &str = "NoSchedule";

/// The namespace of node leases.
const LEASES: &str = "kube-node-lease";

impl Caches {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        Self { nodes: assembly.informer(), leases: assembly.informer(), pods: assembly.informer() }
    }

    pub(super) fn nodes(&self) -> Vec<ObservedNode> {
        let nodes: Vec<_> = self.nodes.read().iter().cloned().collect();
        let leases = self.leases.read();
        let lease =
            |name: &Name| leases.named(&LEASES.into(), name).map(|lease| lease.version().as_str().to_owned());
        nodes.iter().map(|node| ObservedNode::parse(node, lease(&node.key().name))).collect()
    }

    pub(super) fn ready_pods_on(&self, node: &Name) -> Vec<Pod> {
        let is_ready = |pod: &Pod| matches!(pod.readiness, Readiness::Ready { .. });
        self.pods_on(node).into_iter().filter(is_ready).collect()
    }

    /// The pods on a node that are not terminating.
    pub(super) fn pods_on(&self, node: &Name) -> Vec<Pod> {
        let pods = self.pods.read();
        let here = pods.iter().filter(|pod| pod.node.as_ref() == Some(node) && !pod.meta.is_deleting());
        here.map(|pod| Pod::clone(pod)).collect()
    }
}

impl ObservedNode {
    fn parse(node: &Plain<core::Node>, lease: Option<String>) -> Self {
        let status = node.wire.status.as_ref();
        let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
        let ready = conditions.iter().find(|condition| condition.type_ == "Ready");
        let heartbeat = ready.and_then(|ready| ready.last_heartbeat_time.as_ref());
        let heartbeat = heartbeat.map(|time| Timestamp::parse(time).to_string());
        Self {
            name: node.key().name,
            uid: node.uid().clone(),
            version: node.version().clone(),
            ready: match ready.map(|condition| condition.status.as_str()) {
                Some("True") => ReadyStatus::True,
                Some("False") => ReadyStatus::False,
                _ => ReadyStatus::Unknown,
            },
            heartbeat: format!("{} {}", lease.unwrap_or_default(), heartbeat.unwrap_or_default()),
            conditions: conditions.iter().map(|condition| condition.type_.clone()).collect(),
            taints: taints_of(&node.wire),
            pressures: pressures(conditions),
        }
    }

    /// The `NoExecute` taints.
    pub(super) fn evictions(&self) -> Vec<NoExecuteTaint> {
        let taints = self.taints.iter().filter(|taint| taint.effect == NO_EXECUTE);
        taints
            .map(|taint| NoExecuteTaint {
                key: taint.key.clone(),
                value: taint.value.clone().unwrap_or_default(),
                added: taint.time_added.as_ref().map(Timestamp::parse),
            })
            .collect()
    }
}

fn pressures(conditions: &[core::NodeCondition]) -> Vec<&'static str> {
    let holds = |name: &str| conditions.iter().any(|it| it.type_ == name && it.status == "True");
    PRESSURE_TAINTS.iter().filter(|(condition, _)| holds(condition)).map(|(_, key)| *key).collect()
}

pub(super) fn taints_of(node: &core::Node) -> Vec<core::Taint> {
    node.spec.as_ref().and_then(|spec| spec.taints.clone()).unwrap_or_default()
}

/// The taints that replace the given ones; `None` if they are unchanged.
pub(super) fn taints_for(
    taints: &[core::Taint],
    ready: ReadyStatus,
    pressures: &[&str],
    now: Timestamp,
) -> Option<Vec<core::Taint>> {
    let of_readiness = taint_of(ready).into_iter().flat_map(|key| EFFECTS.map(|effect| (key, effect)));
    let of_pressure = pressures.iter().map(|key| (*key, NO_SCHEDULE));
    let wanted: Vec<_> = of_readiness.chain(of_pressure).collect();
    let is_ours = |key: &str| {
        [NOT_READY, UNREACHABLE].contains(&key) || PRESSURE_TAINTS.iter().any(|(_, taint)| *taint == key)
    };
    let is_kept =
        |taint: &&core::Taint| !is_ours(&taint.key) || wanted.iter().any(|(key, _)| *key == taint.key);
    let mut after: Vec<_> = taints.iter().filter(is_kept).cloned().collect();
    for (key, effect) in wanted {
        if !after.iter().any(|taint| taint.key == key && taint.effect == effect) {
            let (key, effect) = (key.to_owned(), effect.to_owned());
            after.push(core::Taint { key, effect, time_added: Some(now.render()), value: None });
        }
    }
    (after != taints).then_some(after)
}

pub(super) fn tolerations(pod: &core::Pod) -> Vec<Toleration> {
    let tolerations = pod.spec.iter().flat_map(|spec| spec.tolerations.iter().flatten());
    tolerations
        .map(|toleration| Toleration {
            key: toleration.key.clone().unwrap_or_default(),
            value: match toleration.operator.as_deref() {
                Some("Exists") => None,
                _ => Some(toleration.value.clone().unwrap_or_default()),
            },
            effect: toleration.effect.clone().unwrap_or_default(),
            seconds: toleration.toleration_seconds,
        })
        .collect()
}

/// When a pod was started on its node, according to its status.
pub(super) fn started_at(pod: &core::Pod, now: Timestamp) -> Timestamp {
    let started = pod.status.as_ref().and_then(|status| status.start_time.as_ref());
    started.or(pod.metadata.creation_timestamp.as_ref()).map_or(now, Timestamp::parse)
}
