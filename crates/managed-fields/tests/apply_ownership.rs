//! Owners after writes of several recordings: creations of every kind, updates, patches and writes to subresources.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeMap;

use gantry_json::{Value, json};
use gantry_managed_fields::ownership::{FieldSet, ManagedFields, ReplicasField, Write, track_update};
use gantry_schema::kinds::Nature;
use gantry_schema::schema::schema;

fn recorded(name: &str) -> Vec<Value> {
    let path = format!("{}/../registry/tests/recorded/{name}.json", env!("CARGO_MANIFEST_DIR"));
    #[expect(clippy::disallowed_methods, reason = "a test reads its data")]
    let text = std::fs::read_to_string(path).unwrap();
    gantry_json::from_str(&text).unwrap()
}

fn nature_of(object: &Value) -> Nature {
    let version = object["apiVersion"].as_str().unwrap();
    let (group, version) = version.split_once('/').unwrap_or(("core", version));
    let group = group.split('.').next().unwrap();
    schema().find(&format!("{group}/{version}.{}", object["kind"].as_str().unwrap())).unwrap().into()
}

fn entries(object: &Value) -> Vec<Value> {
    let mut entries = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    entries.sort_by_key(ToString::to_string);
    entries
}

fn track(old: Option<&Value>, new: &mut Value, request: &str) {
    let path = request.split('?').next().unwrap();
    let subresource = match path.rsplit('/').next() {
        Some("status") => "status",
        Some("finalize") => "finalize",
        Some("scale") => "scale",
        _ => "",
    };
    let manager = request.split("fieldManager=").nth(1).and_then(|rest| rest.split('&').next());
    let reset = FieldSet::of_fields(if subresource == "status" { &["spec"] } else { &["status"] });
    let api_version = new["apiVersion"].as_str().unwrap().to_owned();
    let (kind, nature) = (new["kind"].as_str().unwrap().to_owned(), nature_of(new));
    let write = Write {
        kind: &kind,
        nature: &nature,
        api_version: &api_version,
        subresource,
        manager: manager.unwrap_or("conformance"),
        reset: &reset,
        now: "<time>",
    };
    track_update(old, new, &write);
}

/// Fields of a kind that admission, allocation and preparation add unless they were sent.
fn added_by_the_server(kind: &str) -> &'static [&'static str] {
    match kind {
        "Pod" => &["spec.priority", "spec.preemptionPolicy", "spec.tolerations"],
        "Service" => &["spec.clusterIP", "spec.clusterIPs", "spec.ipFamilies", "spec.ipFamilyPolicy"],
        "Job" => &["metadata.labels", "spec.selector", "spec.template.metadata.labels"],
        "Namespace" => &["spec.finalizers"],
        "Node" => &["spec.taints"],
        _ => &[],
    }
}

/// Returns the created object without the fields that the server added.
fn before_admission(sent: &Value, response: &Value) -> Value {
    let mut object = response.clone();
    for path in added_by_the_server(response["kind"].as_str().unwrap()) {
        let pointer = format!("/{}", path.replace('.', "/"));
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        if sent.pointer(&pointer).is_none()
            && let Some(parent) = object.pointer_mut(parent).and_then(Value::as_object_mut)
        {
            parent.remove(name);
        }
    }
    let ports = object.pointer_mut("/spec/ports").and_then(Value::as_array_mut);
    for (index, port) in ports.into_iter().flatten().enumerate() {
        if sent["spec"]["ports"][index].get("nodePort").is_none() {
            port.as_object_mut().unwrap().remove("nodePort");
        }
    }
    object["metadata"].as_object_mut().unwrap().remove("managedFields");
    object
}

