//! A Deployment, with its ReplicaSets (K3.1 to K3.4).

use gantry_json::Value;

use super::labels_annotations::{annotations, labels};
use super::{conditions, date, template};
use crate::field::{at, number, selector, shown, text};
use crate::workload::without_hash;

/// A Deployment; `sets` are the ReplicaSets that it controls.
pub(crate) fn deployment(deployment: &Value, sets: &[Value]) -> String {
    let line = |title: &str, value: &str| format!("{title}:\t{value}\n");
    let count = |field: &str| number(deployment, &format!("/status/{field}"));
    let desired = deployment.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    let mut out = line("Name", text(deployment, "/metadata/name"));
    out += &line("Namespace", text(deployment, "/metadata/namespace"));
    out += &line("CreationTimestamp", &date(at(deployment, "/metadata/creationTimestamp")));
    out += &labels("Labels:", "", deployment, "/metadata/labels");
    out += &annotations("Annotations:", "", deployment, "/metadata/annotations");
    out += &line("Selector", &selector(deployment, "/spec/selector"));
    out += &format!(
        "Replicas:\t{desired} desired | {} updated | {} total | {} available | {} unavailable\n",
        count("updatedReplicas"),
        count("replicas"),
        count("availableReplicas"),
        count("unavailableReplicas")
    );
    out += &line("StrategyType", text(deployment, "/spec/strategy/type"));
    out += &line("MinReadySeconds", &number(deployment, "/spec/minReadySeconds").to_string());
    if let Some(limits) = deployment.pointer("/spec/strategy/rollingUpdate") {
        let (unavailable, surge) = (shown(at(limits, "/maxUnavailable")), shown(at(limits, "/maxSurge")));
        out += &format!("RollingUpdateStrategy:\t{unavailable} max unavailable, {surge} max surge\n");
    }
    out += &template::described(&deployment["spec"]["template"]);
    out += &conditions(deployment);
    out + &replica_sets(deployment, sets)
}

/// The old sets and the new one; nothing if there are none.
fn replica_sets(deployment: &Value, sets: &[Value]) -> String {
    if sets.is_empty() {
        return String::new();
    }
    let mut sets: Vec<&Value> = sets.iter().collect();
    sets.sort_by_key(|set| (text(set, "/metadata/creationTimestamp"), text(set, "/metadata/name")));
    let template = without_hash(&deployment["spec"]["template"]);
    let new = sets.iter().position(|set| without_hash(&set["spec"]["template"]) == template);
    let render = |set: &&Value| {
        format!(
            "{} ({}/{} replicas created)",
            text(set, "/metadata/name"),
            number(set, "/status/replicas"),
            number(set, "/spec/replicas")
        )
    };
    let old: Vec<String> =
        sets.iter().enumerate().filter(|(nth, _)| Some(*nth) != new).map(|(_, set)| render(set)).collect();
    let none = || "<none>".to_owned();
    let old = if old.is_empty() { none() } else { old.join(", ") };
    let new = new.and_then(|nth| sets.get(nth)).map_or_else(none, render);
    format!("OldReplicaSets:\t{old}\nNewReplicaSet:\t{new}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::align_columns;
    use gantry_json::json;

    fn set(name: &str, image: &str, created: &str, replicas: i64) -> Value {
        json!({"metadata": {"name": name, "creationTimestamp": created},
            "spec": {"replicas": replicas, "template": pod(image, "x")}, "status": {"replicas": replicas}})
    }

    fn pod(image: &str, hash: &str) -> Value {
        json!({"metadata": {"labels": {"app": "nginx", "pod-template-hash": hash}},
            "spec": {"containers": [{"name": "nginx", "image": image, "ports": [{"containerPort": 80, "protocol": "TCP"}]}]}})
    }

    /// K3.1, K3.2, K3.3, K3.4: the whole text of the specification.
    #[test]
    fn a_deployment_is_described() {
        let mut template = pod("nginx:1.14.2", "");
        template["metadata"]["labels"] = json!({"app": "nginx"});
        let object = json!({
            "metadata": {"name": "nginx-deployment", "namespace": "default", "creationTimestamp": "2026-11-15T17:55:09Z",
                "labels": {"app": "nginx"}, "annotations": {"deployment.kubernetes.io/revision": "1"}},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "nginx"}}, "template": template,
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}},
            "status": {"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3, "conditions": [
                {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
                {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]}});
        let rendered = align_columns(
            &deployment(&object, &[set("nginx-deployment-54fd4d6d4c", "nginx:1.14.2", "1", 3)]),
            2,
        );
        assert_eq!(
            rendered,
            "Name:                   nginx-deployment
Namespace:              default
CreationTimestamp:      Sun, 15 Nov 2026 17:55:09 +0000
Labels:                 app=nginx
Annotations:            deployment.kubernetes.io/revision: 1
Selector:               app=nginx
Replicas:               3 desired | 3 updated | 3 total | 3 available | 0 unavailable
StrategyType:           RollingUpdate
MinReadySeconds:        0
RollingUpdateStrategy:  25% max unavailable, 25% max surge
Pod Template:
  Labels:  app=nginx
  Containers:
   nginx:
    Image:         nginx:1.14.2
    Port:          80/TCP
    Host Port:     0/TCP
    Environment:   <none>
    Mounts:        <none>
  Volumes:         <none>
  Node-Selectors:  <none>
  Tolerations:     <none>
Conditions:
  Type           Status  Reason
  ----           ------  ------
  Available      True    MinimumReplicasAvailable
  Progressing    True    NewReplicaSetAvailable
OldReplicaSets:  <none>
NewReplicaSet:   nginx-deployment-54fd4d6d4c (3/3 replicas created)
"
        );
    }

    /// K3.4: all old sets, oldest first, drained ones too.
    #[test]
    fn old_sets_are_reported_oldest_first() {
        let object = json!({"spec": {"template": pod("c", "")}});
        let sets = [set("web-2", "b", "2", 0), set("web-1", "a", "1", 1), set("web-3", "c", "3", 2)];
        assert_eq!(
            replica_sets(&object, &sets),
            "OldReplicaSets:\tweb-1 (1/1 replicas created), web-2 (0/0 replicas created)\n\
             NewReplicaSet:\tweb-3 (2/2 replicas created)\n"
        );
        assert_eq!(replica_sets(&object, &[]), "");
    }
}
