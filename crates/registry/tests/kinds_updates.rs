//! Validation of changed objects and statuses, compared with Kubernetes 1.37.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests fail by panicking; recordings are files"
)]

use gantry_json::{Map, Value, json};
use gantry_primitives::Refusal;
use gantry_registry::validation::{self, ValidationReport};
use gantry_registry::{admission, defaults};
use gantry_schema::kinds::{Kind, kinds};

/// O3.1, O3.2, A2.19, A2.20: changes of immutable fields are refused with the recorded messages.
#[test]
fn immutable_fields_are_refused_as_recorded() {
    assert_eq!(replay("validation.updates_of_immutable_fields"), 5);
    assert_eq!(replay("validation.updates_of_services_and_jobs"), 5);
    assert_eq!(replay("objects.configmap_immutable"), 3);
    assert_eq!(replay("objects.secret_create"), 2);
    assert_eq!(replay("objects.rbac_create"), 1);
    assert_eq!(replay("writes.forced_fields"), 3);
    assert_eq!(replay("writes.owner_reference_update"), 2);
}

/// O1.1: a change of the strategy must remove the limits of a rolling update.
#[test]
fn a_strategy_changes_as_recorded() {
    assert_eq!(replay("objects.deployment_recreate"), 3);
}

/// O3.5: in a pod the image, the deadline and added tolerations may change.
#[test]
fn pods_change_as_recorded() {
    assert_eq!(replay("validation.updates_of_pods"), 11);
    assert_eq!(replay("pods.ephemeral_containers"), 4);
}

/// O3.4: a status whose counters are inconsistent is refused.
#[test]
fn statuses_are_validated_as_recorded() {
    assert_eq!(replay("writes.status_of_replicasets"), 6);
    assert_eq!(replay("pods.status_immutables"), 3);
    assert_eq!(replay("namespaces.finalize"), 3);
}

/// O3.2: no finalizer can be added to an object that is being deleted.
#[test]
fn no_finalizer_can_be_added_to_a_terminating_object() {
    let maps = kinds().kind("", "v1", "ConfigMap").unwrap();
    let deleted = |finalizers: Value| json!({"metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": finalizers}});
    let old = deleted(json!(["example.com/f"]));
    let found =
        validation::update(maps, &old, &deleted(json!(["example.com/f", "example.com/g", "example.com/a"])));
    assert_eq!(
        texts(&found),
        [
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new \
          finalizers []string{\"example.com/a\", \"example.com/g\"}"
        ]
    );
    assert_eq!(validation::update(maps, &old, &deleted(json!([]))), ValidationReport::default());
}

/// O3.4: only a Service of type LoadBalancer has addresses in its status.
#[test]
fn a_service_without_a_load_balancer_reports_no_addresses() {
    let services = kinds().kind("", "v1", "Service").unwrap();
    let service = |kind: &str, address: &str| json!({"metadata": {"name": "s"}, "spec": {"type": kind}, "status": {"loadBalancer": {"ingress": [{"ip": address}]}}});
    let old = json!({"metadata": {"name": "s"}});
    let errors =
        |kind: &str, address: &str| texts(&validation::status(services, &old, &service(kind, address)));
    assert_eq!(
        errors("ClusterIP", "1.2.3.4"),
        ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"]
    );
    assert_eq!(errors("LoadBalancer", "1.2.3.4"), [""; 0]);
    assert_eq!(errors("LoadBalancer", "x").len(), 1);
}

