//! Validates resizes of pods: CPU and memory of containers may change, the QoS class may not.

use serde_json::{Value, json};

use crate::defaults::qos;
use crate::pods::parts::put;
use crate::validation::error_list::{ErrorList, Path, is_set, list, members, text};
use crate::validation::semantically_equal;

const SPEC: &str = "core/v1.PodSpec";
const CONTAINERS: [&str; 2] = ["containers", "initContainers"];
const AMOUNTS: [&str; 2] = ["requests", "limits"];

/// Validates a resize; only the resources of containers were taken from the request.
pub(crate) fn resize(errors: &mut ErrorList, old: &Value, new: &Value) {
    let at = Path::new("spec");
    if text(&old["spec"]["os"], "name") == "windows" {
        return errors.forbidden(&Path::new(""), "windows pods cannot be resized");
    }
    let class = |pod: &Value| pod.as_object().map(qos::class);
    if class(old) != class(new) {
        let promised = json!(text(&old["status"], "qosClass"));
        errors.invalid(&at, &promised, "Pod QOS Class may not change as a result of resizing");
    }
    if !is_resizable(old) {
        errors.forbidden(&at, "Pod running on node without support for resize");
    }
    for field in CONTAINERS {
        let before = list(&old["spec"], field);
        for (index, container) in list(&new["spec"], field).iter().enumerate() {
            let Some(before) = before.get(index) else { continue };
            nothing_removed(
                errors,
                &at.child(field).index(index),
                &before["resources"],
                &container["resources"],
            );
        }
    }
    if !semantically_equal(SPEC, &old["spec"], &with_amounts_undone(&old["spec"], &new["spec"])) {
        errors.forbidden(&at, "only cpu and memory resources are mutable");
    }
}

fn nothing_removed(errors: &mut ErrorList, at: &Path<'_>, old: &Value, new: &Value) {
    let at = at.child("resources");
    for field in AMOUNTS {
        if members(old, field).any(|(resource, _)| !is_set(&new[field], resource)) {
            errors.forbidden(&at.child(field), format!("resource {field} cannot be removed"));
        }
    }
}

/// Whether the kubelet reports resources of containers, and so can resize them.
fn is_resizable(pod: &Value) -> bool {
    let running =
        list(&pod["status"], "containerStatuses").iter().find(|one| is_set(&one["state"], "running"));
    running.is_none_or(|one| is_set(one, "resources"))
}

/// Returns the new spec with all allowed changes undone.
fn with_amounts_undone(old: &Value, new: &Value) -> Value {
    let mut spec = new.clone();
    for field in CONTAINERS {
        let before = list(old, field);
        let containers = spec.get_mut(field).and_then(Value::as_array_mut);
        for (container, before) in containers.into_iter().flatten().zip(before) {
            for amounts in AMOUNTS {
                undo(container, before, amounts);
            }
            put(container, "resizePolicy", before.get("resizePolicy"));
        }
    }
    spec
}

fn undo(container: &mut Value, before: &Value, amounts: &str) {
    let was = before["resources"][amounts].as_object().map(|was| {
        let mut undone = container["resources"][amounts].as_object().cloned().unwrap_or_default();
        for resource in ["cpu", "memory"] {
            match was.get(resource) {
                Some(amount) => undone.insert(resource.to_owned(), amount.clone()),
                None => undone.remove(resource),
            };
        }
        Value::Object(undone)
    });
    if let Some(resources) = container.get_mut("resources") {
        put(resources, amounts, was.as_ref());
    }
}
