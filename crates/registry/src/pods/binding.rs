//! Bindings, which assign a pod to a node once.

use gantry_json::{Value, json};

use super::{condition, node};
use crate::Timestamp;
use crate::{Details, FieldError, Refusal, StatusReason};
use gantry_primitives::names::subdomain;

/// Validates a Binding.
pub fn check(binding: &Value) -> Result<(), Refusal> {
    let target = |field: &str| binding["target"][field].as_str().unwrap_or_default();
    let mut errors = Vec::new();
    if !matches!(target("kind"), "" | "Node") {
        let supported = ["Node", "<empty>"];
        errors.push(FieldError::not_supported("target.kind", &json!(target("kind")), &supported));
    }
    if target("name").is_empty() {
        errors.push(FieldError::required("target.name", ""));
    } else {
        let wrong = subdomain(target("name")).into_iter();
        errors.extend(wrong.map(|why| FieldError::invalid("target.name", &json!(target("name")), why)));
    }
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    match texts.as_slice() {
        [] => Ok(()),
        [only] => Err(Refusal::server_error(only)),
        several => Err(Refusal::server_error(format!("[{}]", several.join(", ")))),
    }
}

/// Returns the pod with the node that a Binding assigns.
///
/// The uid and the version that a Binding names are preconditions. The generation does not change.
pub fn bind(pod: &Value, binding: &Value, now: Timestamp) -> Result<Value, Refusal> {
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    for (field, word) in [("uid", "UID"), ("resourceVersion", "ResourceVersion")] {
        let text = |object: &Value| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let (wanted, known) = (text(binding), text(pod));
        if !wanted.is_empty() && wanted != known {
            let why = format!(
                "Precondition failed: {word} in precondition: {wanted}, {word} in object meta: {known}"
            );
            return Err(conflict("pods", name, &why));
        }
    }
    let unbindable = if pod["metadata"]["deletionTimestamp"].is_string() {
        Some(format!("pod {name} is being deleted, cannot be assigned to a host"))
    } else if let Some(node) = node(pod) {
        Some(format!("pod {name} is already assigned to node \"{node}\""))
    } else if pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty()) {
        Some(format!("pod {name} has non-empty .spec.schedulingGates"))
    } else {
        None
    };
    if let Some(why) = unbindable {
        return Err(conflict("pods/binding", name, &why));
    }
    let mut bound = pod.clone();
    bound["spec"]["nodeName"] = binding["target"]["name"].clone();
    for field in ["annotations", "labels"] {
        for (key, value) in binding["metadata"][field].as_object().into_iter().flatten() {
            bound["metadata"][field][key.as_str()] = value.clone();
        }
    }
    if let Some(status) = bound["status"].as_object_mut() {
        status.remove("nominatedNodeName");
    }
    condition::set(&mut bound, "PodScheduled", "True", None, now);
    Ok(bound)
}

fn conflict(resource: &str, name: &str, why: &str) -> Refusal {
    let message = format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}");
    let details = Details { name: name.to_owned(), kind: resource.to_owned(), ..Details::default() };
    Refusal::new(StatusReason::Conflict, message).with(details)
}
