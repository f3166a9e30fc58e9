//! The scopes of quotas.

use gantry_json::Value;

use crate::defaults::qos;
use crate::kinds::Kind;
use crate::strategies;

/// Whether the quota applies to the object. A quota with scopes applies only to kinds that have them: pods.
pub(super) fn includes(quota: &Value, kind: &Kind, object: &Value) -> bool {
    let spec = &quota["spec"];
    let scopes = spec["scopes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let terms = spec["scopeSelector"]["matchExpressions"].as_array().into_iter().flatten();
    let mut scopes = scopes.map(|scope| (scope, None)).chain(terms.map(|term| {
        let scope = term["scopeName"].as_str().unwrap_or_default();
        (scope, Some(term))
    }));
    let is_in_scope = strategies::of(kind).quota.is_in_scope;
    scopes.all(|(scope, term)| is_in_scope(scope, term, object))
}

/// Whether a pod is in a scope, selected by a term if there is one.
pub(super) fn is_pod_in(scope: &str, term: Option<&Value>, pod: &Value) -> bool {
    let spec = &pod["spec"];
    let best_effort = || pod.as_object().is_some_and(|pod| qos::class(pod) == "BestEffort");
    let ends = spec["activeDeadlineSeconds"].is_number();
    match scope {
        "Terminating" => ends,
        "NotTerminating" => !ends,
        "BestEffort" => best_effort(),
        "NotBestEffort" => !best_effort(),
        "PriorityClass" => has_class(spec["priorityClassName"].as_str().unwrap_or_default(), term),
        _ => false,
    }
}

fn has_class(class: &str, term: Option<&Value>) -> bool {
    let Some(term) = term else { return !class.is_empty() };
    let among = || term["values"].as_array().into_iter().flatten().any(|value| value == class);
    match term["operator"].as_str().unwrap_or_default() {
        "In" => among(),
        "NotIn" => !among(),
        "Exists" => !class.is_empty(),
        "DoesNotExist" => class.is_empty(),
        _ => false,
    }
}
