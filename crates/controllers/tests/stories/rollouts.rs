//! Deployments are rolled out, scaled, paused, rolled back, or make no progress.

use std::time::Duration;

use gantry_json::json;

use crate::cluster::{Cluster, PODS, SETS, items};

/// D10, R5: a Deployment gets its ReplicaSet, that its pods, and all statuses are updated.
#[tokio::test(start_paused = true)]
async fn a_deployment_is_rolled_out() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 3, |_| {}).await;
    cluster.settle().await;
    assert_eq!(cluster.pods().await.len(), 3);
    assert_eq!(cluster.condition("web", "Available").await, "False MinimumReplicasUnavailable");
    cluster.roll_out().await;
    let web = cluster.deployment("web").await;
    assert_eq!(web["status"]["readyReplicas"], 3, "{}", web["status"]);
    assert_eq!(web["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
    assert_eq!(cluster.condition("web", "Progressing").await, "True NewReplicaSetAvailable");
    let events = cluster.get("/api/v1/namespaces/default/events").await;
    let reasons: Vec<_> = items(&events).map(|event| event["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons.iter().filter(|reason| **reason == "SuccessfulCreate").count(), 3, "{reasons:?}");
    assert!(reasons.contains(&"ScalingReplicaSet"));
}

/// D10.1: never more than N + S pods, and in the end only new ones.
#[tokio::test(start_paused = true)]
async fn another_image_replaces_the_old_one_within_the_limits() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 4, |_| {}).await;
    cluster.roll_out().await;
    cluster.set_image("web", "nginx:2").await;
    cluster.settle().await;
    assert_eq!(cluster.sets().await, [("nginx:1".to_owned(), 3), ("nginx:2".to_owned(), 2)]);
    cluster.roll_out().await;
    assert_eq!(cluster.sets().await, [("nginx:1".to_owned(), 0), ("nginx:2".to_owned(), 4)]);
    assert_eq!(cluster.wire.most_pods(), 5, "at most a quarter of four more");
    assert_eq!(
        cluster.deployment("web").await["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "2"
    );
}

/// D5.1, D6.3: rolling back to an old template scales its ReplicaSet up again.
#[tokio::test(start_paused = true)]
async fn a_rollback_scales_the_old_set_up() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 2, |_| {}).await;
    cluster.roll_out().await;
    cluster.set_image("web", "nginx:2").await;
    cluster.roll_out().await;
    cluster.set_image("web", "nginx:1").await;
    cluster.roll_out().await;
    assert_eq!(cluster.sets().await, [("nginx:1".to_owned(), 2), ("nginx:2".to_owned(), 0)]);
    assert_eq!(
        cluster.deployment("web").await["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "3"
    );
}

/// D9, R5.1, R5.7: scaling up and down, also by more than five hundred.
#[tokio::test(start_paused = true)]
async fn a_deployment_is_scaled_up_and_down() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 2, |_| {}).await;
    cluster.roll_out().await;
    for replicas in [40, 7, 0] {
        cluster.patch_deployment("web", json!({"spec": {"replicas": replicas}})).await;
        cluster.roll_out().await;
        assert_eq!(cluster.pods().await.len(), replicas);
    }
    assert_eq!(cluster.wire.most_pods(), 40);
}

/// D10.5: Recreate waits until the last old pod is deleted.
#[tokio::test(start_paused = true)]
async fn recreate_waits_for_the_last_old_pod() {
    let cluster = Cluster::new().await;
    let recreate = |web: &mut gantry_json::Value| {
        web["spec"]["strategy"] = json!({"type": "Recreate"});
        web["spec"]["template"]["spec"]["nodeName"] = json!("n1");
    };
    cluster.deploy("web", 2, recreate).await;
    cluster.roll_out().await;
    cluster.set_image("web", "nginx:2").await;
    cluster.settle().await;
    assert_eq!(cluster.sets().await, [("nginx:1".to_owned(), 0)], "the pods are still terminating");
    cluster.delete_terminating_pods().await;
    cluster.roll_out().await;
    assert_eq!(cluster.sets().await, [("nginx:1".to_owned(), 0), ("nginx:2".to_owned(), 2)]);
    assert_eq!(cluster.wire.most_pods(), 2);
}

