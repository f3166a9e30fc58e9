//! The free capacity of a running cluster: its nodes and quotas without the usage of other pods.

use std::collections::BTreeMap;

use gantry_formats::quantity::parse_billionths;
use gantry_json::Value;
use gantry_nodes::NodeTemplate;
use gantry_registry::admission::quota;
use gantry_runtime::Decode as _;
use gantry_scheduler::place::requested_amounts;
use gantry_schema::kinds::kinds;
use k8s_openapi::api::core::v1 as core;

use crate::import::ClusterObjects;

/// Amounts by resource, in billionths.
type Amounts = BTreeMap<String, i128>;

/// Taints that Kubernetes derives from the state of a node.
const DERIVED_TAINTS: [&str; 3] =
    ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.kubernetes.io/unschedulable"];

impl ClusterObjects {
    /// The nodes, with the free resources beside other pods. Nodes that are not ready get no pods.
    pub(crate) fn node_templates(&self) -> Vec<NodeTemplate> {
        let mut others: BTreeMap<String, Vec<core::Pod>> = BTreeMap::new();
        for pod in self.other_pods.iter().filter_map(running_pod) {
            if let Some(node) = pod.spec.as_ref().and_then(|spec| spec.node_name.clone()) {
                others.entry(node).or_default().push(pod);
            }
        }
        let nodes = self.nodes.iter().filter_map(|node| core::Node::decode_value(node).ok());
        nodes.map(|node| template(&node, &others)).collect()
    }

    /// The names of nodes that are not ready.
    pub(crate) fn unready_nodes(&self) -> Vec<String> {
        let nodes = self.nodes.iter().filter_map(|node| core::Node::decode_value(node).ok());
        nodes.filter(|node| !gantry_nodes::is_ready(node)).filter_map(|node| node.metadata.name).collect()
    }

    /// The quotas, without the usage of other pods of their namespace.
    pub(crate) fn remaining_quotas(&self) -> Vec<Value> {
        self.quotas.iter().map(|quota| remaining_quota(quota, &self.other_pods)).collect()
    }
}

/// A pod that has not ended, which uses resources.
fn running_pod(pod: &Value) -> Option<core::Pod> {
    let has_ended = matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
    if has_ended { None } else { core::Pod::decode_value(pod).ok() }
}

/// A node without the usage of other pods, which are grouped by the name of their node.
fn template(node: &core::Node, others: &BTreeMap<String, Vec<core::Pod>>) -> NodeTemplate {
    let name = node.metadata.name.clone().unwrap_or_default();
    let spec = node.spec.clone().unwrap_or_default();
    let allocatable = node.status.as_ref().and_then(|status| status.allocatable.clone()).unwrap_or_default();
    let mut amounts: Amounts = allocatable
        .iter()
        .filter_map(|(resource, amount)| Some((resource.clone(), parse_billionths(&amount.0)?)))
        .collect();
    for pod in others.get(&name).into_iter().flatten() {
        subtract(&mut amounts, &requested_amounts(pod));
        subtract(&mut amounts, &Amounts::from([("pods".to_owned(), 1_000_000_000)]));
    }
    let is_own = |taint: &core::Taint| !DERIVED_TAINTS.contains(&taint.key.as_str());
    NodeTemplate {
        name,
        labels: node.metadata.labels.clone().unwrap_or_default(),
        taints: spec.taints.into_iter().flatten().filter(is_own).collect(),
        is_unschedulable: spec.unschedulable == Some(true) || !gantry_nodes::is_ready(node),
        allocatable: amounts.into_iter().map(|(resource, amount)| (resource, quantity(amount))).collect(),
    }
}

/// A quota without the usage of the other pods of its namespace.
fn remaining_quota(quota: &Value, others: &[Value]) -> Value {
    let pods = kinds().kind("", "v1", "Pod").expect("pods are built in");
    let namespace = &quota["metadata"]["namespace"];
    let others = others.iter().filter(|pod| pod["metadata"]["namespace"] == *namespace);
    quota::without(quota, &quota::count(quota, pods, others))
}

fn subtract(amounts: &mut Amounts, used: &Amounts) {
    for (resource, used) in used {
        if let Some(amount) = amounts.get_mut(resource) {
            *amount = (*amount - used).max(0);
        }
    }
}

/// An amount as Kubernetes writes it.
fn quantity(billionths: i128) -> String {
    match billionths {
        whole if whole % 1_000_000_000 == 0 => (whole / 1_000_000_000).to_string(),
        thousandths if thousandths % 1_000_000 == 0 => format!("{}m", thousandths / 1_000_000),
        other => format!("{other}n"),
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    fn pod(namespace: &str, node: &str, phase: &str, cpu: &str) -> Value {
        let resources = json!({"requests": {"cpu": cpu, "memory": "1Gi"}, "limits": {"cpu": "2"}});
        json!({
            "metadata": {"name": "other", "namespace": namespace},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i", "resources": resources}]},
            "status": {"phase": phase},
        })
    }

    #[test]
    fn resources_of_other_pods_are_not_free_on_a_node() {
        let ready = json!([{"type": "Ready", "status": "True"}]);
        let node = json!({
            "metadata": {"name": "a", "labels": {"zone": "west"}},
            "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}, "conditions": ready},
        });
        let other_pods = vec![
            pod("x", "a", "Running", "1500m"),
            pod("x", "a", "Succeeded", "1"),
            pod("x", "b", "Running", "1"),
        ];
        let objects = ClusterObjects { nodes: vec![node], other_pods, ..ClusterObjects::default() };
        let template = objects.node_templates().remove(0);
        assert_eq!(template.labels["zone"], "west");
        assert_eq!(template.taints[0].key, "gpu");
        assert!(!template.is_unschedulable);
        let left = ["cpu", "memory", "pods"].map(|resource| template.allocatable[resource].as_str());
        assert_eq!(left, ["2500m", "7516192768", "9"]);
    }

    #[test]
    fn a_node_that_is_not_ready_gets_no_pods() {
        let not_ready = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"});
        let node = json!({"metadata": {"name": "a"}, "spec": {"taints": [not_ready]}, "status": {}});
        let objects = ClusterObjects { nodes: vec![node], ..ClusterObjects::default() };
        let template = objects.node_templates().remove(0);
        assert!(template.is_unschedulable && template.taints.is_empty());
        assert_eq!(objects.unready_nodes(), ["a"]);
    }

    #[test]
    fn usage_of_other_pods_is_subtracted_from_a_quota() {
        let hard = json!({"pods": "5", "requests.cpu": "4", "limits.cpu": "6", "count/secrets": "3"});
        let quota = json!({"metadata": {"name": "q", "namespace": "shop"}, "spec": {"hard": hard}});
        let other_pods = vec![pod("shop", "a", "Running", "1500m"), pod("x", "a", "Running", "1")];
        let objects = ClusterObjects { quotas: vec![quota], other_pods, ..ClusterObjects::default() };
        let left = json!({"pods": "4", "requests.cpu": "2500m", "limits.cpu": "4", "count/secrets": "3"});
        assert_eq!(objects.remaining_quotas()[0]["spec"]["hard"], left);
    }
}
