//! Validates resizes of pods: CPU and memory of containers may change, the QoS class may not.

use gantry_json::{Value, json};

use crate::defaults::qos;
use crate::pods::parts::put;
use crate::validation::error_list::{ErrorList, Path, is_set, list, members, text};
use crate::validation::semantically_equal;

const CONTAINER: &str = "core/v1.Container";
const CONTAINERS: [&str; 2] = ["initContainers", "containers"];
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
    if !has_same_containers(errors, &at, old, new) {
        return;
    }
    let pairs = |field| list(&old["spec"], field).iter().zip(list(&new["spec"], field)).enumerate();
    for field in CONTAINERS {
        for (index, (before, after)) in pairs(field) {
            let at = at.child(field);
            nothing_removed(errors, &at.index(index), &before["resources"], &after["resources"]);
        }
    }
    for (_, (before, after)) in pairs("containers") {
        if !semantically_equal(CONTAINER, before, &with_amounts_undone(before, after)) {
            errors.forbidden(&at, "only cpu and memory resources are mutable");
        }
    }
    for (index, (before, after)) in pairs("initContainers") {
        let at = at.child("initContainers");
        init_container(errors, &at.index(index), before, after);
    }
}

fn init_container(errors: &mut ErrorList, at: &Path<'_>, before: &Value, after: &Value) {
    if !semantically_equal(CONTAINER, before, &with_amounts_undone(before, after)) {
        errors.forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable");
    }
    let is_sidecar = text(after, "restartPolicy") == "Always";
    if !is_sidecar && !semantically_equal(CONTAINER, before, after) {
        let restarts = |policy: &&Value| text(policy, "restartPolicy") == "RestartContainer";
        for _ in list(after, "resizePolicy").iter().filter(restarts) {
            let why =
                "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
            errors.forbidden(at, why);
        }
    }
}

/// Whether both pods have containers of the same names in the same order.
fn has_same_containers(errors: &mut ErrorList, at: &Path<'_>, old: &Value, new: &Value) -> bool {
    let errors_before = errors.all.len();
    for field in ["containers", "initContainers"] {
        let (before, after) = (list(&old["spec"], field), list(&new["spec"], field));
        let at = at.child(field);
        if before.len() != after.len() {
            errors.forbidden(&at, format!("{field} may not be added or removed on resize"));
            continue;
        }
        for (index, (before, after)) in before.iter().zip(after).enumerate() {
            if text(before, "name") != text(after, "name") {
                let why = format!("{field} may not be renamed or reordered on resize");
                errors.forbidden(&at.index(index).child("name"), why);
            }
        }
    }
    errors.all.len() == errors_before
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

/// Returns the new container with all allowed changes undone.
fn with_amounts_undone(old: &Value, new: &Value) -> Value {
    let mut container = new.clone();
    for amounts in AMOUNTS {
        undo(&mut container, old, amounts);
    }
    container
}

fn undo(container: &mut Value, before: &Value, amounts: &str) {
    let was = &before["resources"][amounts];
    let mut undone = container["resources"][amounts].as_object().cloned().unwrap_or_default();
    for resource in ["cpu", "memory"] {
        match was.get(resource) {
            Some(amount) => undone.insert(resource.to_owned(), amount.clone()),
            None => undone.remove(resource),
        };
    }
    let undone = Value::Object(undone);
    if let Some(resources) = container.get_mut("resources") {
        put(resources, amounts, (!was.is_null() || undone != json!({})).then_some(&undone));
    }
}
