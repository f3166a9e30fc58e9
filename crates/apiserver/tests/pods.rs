//! Pods: binding, status updates, subresources.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_json::{Value, json};
use harness::cluster::{Cluster, PODS, message, pod};

const SUCCESS: &str = r#"{"apiVersion":"v1","code":201,"kind":"Status","metadata":{},"status":"Success"}"#;

fn binding(name: &str, node: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
        "target": {"kind": "Node", "name": node},
    })
}

/// A8.1: a binding sets the node, the condition, labels and annotations, and not the generation.
#[tokio::test]
async fn a_binding_sets_the_node_of_a_pod() {
    let cluster = Cluster::new().await;
    cluster.post(PODS, pod("p")).await;
    let nominated = json!({"status": {"nominatedNodeName": "n7"}});
    assert_eq!(cluster.merge(&format!("{PODS}/p/status"), nominated).await.0, 200);
    let mut sent = binding("p", "n1");
    sent["metadata"]["annotations"] = json!({"a": "b"});
    sent["metadata"]["labels"] = json!({"zone": "z"});
    let (status, response) = cluster.post(&format!("{PODS}/p/binding"), sent).await;
    assert_eq!((status, response.to_string().as_str()), (201, SUCCESS));
    let (_, bound) = cluster.get(&format!("{PODS}/p")).await;
    assert_eq!(bound["spec"]["nodeName"], "n1");
    assert_eq!(bound["metadata"]["annotations"]["a"], "b");
    assert_eq!(bound["metadata"]["labels"], json!({"app": "web", "zone": "z"}));
    assert_eq!(bound["metadata"]["generation"], 1);
    assert_eq!(bound["status"].get("nominatedNodeName"), None);
    let scheduled = json!([{
        "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": "2026-01-01T12:00:00Z",
    }]);
    assert_eq!(bound["status"]["conditions"], scheduled);
}

/// A8.1: the old collection of bindings works likewise; a dry run changes nothing.
#[tokio::test]
async fn bindings_can_be_posted_to_the_collection_or_as_a_dry_run() {
    let cluster = Cluster::new().await;
    cluster.post(PODS, pod("p")).await;
    let bindings = "/api/v1/namespaces/default/bindings";
    assert_eq!(cluster.post(&format!("{bindings}?dryRun=All"), binding("p", "n1")).await.0, 201);
    assert_eq!(cluster.get(&format!("{PODS}/p")).await.1["spec"].get("nodeName"), None);
    assert_eq!(cluster.post(bindings, binding("p", "n1")).await.0, 201);
    assert_eq!(cluster.get(&format!("{PODS}/p")).await.1["spec"]["nodeName"], "n1");
    assert_eq!(cluster.get(bindings).await.0, 405);
}

/// A8.2: each error that prevents a binding, with its message.
#[tokio::test]
async fn a_pod_is_not_bound_twice_or_wrongly() {
    let cluster = Cluster::new().await;
    let (_, created) = cluster.post(PODS, pod("p")).await;
    let path = format!("{PODS}/p/binding");
    let absent = cluster.post(&format!("{PODS}/none/binding"), binding("none", "n1")).await;
    assert_eq!((absent.0, message(&absent)), (404, "pods \"none\" not found"));
    let renamed = cluster.post(&path, binding("q", "n1")).await;
    assert_eq!((renamed.0, message(&renamed)), (400, "name in URL does not match name in Binding object"));
    let mut sent = binding("p", "");
    sent["target"]["kind"] = json!("Foo");
    let nowhere = cluster.post(&path, sent).await;
    let both = "[target.kind: Unsupported value: \"Foo\": supported values: \"Node\", \"<empty>\", target.name: Required value]";
    assert_eq!((nowhere.0, message(&nowhere)), (500, both));
    assert_eq!(message(&cluster.post(&path, binding("p", "")).await), "target.name: Required value");
    let mut other = binding("p", "n1");
    other["metadata"]["uid"] = json!("u");
    let other = cluster.post(&path, other).await;
    let uid = created["metadata"]["uid"].as_str().unwrap();
    let why = format!(
        "Operation cannot be fulfilled on pods \"p\": Precondition failed: UID in precondition: u, UID in object meta: {uid}"
    );
    assert_eq!((other.0, message(&other)), (409, why.as_str()));
    let mut outdated = binding("p", "n1");
    outdated["metadata"]["resourceVersion"] = json!("1");
    let outdated = cluster.post(&path, outdated).await;
    assert!(
        message(&outdated).contains("Precondition failed: ResourceVersion in precondition: 1,"),
        "{outdated:?}"
    );
    let mut exact = binding("p", "n1");
    exact["metadata"]["uid"] = json!(uid);
    assert_eq!(cluster.post(&path, exact).await.0, 201);
    let again = cluster.post(&path, binding("p", "n1")).await;
    let why = "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\"";
    assert_eq!((again.0, message(&again)), (409, why));
    assert_eq!(again.1["details"], json!({"name": "p", "kind": "pods/binding"}));
}

