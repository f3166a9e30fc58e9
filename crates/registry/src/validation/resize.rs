//! What may change in a pod that is resized: how much processor and memory its containers get, not which promise that is.

use serde_json::{Value, json};

use super::error_list::{ErrorList, Path, is_set, list, members, text};
use super::same;
use crate::defaults::quality;
use crate::pods::parts::put;

const SPEC: &str = "core/v1.PodSpec";
const CONTAINERS: [&str; 2] = ["containers", "initContainers"];
const AMOUNTS: [&str; 2] = ["requests", "limits"];

/// A resized pod; nothing but the resources of its containers was taken over from the request.
pub(crate) fn resize(errors: &mut ErrorList, old: &Value, new: &Value) {
    let at = Path::new("spec");
    if text(&old["spec"]["os"], "name") == "windows" {
        return errors.forbidden(&Path::new(""), "windows pods cannot be resized");
    }
    let class = |pod: &Value| pod.as_object().map(quality::class);
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
    if !same(SPEC, &old["spec"], &with_amounts_undone(&old["spec"], &new["spec"])) {
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

/// A node that does not tell what its containers have does not know how to change it.
fn is_resizable(pod: &Value) -> bool {
    let running =
        list(&pod["status"], "containerStatuses").iter().find(|one| is_set(&one["state"], "running"));
    running.is_none_or(|one| is_set(one, "resources"))
}

/// The new spec with everything that may change as it was.
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
