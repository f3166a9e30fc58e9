//! Defaults of horizontal pod autoscalers.

use gantry_json::{Value, json};

use crate::defaults::setting::{Object, child, default, ensure, is_empty, is_unset};

/// Sets the defaults of v1, where the metric may be absent.
pub(crate) fn first_version(autoscaler: &mut Object) {
    if let Some(spec) = ensure(autoscaler, "spec") {
        default(spec, "minReplicas", 1);
    }
}

/// Sets the defaults of v2: the default metric is CPU utilization.
pub(crate) fn autoscaler(autoscaler: &mut Object) {
    let Some(spec) = ensure(autoscaler, "spec") else { return };
    default(spec, "minReplicas", 1);
    if is_empty(spec, "metrics") {
        let target = json!({"type": "Utilization", "averageUtilization": 80});
        let processor = json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]);
        spec.insert("metrics", processor);
    }
    if let Some(behavior) = child(spec, "behavior") {
        let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
        let pods = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
        rules(behavior, "scaleUp", Some(0), json!([pods, percent.clone()]));
        rules(behavior, "scaleDown", None, json!([percent]));
    }
}

fn rules(behavior: &mut Object, direction: &str, window: Option<i64>, policies: Value) {
    let Some(rules) = ensure(behavior, direction) else { return };
    default(rules, "selectPolicy", "Max");
    if let Some(seconds) = window {
        default(rules, "stabilizationWindowSeconds", seconds);
    }
    if is_unset(rules, "policies") {
        rules.insert("policies", policies);
    }
}