/// A8.2: a terminating or gated pod is not bound; a new pod may have a node already.
#[tokio::test]
async fn a_terminating_or_gated_pod_is_not_bound() {
    let cluster = Cluster::new().await;
    let mut leaving = pod("leaving");
    leaving["metadata"]["finalizers"] = json!(["example.com/f"]);
    cluster.post(PODS, leaving).await;
    cluster.delete(&format!("{PODS}/leaving")).await;
    let refused = cluster.post(&format!("{PODS}/leaving/binding"), binding("leaving", "n1")).await;
    assert!(message(&refused).ends_with("pod leaving is being deleted, cannot be assigned to a host"));
    let mut gated = pod("gated");
    gated["spec"]["schedulingGates"] = json!([{"name": "example.com/wait"}]);
    cluster.post(PODS, gated).await;
    let refused = cluster.post(&format!("{PODS}/gated/binding"), binding("gated", "n1")).await;
    assert!(message(&refused).ends_with("pod gated has non-empty .spec.schedulingGates"));
    cluster.merge(&format!("{PODS}/gated"), json!({"spec": {"schedulingGates": []}})).await;
    assert_eq!(cluster.post(&format!("{PODS}/gated/binding"), binding("gated", "n1")).await.0, 201);
    let (_, bound) = cluster.get(&format!("{PODS}/gated")).await;
    assert_eq!(
        bound["status"]["conditions"][0].get("reason"),
        None,
        "the condition has no reason after the binding"
    );
    let mut named = pod("named");
    named["spec"]["nodeName"] = json!("nowhere");
    assert_eq!(cluster.post(PODS, named).await.0, 201, "the node need not exist");
}

