//! Rows of autoscalers.

use gantry_json::{Value, json};

use crate::conversion;
use crate::kinds::kinds;
use crate::table::column::TableColumn;
use crate::table::{cell, column};

pub(super) const AUTOSCALER: &[TableColumn] = &[
    column::NAME,
    column::text("Reference").computed(|object, _| {
        let target = cell::at(object, "spec.scaleTargetRef");
        json!(format!("{}/{}", cell::text(target, "kind"), cell::text(target, "name")))
    }),
    column::text("Targets").computed(|object, _| json!(targets(object))),
    column::text("MinPods").computed(|object, _| {
        json!(cell::plain(cell::at(object, "spec.minReplicas")).unwrap_or_else(|| "<unset>".to_owned()))
    }),
    column::text("MaxPods").number_at("spec.maxReplicas"),
    column::text("Replicas").number_at("status.currentReplicas"),
    column::AGE,
];

/// Formats current and target values of the first two metrics.
fn targets(autoscaler: &Value) -> String {
    // autoscaling/v1 has a field for one metric and keeps the others in annotations.
    let is_first_version = cell::at(autoscaler, "spec.metrics").is_null();
    let converted = kinds()
        .kind("autoscaling", "v1", "HorizontalPodAutoscaler")
        .filter(|_| is_first_version)
        .map(|kind| conversion::to_storage(kind, autoscaler.clone()));
    let autoscaler = converted.as_ref().unwrap_or(autoscaler);
    let specs = cell::list(autoscaler, "spec.metrics");
    let statuses = cell::list(autoscaler, "status.currentMetrics");
    let all: Vec<_> =
        specs.iter().enumerate().map(|(index, spec)| metric(spec, statuses.get(index))).collect();
    if all.is_empty() { "<none>".to_owned() } else { cell::few(&all, 2, ", ") }
}

fn metric(spec: &Value, status: Option<&Value>) -> String {
    let (source, named) = match cell::text(spec, "type") {
        "Resource" => ("resource", true),
        "ContainerResource" => ("containerResource", true),
        "Pods" => ("pods", false),
        "Object" => ("object", false),
        "External" => ("external", false),
        _ => return "<unknown type>".to_owned(),
    };
    let target = &spec[source]["target"];
    let current = |member: &str| status.map_or(&Value::Null, |status| &status[source]["current"][member]);
    let quantity = |value: &Value| cell::plain(value).unwrap_or_else(|| "<unknown>".to_owned());
    let average = !target["averageValue"].is_null();
    if named {
        let measured = if average {
            format!("{}/{}", quantity(current("averageValue")), quantity(&target["averageValue"]))
        } else {
            let percent = |value: &Value, absent: &str| {
                value.as_i64().map_or_else(|| absent.to_owned(), |percent| format!("{percent}%"))
            };
            let aim = percent(&target["averageUtilization"], "<auto>");
            format!("{}/{aim}", percent(current("averageUtilization"), "<unknown>"))
        };
        return format!("{}: {measured}", cell::text(&spec[source], "name"));
    }
    match (source, average) {
        ("pods", _) => format!("{}/{}", quantity(current("averageValue")), quantity(&target["averageValue"])),
        (_, true) => {
            format!("{}/{} (avg)", quantity(current("averageValue")), quantity(&target["averageValue"]))
        }
        (_, false) => format!("{}/{}", quantity(current("value")), quantity(&target["value"])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appendix C: an autoscaler's targets.
    #[test]
    fn the_row_of_an_autoscaler_has_its_targets() {
        let cpu =
            json!({"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}});
        let measured = json!({"resource": {"current": {"averageUtilization": 35}}});
        let queue = json!({"type": "External", "external": {"target": {"averageValue": "30"}}});
        let pods = json!({"type": "Pods", "pods": {"target": {"averageValue": "5"}}});
        let scaler = json!({
            "spec": {"metrics": [cpu, queue, pods]}, "status": {"currentMetrics": [measured]},
        });
        assert_eq!(targets(&scaler), "cpu: 35%/80%, <unknown>/30 (avg) + 1 more...");
        assert_eq!(targets(&json!({"spec": {"targetCPUUtilizationPercentage": 50}})), "cpu: <unknown>/50%");
        assert_eq!(targets(&json!({})), "<none>");
    }
}
