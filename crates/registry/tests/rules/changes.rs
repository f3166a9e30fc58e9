//! Changes to stored objects: immutable fields, with the messages of Kubernetes 1.37.

use gantry_json::{Value, json};
use gantry_registry::{admission, defaults, validation};
use gantry_schema::kinds::kinds;

use crate::change;

/// Returns the errors in a change, given as a merge patch.
fn refused((group, kind): (&str, &str), mut old: Value, patch: &Value) -> Vec<String> {
    let kind = kinds().kind(group, "v1", kind).unwrap();
    old["metadata"] = json!({"name": "t", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"});
    defaults::apply(kind, &mut old);
    let mut new = old.clone();
    change(&mut new, patch);
    defaults::apply(kind, &mut new);
    admission::admit_update(kind, &old, &mut new);
    validation::update(kind, &old, &new).errors.iter().map(ToString::to_string).collect()
}

fn claim() -> Value {
    json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
}

fn volume() -> Value {
    json!({"spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}},
    }})
}

#[test]
fn class_and_volume_of_a_claim_are_set_once_and_other_changes_are_shown() {
    let kind = ("", "PersistentVolumeClaim");
    assert_eq!(
        refused(kind, claim(), &json!({"spec": {"storageClassName": "x", "volumeName": "v"}})),
        [""; 0]
    );
    let shown = "spec: Forbidden: spec is immutable after creation except resources.requests and \
                 volumeAttributesClassName for bound claims\n@@ -1,6 +1,6 @@\n {\n  \"AccessModes\": [\n-  \
                 \"ReadWriteOnce\"\n+  \"ReadWriteMany\"\n  ],\n  \"Selector\": null,\n  \"Resources\": {\n";
    assert_eq!(refused(kind, claim(), &json!({"spec": {"accessModes": ["ReadWriteMany"]}})), [shown]);
}

#[test]
fn source_mode_and_affinity_of_a_volume_are_immutable() {
    let kind = ("", "PersistentVolume");
    let elsewhere =
        json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "b", "operator": "Exists"}]}]});
    assert_eq!(
        refused(
            kind,
            volume(),
            &json!({"spec": {"volumeMode": "Block", "nodeAffinity": {"required": elsewhere}}})
        ),
        [
            "volumeMode: Invalid value: \"Block\": field is immutable",
            "nodeAffinity: Invalid value: {\"Required\":{\"NodeSelectorTerms\":[{\"MatchExpressions\":[{\"Key\":\"b\",\
             \"Operator\":\"Exists\",\"Values\":null}],\"MatchFields\":null}]}}: field is immutable, except for updating \
             from beta label to GA"
        ]
    );
    let moved = refused(kind, volume(), &json!({"spec": {"hostPath": {"path": "/y"}}}));
    assert!(moved[0].starts_with("spec.persistentvolumesource: Forbidden: "), "{moved:?}");
    assert!(moved[0].contains("\n-  \"Path\": \"/x\",\n+  \"Path\": \"/y\",\n"), "{moved:?}");
}

#[test]
fn immutable_fields_of_classes_drivers_and_quotas_are_refused() {
    let class = json!({"provisioner": "a/b"});
    assert_eq!(
        refused(
            ("storage.k8s.io", "StorageClass"),
            class,
            &json!({"provisioner": "c/d", "parameters": {"a": "b"}})
        ),
        [
            "provisioner: Invalid value: null: field is immutable",
            "parameters: Invalid value: null: field is immutable"
        ]
    );
    let driver = json!({"spec": {}});
    assert_eq!(
        refused(
            ("storage.k8s.io", "CSIDriver"),
            driver,
            &json!({"spec": {"attachRequired": false, "volumeLifecycleModes": ["Ephemeral"]}})
        ),
        [
            "spec.attachedRequired: Invalid value: false: field is immutable",
            "spec.volumeLifecycleModes: Invalid value: [\"Ephemeral\"]: field is immutable"
        ]
    );
    let node = json!({"spec": {"drivers": [{"name": "a.b", "nodeID": "n"}]}});
    let other = json!({"spec": {"drivers": [{"name": "a.b", "nodeID": "m"}]}});
    assert_eq!(
        refused(("storage.k8s.io", "CSINode"), node, &other),
        [
            "spec.drivers: Invalid value: {\"Name\":\"a.b\",\"NodeID\":\"m\",\"TopologyKeys\":null,\"Allocatable\":null}: \
          field is immutable"
        ]
    );
    let quota = json!({"spec": {"hard": {"requests.cpu": "1"}, "scopes": ["Terminating"]}});
    assert_eq!(
        refused(("", "ResourceQuota"), quota, &json!({"spec": {"scopes": ["NotTerminating"]}})),
        ["spec.scopes: Invalid value: [\"NotTerminating\"]: field is immutable"]
    );
}

#[test]
fn the_address_type_of_an_endpoint_slice_is_immutable() {
    let slice = json!({"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}]});
    assert_eq!(
        refused(
            ("discovery.k8s.io", "EndpointSlice"),
            slice,
            &json!({"addressType": "IPv6", "endpoints": null})
        ),
        ["addressType: Invalid value: null: field is immutable"]
    );
}

/// The finalizers that protect storage in use, and the same data source in both fields of a claim.
#[test]
fn new_storage_is_protected_and_names_its_source_of_data_twice() {
    let new = |kind: &str, mut object: Value| {
        object["metadata"] = json!({"name": "t", "creationTimestamp": "2026-01-01T00:00:00Z"});
        let kind = kinds().kind("", "v1", kind).unwrap();
        admission::admit_create(kind, &mut object);
        defaults::set_initial_status(kind, &mut object);
        object
    };
    let stored = new("PersistentVolume", volume());
    assert_eq!(stored["metadata"]["finalizers"], json!(["kubernetes.io/pv-protection"]));
    assert_eq!(
        stored["status"],
        json!({"phase": "Pending", "lastPhaseTransitionTime": "2026-01-01T00:00:00Z"})
    );
    let with = |source: Value| {
        let mut claim = claim();
        change(&mut claim, &json!({"spec": source}));
        new("PersistentVolumeClaim", claim)
    };
    let source = json!({"kind": "PersistentVolumeClaim", "name": "other"});
    let stored = with(json!({"dataSource": source}));
    assert_eq!(stored["metadata"]["finalizers"], json!(["kubernetes.io/pvc-protection"]));
    assert_eq!(stored["spec"]["dataSourceRef"], source);
    assert_eq!(with(json!({"dataSourceRef": source}))["spec"]["dataSource"], source);
    let unknown = json!({"kind": "X", "name": "other"});
    assert!(
        with(json!({"dataSource": unknown}))["spec"].get("dataSource").is_none(),
        "dropped, as it always was"
    );
    let elsewhere = json!({"kind": "PersistentVolumeClaim", "name": "other", "namespace": "n"});
    assert!(with(json!({"dataSourceRef": elsewhere}))["spec"].get("dataSourceRef").is_none());
}
