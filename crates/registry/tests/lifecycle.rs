//! Creation, update and deletion of objects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use gantry_json::{Value, json};
use gantry_primitives::Timestamp;
use gantry_registry::lifecycle::{
    DeleteOptions, Deletion, Part, ServerAssignedMetadata, Updated, create, delete, generated_name, update,
};
use gantry_schema::kinds::{Kind, kinds};

const NOON: Timestamp = Timestamp::from_secs(1_767_268_800);

fn kind(resource: &str) -> &'static Kind {
    let group = match resource {
        "deployments" | "replicasets" => "apps",
        "endpointslices" => "discovery.k8s.io",
        _ => "",
    };
    kinds().resource(group, "v1", resource).unwrap()
}

fn web() -> Value {
    json!({
        "kind": "Deployment", "apiVersion": "apps/v1",
        "metadata": {"name": "web", "uid": "u", "generation": 3, "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"app": "web"}},
        "spec": {"replicas": 3}, "status": {"replicas": 3},
    })
}

fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[field] = value;
    object
}

fn assigned(suffix: &str) -> ServerAssignedMetadata<'_> {
    ServerAssignedMetadata { uid: "new-uid", now: NOON, name_suffix: suffix }
}

/// A2.9, A2.5, O4.4: metadata that only the server sets is set, whatever the client sent.
#[test]
fn a_new_object_gets_server_managed_metadata() {
    let sent = with(web(), "/metadata/deletionTimestamp", json!("2020-01-01T00:00:00Z"));
    let stored = create(sent, kind("deployments"), &assigned(""));
    assert_eq!(stored["metadata"]["uid"], "new-uid");
    assert_eq!(stored["metadata"]["creationTimestamp"], "2026-01-01T12:00:00Z");
    assert_eq!(stored["metadata"]["generation"], 1);
    assert_eq!(stored["metadata"].get("deletionTimestamp"), None);
    assert_eq!(stored.get("status"), None, "A2.6: the sent status is dropped");
    assert_eq!(
        create(json!({"metadata": {"generation": 9}}), kind("configmaps"), &assigned(""))["metadata"]["generation"],
        9
    );
    assert_eq!(
        create(json!({"status": 1}), kind("configmaps"), &assigned(""))["status"],
        1,
        "kinds without /status keep it"
    );
    assert_eq!(
        create(json!("nonsense"), kind("configmaps"), &assigned(""))["metadata"]["uid"],
        "new-uid",
        "and nothing panics"
    );
}

/// A2.11, O4.5: a name is generated from a prefix and a suffix, and only if none is given.
#[test]
fn names_are_generated() {
    let made = create(json!({"metadata": {"generateName": "web-"}}), kind("pods"), &assigned("x2b4z"));
    assert_eq!(
        (&made["metadata"]["name"], &made["metadata"]["generateName"]),
        (&json!("web-x2b4z"), &json!("web-"))
    );
    let named = create(
        json!({"metadata": {"generateName": "web-", "name": "mine"}}),
        kind("pods"),
        &assigned("x2b4z"),
    );
    assert_eq!(named["metadata"]["name"], "mine");
    assert_eq!(generated_name(&"a".repeat(80), "x2b4z"), format!("{}x2b4z", "a".repeat(58)));
    assert!(generated_name(&"é".repeat(80), "x2b4z").len() <= 63, "a name is not cut within a character");
}

fn stored(updated: Updated) -> Value {
    match updated {
        Updated::Store(object) => object,
        other => panic!("{other:?}"),
    }
}

