//! A HorizontalPodAutoscaler of `autoscaling/v2`.

use gantry_json::Value;

use super::{date, heading};
use crate::field::{at, list, number, shown, text};

/// A HorizontalPodAutoscaler.
pub(crate) fn autoscaler(object: &Value) -> String {
    let mut out = heading(object);
    out += &format!("CreationTimestamp:\t{}\n", date(at(object, "/metadata/creationTimestamp")));
    let target = at(object, "/spec/scaleTargetRef");
    out += &format!("Reference:\t{}/{}\n", text(target, "/kind"), text(target, "/name"));
    out += "Metrics:\t( current / target )\n";
    let current = list(object, "/status/currentMetrics");
    for (nth, metric) in list(object, "/spec/metrics").iter().enumerate() {
        out += &format!("  {}\n", described_metric(metric, current.get(nth).unwrap_or(&Value::Null)));
    }
    let least = object.pointer("/spec/minReplicas").map_or_else(|| "<unset>".to_owned(), shown);
    out += &format!("Min replicas:\t{least}\nMax replicas:\t{}\n", number(object, "/spec/maxReplicas"));
    if let Some(behavior) = object.pointer("/spec/behavior") {
        out += "Behavior:\n";
        out += &rules("Scale Up", at(behavior, "/scaleUp"));
        out += &rules("Scale Down", at(behavior, "/scaleDown"));
    }
    out += &format!(
        "{} pods:\t{} current / {} desired\n",
        text(target, "/kind"),
        number(object, "/status/currentReplicas"),
        number(object, "/status/desiredReplicas")
    );
    out + &conditions(list(object, "/status/conditions"))
}

/// A metric with its current and target values; `now` is the same metric in the status.
fn described_metric(metric: &Value, now: &Value) -> String {
    let source = match text(metric, "/type") {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        other => return format!("<unknown metric type {other:?}>"),
    };
    let (wanted, current) = (at(metric, &format!("/{source}")), at(now, &format!("/{source}/current")));
    let name = text(wanted, "/metric/name");
    let average = wanted.pointer("/target/averageValue");
    let field = if average.is_some() { "averageValue" } else { "value" };
    let values = || {
        let is = current.get(field).map_or_else(|| "<unknown>".to_owned(), shown);
        format!("{is} / {}", shown(at(wanted, &format!("/target/{field}"))))
    };
    let which = if average.is_some() { "(target average value)" } else { "(target value)" };
    match source {
        "external" => format!("{name:?} {which}:\t{}", values()),
        "pods" => format!("{name:?} on pods:\t{}", values()),
        "object" => {
            let of = at(wanted, "/describedObject");
            format!("{name:?} on {}/{} {which}:\t{}", text(of, "/kind"), text(of, "/name"), values())
        }
        _ => {
            let mut title = format!("resource {}", text(wanted, "/name"));
            if source == "containerResource" {
                title += &format!(" of container {:?}", text(wanted, "/container"));
            }
            if average.is_some() {
                return format!("{title} on pods:\t{}", values());
            }
            format!("{title} on pods  (as a percentage of request):\t{}", utilization(wanted, current))
        }
    }
}

fn utilization(wanted: &Value, current: &Value) -> String {
    let percent = |value: Option<&Value>| value.map(|value| format!("{}%", shown(value)));
    let target = percent(wanted.pointer("/target/averageUtilization")).unwrap_or_else(|| "<auto>".to_owned());
    match percent(current.get("averageUtilization")) {
        Some(is) => format!("{is} ({}) / {target}", shown(at(current, "/averageValue"))),
        None => format!("<unknown> / {target}"),
    }
}

fn rules(title: &str, rules: &Value) -> String {
    if rules.is_null() {
        return String::new();
    }
    let mut out = format!("  {title}:\n");
    if let Some(window) = rules.get("stabilizationWindowSeconds") {
        out += &format!("    Stabilization Window: {} seconds\n", shown(window));
    }
    let policies = list(rules, "/policies");
    if policies.is_empty() {
        return out;
    }
    let select = match text(rules, "/selectPolicy") {
        "" => "Max",
        policy => policy,
    };
    out += &format!("    Select Policy: {select}\n    Policies:\n");
    out.extend(policies.iter().map(|policy| {
        format!(
            "      - Type: {}\tValue: {}\tPeriod: {} seconds\n",
            text(policy, "/type"),
            number(policy, "/value"),
            number(policy, "/periodSeconds")
        )
    }));
    out
}

fn conditions(conditions: &[Value]) -> String {
    if conditions.is_empty() {
        return String::new();
    }
    let mut out =
        String::from("Conditions:\n  Type\tStatus\tReason\tMessage\n  ----\t------\t------\t-------\n");
    for one in conditions {
        let cells = ["type", "status", "reason", "message"].map(|cell| text(one, &format!("/{cell}")));
        out += &format!("  {}\n", cells.join("\t"));
    }
    out
}
