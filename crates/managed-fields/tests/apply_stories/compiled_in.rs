//! Built-in kinds.

use gantry_json::{Value, json};
use gantry_managed_fields::apply::{Change, OnConflict};
use gantry_managed_fields::ownership::differ_only_in_times;

use crate::story::Story;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn pod(containers: &Value) -> Value {
    json!({"spec": {"containers": containers}})
}

/// A3.22: the time changes only with a value; a change of ownership alone changes the object but no time.
#[test]
fn times_change_only_with_values() {
    let mut story = Story::of("core/v1.ConfigMap");
    assert_eq!(story.apply("m1", &json!({"data": {"k": "1", "l": "1"}})), Change::Values);
    assert_eq!(story.apply("m1", &json!({"data": {"k": "1", "l": "1"}})), Change::Nothing);
    assert_eq!(story.apply("m2", &json!({"data": {"k": "1"}})), Change::Ownership);
    assert_eq!(story.apply("m1", &json!({"data": {"l": "1"}})), Change::Ownership);
    assert_eq!(story.owners(), ["m2 Apply never", "m1 Apply 01"]);
    assert_eq!(story.apply("m2", &json!({"data": {"k": "2"}})), Change::Values);
    assert_eq!(story.owners(), ["m1 Apply 01", "m2 Apply 05"]);
}

/// A3.15: a writer that only removes fields gains none, and its time does not change.
#[test]
fn a_writer_that_removes_fields_owns_none() {
    let mut story = Story::of("core/v1.ConfigMap");
    story.update("u1", |object| object["data"] = json!({"k": "1", "l": "1", "m": "1"}));
    story.update("u1", |object| object["data"] = json!({"l": "1", "m": "1"}));
    story.update("u2", |object| object["data"] = json!({"m": "1"}));
    assert_eq!(story.owners(), ["u1 Update 01"]);
    assert_eq!(story.fields("u1"), json!({"f:data": {".": {}, "f:m": {}}}));
}

/// A3.15: an empty map that JSON omits has no owner; one that JSON contains has.
#[test]
fn an_empty_list_is_owned_if_it_is_written() {
    let mut map = Story::of("core/v1.ConfigMap");
    map.update("u1", |object| object["data"] = json!({"k": "1"}));
    map.update("u2", |object| object["data"] = json!({}));
    assert_eq!(map.owners(), [""; 0]);
    let mut slice = Story::of("discovery/v1.EndpointSlice");
    slice.update("u1", |object| {
        *object = json!({"addressType": "IPv4", "endpoints": [{"addresses": ["::1"]}]});
    });
    slice.update("u2", |object| object["ports"] = json!([]));
    assert_eq!(slice.fields("u2"), json!({"f:ports": {}}));
    // Within a list that is owned as a whole an empty map is a difference, in an object it is not.
    slice.update("u3", |object| object["endpoints"][0]["deprecatedTopology"] = json!({}));
    assert_eq!(slice.fields("u3"), json!({"f:endpoints": {}}));
    let mut policy = Story::of("networking/v1.NetworkPolicy");
    policy.update("u1", |object| object["spec"] = json!({"podSelector": {}, "policyTypes": ["Egress"]}));
    policy.update("u2", |object| object["spec"]["podSelector"] = json!({"matchLabels": {}}));
    assert_eq!(policy.owners(), ["u1 Update 01"]);
}

/// A3.16: fields that the server sets, or that this write cannot change, are never owned.
#[test]
fn some_fields_are_never_owned() {
    let mut story = Story::of("apps/v1.Deployment");
    story.update("u1", |object| object["spec"] = json!({"replicas": 1}));
    story.update("u2", |object| {
        object["metadata"]["resourceVersion"] = json!("5");
        object["metadata"]["generation"] = json!(2);
        object["status"] = json!({"replicas": 3});
    });
    assert_eq!(story.owners(), ["u1 Update 01"]);
    story.update("u3", |object| object["metadata"]["generateName"] = json!("a-"));
    assert_eq!(story.fields("u3"), json!({"f:metadata": {"f:generateName": {}}}));
}