/// A2.4, A2.19: fields that clients may not change are restored; if nothing else changed, nothing is written.
#[test]
fn an_update_without_changes_writes_nothing() {
    assert_eq!(update(&web(), web(), Part::Main, kind("deployments")), Updated::Unchanged);
    let mut without = web();
    for field in ["uid", "creationTimestamp", "generation", "resourceVersion"] {
        without["metadata"].as_object_mut().unwrap().remove(field);
    }
    assert_eq!(update(&web(), without, Part::Main, kind("deployments")), Updated::Unchanged);
    let other_status = with(web(), "/status", json!({"replicas": 9}));
    assert_eq!(update(&web(), other_status, Part::Main, kind("deployments")), Updated::Unchanged, "A2.6");
    let other_spec = with(web(), "/spec", json!({"replicas": 9}));
    assert_eq!(update(&web(), other_spec, Part::Status, kind("deployments")), Updated::Unchanged, "A2.6");
}

/// A2.5, O4.1, O4.2: the generation counts changes of the desired state.
#[test]
fn the_generation_counts_changes_of_the_desired_state() {
    let after = |change: (&str, Value), part, kind: &Kind| {
        let object = stored(update(&web(), with(web(), change.0, change.1), part, kind));
        object["metadata"]["generation"].as_i64().unwrap()
    };
    let spec = || ("/spec/replicas", json!(9));
    let annotations = || ("/metadata/annotations", json!({"a": "b"}));
    let labels = || ("/metadata/labels", json!({"a": "b"}));
    assert_eq!(after(spec(), Part::Main, kind("deployments")), 4);
    assert_eq!(after(annotations(), Part::Main, kind("deployments")), 4);
    assert_eq!(after(labels(), Part::Main, kind("deployments")), 3);
    assert_eq!(
        after(annotations(), Part::Status, kind("deployments")),
        3,
        "the controller writes the revision this way"
    );
    let replica_set = kind("replicasets");
    assert_eq!(after(annotations(), Part::Main, replica_set), 3);
    let slice = kind("endpointslices");
    assert_eq!(after(labels(), Part::Main, slice), 4);
    let emptied = with(web(), "/metadata/annotations", json!({}));
    let Updated::Store(object) = update(&web(), emptied, Part::Main, kind("deployments")) else {
        panic!("it differs")
    };
    assert_eq!(object["metadata"]["generation"], 3, "absent and empty annotations are equal");
}

/// A2.6: a status write keeps the spec, on Deployments the labels, on pods the owners; it writes other metadata.
#[test]
fn a_status_write_keeps_the_spec() {
    let mut sent = with(web(), "/status", json!({"replicas": 4}));
    sent["metadata"]["labels"] = json!({"app": "other"});
    sent["metadata"]["annotations"] = json!({"a": "b"});
    sent["metadata"]["ownerReferences"] = json!([{"uid": "x"}]);
    sent["spec"] = json!({"replicas": 99});
    let object = stored(update(&web(), sent.clone(), Part::Status, kind("deployments")));
    assert_eq!(object["status"]["replicas"], 4);
    assert_eq!(object["spec"]["replicas"], 3);
    assert_eq!(object["metadata"]["labels"]["app"], "web");
    assert_eq!(object["metadata"]["annotations"]["a"], "b");
    let pod = stored(update(&web(), sent, Part::Status, kind("pods")));
    assert_eq!(pod["metadata"]["labels"]["app"], "other");
    assert_eq!(pod["metadata"].get("ownerReferences"), None);
}

fn options(value: &Value) -> DeleteOptions {
    DeleteOptions::parse(value).unwrap()
}

