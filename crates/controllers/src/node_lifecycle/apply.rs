//! Writes statuses and taints, and evicts pods.

use std::collections::BTreeMap;

use gantry_decide::events::Subject;
use gantry_decide::node_lifecycle::{ReadyStatus, evict_at};
use gantry_json::{Value, json};
use gantry_model::patch::PatchForm;
use gantry_model::{Event, Pod, Uid};
use gantry_runtime::informer::{Typed as _, resource_of};
use gantry_runtime::{DeleteParams, Form, NoneIf as _, ObjectList, RequestError, ResourcePath};
use k8s_openapi::api::core::v1 as core;

use super::observe::{ObservedNode, started_at, taints_for, taints_of, tolerations};
use super::{NodeLifecycle, PlannedEviction};

/// The `source.component` of events about nodes.
const NODE_CONTROLLER: &str = "node-controller";
/// The `source.component` of events about evicted pods.
const EVICTOR: &str = "taint-eviction-controller";

impl NodeLifecycle {
    /// Sets the conditions of a silent node to `Unknown`.
    pub(super) async fn mark_unknown(&self, node: &ObservedNode) -> Result<(), RequestError> {
        let now = self.context.clock.now().render();
        let conditions = node.conditions.iter().map(|name| {
            json!({
                "type": name, "status": "Unknown", "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.", "lastTransitionTime": now,
            })
        });
        let status = json!({"status": {"conditions": conditions.collect::<Vec<_>>()}});
        self.patch(&target(node).part("status"), &status).await?;
        let message = format!("Node {} status is now: NodeNotReady", node.name);
        let subject = Subject {
            api_version: "v1".into(),
            kind: "Node".into(),
            namespace: None,
            name: node.name.clone(),
            uid: node.uid.clone(),
            resource_version: node.version.clone(),
        };
        self.context.events.record(NODE_CONTROLLER, subject, Event::normal("NodeNotReady", message));
        Ok(())
    }

    /// Adds the taints for the node's conditions, or removes them.
    pub(super) async fn taint(&self, node: &ObservedNode, ready: ReadyStatus) -> Result<(), RequestError> {
        let now = self.context.clock.now();
        if taints_for(&node.taints, ready, &node.pressures, now).is_none() {
            return Ok(());
        }
        // Its status may just have been written, so the cached copy may be stale.
        let current = self.context.api.get::<core::Node>(&target(node)).await?;
        let Some(taints) = taints_for(&taints_of(&current), ready, &node.pressures, now) else {
            return Ok(());
        };
        let version = current.metadata.resource_version;
        let body = json!({"metadata": {"resourceVersion": version}, "spec": {"taints": taints}});
        self.patch(&target(node), &body).await
    }

    /// Sets the `Ready` condition of a pod on a node that is not ready to false.
    pub(super) async fn mark_not_ready(&self, pod: &Pod) -> Result<(), RequestError> {
        let event = Event::warning("NodeNotReady", "Node is not ready".to_owned());
        self.context.record_event(NODE_CONTROLLER, "v1", "Pod", &pod.meta, event);
        let condition = json!({"type": "Ready", "status": "False", "lastTransitionTime": self.context.clock.now().render()});
        let body =
            json!({"metadata": {"uid": pod.meta.uid.to_string()}, "status": {"conditions": [condition]}});
        let target = ResourcePath::object(&Pod::resource(), Some(&pod.meta.namespace), &pod.meta.name);
        self.patch(&target.part("status"), &body).await.none_if_changed().map(drop)
    }

    /// Evicts the pods of a node that are due, and plans the eviction of the others.
    pub(super) async fn evict(
        &self,
        node: &ObservedNode,
        known: &BTreeMap<Uid, PlannedEviction>,
        planned: &mut BTreeMap<Uid, PlannedEviction>,
    ) -> Result<(), RequestError> {
        let taints = node.evictions();
        let pods = self.caches.pods_on(&node.name);
        if taints.is_empty() || pods.is_empty() {
            return Ok(());
        }
        let now = self.context.clock.now();
        let plan_of = |pod: &Pod| known.get(&pod.meta.uid).filter(|plan| plan.taints == taints).cloned();
        let plans: Option<Vec<_>> =
            pods.iter().map(|pod| Some((pod.meta.uid.clone(), plan_of(pod)?))).collect();
        match plans {
            Some(plans) => planned.extend(plans),
            None => {
                for pod in self.whole_pods_on(node).await? {
                    let uid = Uid::from(pod.metadata.uid.clone().unwrap_or_default());
                    let at = evict_at(&taints, &tolerations(&pod), started_at(&pod, now));
                    planned.insert(uid, PlannedEviction { taints: taints.clone(), at });
                }
            }
        }
        for pod in &pods {
            let at = planned.get(&pod.meta.uid).and_then(|plan| plan.at);
            if at.is_some_and(|at| at <= now) {
                self.delete(pod).await?;
                planned.remove(&pod.meta.uid);
            }
        }
        Ok(())
    }

    /// The pods on a node with their tolerations, which no cache holds.
    async fn whole_pods_on(&self, node: &ObservedNode) -> Result<Vec<core::Pod>, RequestError> {
        let target = ResourcePath::collection(&Pod::resource(), None);
        let here = format!("spec.nodeName={}", node.name);
        let list: ObjectList<core::Pod> =
            self.context.api.list(&target, Form::Whole, &[("fieldSelector", here.as_str())]).await?;
        Ok(list.items)
    }

    async fn delete(&self, pod: &Pod) -> Result<(), RequestError> {
        let meta = &pod.meta;
        let message = format!("Marking for deletion Pod {}/{}", meta.namespace, meta.name);
        self.context.record_event(EVICTOR, "v1", "Pod", meta, Event::normal("TaintManagerEviction", message));
        let condition = json!({
            "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
            "message": "Taint manager: deleting due to NoExecute taint",
            "lastTransitionTime": self.context.clock.now().render(),
        });
        let body = json!({"metadata": {"uid": meta.uid.to_string()}, "status": {"conditions": [condition]}});
        let target = ResourcePath::object(&Pod::resource(), Some(&meta.namespace), &meta.name);
        // After a conflict, too, the pod is not deleted without its condition: the sync is retried.
        if self.patch(&target.part("status"), &body).await.none_if_absent()?.is_none() {
            return Ok(());
        }
        let deletion = DeleteParams { uid: Some(meta.uid.clone()), ..DeleteParams::default() };
        self.context.api.delete(&target, &deletion).await.none_if_changed().map(drop)
    }

    async fn patch(&self, target: &ResourcePath, body: &Value) -> Result<(), RequestError> {
        self.context.api.patch(target, PatchForm::StrategicMerge, body).await
    }
}

fn target(node: &ObservedNode) -> ResourcePath {
    ResourcePath::object(&resource_of::<core::Node>(), None, &node.name)
}
