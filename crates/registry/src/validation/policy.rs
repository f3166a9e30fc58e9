//! What a PodDisruptionBudget may say.

use serde_json::Value;

use super::deployment::{at_most_all, count_or_percent};
use super::error_list::{ErrorList, Path, is_set};
use super::selector;
use super::shown::in_order;

/// A PodDisruptionBudget.
pub(crate) fn disruption_budget(errors: &mut ErrorList, object: &Value) {
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
        errors.invalid_shown(&at, shown, "minAvailable and maxUnavailable cannot be both set");
    }
    for field in ["minAvailable", "maxUnavailable"] {
        count_or_percent(errors, &at.child(field), &spec[field]);
        at_most_all(errors, &at.child(field), &spec[field]);
    }
    selector::terms(errors, &at.child("selector"), &spec["selector"]);
    let policies = ["AlwaysAllow", "IfHealthyBudget"];
    errors.one_of_if_set(
        &at.child("unhealthyPodEvictionPolicy"),
        &spec["unhealthyPodEvictionPolicy"],
        &policies,
    );
}
