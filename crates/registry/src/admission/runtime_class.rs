//! The runtime class of a new pod, which determines its overhead, nodes and tolerations.

use std::cmp::Ordering;

use gantry_json::Value;

use super::Denied;
use crate::validation::error_list::text;
use crate::validation::resources::compare;

const NO_OVERHEAD: &str =
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
const OTHER_OVERHEAD: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/// Returns the name of the runtime class of a pod.
pub fn name(pod: &Value) -> Option<&str> {
    pod["spec"]["runtimeClassName"].as_str()
}

/// Sets the fields that the class of a pod defines; `class` is the class of this [`name`], `None` if it does not exist.
pub fn admit(pod: &mut Value, class: Option<&Value>) -> Result<(), Denied> {
    let Some(name) = name(pod) else {
        return if has_overhead(pod) { Err(NO_OVERHEAD.to_owned()) } else { Ok(()) };
    };
    let Some(class) = class else {
        return Err(format!("pod rejected: RuntimeClass \"{name}\" not found"));
    };
    set_overhead(pod, &class["overhead"])?;
    set_scheduling(pod, &class["scheduling"])
}

fn has_overhead(pod: &Value) -> bool {
    pod["spec"]["overhead"].as_object().is_some_and(|overhead| !overhead.is_empty())
}

fn set_overhead(pod: &mut Value, overhead: &Value) -> Result<(), Denied> {
    if overhead.is_null() {
        return if has_overhead(pod) { Err(NO_OVERHEAD.to_owned()) } else { Ok(()) };
    }
    let fixed = &overhead["podFixed"];
    if has_overhead(pod) && !are_equal_amounts(&pod["spec"]["overhead"], fixed) {
        return Err(OTHER_OVERHEAD.to_owned());
    }
    if !fixed.is_null() {
        pod["spec"]["overhead"] = fixed.clone();
    }
    Ok(())
}

/// Whether both name the same resources with equal quantities, however they are written.
fn are_equal_amounts(one: &Value, other: &Value) -> bool {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else { return false };
    let is_equal = |amount: &Value, other: &Value| compare(amount, other) == Some(Ordering::Equal);
    one.len() == other.len()
        && one.iter().all(|(name, amount)| other.get(name).is_some_and(|other| is_equal(amount, other)))
}

fn set_scheduling(pod: &mut Value, scheduling: &Value) -> Result<(), Denied> {
    for (key, value) in scheduling["nodeSelector"].as_object().into_iter().flatten() {
        let own = &mut pod["spec"]["nodeSelector"][key.as_str()];
        if !own.is_null() && own != value {
            let (own, value) = (own.as_str().unwrap_or_default(), value.as_str().unwrap_or_default());
            return Err(format!(
                "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {own}"
            ));
        }
        *own = value.clone();
    }
    let added = scheduling["tolerations"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !added.is_empty() {
        let own = pod["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
        pod["spec"]["tolerations"] = Value::Array(merged(&[own.as_slice(), added].concat()));
    }
    Ok(())
}

/// Removes the tolerations that others cover; of equal ones the first is kept.
fn merged(all: &[Value]) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    for (index, one) in all.iter().enumerate() {
        let is_covered = merged.iter().any(|kept| covers(kept, one))
            || all[index + 1..].iter().any(|later| later != one && covers(later, one));
        if !is_covered {
            merged.push(one.clone());
        }
    }
    merged
}

/// Whether a toleration tolerates everything that the other does.
fn covers(wide: &Value, narrow: &Value) -> bool {
    if wide == narrow {
        return true;
    }
    let is_existence = text(wide, "operator") == "Exists";
    let is_any_key = text(wide, "key").is_empty() && is_existence;
    let is_any_effect = text(wide, "effect").is_empty();
    if !is_any_key && text(wide, "key") != text(narrow, "key")
        || !is_any_effect && text(wide, "effect") != text(narrow, "effect")
    {
        return false;
    }
    let seconds = |toleration: &Value| toleration["tolerationSeconds"].as_i64();
    if text(wide, "effect") == "NoExecute"
        && seconds(wide).is_some_and(|most| seconds(narrow).is_none_or(|seconds| seconds > most))
    {
        return false;
    }
    is_existence || text(narrow, "operator") == "Equal" && text(wide, "value") == text(narrow, "value")
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    fn class() -> Value {
        json!({
            "overhead": {"podFixed": {"cpu": "100m"}},
            "scheduling": {
                "nodeSelector": {"kind": "vm"},
                "tolerations": [
                    {"key": "vm", "operator": "Exists", "effect": "NoSchedule"},
                    {"key": "x", "operator": "Equal", "value": "1", "effect": "NoExecute", "tolerationSeconds": 10},
                ],
            },
        })
    }

    fn pod(spec: &Value) -> Value {
        let mut pod = json!({"spec": {"runtimeClassName": "vm"}});
        for (field, value) in spec.as_object().into_iter().flatten() {
            pod["spec"][field.as_str()] = value.clone();
        }
        pod
    }

    #[test]
    fn a_pod_gets_overhead_and_scheduling_of_its_class() {
        let mut plain = pod(&json!({}));
        admit(&mut plain, Some(&class())).unwrap();
        assert_eq!(plain["spec"]["overhead"], json!({"cpu": "100m"}));
        assert_eq!(plain["spec"]["nodeSelector"], json!({"kind": "vm"}));
        assert_eq!(plain["spec"]["tolerations"], class()["scheduling"]["tolerations"]);
    }

    #[test]
    fn tolerations_that_the_pod_covers_are_not_added() {
        let own = json!([
            {"key": "vm", "operator": "Exists"},
            {"key": "x", "operator": "Equal", "value": "1", "effect": "NoExecute"},
        ]);
        let mut tolerant = pod(&json!({"tolerations": own}));
        admit(&mut tolerant, Some(&class())).unwrap();
        assert_eq!(tolerant["spec"]["tolerations"], own);
    }

    #[test]
    fn an_overhead_is_that_of_the_class_or_absent() {
        let same = admit(&mut pod(&json!({"overhead": {"cpu": "0.1"}})), Some(&class()));
        assert_eq!(same, Ok(()));
        let other = admit(&mut pod(&json!({"overhead": {"cpu": "1"}})), Some(&class()));
        assert_eq!(other, Err(OTHER_OVERHEAD.to_owned()));
        let without = admit(&mut pod(&json!({"overhead": {"cpu": "1"}})), Some(&json!({})));
        assert_eq!(without, Err(NO_OVERHEAD.to_owned()));
        let classless = admit(&mut json!({"spec": {"overhead": {"cpu": "1"}}}), None);
        assert_eq!(classless, Err(NO_OVERHEAD.to_owned()));
    }

    #[test]
    fn a_conflict_and_a_missing_class_are_denied() {
        let conflict = admit(&mut pod(&json!({"nodeSelector": {"kind": "metal"}})), Some(&class()));
        let why =
            "conflict: runtimeClass.scheduling.nodeSelector[kind] = vm; pod.spec.nodeSelector[kind] = metal";
        assert_eq!(conflict, Err(why.to_owned()));
        let missing = admit(&mut pod(&json!({})), None);
        assert_eq!(missing, Err("pod rejected: RuntimeClass \"vm\" not found".to_owned()));
    }
}