/// D11: a paused Deployment is scaled, but not rolled out.
#[tokio::test(start_paused = true)]
async fn a_paused_deployment_scales_and_does_not_roll() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 2, |_| {}).await;
    cluster.roll_out().await;
    cluster.patch_deployment("web", json!({"spec": {"paused": true}})).await;
    cluster.set_image("web", "nginx:2").await;
    cluster.patch_deployment("web", json!({"spec": {"replicas": 3}})).await;
    cluster.roll_out().await;
    assert_eq!(cluster.sets().await, [("nginx:1".to_owned(), 3)]);
    assert_eq!(cluster.condition("web", "Progressing").await, "Unknown DeploymentPaused");
    cluster.patch_deployment("web", json!({"spec": {"paused": false}})).await;
    cluster.roll_out().await;
    assert_eq!(cluster.sets().await, [("nginx:1".to_owned(), 0), ("nginx:2".to_owned(), 3)]);
}

/// D16.5: a missed deadline is reported within a second or two, and not before.
#[tokio::test(start_paused = true)]
async fn a_missed_deadline_is_reported_in_time() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 1, |web| web["spec"]["progressDeadlineSeconds"] = json!(60)).await;
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert!(cluster.condition("web", "Progressing").await.starts_with("True "));
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(cluster.condition("web", "Progressing").await, "False ProgressDeadlineExceeded");
}

/// R3.3: a ready pod becomes available when minReadySeconds have passed, without any other change.
#[tokio::test(start_paused = true)]
async fn a_pod_becomes_available_after_min_ready_seconds() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 1, |web| web["spec"]["minReadySeconds"] = json!(30)).await;
    cluster.settle().await;
    cluster.make_pods_ready().await;
    tokio::time::sleep(Duration::from_secs(28)).await;
    assert_eq!(cluster.deployment("web").await["status"]["availableReplicas"], json!(null));
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(cluster.deployment("web").await["status"]["availableReplicas"], 1);
}

/// R4.2, R4.3: a relabelled pod is released and replaced; relabelled back it is adopted, and one pod is deleted.
#[tokio::test(start_paused = true)]
async fn relabelled_pods_are_released_and_adopted() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 2, |_| {}).await;
    cluster.roll_out().await;
    let pod = cluster.pods().await[0].clone();
    let path = format!("{PODS}/{pod}");
    cluster.send("PATCH", &path, json!({"metadata": {"labels": {"app": "other"}}})).await;
    cluster.roll_out().await;
    assert!(cluster.get(&path).await["metadata"]["ownerReferences"].is_null(), "the pod is an orphan");
    assert_eq!(cluster.pods().await.len(), 3);
    cluster.send("PATCH", &path, json!({"metadata": {"labels": {"app": "web"}}})).await;
    cluster.roll_out().await;
    assert_eq!(cluster.pods().await.len(), 2);
}

/// A ReplicationController follows the same rules.
#[tokio::test(start_paused = true)]
async fn a_replication_controller_keeps_its_pods() {
    let cluster = Cluster::new().await;
    let old = json!({"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "old"}, "spec": {
        "replicas": 2, "selector": {"app": "old"}, "template": {
            "metadata": {"labels": {"app": "old"}}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}}});
    let path = "/api/v1/namespaces/default/replicationcontrollers";
    cluster.send("POST", path, old).await;
    cluster.roll_out().await;
    let found = cluster.get(&format!("{path}/old")).await;
    assert_eq!((&found["status"]["replicas"], &found["status"]["availableReplicas"]), (&json!(2), &json!(2)));
    let pod = cluster.get(PODS).await;
    assert_eq!(
        items(&pod).next().unwrap()["metadata"]["ownerReferences"][0]["kind"],
        "ReplicationController"
    );
    let quiet = cluster.wire.writes();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(cluster.wire.written_since(quiet), [""; 0]);
}

/// R5.6, R7.4: an exceeded quota is reported by events and status, and once it is raised the pods are created.
#[tokio::test(start_paused = true)]
async fn a_refused_pod_is_reported_and_tried_again() {
    use crate::wire::Fault;
    let cluster = Cluster::new().await;
    cluster
        .wire
        .inject_faults(|method, path| (method == "POST" && path == PODS).then_some(Fault::Refused(403)));
    cluster.deploy("web", 2, |_| {}).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(cluster.condition("web", "ReplicaFailure").await, "True FailedCreate");
    let events = cluster.get("/api/v1/namespaces/default/events").await;
    let event = items(&events).find(|event| event["reason"] == "FailedCreate").unwrap();
    assert_eq!(event["message"], "Error creating: injected fault 403");
    cluster.wire.stop_faults();
    tokio::time::sleep(Duration::from_secs(30)).await;
    cluster.roll_out().await;
    assert_eq!(cluster.pods().await.len(), 2);
    assert_eq!(cluster.condition("web", "ReplicaFailure").await, "");
    assert_eq!(cluster.get(SETS).await["items"][0]["status"]["readyReplicas"], 2);
}
