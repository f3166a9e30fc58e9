//! Fields that clients may write and that are not kept: they belong to features that are off, or were withdrawn.
//!
//! An object that an older version stored with such a field keeps it, as on Kubernetes: an update that leaves the field as it
//! is must not be taken for one that changes it, which for a pod would be refused.

use serde_json::{Map, Value};

use crate::kinds::Kind;

const POD: [&str; 2] = ["schedulingGroup", "evictionResponders"];
const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];
const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];

/// Is told of every place of a field that is not kept: the map that holds it, and its name.
type Visit<'a> = dyn FnMut(&mut Map<String, Value>, &str) + 'a;

/// Removes what is not kept of an object of this kind, unless the stored one has such fields. The client that wrote them is
/// still noted as their owner.
pub(super) fn drop_unserved(object: &mut Value, stored: Option<&Value>, kind: &Kind) {
    if (kind.group, kind.kind) == ("", "ServiceAccount") {
        keep_names_of_secrets(object);
    }
    if is_any_unserved(object, kind)
        && !stored.is_some_and(|stored| is_any_unserved(&mut stored.clone(), kind))
    {
        visit(object, kind, &mut |holder, field| {
            holder.remove(field);
        });
    }
}

fn is_any_unserved(object: &mut Value, kind: &Kind) -> bool {
    let mut is_any = false;
    visit(object, kind, &mut |holder, field| is_any |= holder.contains_key(field));
    is_any
}

fn visit(object: &mut Value, kind: &Kind, found: &mut Visit<'_>) {
    match (kind.group, kind.kind) {
        ("", "Node") => fields(object, "/spec", &["configSource", "podPreemptionPolicy"], found),
        ("coordination.k8s.io", "Lease") => fields(object, "/spec", &["strategy", "preferredHolder"], found),
        ("", "Pod") => pod(object, "/spec", found),
        ("", "PodTemplate") => pod(object, "/template/spec", found),
        ("apps", _) | ("", "ReplicationController") => pod(object, "/spec/template/spec", found),
        ("batch", "Job") => {
            fields(object, "/spec", &["scheduling"], found);
            pod(object, "/spec/template/spec", found);
        }
        ("batch", "CronJob") => {
            fields(object, "/spec/jobTemplate/spec", &["scheduling"], found);
            pod(object, "/spec/jobTemplate/spec/template/spec", found);
        }
        _ => {}
    }
}

fn fields(object: &mut Value, holder: &str, names: &[&str], found: &mut Visit<'_>) {
    if let Some(Value::Object(holder)) = object.pointer_mut(holder) {
        for name in names {
            found(holder, name);
        }
    }
}

fn pod(object: &mut Value, spec: &str, found: &mut Visit<'_>) {
    fields(object, spec, &POD, found);
    let Some(Value::Object(spec)) = object.pointer_mut(spec) else { return };
    for field in CONTAINERS {
        let containers = spec.get_mut(field).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            visit_container(container, found);
        }
    }
}

fn visit_container(container: &mut Map<String, Value>, found: &mut Visit<'_>) {
    for probe in PROBES {
        if let Some(Value::Object(grpc)) = container.get_mut(probe).and_then(|probe| probe.get_mut("grpc")) {
            found(grpc, "mode");
        }
    }
    if let Some(Value::Object(lifecycle)) = container.get_mut("lifecycle") {
        let was_empty = lifecycle.is_empty();
        found(lifecycle, "stopSignal");
        // A lifecycle that said nothing else is none.
        if lifecycle.is_empty() && !was_empty {
            container.remove("lifecycle");
        }
    }
}

/// Of the secrets that an account mentions nothing but the names is kept.
fn keep_names_of_secrets(object: &mut Value) {
    let Some(Value::Array(secrets)) = object.get_mut("secrets") else { return };
    for secret in secrets.iter_mut().filter_map(Value::as_object_mut) {
        secret.retain(|field, _| field == "name");
    }
}