/// O3.4: the types of a pod's conditions are qualified names, and it has one address of each family.
#[test]
fn condition_types_of_a_pod_are_qualified_and_each_family_has_one_address() {
    let pods = kinds().kind("", "v1", "Pod").unwrap();
    let errors = |status: Value| {
        let pod = |status: Value| json!({"metadata": {"name": "p"}, "spec": {}, "status": status});
        texts(&validation::status(pods, &pod(json!({})), &pod(status)))
    };
    assert_eq!(errors(json!({"conditions": [{"type": "Ready"}, {"type": "example.com/x"}]})), [""; 0]);
    let unnamed = errors(json!({"conditions": [{"type": "Ready"}, {"type": ""}]}));
    assert_eq!(unnamed[0], "status.conditions[1].Type: Invalid value: \"\": name part must be non-empty");
    assert_eq!(errors(json!({"podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]})), [""; 0]);
    assert_eq!(
        errors(json!({"podIPs": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]})),
        [
            "status.podIPs: Invalid value: [{\"IP\":\"10.0.0.1\"},{\"IP\":\"10.0.0.2\"}]: may specify no more than one IP for \
          each IP family"
        ]
    );
}

/// O3.4: the count of collisions does not decrease.
#[test]
fn the_collision_count_does_not_decrease() {
    let deployments = kinds().kind("apps", "v1", "Deployment").unwrap();
    let counted = |count: i32| json!({"metadata": {"name": "web"}, "status": {"collisionCount": count}});
    let found = validation::status(deployments, &counted(2), &counted(1));
    assert_eq!(texts(&found), ["status.collisionCount: Invalid value: 1: cannot be decremented"]);
    assert_eq!(texts(&validation::status(deployments, &counted(1), &counted(2))), [""; 0]);
}

/// O4.3: a negative scale is refused as recorded, for any kind.
#[test]
fn replicas_are_not_negative() {
    let mut refused = 0;
    for exchange in recorded("writes.scale_refusals").iter().filter(|exchange| exchange["status"] == 422) {
        let found = validation::scale(&exchange["send"]);
        let status = Refusal::invalid("Scale", "autoscaling", "db", &found.errors).status();
        assert_eq!(status, exchange["body"]);
        refused += 1;
    }
    assert_eq!(refused, 2);
    assert_eq!(validation::scale(&json!({"spec": {"replicas": 0}})), ValidationReport::default());
}

/// A2.20: only some fields of the spec of a StatefulSet may change.
#[test]
fn most_fields_of_a_stateful_set_are_immutable() {
    let sets = kinds().kind("apps", "v1", "StatefulSet").unwrap();
    let pod =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
    let mut old = json!({
        "metadata": {"name": "db"},
        "spec": {"serviceName": "db", "selector": {"matchLabels": {"a": "b"}}, "template": pod},
    });
    defaults::apply(sets, &mut old);
    let mut scaled = old.clone();
    scaled["spec"]["replicas"] = json!(5);
    scaled["spec"]["template"]["spec"]["containers"][0]["image"] = json!("y");
    assert_eq!(validation::update(sets, &old, &scaled), ValidationReport::default());
    let mut renamed = old.clone();
    renamed["spec"]["serviceName"] = json!("other.name");
    assert_eq!(
        texts(&validation::update(sets, &old, &renamed)),
        ["spec.serviceName: Invalid value: \"other.name\": field is immutable"]
    );
}

/// A2.20: immutable fields of PriorityClasses, StorageClasses, ControllerRevisions and claims.
#[test]
fn classes_and_revisions_are_immutable() {
    let errors = |group: &str, kind: &str, old: Value, new: Value| {
        texts(&validation::update(kinds().kind(group, "v1", kind).unwrap(), &old, &new))
    };
    assert_eq!(
        errors("scheduling.k8s.io", "PriorityClass", json!({"value": 1}), json!({"value": 2})),
        ["value: Forbidden: may not be changed in an update."]
    );
    let class = |provisioner: &str| json!({"provisioner": provisioner, "volumeBindingMode": "Immediate"});
    assert_eq!(
        errors("storage.k8s.io", "StorageClass", class("a"), class("b")),
        ["provisioner: Invalid value: null: field is immutable"]
    );
    assert_eq!(
        errors("apps", "ControllerRevision", json!({"data": {"a": 1}}), json!({"data": {"a": 2}})),
        ["data: Invalid value: {\"a\":2}: field is immutable"]
    );
    let claim = |mode: &str, storage: &str| json!({"spec": {"accessModes": [mode], "resources": {"requests": {"storage": storage}}}, "status": {"phase": "Bound"}});
    let grown =
        errors("", "PersistentVolumeClaim", claim("ReadWriteOnce", "1Gi"), claim("ReadWriteOnce", "2Gi"));
    assert_eq!(grown, [""; 0]);
    let shared =
        errors("", "PersistentVolumeClaim", claim("ReadWriteOnce", "1Gi"), claim("ReadWriteMany", "1Gi"));
    assert_eq!(shared.len(), 1);
    assert!(shared[0].starts_with("spec: Forbidden: spec is immutable after creation"), "{shared:?}");
}

/// O3.5: scheduling gates of a pod may be removed, and its node selector may become more specific.
#[test]
fn gated_pods_can_get_a_narrower_node_selector() {
    let pods = kinds().kind("", "v1", "Pod").unwrap();
    let mut old = json!({
        "metadata": {"name": "p"},
        "spec": {"schedulingGates": [{"name": "g"}], "containers": [{"name": "c", "image": "x"}]},
    });
    defaults::apply(pods, &mut old);
    let mut new = old.clone();
    new["spec"]["schedulingGates"] = json!([]);
    new["spec"]["nodeSelector"] = json!({"disk": "ssd"});
    assert_eq!(validation::update(pods, &old, &new), ValidationReport::default());
    new["spec"]["schedulingGates"] = json!([{"name": "h"}]);
    let found = validation::update(pods, &old, &new);
    assert_eq!(
        texts(&found),
        [
            "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'h'"
        ]
    );
}

/// O2.3: an update gets warnings only about new problems.
#[test]
fn updates_get_warnings_about_new_problems_only() {
    let deployments = kinds().kind("apps", "v1", "Deployment").unwrap();
    let pod =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}});
    let mut old = json!({
        "metadata": {"name": "web.v1"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": pod},
    });
    defaults::apply(deployments, &mut old);
    assert_eq!(validation::create(deployments, &old).warnings.len(), 1);
    let mut new = old.clone();
    new["spec"]["template"]["spec"]["nodeSelector"] = json!({"beta.kubernetes.io/arch": "arm64"});
    new["metadata"]["generation"] = json!(2);
    assert_eq!(
        validation::update(deployments, &old, &new).warnings,
        [
            "spec.template.spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use \"kubernetes.io/arch\" \
          instead"
        ]
    );
}

/// Replays recorded requests; returns the number of updates that were validated.
fn replay(case: &str) -> usize {
    let mut stored: Map = Map::new();
    let mut validated = 0;
    for exchange in recorded(case) {
        let Some(request) = exchange["request"].as_str() else { continue };
        let (verb, url) = request.split_once(' ').unwrap();
        let path = Target::parse(url);
        let kind = path.kind;
        if verb == "POST" && exchange["status"] == 201 {
            let mut object = exchange["send"].clone();
            finish(kind, &mut object);
            let key = format!("{}/{}", kind.resource, object["metadata"]["name"].as_str().unwrap());
            stored.insert(key, object);
        }
        // Mismatches of name and namespace are found before validation.
        if !matches!(verb, "PUT" | "PATCH") || !matches!(exchange["status"].as_u64(), Some(200 | 422)) {
            continue;
        }
        let key = format!("{}/{}", kind.resource, path.name);
        let old = stored[&key].clone();
        let new = changed(&old, verb, &exchange, kind, path.subresource);
        let found = match path.subresource {
            "" | "finalize" => validation::update(kind, &old, &new),
            "status" => validation::status(kind, &old, &new),
            "ephemeralcontainers" => validation::ephemeral_containers(kind, &old, &new),
            other => panic!("{other}"),
        };
        validated += 1;
        if exchange["status"] == 200 {
            assert_eq!(found.errors, [], "{case}: {request} {}", exchange["send"]);
            stored.insert(key, new);
        } else {
            let status = Refusal::invalid(kind.kind, kind.group, path.name, &found.errors).status();
            assert_eq!(masked(&status), exchange["body"], "{case}: {request} {}", exchange["send"]);
        }
    }
    validated
}

/// The object after a write, as the server prepares it for validation.
fn changed(old: &Value, verb: &str, exchange: &Value, kind: &Kind, subresource: &str) -> Value {
    let sent = &exchange["send"];
    let mut new = if verb == "PUT" { sent.clone() } else { patched(old, exchange) };
    if verb == "PUT" && subresource == "finalize" {
        let mut whole = old.clone();
        whole["spec"] = new["spec"].clone();
        new = whole;
    }
    if kind.kind == "Pod" && subresource == "status" {
        // Only the status is written, and some metadata.
        new["metadata"].as_object_mut().unwrap().remove("deletionTimestamp");
    }
    if new["metadata"].get("creationTimestamp").is_some() {
        new["metadata"].as_object_mut().unwrap().remove("creationTimestamp");
    }
    finish(kind, &mut new);
    if kind.kind == "Service" && new["spec"]["clusterIP"] == json!("<allocated>") {
        // The recording hides this address, which is another one than the allocated one.
        new["spec"]["clusterIP"] = json!("10.200.200.200");
        new["spec"]["clusterIPs"] = json!(["10.200.200.200"]);
    }
    new
}

fn patched(old: &Value, exchange: &Value) -> Value {
    let mut new = old.clone();
    match &exchange["send"] {
        Value::Array(operations) => {
            assert_eq!(operations[0]["path"], "/spec/tolerations/-");
            new["spec"]["tolerations"].as_array_mut().unwrap().push(operations[0]["value"].clone());
        }
        patch => merge(&mut new, patch, exchange["content-type"] == "application/strategic-merge-patch+json"),
    }
    new
}

/// Applies a merge patch; a strategic one merges containers by name, new ones first.
fn merge(target: &mut Value, patch: &Value, strategic: bool) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, value) in fields {
        let slot = target.as_object_mut().unwrap();
        if value.is_null() {
            slot.remove(name);
        } else if strategic && name.to_lowercase().ends_with("containers") && slot.contains_key(name) {
            let list = slot[name].as_array_mut().unwrap();
            for element in value.as_array().unwrap() {
                match list.iter_mut().find(|one| one["name"] == element["name"]) {
                    Some(one) => merge(one, element, true),
                    None => list.insert(0, element.clone()),
                }
            }
        } else {
            merge(slot.entry(name.clone()).or_insert(Value::Null), value, strategic);
        }
    }
}

