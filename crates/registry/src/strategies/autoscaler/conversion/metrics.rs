//! Converts metrics between v2, which nests names and values, and v1, which has flat fields.

use std::borrow::Cow;

use gantry_json::{Value, json};

/// A type of metrics, its member, and the paths of its fields in v1 and in v2, below that member.
type MetricType = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// The types of metrics, with the paths of fields in a spec; see [`in_status`] for those in a status.
const METRICS: [MetricType; 5] = [
    (
        "Resource",
        "resource",
        &[
            ("name", "/name"),
            ("targetAverageUtilization", "/target/averageUtilization"),
            ("targetAverageValue", "/target/averageValue"),
        ],
    ),
    (
        "ContainerResource",
        "containerResource",
        &[
            ("name", "/name"),
            ("container", "/container"),
            ("targetAverageUtilization", "/target/averageUtilization"),
            ("targetAverageValue", "/target/averageValue"),
        ],
    ),
    (
        "Pods",
        "pods",
        &[
            ("metricName", "/metric/name"),
            ("selector", "/metric/selector"),
            ("targetAverageValue", "/target/averageValue"),
        ],
    ),
    (
        "Object",
        "object",
        &[
            ("target", "/describedObject"),
            ("metricName", "/metric/name"),
            ("selector", "/metric/selector"),
            ("targetValue", "/target/value"),
            ("averageValue", "/target/averageValue"),
        ],
    ),
    (
        "External",
        "external",
        &[
            ("metricName", "/metric/name"),
            ("metricSelector", "/metric/selector"),
            ("targetValue", "/target/value"),
            ("targetAverageValue", "/target/averageValue"),
        ],
    ),
];

pub(super) fn wanted_to_first(metric: &Value) -> Value {
    to_first(metric, |field| field)
}

pub(super) fn current_to_first(metric: &Value) -> Value {
    to_first(metric, in_status)
}

pub(super) fn current_to_second(metric: &Value) -> Value {
    to_second(metric, in_status)
}

/// Sets the type of a target.
pub(super) fn wanted_to_second(metric: &Value) -> Value {
    let mut metric = to_second(metric, |field| field);
    for (_, member, _) in &METRICS {
        if let Some(target) = metric.get_mut(*member).and_then(|part| part.get_mut("target")) {
            let sorts =
                [("averageUtilization", "Utilization"), ("value", "Value"), ("averageValue", "AverageValue")];
            let sort = sorts.into_iter().find(|(field, _)| target.get(*field).is_some());
            if let Some((_, sort)) = sort {
                target["type"] = json!(sort);
            }
        }
    }
    metric
}

/// The name of a field in v1 and its path in v2.
type FieldPaths = (Cow<'static, str>, Cow<'static, str>);

/// The paths in a status of a field of a spec: a status has `current` where a spec has `target`.
fn in_status((first, second): FieldPaths) -> FieldPaths {
    let Some(value) = second.strip_prefix("/target/") else { return (first, second) };
    let first = match first.strip_prefix("target") {
        Some(rest) => format!("current{rest}").into(),
        None => first,
    };
    (first, format!("/current/{value}").into())
}

fn to_first(metric: &Value, paths: fn(FieldPaths) -> FieldPaths) -> Value {
    let Some((sort, member, fields)) = fields_of(metric) else { return metric.clone() };
    let mut flat = json!({});
    for (first, second) in fields.map(paths) {
        if let Some(found) = metric[member].pointer(&second).filter(|found| !found.is_null()) {
            flat[&*first] = found.clone();
        }
    }
    json!({"type": sort, (member): flat})
}

fn to_second(metric: &Value, paths: fn(FieldPaths) -> FieldPaths) -> Value {
    let Some((sort, member, fields)) = fields_of(metric) else { return metric.clone() };
    let mut nested = json!({});
    for (first, second) in fields.map(paths) {
        let found = &metric[member][&*first];
        if !found.is_null() {
            let place = second.split('/').skip(1).fold(&mut nested, |value, step| &mut value[step]);
            *place = found.clone();
        }
    }
    json!({"type": sort, (member): nested})
}

/// Returns the type of a metric, its member and its fields; `None` if the type is unknown.
fn fields_of(metric: &Value) -> Option<(&'static str, &'static str, impl Iterator<Item = FieldPaths>)> {
    let (sort, member, fields) = METRICS.iter().find(|(sort, _, _)| metric["type"] == json!(sort))?;
    Some((sort, member, fields.iter().map(|(first, second)| ((*first).into(), (*second).into()))))
}
