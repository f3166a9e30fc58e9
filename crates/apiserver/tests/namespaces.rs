//! Namespaces: creation, termination, and requests that are refused meanwhile.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_json::{Value, json};
use harness::cluster::{Cluster, message};
use harness::{read, send};
use http::Method;

const NAMESPACES: &str = "/api/v1/namespaces";

async fn namespace(cluster: &Cluster, name: &str, metadata: Value) -> Value {
    let mut object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
    object["metadata"]["name"] = json!(name);
    let (status, created) = cluster.post(NAMESPACES, object).await;
    assert_eq!(status, 201, "{created}");
    created
}

/// The namespace without its finalizers, as the namespace controller sends it.
fn emptied(mut namespace: Value) -> Value {
    namespace["spec"] = json!({});
    namespace
}

/// A6.3: a new namespace is active with a finalizer; only `finalize` removes it, only `status` writes the status.
#[tokio::test]
async fn a_namespace_has_a_finalizer_until_finalize_removes_it() {
    let cluster = Cluster::new().await;
    let created = namespace(&cluster, "shop", json!({})).await;
    assert_eq!(created["spec"]["finalizers"], json!(["kubernetes"]));
    assert_eq!(created["status"], json!({"phase": "Active"}));
    assert_eq!(created["metadata"].get("generation"), None);
    let path = format!("{NAMESPACES}/shop");
    let (status, same) = cluster.merge(&path, json!({"spec": {"finalizers": []}})).await;
    assert_eq!((status, &same), (200, &created), "nothing was written");
    let (_, same) = cluster.merge(&path, json!({"status": {"phase": "Terminating"}})).await;
    assert_eq!(same, created);
    let updated =
        json!({"status": {"conditions": [{"type": "X", "status": "True"}]}, "spec": {"finalizers": []}});
    let (status, updated) = cluster.merge(&format!("{path}/status"), updated).await;
    assert_eq!((status, &updated["spec"]), (200, &created["spec"]));
    assert_eq!(updated["status"]["conditions"][0]["type"], "X");
    let wrong = cluster.merge(&format!("{path}/status"), json!({"status": {"phase": "Terminating"}})).await;
    let why =
        "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty";
    assert_eq!((wrong.0, message(&wrong)), (422, format!("Namespace \"shop\" is invalid: {why}").as_str()));
    let whole = json!({"metadata": {"name": "shop"}, "spec": {"finalizers": ["bad one"]}});
    assert_eq!(cluster.put(&format!("{path}/finalize"), whole).await.0, 422);
    let outdated = json!({"metadata": {"name": "shop", "resourceVersion": "1"}, "spec": {}});
    assert_eq!(cluster.put(&format!("{path}/finalize"), outdated).await.0, 409);
    let unversioned = json!({"metadata": {"name": "shop"}, "spec": {}, "status": {"phase": "Terminating"}});
    let (status, free) = cluster.put(&format!("{path}/finalize"), unversioned).await;
    assert_eq!((status, &free["spec"]), (200, &json!({})), "a version is not needed");
    assert_eq!(free["status"]["phase"], "Active", "the status is not written");
    assert_eq!(free["metadata"]["labels"]["kubernetes.io/metadata.name"], "shop");
    assert_eq!(cluster.get(&format!("{path}/finalize")).await.0, 405);
}

