//! Recorded patches, compared with the responses of Kubernetes: each is applied to the object before it.
//!
//! Only the result of the patch itself is compared. Later steps are simplified: status and the rest are kept apart, and
//! members that defaulting adds are known by name.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::disallowed_methods, reason = "the recordings are files")]

use gantry_json::{Value, json};
use gantry_patch::{self as patch, PatchKind};
use gantry_primitives::Refusal;
use gantry_schema::schema::{MessageId, schema};

fn exchanges(case: &str) -> Vec<Value> {
    let path = format!("{}/../registry/tests/recorded/patches.{case}.json", env!("CARGO_MANIFEST_DIR"));
    gantry_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The Deployment that most cases start from, which they do not record.
fn web(change: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "NS", "uid": "uid1", "creationTimestamp": "<time>"},
        "spec": {
            "replicas": 2, "paused": true, "selector": {"matchLabels": {"app": "web"}},
            "progressDeadlineSeconds": 600, "revisionHistoryLimit": 10,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "nginx:1"}], "securityContext": {}},
            },
        },
    });
    for (pointer, value) in change.as_object().unwrap() {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        object.pointer_mut(parent).unwrap()[name] = value.clone();
    }
    object
}

const CONTAINERS: &str = "/spec/template/spec/containers";
const VOLUMES: &str = "/spec/template/spec/volumes";
const NODE_SELECTOR: &str = "/spec/template/spec/nodeSelector";

/// The object before the first exchange of a case that starts with a patch.
fn start(case: &str) -> Value {
    let abc =
        json!([{"name": "a", "image": "x:1"}, {"name": "b", "image": "x:1"}, {"name": "c", "image": "x:1"}]);
    web(&match case {
        "strategic_containers" | "strategic_order" => json!({CONTAINERS: abc}),
        "strategic_replace" => json!({
            CONTAINERS: [
                {"name": "a", "image": "x:1", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}},
                {"name": "b", "image": "x:1"},
            ],
            NODE_SELECTOR: {"a": "1", "b": "2"},
        }),
        "strategic_delete_map" => json!({
            "/metadata/labels": {"a": "1"},
            "/spec/strategy": {"rollingUpdate": {"maxSurge": 3}},
            NODE_SELECTOR: {"a": "1"},
        }),
        "strategic_merge_directive" => json!({NODE_SELECTOR: {"a": "1"}}),
        "strategic_retain_keys" => json!({VOLUMES: [{"name": "v", "emptyDir": {}}]}),
        "strategic_env_ports_mounts" => json!({
            CONTAINERS: [{
                "name": "c", "image": "x:1", "args": ["a", "b"],
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                "ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 443}],
                "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            }],
            VOLUMES: [{"name": "v"}],
            "/spec/template/spec/tolerations": [{"key": "k", "operator": "Exists"}],
        }),
        "strategic_as_kubectl_apply" => json!({
            CONTAINERS: [{"name": "a", "image": "x:1"}, {"name": "b", "image": "x:1"}],
            "/metadata/labels": {"l": "1"},
            "/metadata/annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}\n"},
        }),
        "json_as_kubectl_undo" => json!({"/metadata/annotations": {"a": "1"}}),
        "merge" | "strategic_maps" => json!({"/metadata/labels": {"a": "1", "b": "2"}}),
        "strategic_conditions" => {
            return json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                "status": {"phase": "Pending", "qosClass": "BestEffort"},
            });
        }
        _ => json!({}),
    })
}

/// Whether defaulting adds this member after the patches of these cases.
fn is_default(name: &str, value: &Value) -> bool {
    let defaults = json!({
        "protocol": ["TCP"], "imagePullPolicy": ["IfNotPresent", "Always"], "resources": [{}], "type": ["", "RollingUpdate"],
        "terminationMessagePath": ["/dev/termination-log"], "terminationMessagePolicy": ["File"],
        "apiVersion": ["v1"], "lastProbeTime": [null], "lastTransitionTime": [null], "emptyDir": [{}],
        "maxSurge": ["25%"], "maxUnavailable": ["25%"], "dnsPolicy": ["ClusterFirst"], "restartPolicy": ["Always"],
        "schedulerName": ["default-scheduler"], "terminationGracePeriodSeconds": [30], "securityContext": [{}],
        "replicas": [1],
    });
    defaults[name].as_array().is_some_and(|values| values.contains(value))
}