/// A8.3, A8.4: a node updates the status; absent fields and the rest of the pod are kept.
#[tokio::test]
async fn a_node_writes_the_status_of_its_pods() {
    let cluster = Cluster::new().await;
    let (_, created) = cluster.post(PODS, pod("p")).await;
    let path = format!("{PODS}/p/status");
    let ready =
        json!({"type": "Ready", "status": "True", "observedGeneration": 1, "lastTransitionTime": null});
    let first = json!({
        "metadata": {"uid": created["metadata"]["uid"]},
        "status": {"phase": "Running", "observedGeneration": 1, "conditions": [ready], "podIPs": [{"ip": "10.0.0.7"}]},
    });
    let (status, updated) = cluster.patch(&path, first).await;
    assert_eq!((status, &updated["status"]["qosClass"]), (200, &json!("BestEffort")), "{updated}");
    assert_eq!(updated["status"]["podIP"], "10.0.0.7", "the first address, under its old name");
    assert_eq!(updated["metadata"]["generation"], 1);
    let more = json!({"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}});
    cluster.patch(&path, more).await;
    let container = |name: &str| {
        let one = json!({"name": name, "image": "i", "imageID": "", "ready": true, "restartCount": 0});
        json!({"status": {"containerStatuses": [one], "hostIPs": [{"ip": "10.0.0.1"}]}})
    };
    cluster.patch(&path, container("a")).await;
    let (_, updated) = cluster.patch(&path, container("b")).await;
    assert_eq!(
        updated["status"]["containerStatuses"].as_array().unwrap().len(),
        1,
        "replaced as a whole: {updated}"
    );
    assert_eq!(updated["status"]["conditions"].as_array().unwrap().len(), 2, "merged by type");
    let (_, mut whole) = cluster.get(&path).await;
    whole["status"] = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]});
    whole["spec"]["nodeName"] = json!("elsewhere");
    whole["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "u"}]);
    let (status, updated) = cluster.put(&path, whole).await;
    assert_eq!(status, 200, "{updated}");
    assert_eq!(updated["status"]["observedGeneration"], 1);
    assert_eq!(updated["status"]["conditions"][0]["observedGeneration"], 1);
    assert_eq!(updated["status"]["qosClass"], "BestEffort");
    assert_eq!(updated["spec"].get("nodeName"), None, "A2.6: the spec is kept");
    assert_eq!(updated["metadata"].get("ownerReferences"), None, "the owners are kept");
    let forever = json!({"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}});
    let (status, alive) = cluster.merge(&path, forever).await;
    assert_eq!((status, alive["metadata"].get("deletionTimestamp")), (200, None));
    let wrong = cluster.patch(&path, json!({"metadata": {"uid": "other"}})).await;
    assert_eq!(wrong.0, 422, "{wrong:?}");
    let promoted = cluster.merge(&path, json!({"status": {"qosClass": "Guaranteed"}})).await;
    let why = "Pod \"p\" is invalid: status.qosClass: Invalid value: \"Guaranteed\": field is immutable";
    assert_eq!((promoted.0, message(&promoted)), (422, why));
}

/// A8.3: a terminated container that is not restarted cannot run again.
#[tokio::test]
async fn a_terminated_container_that_is_not_restarted_stays_terminated() {
    let cluster = Cluster::new().await;
    let mut once = pod("once");
    once["spec"]["restartPolicy"] = json!("Never");
    cluster.post(PODS, once).await;
    let path = format!("{PODS}/once/status");
    let container = |state: Value| {
        let status = json!({"name": "c", "image": "nginx:1", "imageID": "", "ready": false, "restartCount": 0, "state": state});
        json!({"status": {"containerStatuses": [status]}})
    };
    assert_eq!(cluster.merge(&path, container(json!({"terminated": {"exitCode": 1}}))).await.0, 200);
    let back = cluster.merge(&path, container(json!({"running": {}}))).await;
    let why = "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state";
    assert_eq!((back.0, message(&back)), (422, format!("Pod \"once\" is invalid: {why}").as_str()));
}

/// A8.5: a node reports by patching its status and renewing its lease.
#[tokio::test]
async fn node_heartbeats_update_status_and_lease() {
    let cluster = Cluster::new().await;
    cluster.post("/api/v1/nodes", json!({"metadata": {"name": "n1"}})).await;
    let beat = |ready: &str| {
        json!({"status": {
            "conditions": [{"type": "Ready", "status": ready}],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
        }})
    };
    cluster.patch("/api/v1/nodes/n1/status", beat("False")).await;
    let pressure = json!({"status": {"conditions": [{"type": "DiskPressure", "status": "False"}]}});
    cluster.patch("/api/v1/nodes/n1/status", pressure).await;
    let (status, node) = cluster.patch("/api/v1/nodes/n1/status", beat("True")).await;
    assert_eq!(
        (status, node["status"]["conditions"].as_array().unwrap().len()),
        (200, 2),
        "merged by type: {node}"
    );
    assert!(
        node["status"]["conditions"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["type"] == "Ready" && one["status"] == "True")
    );
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    let spec = json!({"holderIdentity": "n1", "leaseDurationSeconds": 40, "renewTime": "2026-01-01T12:00:00.000000Z"});
    let (_, mut lease) = cluster.post(leases, json!({"metadata": {"name": "n1"}, "spec": spec})).await;
    lease["spec"]["renewTime"] = json!("2026-01-01T12:00:10.000000Z");
    let (status, renewed) = cluster.put(&format!("{leases}/n1"), lease).await;
    assert_eq!((status, &renewed["spec"]["renewTime"]), (200, &json!("2026-01-01T12:00:10.000000Z")));
}

/// A8.6: a bound pod is deleted with grace period zero by its node.
#[tokio::test]
async fn a_bound_pod_is_removed_once_its_node_confirms() {
    let cluster = Cluster::new().await;
    let running = cluster.running("p", true).await;
    let path = format!("{PODS}/p");
    for _ in 0..3 {
        assert_eq!(cluster.delete(&path).await.0, 200);
    }
    assert_eq!(cluster.get(&path).await.0, 200, "the grace period is over, but the node has not confirmed");
    let finished = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": running["metadata"]["uid"]}});
    assert_eq!(cluster.delete_with(&path, finished).await.0, 200);
    assert_eq!(cluster.get(&path).await.0, 404);
}

/// A2.4, A8.3: an unchanged status creates no new version.
#[tokio::test]
async fn an_unchanged_node_status_is_not_written() {
    let cluster = Cluster::new().await;
    cluster.post(PODS, pod("p")).await;
    let updated = |phase: &str| json!({"status": {"phase": phase}});
    let path = format!("{PODS}/p/status");
    let (_, first) = cluster.merge(&path, updated("Running")).await;
    assert_eq!(cluster.merge(&path, updated("Running")).await.1, first);
    let (_, last) = cluster.merge(&path, updated("Failed")).await;
    assert_ne!(last["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
}
