//! Fields of pods that belong to features which are off: clients may write them, and they are not kept.

use serde_json::{Map, Value};

use crate::kinds::Kind;

const SPEC: [&str; 2] = ["schedulingGroup", "evictionResponders"];
const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];
const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];

/// Removes what is not kept from a pod, or from the template that an object makes pods from. The client that wrote it is
/// still noted as its owner.
pub(super) fn drop_unserved(object: &mut Value, kind: &Kind) {
    let spec = match (kind.group, kind.kind) {
        ("", "Pod") => "/spec",
        ("", "PodTemplate") => "/template/spec",
        ("apps", _) | ("", "ReplicationController") | ("batch", "Job") => "/spec/template/spec",
        ("batch", "CronJob") => "/spec/jobTemplate/spec/template/spec",
        _ => return,
    };
    if let Some(Value::Object(spec)) = object.pointer_mut(spec) {
        of_pod(spec);
    }
    let job = match kind.kind {
        "Job" => "/spec",
        "CronJob" => "/spec/jobTemplate/spec",
        _ => return,
    };
    if let Some(Value::Object(spec)) = object.pointer_mut(job) {
        spec.remove("scheduling");
    }
}

fn of_pod(spec: &mut Map<String, Value>) {
    spec.retain(|field, _| !SPEC.contains(&field.as_str()));
    for field in CONTAINERS {
        let containers = spec.get_mut(field).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            of_container(container);
        }
    }
}

fn of_container(container: &mut Map<String, Value>) {
    for probe in PROBES {
        if let Some(Value::Object(grpc)) = container.get_mut(probe).and_then(|probe| probe.get_mut("grpc")) {
            grpc.remove("mode");
        }
    }
    if let Some(Value::Object(lifecycle)) = container.get_mut("lifecycle")
        && lifecycle.remove("stopSignal").is_some()
        && lifecycle.is_empty()
    {
        container.remove("lifecycle");
    }
}
