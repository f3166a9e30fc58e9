//! Custom objects as owners, as dependents and in terminating namespaces (Appendix E).

use std::time::Duration;

use gantry_json::{Value, json};

use crate::cluster::{Cluster, items};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const BOATS: &str = "/apis/sea.example.com/v1/namespaces/default/boats";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// The time after which a new kind has been discovered.
const NEXT_DISCOVERY: Duration = Duration::from_secs(31);

/// Creates the CustomResourceDefinition of boats.
async fn define(cluster: &Cluster) {
    let open = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": open});
    let names = json!({"plural": "boats", "kind": "Boat"});
    let spec =
        json!({"group": "sea.example.com", "scope": "Namespaced", "names": names, "versions": [version]});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "boats.sea.example.com"}, "spec": spec,
    });
    cluster.send("POST", DEFINITIONS, definition).await;
}

/// A cluster whose controllers discovered boats at their start.
async fn with_boats() -> Cluster {
    let mut cluster = Cluster::without_controllers().await;
    define(&cluster).await;
    cluster.start();
    cluster.settle().await;
    cluster
}

/// Creates an object with these owners, and returns the reference to it.
async fn create(cluster: &Cluster, collection: &str, name: &str, owners: &[&Value]) -> Value {
    let is_boat = collection.ends_with("boats");
    let (version, kind) = if is_boat { ("sea.example.com/v1", "Boat") } else { ("v1", "ConfigMap") };
    let metadata = json!({"name": name, "ownerReferences": owners});
    let object = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
    let created = cluster.send("POST", collection, object).await;
    let uid = &created["metadata"]["uid"];
    json!({"apiVersion": version, "kind": kind, "name": name, "uid": uid, "blockOwnerDeletion": true})
}

async fn delete(cluster: &Cluster, path: &str, propagation: &str) {
    cluster.send("DELETE", path, json!({"propagationPolicy": propagation})).await;
    cluster.settle().await;
}

/// Deletes an owner of one kind with a dependent of another, with each of the three policies.
async fn plays_every_policy(cluster: &Cluster, owners: &str, dependents: &str) {
    let (owner, dependent) = (format!("{owners}/owner"), format!("{dependents}/dependent"));
    for propagation in ["Background", "Foreground"] {
        let reference = create(cluster, owners, "owner", &[]).await;
        create(cluster, dependents, "dependent", &[&reference]).await;
        cluster.settle().await;
        assert!(cluster.exists(&dependent).await, "{propagation}: an existing owner keeps it");
        delete(cluster, &owner, propagation).await;
        assert!(!cluster.exists(&owner).await, "{propagation}");
        assert!(!cluster.exists(&dependent).await, "{propagation}");
    }
    let reference = create(cluster, owners, "owner", &[]).await;
    create(cluster, dependents, "dependent", &[&reference]).await;
    cluster.settle().await;
    delete(cluster, &owner, "Orphan").await;
    assert!(!cluster.exists(&owner).await, "Orphan");
    let orphan = cluster.get(&dependent).await;
    assert!(orphan["metadata"]["ownerReferences"].is_null(), "it is an orphan: {orphan}");
}

/// G2.7, G5.3, G7.0: dependents of a custom object are deleted after it, before it, or stay.
#[tokio::test(start_paused = true)]
async fn a_custom_object_is_an_owner_like_any_other() {
    plays_every_policy(&with_boats().await, BOATS, MAPS).await;
}

/// G2.7, G5.3, G7.0: a custom object is deleted after its owner, before it, or stays.
#[tokio::test(start_paused = true)]
async fn a_custom_object_is_a_dependent_like_any_other() {
    plays_every_policy(&with_boats().await, MAPS, BOATS).await;
}

/// G5.5: a foreground deletion waits for a custom object with a finalizer of another component.
#[tokio::test(start_paused = true)]
async fn an_owner_waits_for_a_custom_object_with_a_finalizer() {
    let cluster = with_boats().await;
    let owner = create(&cluster, MAPS, "harbour", &[]).await;
    create(&cluster, BOATS, "anna", &[&owner]).await;
    let anna = format!("{BOATS}/anna");
    cluster.send("PATCH", &anna, json!({"metadata": {"finalizers": ["example.com/hold"]}})).await;
    delete(&cluster, &format!("{MAPS}/harbour"), "Foreground").await;
    assert!(cluster.get(&anna).await["metadata"]["deletionTimestamp"].is_string(), "it is being deleted");
    assert!(cluster.exists(&format!("{MAPS}/harbour")).await, "the owner waits for it");
    cluster.send("PATCH", &anna, json!({"metadata": {"finalizers": null}})).await;
    cluster.settle().await;
    assert!(!cluster.exists(&anna).await && !cluster.exists(&format!("{MAPS}/harbour")).await);
}

