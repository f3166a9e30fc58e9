//! The priority of a new pod, from its priority class.

use gantry_json::{Value, json};

use super::Denied;
use crate::defaults::setting::{is_unset, object};

const POLICY: &str = "PreemptLowerPriority";

/// Returns the class that a pod names; empty if it names none.
pub fn class_of(pod: &Value) -> &str {
    pod["spec"]["priorityClassName"].as_str().unwrap_or_default()
}

/// The error for a pod whose class does not exist.
pub fn missing(class: &str) -> Denied {
    format!("no PriorityClass with name {class} was found")
}

/// Returns the default class; of several, the one with the lowest value.
pub fn by_default(classes: &[Value]) -> Option<&Value> {
    let defaults = classes.iter().filter(|class| class["globalDefault"] == json!(true));
    defaults.min_by_key(|class| class["value"].as_i64().unwrap_or(0))
}

/// Returns the error for a class that would be a second default.
pub fn second_default(class: &Value, classes: &[Value]) -> Option<Denied> {
    if class["globalDefault"] != json!(true) {
        return None;
    }
    let other = by_default(classes).map(|other| &other["metadata"]["name"])?.as_str()?;
    let is_other = class["metadata"]["name"] != json!(other);
    is_other
        .then(|| format!("PriorityClass {other} is already marked as default. Only one default can exist"))
}

/// Sets the priority of a pod to that of its class; a priority in the pod must be the same.
pub fn prioritize(pod: &mut Value, class: Option<&Value>) -> Result<(), Denied> {
    let value = class.and_then(|class| class["value"].as_i64()).unwrap_or(0);
    let policy = class.and_then(|class| class["preemptionPolicy"].as_str()).unwrap_or(POLICY);
    let Some(spec) = pod.get_mut("spec").and_then(object) else { return Ok(()) };
    if let Some(given) = spec.get("priority").and_then(Value::as_i64).filter(|given| *given != value) {
        return Err(format!(
            "the integer value of priority ({given}) must not be provided in pod spec; priority admission controller \
             computed {value} from the given PriorityClass name"
        ));
    }
    if let Some(given) = spec.get("preemptionPolicy").and_then(Value::as_str).filter(|given| *given != policy)
    {
        return Err(format!(
            "the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission \
             controller computed {policy} from the given PriorityClass name"
        ));
    }
    spec.insert("priority", json!(value));
    spec.insert("preemptionPolicy", json!(policy));
    if let Some(name) = class.map(|class| class["metadata"]["name"].clone()) {
        spec.insert("priorityClassName", name);
    }
    Ok(())
}

/// Restores the priority if an update leaves it out.
pub(crate) fn keep(stored: &Value, pod: &mut Value) {
    let Some(spec) = pod.get_mut("spec").and_then(object) else { return };
    for field in ["priority", "preemptionPolicy"] {
        let before = &stored["spec"][field];
        if is_unset(spec, field) && !before.is_null() {
            spec.insert(field.to_owned(), before.clone());
        }
    }
}