/// Whether the response equals the patched object, except for defaults and empty members.
fn agrees(patched: &Value, response: &Value) -> bool {
    match (patched, response) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let empty = |value: &Value| value.is_null() || *value == json!({}) || *value == json!([]);
            ours.iter()
                .all(|(name, value)| theirs.get(name).map_or(empty(value), |their| agrees(value, their)))
                && theirs.iter().all(|(name, value)| ours.contains_key(name) || is_default(name, value))
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| agrees(ours, theirs))
        }
        (ours, theirs) => ours == theirs,
    }
}

/// The object without members that patches do not determine.
fn masked(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata
            .retain(|name, _| !["resourceVersion", "generation", "managedFields"].contains(&name.as_str()));
    }
    if object["kind"] == "Deployment" {
        object["status"] = Value::Null;
    }
    object
}

/// The part of the object that the response contains.
fn shown(object: &Value, exchange: &Value) -> Value {
    let at = |pointer: &str| object.pointer(pointer).cloned().unwrap_or(Value::Null);
    let (response, sent) = (&exchange["body"], &exchange["send"]);
    let pod_spec = &sent["spec"]["template"]["spec"];
    if response["kind"] == "PartialObjectMetadata" {
        json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": at("/metadata")})
    } else if response.get("kind").is_some() {
        object.clone()
    } else if response.is_number() {
        at("/spec/replicas")
    } else if response["phase"].is_string() {
        at("/status")
    } else if sent["spec"].get("strategy").is_some() {
        at("/spec/strategy")
    } else if !sent["metadata"].is_null() {
        at("/metadata/finalizers")
    } else if pod_spec.get("nodeSelector").is_some() {
        at(NODE_SELECTOR)
    } else if pod_spec.get("tolerations").is_some() {
        json!([at(VOLUMES), at("/spec/template/spec/tolerations")])
    } else if pod_spec.get("volumes").is_some() {
        at(VOLUMES)
    } else if response[0].is_array() {
        let containers = at(CONTAINERS);
        containers.as_array().unwrap().iter().map(|one| json!([one["name"], one["image"]])).collect()
    } else if response.is_array() {
        at(CONTAINERS)
    } else {
        let members = response.as_object().unwrap();
        members.keys().map(|name| (name.clone(), at(&format!("{CONTAINERS}/0/{name}")))).collect()
    }
}

fn kind_of(exchange: &Value) -> PatchKind {
    match exchange["content-type"].as_str().unwrap() {
        "application/json-patch+json" => PatchKind::Json,
        "application/merge-patch+json" => PatchKind::Merge,
        "application/strategic-merge-patch+json" => PatchKind::Strategic,
        other => panic!("{other}"),
    }
}

fn shape_of(object: &Value) -> MessageId {
    let kind = object["kind"].as_str().unwrap();
    let group = match kind {
        "Deployment" | "StatefulSet" => "apps",
        "Lease" => "coordination",
        _ => "core",
    };
    schema().find(&format!("{group}/v1.{kind}")).unwrap()
}

/// Keeps the part that a patch may change: through `/status` only the status, otherwise everything else.
fn kept_apart(current: &Value, patched: Value, request: &str) -> Value {
    let through_status = request.split('?').next().unwrap().ends_with("/status");
    let (mut whole, status) =
        if through_status { (current.clone(), patched) } else { (patched, current.clone()) };
    whole["status"] = status["status"].clone();
    whole
}

/// Whether the refusal comes from a step after the patch: storage, decoding, validation.
fn refused_later(message: &str) -> bool {
    let later = ["not found", "Operation cannot be fulfilled", "the name of the object", " is invalid: "];
    later.iter().any(|words| message.contains(words))
}

/// The body as it was sent; a string is text that the recorder did not encode.
fn body_of(exchange: &Value) -> Result<Value, Refusal> {
    match &exchange["send"] {
        Value::String(text) => gantry_json::from_str(text).map_err(|_| patch::not_json()),
        body => Ok(body.clone()),
    }
}