/// G6.1: custom objects do not support strategic merge patches, so a dangling reference is removed by a JSON merge
/// patch.
#[tokio::test(start_paused = true)]
async fn references_of_custom_objects_are_removed_by_a_merge() {
    let cluster = with_boats().await;
    let (one, other) = (create(&cluster, MAPS, "one", &[]).await, create(&cluster, MAPS, "other", &[]).await);
    create(&cluster, BOATS, "anna", &[&one, &other]).await;
    cluster.settle().await;
    let before = cluster.wire.writes();
    delete(&cluster, &format!("{MAPS}/one"), "Background").await;
    let anna = cluster.get(&format!("{BOATS}/anna")).await;
    assert_eq!(anna["metadata"]["ownerReferences"], json!([other]), "the other owner keeps it");
    let patch = format!("PATCH {BOATS}/anna");
    let written = cluster.wire.written_since(before);
    assert_eq!(written, [patch.clone(), patch], "the first patch is refused, the second is not");
}

/// G1.1: a kind that is defined later is watched from the next discovery on; earlier deletions are processed then.
#[tokio::test(start_paused = true)]
async fn a_kind_that_is_defined_later_is_collected_too() {
    let cluster = Cluster::new().await;
    define(&cluster).await;
    let owner = create(&cluster, MAPS, "harbour", &[]).await;
    create(&cluster, BOATS, "anna", &[&owner]).await;
    cluster.settle().await;
    delete(&cluster, &format!("{MAPS}/harbour"), "Background").await;
    tokio::time::sleep(NEXT_DISCOVERY).await;
    cluster.settle().await;
    assert!(!cluster.exists(&format!("{BOATS}/anna")).await);
    plays_every_policy(&cluster, BOATS, MAPS).await;
}

/// G1.1, G2.7: deleting a definition deletes its objects, and then their dependents; the kind is no longer watched.
#[tokio::test(start_paused = true)]
async fn dependents_of_custom_objects_are_collected_with_their_definition() {
    let cluster = with_boats().await;
    let anna = create(&cluster, BOATS, "anna", &[]).await;
    create(&cluster, MAPS, "logbook", &[&anna]).await;
    cluster.settle().await;
    cluster.send("DELETE", &format!("{DEFINITIONS}/boats.sea.example.com"), Value::Null).await;
    cluster.settle().await;
    assert!(!cluster.exists(&format!("{MAPS}/logbook")).await);
    tokio::time::sleep(NEXT_DISCOVERY).await;
    define(&cluster).await;
    tokio::time::sleep(NEXT_DISCOVERY).await;
    plays_every_policy(&cluster, MAPS, BOATS).await;
}

/// A6.5: deleting a namespace deletes its custom objects, also those of a kind that was just defined.
#[tokio::test(start_paused = true)]
async fn deleting_a_namespace_deletes_its_custom_objects() {
    let cluster = Cluster::new().await;
    define(&cluster).await;
    let (shop, boats) = ("/api/v1/namespaces/shop", "/apis/sea.example.com/v1/namespaces/shop/boats");
    cluster.send("POST", "/api/v1/namespaces", json!({"metadata": {"name": "shop"}})).await;
    for name in ["anna", "bertha"] {
        create(&cluster, boats, name, &[]).await;
    }
    let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    cluster.send("PATCH", &format!("{boats}/anna"), hold).await;
    cluster.send("DELETE", shop, Value::Null).await;
    cluster.settle().await;
    let remaining = cluster.get(boats).await;
    assert_eq!(items(&remaining).map(|boat| &boat["metadata"]["name"]).collect::<Vec<_>>(), ["anna"]);
    let conditions = cluster.get(shop).await["status"]["conditions"].to_string();
    assert!(conditions.contains("boats.sea.example.com has 1 resource instances"), "{conditions}");
    cluster.send("PATCH", &format!("{boats}/anna"), json!({"metadata": {"finalizers": null}})).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!cluster.exists(shop).await);
}