/// A6.4: the first delete makes it terminate, further ones change nothing; its content can still be changed.
#[tokio::test]
async fn a_deleted_namespace_terminates() {
    let cluster = Cluster::new().await;
    namespace(&cluster, "t", json!({})).await;
    let maps = format!("{NAMESPACES}/t/configmaps");
    cluster.post(&maps, json!({"metadata": {"name": "old"}})).await;
    let path = format!("{NAMESPACES}/t");
    let (status, would) = cluster.delete(&format!("{path}?dryRun=All")).await;
    assert_eq!((status, &would["status"]["phase"]), (200, &json!("Terminating")));
    assert_eq!(cluster.get(&path).await.1["status"]["phase"], "Active", "only a dry run");
    let (status, leaving) = cluster.delete_with(&path, json!({"propagationPolicy": "Foreground"})).await;
    assert_eq!((status, &leaving["status"]["phase"]), (200, &json!("Terminating")));
    assert_eq!(leaving["metadata"]["deletionTimestamp"], "2026-01-01T12:00:00Z");
    assert_eq!(leaving["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    for absent in ["deletionGracePeriodSeconds", "generation"] {
        assert_eq!(leaving["metadata"].get(absent), None);
    }
    assert_eq!(leaving["spec"]["finalizers"], json!(["kubernetes"]));
    let (status, again) = cluster.delete_with(&path, json!({"propagationPolicy": "Orphan"})).await;
    assert_eq!((status, &again), (200, &leaving), "the finalizer blocks it, and nothing changes any more");
    let refused = cluster.post(&maps, json!({"metadata": {"name": "new"}})).await;
    let why = "configmaps \"new\" is forbidden: unable to create new content in namespace t because it is being terminated";
    assert_eq!((refused.0, message(&refused)), (403, why));
    assert_eq!(refused.1["details"]["causes"][0]["reason"], "NamespaceTerminating");
    let unnamed = cluster.post(&maps, json!({"metadata": {"generateName": "g-"}})).await;
    assert!(message(&unnamed).starts_with("configmaps \"g-\" is forbidden"), "{unnamed:?}");
    assert_eq!(cluster.merge(&format!("{maps}/old"), json!({"data": {"a": "b"}})).await.0, 200);
    assert_eq!(cluster.delete(&format!("{maps}/old")).await.0, 200);
    let again = cluster.post(NAMESPACES, json!({"metadata": {"name": "t"}})).await;
    assert_eq!((again.0, message(&again)), (409, "object is being deleted: namespaces \"t\" already exists"));
}

/// A6.5: finalizing a terminating namespace deletes it, unless it has other finalizers.
#[tokio::test]
async fn finalizing_deletes_a_terminating_namespace() {
    let cluster = Cluster::new().await;
    namespace(&cluster, "t", json!({})).await;
    let path = format!("{NAMESPACES}/t");
    let (_, leaving) = cluster.delete(&path).await;
    let condition =
        json!({"type": "NamespaceContentRemaining", "status": "False", "reason": "ContentRemoved"});
    let (status, updated) =
        cluster.merge(&format!("{path}/status"), json!({"status": {"conditions": [condition]}})).await;
    assert_eq!((status, &updated["status"]["phase"]), (200, &json!("Terminating")), "{updated}");
    let version = leaving["metadata"]["resourceVersion"].as_str().unwrap();
    let (status, gone) = cluster.put(&format!("{path}/finalize"), emptied(updated)).await;
    assert_eq!((status, &gone["spec"]), (200, &json!({})));
    assert_eq!(cluster.get(&path).await.0, 404);
    let watch = format!("{NAMESPACES}?watch=true&resourceVersion={version}&fieldSelector=metadata.name%3Dt");
    let events = cluster.events(&watch, 2).await;
    assert_eq!((events[0].0.as_str(), events[1].0.as_str()), ("MODIFIED", "DELETED"));
    assert_eq!(events[1].1["spec"]["finalizers"], json!(["kubernetes"]), "A2.21: as it was last stored");
    namespace(&cluster, "held", json!({"finalizers": ["example.com/hold"]})).await;
    let path = format!("{NAMESPACES}/held");
    let (_, leaving) = cluster.delete(&path).await;
    assert_eq!(cluster.put(&format!("{path}/finalize"), emptied(leaving)).await.0, 200);
    assert_eq!(cluster.get(&path).await.1["metadata"]["finalizers"], json!(["example.com/hold"]));
    assert_eq!(cluster.merge(&path, json!({"metadata": {"finalizers": null}})).await.0, 200);
    assert_eq!(cluster.get(&path).await.0, 404);
}

/// A6.6: an active namespace may be finalized; it then takes two deletes, and its content stays.
#[tokio::test]
async fn a_namespace_finalized_early_is_deleted_by_the_second_delete() {
    let cluster = Cluster::new().await;
    let created = namespace(&cluster, "f", json!({})).await;
    let maps = format!("{NAMESPACES}/f/configmaps");
    cluster.post(&maps, json!({"metadata": {"name": "left"}})).await;
    let path = format!("{NAMESPACES}/f");
    cluster.put(&format!("{path}/finalize"), emptied(created)).await;
    let (_, first) = cluster.delete(&path).await;
    assert_eq!((&first["kind"], &first["status"]["phase"]), (&json!("Namespace"), &json!("Terminating")));
    assert_eq!(cluster.get(&path).await.0, 200);
    let (status, second) = cluster.delete(&path).await;
    assert_eq!((status, &second["kind"]), (200, &json!("Namespace")), "the object, not a status");
    assert_eq!(cluster.get(&path).await.0, 404);
    assert_eq!(cluster.get(&maps).await.1["items"][0]["metadata"]["name"], "left", "its content is kept");
    assert_eq!(cluster.delete(&format!("{maps}/left")).await.0, 200);
}

/// A6.7: a namespace that does not exist is empty.
#[tokio::test]
async fn nothing_is_created_in_a_missing_namespace() {
    let cluster = Cluster::new().await;
    let (status, list) = cluster.get(&format!("{NAMESPACES}/ghost/pods")).await;
    assert_eq!((status, &list["items"]), (200, &json!([])));
    let refused =
        cluster.post(&format!("{NAMESPACES}/ghost/configmaps"), json!({"metadata": {"name": "a"}})).await;
    assert_eq!((refused.0, message(&refused)), (404, "namespaces \"ghost\" not found"));
    assert_eq!(refused.1["details"], json!({"name": "ghost", "kind": "namespaces"}));
}

/// A§2.6: three namespaces cannot be deleted, not even in a dry run; and deletecollection is not supported.
#[tokio::test]
async fn three_namespaces_cannot_be_deleted() {
    let cluster = Cluster::new().await;
    for name in ["default", "kube-system", "kube-public"] {
        for query in ["", "?dryRun=All"] {
            let refused = cluster.delete(&format!("{NAMESPACES}/{name}{query}")).await;
            let why = format!("namespaces \"{name}\" is forbidden: this namespace may not be deleted");
            assert_eq!((refused.0, message(&refused)), (403, why.as_str()));
            assert_eq!(refused.1["details"], json!({"name": name, "kind": "namespaces"}));
        }
    }
    assert_eq!(
        cluster.delete(&format!("{NAMESPACES}/kube-node-lease")).await.0,
        200,
        "this one is not protected"
    );
    assert_eq!(cluster.delete(NAMESPACES).await.0, 405, "A2.31");
}

/// A§0.1: a failed precondition has a message of its own for namespaces.
#[tokio::test]
async fn a_namespace_with_another_uid_is_not_deleted() {
    let cluster = Cluster::new().await;
    let created = namespace(&cluster, "n", json!({})).await;
    let path = format!("{NAMESPACES}/n");
    let refused = cluster.delete_with(&path, json!({"preconditions": {"uid": "u"}})).await;
    let uid = created["metadata"]["uid"].as_str().unwrap();
    let why = format!(
        "Operation cannot be fulfilled on namespaces \"n\": Precondition failed: UID in precondition: u, UID in object meta: {uid}"
    );
    assert_eq!((refused.0, message(&refused)), (409, why.as_str()));
    let refused = cluster.delete_with(&path, json!({"preconditions": {"resourceVersion": "1"}})).await;
    assert!(message(&refused).contains("Precondition failed: ResourceVersion in precondition: 1,"));
    let exact =
        json!({"preconditions": {"uid": uid, "resourceVersion": created["metadata"]["resourceVersion"]}});
    assert_eq!(cluster.delete_with(&path, exact).await.0, 200);
}

/// A6.3: server-side apply does not own the finalizers of a namespace's spec.
#[tokio::test]
async fn an_applied_namespace_keeps_its_finalizers() {
    let cluster = Cluster::new().await;
    let path = format!("{NAMESPACES}/applied?fieldManager=me");
    let statement = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "applied"}});
    let apply = "application/apply-patch+yaml";
    let (status, created) = read(send(&cluster.0, Method::PATCH, &path, apply, &statement).await).await;
    assert_eq!((status, &created["spec"]["finalizers"]), (201, &json!(["kubernetes"])));
    let (status, same) = read(send(&cluster.0, Method::PATCH, &path, apply, &statement).await).await;
    assert_eq!((status, &same["spec"]["finalizers"]), (200, &json!(["kubernetes"])));
}
