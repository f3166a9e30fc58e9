//! Invalid, existing, owned and controller-written objects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_json::{Value, json};
use harness::cluster::{Cluster, PODS, pod};
use harness::{call, server};
use http::Method;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn web() -> Value {
    json!({
        "metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}},
    })
}

/// O2.2: strict validation names unknown fields; wrong types are always refused.
#[tokio::test]
async fn unknown_fields_and_wrong_types_are_named() {
    let server = server().await;
    let mut wrong = web();
    wrong["spec"]["replica"] = json!(3);
    let strict = format!("{DEPLOYMENTS}?fieldValidation=Strict");
    let (status, refused) = call(&server, Method::POST, &strict, wrong).await;
    let problem = "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: unknown field \
                   \"spec.replica\"";
    assert_eq!((status, refused["message"].as_str()), (400, Some(problem)));
    let mut wrong = web();
    wrong["spec"]["replicas"] = json!("three");
    let (status, refused) = call(&server, Method::POST, DEPLOYMENTS, wrong).await;
    let problem = "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal string into Go \
                   struct field DeploymentSpec.spec.replicas of type int32";
    assert_eq!((status, refused["message"].as_str()), (400, Some(problem)));
}

/// O2.4: creating in a missing or terminating namespace is refused, with the cause that controllers check.
#[tokio::test]
async fn creates_in_a_missing_or_terminating_namespace_are_refused() {
    let server = server().await;
    let within = |namespace: &str| DEPLOYMENTS.replace("default", namespace);
    let (status, refused) = call(&server, Method::POST, &within("nope"), web()).await;
    assert_eq!((status, refused["message"].as_str()), (404, Some("namespaces \"nope\" not found")));
    call(&server, Method::POST, "/api/v1/namespaces", json!({"metadata": {"name": "n"}})).await;
    call(&server, Method::DELETE, "/api/v1/namespaces/n", Value::Null).await;
    let (status, refused) = call(&server, Method::POST, &within("n"), web()).await;
    let problem = "deployments.apps \"web\" is forbidden: unable to create new content in namespace n because it is being \
                   terminated";
    assert_eq!((status, refused["message"].as_str()), (403, Some(problem)));
    let cause = json!({
        "reason": "NamespaceTerminating", "message": "namespace n is being terminated", "field": "metadata.namespace",
    });
    assert_eq!(refused["details"]["causes"], json!([cause]));
}

/// O2.5: a name can be used once.
#[tokio::test]
async fn a_name_in_use_is_refused() {
    let server = server().await;
    assert_eq!(call(&server, Method::POST, DEPLOYMENTS, web()).await.0, 201);
    let (status, refused) = call(&server, Method::POST, DEPLOYMENTS, web()).await;
    assert_eq!((status, &refused["reason"]), (409, &json!("AlreadyExists")));
    assert_eq!(refused["message"], "deployments.apps \"web\" already exists");
}

/// O7.4: an owner that does not exist is accepted: the garbage collector handles it.
#[tokio::test]
async fn an_owner_need_not_exist() {
    let server = server().await;
    let ghost = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "ghost", "uid": "no-such-uid"});
    let child = json!({"metadata": {"name": "child", "ownerReferences": [ghost]}});
    let (status, created) = call(&server, Method::POST, CONFIG_MAPS, child).await;
    assert_eq!((status, &created["metadata"]["ownerReferences"][0]), (201, &ghost));
}

/// O7.6: an owner that is deleted in the foreground is deleted when its finalizer is removed.
#[tokio::test]
async fn an_owner_without_dependents_is_deleted_with_its_finalizer() {
    let cluster = Cluster::new().await;
    cluster.post(CONFIG_MAPS, json!({"metadata": {"name": "owner"}})).await;
    let owner = format!("{CONFIG_MAPS}/owner");
    let (status, lingering) = cluster.delete_with(&owner, json!({"propagationPolicy": "Foreground"})).await;
    assert_eq!((status, &lingering["metadata"]["finalizers"]), (200, &json!(["foregroundDeletion"])));
    assert_eq!(cluster.merge(&owner, json!({"metadata": {"finalizers": null}})).await.0, 200);
    assert_eq!(cluster.get(&owner).await.0, 404);
}

/// A10.3: the writes of controllers.
#[tokio::test]
async fn writes_of_controllers_are_supported() {
    let cluster = Cluster::new().await;
    let (_, mut deployment) = cluster.post(DEPLOYMENTS, web()).await;
    deployment["status"] = json!({"observedGeneration": 1, "replicas": 1, "unavailableReplicas": 1});
    let (status, written) = cluster.put(&format!("{DEPLOYMENTS}/web/status"), deployment.clone()).await;
    assert_eq!((status, &written["status"]["observedGeneration"]), (200, &json!(1)));

    // A pod is adopted and released, each with its uid.
    let (_, child) = cluster.post(PODS, pod("p")).await;
    let (child_uid, uid) = (&child["metadata"]["uid"], &deployment["metadata"]["uid"]);
    let reference = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": uid, "controller": true,
        "blockOwnerDeletion": true,
    });
    let adopt = json!({"metadata": {"ownerReferences": [reference], "uid": child_uid}});
    let (status, adopted) = cluster.patch(&format!("{PODS}/p"), adopt).await;
    assert_eq!((status, &adopted["metadata"]["ownerReferences"][0]), (200, &reference));
    let release =
        json!({"metadata": {"ownerReferences": [{"$patch": "delete", "uid": uid}], "uid": child_uid}});
    let (status, released) = cluster.patch(&format!("{PODS}/p"), release).await;
    assert_eq!((status, &released["metadata"]["ownerReferences"]), (200, &Value::Null));

    // A finalizer is removed with a version, and a stale one is a conflict.
    let finalizers =
        |version: &Value| json!({"metadata": {"finalizers": ["a.b/c"], "resourceVersion": version}});
    let version = &released["metadata"]["resourceVersion"];
    assert_eq!(cluster.merge(&format!("{PODS}/p"), finalizers(version)).await.0, 200);
    assert_eq!(cluster.merge(&format!("{PODS}/p"), finalizers(version)).await.0, 409);

    // A deletion has a uid precondition.
    let other = json!({"preconditions": {"uid": "another"}, "propagationPolicy": "Background"});
    assert_eq!(cluster.delete_with(&format!("{PODS}/p"), other).await.0, 409);
    let own = json!({"preconditions": {"uid": child_uid}, "propagationPolicy": "Background"});
    assert_eq!(cluster.delete_with(&format!("{PODS}/p"), own).await.0, 200);
}