/// A3.13 to A3.16: the creator of an object owns the fields that were sent or defaulted, and none that the server
/// added.
#[test]
fn a_creator_owns_sent_and_defaulted_fields() {
    let mut kinds = BTreeMap::new();
    for case in [
        "configmap_create",
        "cronjob_create",
        "daemonset_create",
        "deployment_full",
        "deployment_minimal",
        "endpoints_and_slices",
        "hpa_create",
        "job_create",
        "lease_create",
        "namespace_create",
        "node_create",
        "pdb_create",
        "plain_kinds",
        "pod_minimal",
        "pod_rich",
        "pod_with_node_name",
        "rbac_create",
        "replicaset_minimal",
        "replicationcontroller_create",
        "resourcequota_create",
        "secret_create",
        "service_cluster_ip",
        "service_kinds",
        "serviceaccount_create",
        "statefulset_create",
    ] {
        for exchange in recorded(&format!("objects.{case}")) {
            let (request, response) = (exchange["request"].as_str().unwrap_or(""), &exchange["body"]);
            if !request.starts_with("POST") || response["metadata"].get("managedFields").is_none() {
                continue;
            }
            let mut new = before_admission(&exchange["send"], response);
            if new["status"] == "<hidden>" {
                new.as_object_mut().unwrap().remove("status");
            }
            track(None, &mut new, request);
            assert_eq!(entries(&new), entries(response), "{case}: {request}");
            *kinds.entry(response["kind"].to_string()).or_insert(0) += 1;
        }
    }
    assert!(kinds.len() > 20, "{kinds:?}");
}

/// A3.13, A3.15, A3.16: updates, patches and writes to `/status`, in sequence.
#[test]
fn writers_own_the_fields_that_they_change() {
    let mut writes = 0;
    for case in [
        "writes.no_op",
        "writes.no_op_by_another_manager",
        "writes.put",
        "writes.status_of_pods",
        "writes.status_of_deployments",
        "writes.status_subresource_put",
        "writes.forced_fields",
        "objects.namespace_create",
        "objects.service_cluster_ip",
        "objects.deployment_recreate",
    ] {
        let mut stored: BTreeMap<String, Value> = BTreeMap::new();
        for exchange in recorded(case) {
            let (request, response) = (exchange["request"].as_str().unwrap_or(""), &exchange["body"]);
            let uid = response["metadata"]["uid"].as_str().unwrap_or("");
            if uid.is_empty() || response["kind"] == "Status" {
                continue;
            }
            let mut response = response.clone();
            if response["status"] == "<hidden>" {
                response.as_object_mut().unwrap().remove("status");
            }
            if let Some(old) = stored.get(uid)
                && (request.starts_with("PUT") || request.starts_with("PATCH"))
            {
                let mut new = response.clone();
                new["metadata"].as_object_mut().unwrap().remove("managedFields");
                track(Some(old), &mut new, request);
                assert_eq!(entries(&new), entries(&response), "{case}: {request}");
                writes += 1;
            }
            stored.insert(uid.to_owned(), response);
        }
    }
    assert!(writes > 20, "{writes}");
}

/// A3.18: scaling takes the replicas from their owner; replicas of zero, which a Scale omits, have no owner.
#[test]
fn ownership_of_replicas_follows_writes_to_the_scale() {
    let exchanges = recorded("writes.scale_write");
    let mut parent = exchanges[0]["body"].clone();
    let mut replicas = json!({"replicas": 1});
    for exchange in exchanges[1..7].iter().filter(|exchange| exchange["status"] == 200) {
        let owners = ManagedFields::of(&parent);
        let mut scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "db"}});
        scale["spec"] = replicas;
        ReplicasField::Usual.to_scale(&owners).store(&mut scale);
        let mut scaled = scale.clone();
        scaled["spec"] = exchange["body"]["spec"].clone();
        track(Some(&scale), &mut scaled, exchange["request"].as_str().unwrap());
        replicas = scaled["spec"].clone();
        ReplicasField::Usual.to_parent(&owners, &ManagedFields::of(&scaled), "apps/v1").store(&mut parent);
        let by_scale = |entry: &&Value| entry["subresource"] == "scale";
        let owner = entries(&parent).iter().find(by_scale).cloned();
        let expected = replicas.get("replicas").map(|_| json!({"f:spec": {"f:replicas": {}}}));
        assert_eq!(owner.map(|entry| entry["fieldsV1"].clone()), expected, "{}", exchange["request"]);
    }
    assert_eq!(entries(&parent), entries(&exchanges[7]["body"]));
}