fn deleting(grace: i64, finalizers: &[&str]) -> Value {
    let mut object = web();
    object["metadata"]["deletionTimestamp"] = json!(NOON.plus(grace).to_string());
    object["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
    if !finalizers.is_empty() {
        object["metadata"]["finalizers"] = json!(finalizers);
    }
    object
}

/// A2.21, O6.5: the update that removes the last finalizer removes the object.
#[test]
fn removing_the_last_finalizer_deletes_the_object() {
    let held = deleting(0, &["example.com/f"]);
    let mut freed = held.clone();
    freed["metadata"].as_object_mut().unwrap().remove("finalizers");
    let Updated::Remove(shown) = update(&held, freed.clone(), Part::Main, kind("deployments")) else {
        panic!("it is removed")
    };
    assert_eq!(shown["metadata"]["resourceVersion"], "7", "the response has the old version");
    let given_time = with(held.clone(), "/metadata/deletionGracePeriodSeconds", json!(30));
    assert!(matches!(update(&given_time, freed.clone(), Part::Main, kind("pods")), Updated::Store(_)));
    let alive = with(web(), "/metadata/finalizers", json!(["example.com/f"]));
    assert!(matches!(update(&alive, freed, Part::Main, kind("deployments")), Updated::Store(_)));
}

/// A2.27, A2.28, O6.1 to O6.4: finalizers follow the propagation policy.
#[test]
fn finalizers_follow_the_policy() {
    let after =
        |object: &Value, policy: Value| match delete(object, &options(&policy), kind("deployments"), NOON) {
            Deletion::Linger(object) => object["metadata"]["finalizers"].to_string(),
            other => format!("{other:?}"),
        };
    let foreground = json!({"propagationPolicy": "Foreground"});
    let orphan = json!({"propagationPolicy": "Orphan"});
    assert_eq!(after(&web(), json!({})), "Remove(None)");
    assert_eq!(after(&web(), foreground.clone()), r#"["foregroundDeletion"]"#);
    assert_eq!(after(&web(), json!({"orphanDependents": true})), r#"["orphan"]"#);
    let held = with(web(), "/metadata/finalizers", json!(["a", "orphan", "b"]));
    assert_eq!(after(&held, json!({})), r#"["a","orphan","b"]"#, "an earlier policy and the order are kept");
    assert_eq!(after(&held, foreground), r#"["a","b","foregroundDeletion"]"#);
    let waiting = deleting(0, &["foregroundDeletion"]);
    assert_eq!(after(&waiting, json!({"propagationPolicy": "Background"})), "Remove(None)", "O6.2");
    assert_eq!(after(&waiting, json!({})), "Unchanged", "a repeated request");
    assert_eq!(after(&waiting, orphan), r#"["orphan"]"#);
    let event = kind("events");
    let ignored = delete(&web(), &options(&json!({"propagationPolicy": "Orphan"})), event, NOON);
    assert_eq!(ignored, Deletion::Remove(None), "events ignore propagation");
}

/// O6.4, A2.5: the first DELETE of an object with finalizers changes it, the second does not.
#[test]
fn only_the_first_delete_of_an_object_with_finalizers_changes_it() {
    let held = with(web(), "/metadata/finalizers", json!(["example.com/f"]));
    let Deletion::Linger(object) = delete(&held, &options(&json!({})), kind("deployments"), NOON) else {
        panic!("its finalizer holds it")
    };
    assert_eq!(object["metadata"]["deletionTimestamp"], "2026-01-01T12:00:00Z");
    assert_eq!(object["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!(object["metadata"]["generation"], 4);
    assert_eq!(delete(&object, &options(&json!({})), kind("deployments"), NOON.plus(9)), Deletion::Unchanged);
}

fn pod(node: &str, phase: &str) -> Value {
    let mut pod = web();
    pod["spec"] = json!({"nodeName": node, "terminationGracePeriodSeconds": 30});
    pod["status"] = json!({"phase": phase});
    pod
}

fn end_of(deletion: &Deletion) -> (String, i64, bool) {
    let (object, gone) = match deletion {
        Deletion::Linger(object) => (object, false),
        Deletion::Remove(Some(object)) => (object, true),
        other => panic!("{other:?}"),
    };
    let metadata = &object["metadata"];
    let at = metadata["deletionTimestamp"].as_str().unwrap().to_owned();
    (at, metadata["deletionGracePeriodSeconds"].as_i64().unwrap(), gone)
}

/// O6.8, O6.9, O6.10: the grace period of a pod.
#[test]
fn a_running_pod_has_a_grace_period() {
    let end = |pod: &Value, wanted: Value| end_of(&delete(pod, &options(&wanted), kind("pods"), NOON));
    let at = |seconds| NOON.plus(seconds).to_string();
    let running = pod("n1", "Running");
    assert_eq!(end(&running, json!({})), (at(30), 30, false));
    assert_eq!(end(&running, json!({"gracePeriodSeconds": 5})), (at(5), 5, false));
    assert_eq!(end(&running, json!({"gracePeriodSeconds": -9})), (at(1), 1, false));
    assert_eq!(end(&running, json!({"gracePeriodSeconds": 0})), (at(0), 0, true));
    assert_eq!(end(&pod("", "Pending"), json!({})), (at(0), 0, true), "no node runs it");
    assert_eq!(end(&pod("n1", "Failed"), json!({"gracePeriodSeconds": 5})), (at(0), 0, true));
    let held = with(pod("", "Pending"), "/metadata/finalizers", json!(["example.com/f"]));
    assert_eq!(end(&held, json!({})), (at(0), 0, false));
}

/// O6.11: the grace period of a terminating pod can be shortened, never extended.
#[test]
fn the_grace_period_can_be_shortened() {
    let Deletion::Linger(terminating) =
        delete(&pod("n1", "Running"), &options(&json!({"gracePeriodSeconds": 600})), kind("pods"), NOON)
    else {
        panic!("it has a grace period")
    };
    let end = |wanted: Value, now: Timestamp| delete(&terminating, &options(&wanted), kind("pods"), now);
    assert_eq!(end(json!({}), NOON), Deletion::Unchanged);
    assert_eq!(end(json!({"gracePeriodSeconds": 700}), NOON), Deletion::Unchanged);
    let shortened = end_of(&end(json!({"gracePeriodSeconds": 300}), NOON.plus(10)));
    assert_eq!(shortened, (NOON.plus(300).to_string(), 300, false));
    let past = end_of(&end(json!({"gracePeriodSeconds": 5}), NOON.plus(100)));
    assert_eq!(past, (NOON.plus(100).to_string(), 1, false), "not into the past");
    let now = end_of(&end(json!({"gracePeriodSeconds": 0}), NOON.plus(100)));
    assert_eq!(now, (NOON.plus(100).to_string(), 0, true));
}

/// A2.26: invalid options are refused.
#[test]
fn invalid_options_are_refused() {
    let message = |value: Value| DeleteOptions::parse(&value).unwrap_err().message;
    assert_eq!(
        message(json!({"propagationPolicy": "Foo"})),
        "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Foo\": supported values: \
         \"Foreground\", \"Background\", \"Orphan\", \"nil\""
    );
    assert!(
        message(json!({"propagationPolicy": "Orphan", "orphanDependents": true}))
            .ends_with("cannot be both set")
    );
    assert!(options(&json!({"orphanDependents": false})).legacy_background, "A2.29");
}

/// O6.2, O6.11, A2.28: after its grace period a pod is held by finalizers only, which follow the last policy.
#[test]
fn a_pod_with_finalizers_gets_no_second_grace_period() {
    let held = with(pod("n1", "Running"), "/metadata/finalizers", json!(["foregroundDeletion"]));
    let over = with(held, "/metadata/deletionTimestamp", json!(NOON.to_string()));
    let over = with(over, "/metadata/deletionGracePeriodSeconds", json!(0));
    assert_eq!(delete(&over, &options(&json!({})), kind("pods"), NOON.plus(9)), Deletion::Unchanged);
    let background = options(&json!({"propagationPolicy": "Background"}));
    assert_eq!(delete(&over, &background, kind("pods"), NOON), Deletion::Remove(None));
}

/// O6.11: a pod that ended while it was terminating keeps its grace period unless a shorter one is requested.
#[test]
fn a_finished_terminating_pod_keeps_its_grace_period() {
    let terminating =
        with(pod("n1", "Failed"), "/metadata/deletionTimestamp", json!(NOON.plus(30).to_string()));
    let terminating = with(terminating, "/metadata/deletionGracePeriodSeconds", json!(30));
    assert_eq!(delete(&terminating, &options(&json!({})), kind("pods"), NOON), Deletion::Unchanged);
    let sooner = delete(&terminating, &options(&json!({"gracePeriodSeconds": 10})), kind("pods"), NOON);
    assert_eq!(end_of(&sooner), (NOON.plus(10).to_string(), 10, false));
}

/// A2.5: kinds with a generation increase it when their deletion begins.
#[test]
fn the_start_of_a_deletion_increments_the_generation() {
    let after = |object: Value, resource: &str| {
        let held = with(object, "/metadata/finalizers", json!(["example.com/f"]));
        match delete(&held, &options(&json!({})), kind(resource), NOON) {
            Deletion::Linger(object) => object["metadata"]["generation"].clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(after(web(), "configmaps"), 4, "a client may have set one");
    assert_eq!(after(json!({"metadata": {"name": "a"}}), "configmaps"), Value::Null);
}

fn namespace(finalizers: &[&str]) -> Value {
    json!({
        "kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "shop", "uid": "u", "resourceVersion": "7"},
        "spec": {"finalizers": finalizers}, "status": {"phase": "Active"},
    })
}

/// A6.4, A6.6: the first delete makes the namespace terminating; later ones wait for its finalizers.
#[test]
fn a_namespace_is_deleted_in_two_steps() {
    let begin = |object: &Value| match delete(object, &options(&json!({})), kind("namespaces"), NOON) {
        Deletion::Linger(object) => object,
        other => panic!("{other:?}"),
    };
    let terminating = begin(&namespace(&["kubernetes"]));
    assert_eq!(terminating["status"]["phase"], "Terminating");
    assert_eq!(terminating["metadata"]["deletionTimestamp"], "2026-01-01T12:00:00Z");
    assert_eq!(terminating["metadata"].get("deletionGracePeriodSeconds"), None);
    let orphan = options(&json!({"propagationPolicy": "Orphan"}));
    assert_eq!(delete(&terminating, &orphan, kind("namespaces"), NOON.plus(9)), Deletion::Unchanged);
    let free = begin(&namespace(&[]));
    assert_eq!(delete(&free, &options(&json!({})), kind("namespaces"), NOON), Deletion::Remove(None));
}

/// A6.3, A6.5: only `finalize` removes finalizers of a namespace's spec, and the namespace once no others hold it.
#[test]
fn a_namespace_is_deleted_when_both_finalizer_lists_are_empty() {
    let kind = kind("namespaces");
    assert_eq!(update(&namespace(&["kubernetes"]), namespace(&[]), Part::Main, kind), Updated::Unchanged);
    let terminating = |finalizers: &[&str]| {
        let object = with(namespace(&["kubernetes"]), "/metadata/deletionTimestamp", json!(NOON.to_string()));
        with(object, "/metadata/finalizers", json!(finalizers))
    };
    let emptied = |object: Value| with(object, "/spec/finalizers", json!([]));
    let removed = update(&terminating(&[]), emptied(terminating(&[])), Part::Finalize, kind);
    assert!(matches!(removed, Updated::Remove(_)), "{removed:?}");
    let held = terminating(&["example.com/f"]);
    let kept = stored(update(&held, emptied(held.clone()), Part::Finalize, kind));
    let freed = with(kept.clone(), "/metadata/finalizers", json!([]));
    assert!(matches!(update(&kept, freed, Part::Main, kind), Updated::Remove(_)));
    let early = with(held.clone(), "/metadata/finalizers", json!([]));
    assert!(matches!(update(&held, early, Part::Main, kind), Updated::Store(_)), "it is not empty yet");
}
