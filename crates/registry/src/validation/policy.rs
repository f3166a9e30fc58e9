//! PodDisruptionBudgets and HorizontalPodAutoscalers.

use serde_json::{Value, json};

use super::deployment::{at_most_all, count_or_percent};
use super::found::{Found, Path, is_set, number, text};
use super::selector;
use super::shown::in_order;

/// A PodDisruptionBudget.
pub(super) fn disruption_budget(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    if is_set(spec, "minAvailable") && is_set(spec, "maxUnavailable") {
        let selector = match &spec["selector"] {
            Value::Null => "null".to_owned(),
            selector => in_order("meta/v1.LabelSelector", selector),
        };
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{selector},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            spec["minAvailable"], spec["maxUnavailable"], spec["unhealthyPodEvictionPolicy"]
        );
        found.invalid_shown(&at, shown, "minAvailable and maxUnavailable cannot be both set");
    }
    for field in ["minAvailable", "maxUnavailable"] {
        count_or_percent(found, &at.child(field), &spec[field]);
        at_most_all(found, &at.child(field), &spec[field]);
    }
    selector::terms(found, &at.child("selector"), &spec["selector"]);
    let policies = ["AlwaysAllow", "IfHealthyBudget"];
    found.one_of_if_set(
        &at.child("unhealthyPodEvictionPolicy"),
        &spec["unhealthyPodEvictionPolicy"],
        &policies,
    );
}

/// A HorizontalPodAutoscaler.
pub(super) fn autoscaler(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    let least = number(spec, "minReplicas");
    let most = number(spec, "maxReplicas").unwrap_or(0);
    if let Some(least) = least.filter(|least| *least < 1) {
        found.invalid(&at.child("minReplicas"), &json!(least), "must be greater than or equal to 1");
    }
    if most < 1 {
        found.invalid(&at.child("maxReplicas"), &json!(most), "must be greater than 0");
    }
    if least.is_some_and(|least| most < least) {
        found.invalid(
            &at.child("maxReplicas"),
            &json!(most),
            "must be greater than or equal to `minReplicas`",
        );
    }
    let target = at.child("scaleTargetRef");
    for field in ["kind", "name"] {
        if text(&spec["scaleTargetRef"], field).is_empty() {
            found.required(&target.child(field), "");
        }
    }
}