/// A3.18: absent or invalid managed fields keep the stored ones; valid ones replace them before this write is tracked.
#[test]
fn managed_fields_of_clients_are_stored_if_valid() {
    let mut story = Story::of("core/v1.ConfigMap");
    story.update("u1", |object| object["data"] = json!({"k": "1"}));
    let before = story.owners();
    story.update("u2", |object| {
        object["metadata"].as_object_mut().unwrap().remove("managedFields");
    });
    assert_eq!(story.owners(), before);
    for broken in [
        json!([{"manager": "x", "operation": "Foo", "apiVersion": "v1", "fieldsType": "FieldsV1"}]),
        json!([{"manager": "x", "operation": "Update", "fieldsType": "FieldsV1"}]),
        json!([{"manager": "x", "operation": "Update", "apiVersion": "v1"}]),
        json!([{"manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"k:": {}}}]),
        json!("none"),
    ] {
        story.update("u2", |object| object["metadata"]["managedFields"] = broken);
        assert_eq!(story.owners(), before);
    }
    story.update("u2", |object| {
        object["data"]["l"] = json!("1");
        object["metadata"]["managedFields"] = json!([{"manager": "x", "operation": "Apply", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:k": {}}}}]);
    });
    assert_eq!(story.owners(), ["x Apply never", "u2 Update 08"]);
    story.update("u2", |object| object["metadata"]["managedFields"] = json!([]));
    assert!(story.owners().is_empty());
    story.update("u2", |object| object["data"]["l"] = json!("2"));
    assert!(story.owners().is_empty(), "an untracked object stays untracked");
}

/// A3.20: all fields of an object without managed fields belong to `before-first-apply`.
#[test]
fn the_first_apply_meets_an_initial_owner() {
    let mut story = Story::of("core/v1.ConfigMap");
    story.live = Some(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "u"},
        "data": {"k": "1"}}));
    let conflict = story.refused("m1", &json!({"data": {"k": "2"}}));
    assert_eq!(
        conflict,
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.k"
    );
    story.apply("m1", &json!({"data": {"l": "1"}}));
    assert_eq!(story.owners(), ["m1 Apply 02", "before-first-apply Update 02"]);
    assert_eq!(story.fields("before-first-apply"), json!({"f:data": {".": {}, "f:k": {}}}));
}

/// A3.23: conflicts are sorted by manager; of each manager, fields come before nested paths.
#[test]
fn conflicts_are_reported_in_order() {
    let mut story = Story::of("core/v1.Pod");
    let stated = |value: &str| {
        let port = |number: u32| json!({"containerPort": number, "name": value});
        json!({"spec": {"containers": [{"name": "c", "ports": [port(443), port(80)]}], "hostname": value}})
    };
    story.apply("m2", &stated("one"));
    story.update("u1", |object| object["metadata"]["labels"] = json!({"a": "b"}));
    let mut other = stated("two");
    other["metadata"] = json!({"labels": {"a": "c"}});
    let ports = ".spec.containers[name=\"c\"].ports";
    let expected = format!(
        "Apply failed with 4 conflicts: conflicts with \"m2\":\n- .spec.hostname\n\
         - {ports}[containerPort=80,protocol=\"TCP\"].name\n- {ports}[containerPort=443,protocol=\"TCP\"].name\n\
         conflicts with \"u1\" using v1:\n- .metadata.labels.a"
    );
    assert_eq!(story.refused("m3", &other), expected);
}

/// A3.22: an element is removed with its defaults when its last applier drops it, not while another one applies it.
#[test]
fn an_element_is_removed_with_its_last_applier() {
    let mut story = Story::of("core/v1.Pod");
    story.apply("m1", &pod(&json!([{"name": "a", "image": "x"}, {"name": "b", "image": "x"}])));
    story.apply("m2", &pod(&json!([{"name": "b"}])));
    story.live.as_mut().unwrap()["spec"]["containers"][1]["imagePullPolicy"] = json!("Always");
    story.apply("m1", &pod(&json!([{"name": "a", "image": "x"}])));
    assert_eq!(
        story.live()["spec"]["containers"],
        json!([{"name": "a", "image": "x"}, {"name": "b", "imagePullPolicy": "Always"}])
    );
    story.apply("m2", &json!({}));
    assert_eq!(story.live()["spec"]["containers"], json!([{"name": "a", "image": "x"}]));
}

/// A3.22: an updater of one value of an element does not keep the element.
#[test]
fn an_element_is_removed_though_another_manager_changed_it() {
    let mut story = Story::of("core/v1.Pod");
    story.apply("m1", &pod(&json!([{"name": "a", "image": "x"}, {"name": "b", "image": "x"}])));
    story.update("u1", |object| object["spec"]["containers"][1]["image"] = json!("y"));
    story.apply("m1", &pod(&json!([{"name": "a", "image": "x"}])));
    assert_eq!(story.live()["spec"]["containers"], json!([{"name": "a", "image": "x"}]));
    assert_eq!(story.owners(), ["m1 Apply 03"]);
}

/// A3.22: a field that is no longer applied is removed, fields of others are kept.
#[test]
fn fields_that_are_no_longer_applied_are_removed_and_others_kept() {
    let mut story = Story::of("apps/v1.Deployment");
    story.apply("m1", &json!({"spec": {"replicas": 3, "minReadySeconds": 5}}));
    story.update("u1", |object| object["spec"]["paused"] = json!(true));
    story.apply("m1", &json!({}));
    assert_eq!(story.live()["spec"], json!({"paused": true}));
    assert_eq!(story.owners(), ["u1 Update 02"]);
}

/// A3.25: kubectl has no conflicts about unchanged values of its annotation; other managers have conflicts.
#[test]
fn last_applied_migration_covers_kubectl_fields_only() {
    let mut story = Story::of("core/v1.ConfigMap");
    story.update("kubectl-client-side-apply", |object| {
        object["metadata"]["annotations"] = json!({LAST_APPLIED: "{\"data\":{\"k\":\"1\",\"l\":\"0\"}}"});
        object["data"] = json!({"k": "1", "l": "1"});
    });
    let expected =
        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .data.l";
    assert_eq!(story.refused("kubectl", &json!({"data": {"k": "2", "l": "2"}})), expected);
    story.apply("kubectl", &json!({"data": {"k": "<2>"}}));
    let annotation = story.live()["metadata"]["annotations"][LAST_APPLIED].as_str().unwrap().to_owned();
    let written =
        r#"{"apiVersion":"v1","data":{"k":"\u003c2\u003e"},"kind":"ConfigMap","metadata":{"name":"a"}}"#;
    assert_eq!(annotation, format!("{written}\n"));
    story.apply("other", &json!({"data": {"n": "1"}}));
    assert_eq!(story.live()["metadata"]["annotations"][LAST_APPLIED], annotation);
}

/// A3.21: each error in an applied configuration, with Kubernetes' message.
#[test]
fn apply_configurations_are_checked_against_the_schema() {
    let table = [
        (json!({"spec": {"nope": 1}}), ".spec.nope: field not declared in schema"),
        (
            json!({"spec": {"nodeName": 1}}),
            ".spec.nodeName: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (json!({"spec": {"hostNetwork": "yes"}}), ".spec.hostNetwork: expected boolean, got &{yes}"),
        (
            json!({"spec": {"priority": {}}}),
            ".spec.priority: expected numeric (int or float), got map[string]interface {}",
        ),
        (json!({"spec": [1, "a"]}), ".spec: expected map, got &{[1 a]}"),
        (json!({"spec": {"containers": {"a": 1}}}), ".spec.containers: expected list, got &{map[a:1]}"),
        (
            json!({"spec": {"containers": [null]}}),
            ".spec.containers: element 0: associative list with keys may not have a null element",
        ),
        (
            json!({"metadata": {"finalizers": ["a/b", "a/b"]}}),
            ".metadata.finalizers: duplicate entries for key [=\"a/b\"]",
        ),
        (
            json!({"spec": {"tolerations": [{"nope": 1}]}}),
            ".spec.tolerations[0].nope: field not declared in schema",
        ),
        (
            json!({"spec": {"a": 1, "b": 2}}),
            "errors:\n  .spec.a: field not declared in schema\n  .spec.b: field not declared in schema",
        ),
    ];
    for (stated, problem) in table {
        let expected = format!("failed to create typed patch object (/a; /v1, Kind=Pod): {problem}");
        assert_eq!(Story::of("core/v1.Pod").refused("m1", &stated), expected);
    }
    let named = json!({"metadata": {"namespace": "ns"}, "spec": 1});
    let refusal = Story::of("core/v1.Pod").try_apply("m1", &named, OnConflict::Refuse).unwrap_err();
    assert_eq!((refusal.reason.code(), refusal.reason.name()), (500, ""));
    assert!(refusal.message.contains("(ns/a; /v1, Kind=Pod)"), "{refusal}");
}

/// A3.22: `null`, numbers for quantities and empty maps are valid.
#[test]
fn the_schema_is_no_stricter_than_it_must_be() {
    let mut story = Story::of("core/v1.Pod");
    let resources = json!({"limits": {"cpu": 1, "memory": "1Gi"}, "requests": {}});
    story.apply("m1", &pod(&json!([{"name": "c", "resources": resources, "command": null}])));
    assert_eq!(story.live()["spec"]["containers"][0]["resources"], resources);
}

/// A3.22: a write that would change only times changes nothing.
#[test]
fn changed_times_alone_are_no_change() {
    let mut story = Story::of("core/v1.ConfigMap");
    story.update("u1", |object| object["data"] = json!({"k": "1"}));
    let old = story.live().clone();
    let mut new = old.clone();
    new["metadata"]["managedFields"][0]["time"] = json!("2027-01-01T00:00:00Z");
    assert!(differ_only_in_times(&old, &new));
    let mut more = new.clone();
    more["data"]["k"] = json!("2");
    assert!(!differ_only_in_times(&old, &more));
    let mut another = new.clone();
    another["metadata"]["managedFields"][0]["manager"] = json!("u2");
    assert!(!differ_only_in_times(&old, &another));
}

/// A3.21: an absent key is empty, except in the secrets of a service account, where it is required.
#[test]
fn omitted_keys_are_empty() {
    let mut pods = Story::of("core/v1.Pod");
    pods.apply("m1", &pod(&json!([{"image": "x"}])));
    let owned = json!({"f:spec": {"f:containers": {"k:{\"name\":\"\"}": {".": {}, "f:image": {}}}}});
    assert_eq!(pods.fields("m1"), owned);
    let mut accounts = Story::of("core/v1.ServiceAccount");
    let refused = accounts.refused("m1", &json!({"secrets": [{"kind": "a"}, {"kind": "b"}]}));
    assert!(refused.ends_with("(and doesn't have default values for any key fields)"), "{refused}");
    assert!(refused.contains(".secrets: element 0: ") && !refused.contains("element 1"), "{refused}");
    accounts.update("u1", |object| object["automountServiceAccountToken"] = json!(true));
    accounts.update("u2", |object| object["secrets"] = json!([{}]));
    assert_eq!(
        accounts.owners(),
        ["u1 Update 02"],
        "elements without keys leave the managed fields unchanged"
    );
    let refused = accounts.refused("m1", &json!({"metadata": {"labels": {"a": "b"}}}));
    assert!(refused.starts_with("failed to create typed live object"), "{refused}");
}

/// A3.21: integers that are too large are truncated to 32 bits, as in Kubernetes; fractions are refused.
#[test]
fn numbers_are_read_as_kubernetes_reads_them() {
    let mut leases = Story::of("coordination/v1.Lease");
    leases.apply("m1", &json!({"spec": {"leaseTransitions": 2_147_483_648_i64}}));
    assert_eq!(leases.live()["spec"]["leaseTransitions"], -2_147_483_648_i64);
    let refused = leases.refused("m1", &json!({"spec": {"leaseTransitions": 1.5}}));
    assert!(refused.ends_with("cannot convert float64 to int32"), "{refused}");
}