fn finish(kind: &Kind, object: &mut Value) {
    defaults::apply(kind, object);
    match kind.kind {
        "Pod" => {
            admission::admit_create(kind, object);
            if object["status"].is_null() {
                defaults::set_initial_status(kind, object);
            }
        }
        "Job" => {
            object["metadata"]["uid"] = json!("uid1");
            admission::admit_create(kind, object);
        }
        "Service" if object["spec"]["type"] != "ExternalName" && object["spec"]["clusterIP"].is_null() => {
            object["spec"]["clusterIP"] = json!("10.0.0.1");
        }
        _ => {}
    }
    let uid = &mut object["metadata"]["uid"];
    if uid.is_null() {
        *uid = json!("uid1");
    }
}

/// Removes what the recordings leave out: differences, and the whole template of a job.
fn masked(status: &Value) -> Value {
    let cut = |text: &str| {
        let mut text = text.to_owned();
        for end in ["if it was previously negative)", "\"debug\" may not be changed"] {
            if let Some(place) = text.find(end) {
                text.truncate(place + end.len());
                text.push_str("<diff>");
            }
        }
        if let (Some(start), Some(_)) = (text.find("Invalid value: {"), text.find("\"Spec\":{\"Volumes\"")) {
            text.truncate(start);
            text.push_str("Invalid value: <template>: field is immutable");
        }
        text
    };
    let mut status = status.clone();
    status["message"] = json!(cut(status["message"].as_str().unwrap()));
    for cause in status["details"]["causes"].as_array_mut().unwrap() {
        cause["message"] = json!(cut(cause["message"].as_str().unwrap()));
    }
    status
}

struct Target<'a> {
    kind: &'static Kind,
    name: &'a str,
    subresource: &'a str,
}

impl<'a> Target<'a> {
    fn parse(url: &'a str) -> Self {
        let path = url.split('?').next().unwrap();
        let parts: Vec<_> = path.split('/').skip(1).collect();
        let (group, rest) = if parts[0] == "api" { ("", &parts[1..]) } else { (parts[1], &parts[2..]) };
        let (version, mut rest) = (rest[0], &rest[1..]);
        if rest[0] == "namespaces" && rest.len() > 2 && kinds().resource(group, version, rest[2]).is_some() {
            rest = &rest[2..];
        }
        let part = |index: usize| rest.get(index).copied().unwrap_or("");
        let kind = kinds().resource(group, version, rest[0]).unwrap();
        Self { kind, name: part(1), subresource: part(2) }
    }
}

fn texts(found: &ValidationReport) -> Vec<String> {
    found.errors.iter().map(ToString::to_string).collect()
}

fn recorded(case: &str) -> Vec<Value> {
    let path = format!("{}/tests/recorded/{case}.json", env!("CARGO_MANIFEST_DIR"));
    gantry_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
