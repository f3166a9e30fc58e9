//! What may change in a pod that is resized: how much processor and memory its containers get, not which promise that is.

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, list, members, text};
use super::same;
use crate::defaults::quality;
use crate::pods::parts::put;

const CONTAINER: &str = "core/v1.Container";
const CONTAINERS: [&str; 2] = ["initContainers", "containers"];
const AMOUNTS: [&str; 2] = ["requests", "limits"];

/// A resized pod; nothing but the resources of its containers was taken over from the request.
pub(super) fn resize(found: &mut Found, old: &Value, new: &Value) {
    let at = Path::new("spec");
    if text(&old["spec"]["os"], "name") == "windows" {
        return found.forbidden(&Path::new(""), "windows pods cannot be resized");
    }
    let class = |pod: &Value| pod.as_object().map(quality::class);
    if class(old) != class(new) {
        let promised = json!(text(&old["status"], "qosClass"));
        found.invalid(&at, &promised, "Pod QOS Class may not change as a result of resizing");
    }
    if !is_resizable(old) {
        found.forbidden(&at, "Pod running on node without support for resize");
    }
    if !has_same_containers(found, &at, old, new) {
        return;
    }
    let pairs = |field| list(&old["spec"], field).iter().zip(list(&new["spec"], field)).enumerate();
    for field in CONTAINERS {
        for (index, (before, after)) in pairs(field) {
            let at = at.child(field);
            nothing_removed(found, &at.index(index), &before["resources"], &after["resources"]);
        }
    }
    for (_, (before, after)) in pairs("containers") {
        if !same(CONTAINER, before, &with_amounts_undone(before, after)) {
            found.forbidden(&at, "only cpu and memory resources are mutable");
        }
    }
    for (index, (before, after)) in pairs("initContainers") {
        let at = at.child("initContainers");
        let at = at.index(index);
        if !same(CONTAINER, before, &with_amounts_undone(before, after)) {
            found.forbidden(&at, "only cpu and memory resources for init or sidecar containers are mutable");
        }
        let is_sidecar = text(after, "restartPolicy") == "Always";
        let restarts = |policy: &&Value| text(policy, "restartPolicy") == "RestartContainer";
        if !is_sidecar && !same(CONTAINER, before, after) {
            for _ in list(after, "resizePolicy").iter().filter(restarts) {
                let why =
                    "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
                found.forbidden(&at, why);
            }
        }
    }
}

/// Whether both pods have containers of the same names in the same order.
fn has_same_containers(found: &mut Found, at: &Path<'_>, old: &Value, new: &Value) -> bool {
    let found_before = found.errors.len();
    for field in ["containers", "initContainers"] {
        let (before, after) = (list(&old["spec"], field), list(&new["spec"], field));
        let at = at.child(field);
        if before.len() != after.len() {
            found.forbidden(&at, format!("{field} may not be added or removed on resize"));
            continue;
        }
        for (index, (before, after)) in before.iter().zip(after).enumerate() {
            if text(before, "name") != text(after, "name") {
                let why = format!("{field} may not be renamed or reordered on resize");
                found.forbidden(&at.index(index).child("name"), why);
            }
        }
    }
    found.errors.len() == found_before
}

fn nothing_removed(found: &mut Found, at: &Path<'_>, old: &Value, new: &Value) {
    let at = at.child("resources");
    for field in AMOUNTS {
        if members(old, field).any(|(resource, _)| !is_set(&new[field], resource)) {
            found.forbidden(&at.child(field), format!("resource {field} cannot be removed"));
        }
    }
}

/// A node that does not tell what its containers have does not know how to change it.
fn is_resizable(pod: &Value) -> bool {
    let running =
        list(&pod["status"], "containerStatuses").iter().find(|one| is_set(&one["state"], "running"));
    running.is_none_or(|one| is_set(one, "resources"))
}

/// The new container with everything that may change as it was.
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