fn replay(case: &str) -> usize {
    let mut current = start(case);
    let mut count = 0;
    let all = exchanges(case);
    for (number, exchange) in all.iter().enumerate() {
        let request = exchange["request"].as_str().unwrap();
        let response = &exchange["body"];
        if !request.starts_with("PATCH") {
            if response["kind"] == exchange["send"]["kind"] && response["kind"] != "Status" {
                current = response.clone();
            } else if request.starts_with("POST") {
                // Only the status was recorded; the rest is in the next response.
                current = all[number + 1]["body"].clone();
                current["status"] = response.clone();
            }
            continue;
        }
        count += 1;
        let story = format!("{case}, exchange {number}: {}", exchange["send"]);
        let kind = kind_of(exchange);
        let outcome = body_of(exchange)
            .and_then(|body| patch::apply(kind, &current, &shape_of(&current).into(), &body));
        match outcome {
            Err(refusal) => assert_eq!(&refusal.status(), response, "{story}"),
            Ok(patched) if exchange["status"] == 200 => {
                let patched = kept_apart(&current, patched, request);
                let (ours, theirs) = (shown(&masked(&patched), exchange), masked(response));
                let defaulted = response.is_number() && patched["spec"].get("replicas").is_none();
                assert!(defaulted || agrees(&ours, &theirs), "{story}\nours   {ours}\ntheirs {theirs}");
                if !request.contains("dryRun=All") {
                    current = if response["kind"] == current["kind"] { response.clone() } else { patched };
                }
            }
            Ok(patched) => {
                let message = response["message"].as_str().unwrap();
                assert!(refused_later(message), "{story}: {message}");
                if let Some(why) =
                    message.strip_prefix(" \"\" is invalid: patch: Invalid value: \"<patched>\": ")
                {
                    let refusal = patch::undecodable(kind, &exchange["send"], &patched, why);
                    assert_eq!(worded(&refusal), *response, "{story}");
                }
            }
        }
    }
    count
}

/// The status of a refusal, with the value masked that recordings mask.
fn worded(refusal: &Refusal) -> Value {
    let mut status = refusal.status();
    let masked = |text: &str| {
        let (before, rest) = text.split_once("Invalid value: \"").unwrap();
        let (_, why) = rest.rsplit_once("\": ").unwrap();
        json!(format!("{before}Invalid value: \"<patched>\": {why}"))
    };
    status["message"] = masked(&refusal.message);
    let cause = &mut status["details"]["causes"][0]["message"];
    *cause = masked(cause.as_str().unwrap());
    status
}

/// A3.4, A3.5: operations, deviations and refusals of JSON patches.
#[test]
fn json_patches_have_the_recorded_results() {
    let cases = ["operations", "replace_absent", "failures", "wrong_result", "as_kubectl_undo", "optimistic"];
    assert_eq!(cases.map(|case| replay(&format!("json_{case}"))), [5, 4, 7, 5, 1, 2]);
}

/// A3.2, A3.3, A3.6: merge patches, through the object and its status.
#[test]
fn merge_patches_have_the_recorded_results() {
    let cases = ["merge", "merge_failures", "merge_optimistic", "patch_forms", "status_patch"];
    assert_eq!(cases.map(replay), [4, 6, 4, 3, 4]);
}

/// A3.7, A3.8, A3.9, A3.10, A3.11: directives, lists and their order, refusals.
#[test]
fn strategic_merge_patches_have_the_recorded_results() {
    let cases = [
        ("maps", 2),
        ("containers", 5),
        ("order", 6),
        ("replace", 3),
        ("delete_map", 1),
        ("merge_directive", 3),
        ("retain_keys", 5),
        ("finalizers", 5),
        ("owner_references", 4),
        ("env_ports_mounts", 7),
        ("conditions", 4),
        ("errors", 6),
        ("as_kubectl_apply", 1),
        ("as_kubectl_rollout", 3),
    ];
    for (case, patches) in cases {
        assert_eq!(replay(&format!("strategic_{case}")), patches, "{case}");
    }
}
