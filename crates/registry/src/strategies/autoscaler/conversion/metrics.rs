//! Converts metrics between v2, which nests names and values, and v1, which has flat fields.

use gantry_json::{Map, Value, json};

/// The path of a field in each version, below the member of the metric's type.
struct FieldPaths {
    first: &'static str,
    second: &'static [&'static str],
}

const fn place(first: &'static str, second: &'static [&'static str]) -> FieldPaths {
    FieldPaths { first, second }
}

/// The types of metrics, the member of each, and its fields in a spec.
const WANTED: [(&str, &str, &[FieldPaths]); 5] = [
    (
        "Resource",
        "resource",
        &[
            place("name", &["name"]),
            place("targetAverageUtilization", &["target", "averageUtilization"]),
            place("targetAverageValue", &["target", "averageValue"]),
        ],
    ),
    (
        "ContainerResource",
        "containerResource",
        &[
            place("name", &["name"]),
            place("container", &["container"]),
            place("targetAverageUtilization", &["target", "averageUtilization"]),
            place("targetAverageValue", &["target", "averageValue"]),
        ],
    ),
    (
        "Pods",
        "pods",
        &[
            place("metricName", &["metric", "name"]),
            place("selector", &["metric", "selector"]),
            place("targetAverageValue", &["target", "averageValue"]),
        ],
    ),
    (
        "Object",
        "object",
        &[
            place("target", &["describedObject"]),
            place("metricName", &["metric", "name"]),
            place("selector", &["metric", "selector"]),
            place("targetValue", &["target", "value"]),
            place("averageValue", &["target", "averageValue"]),
        ],
    ),
    (
        "External",
        "external",
        &[
            place("metricName", &["metric", "name"]),
            place("metricSelector", &["metric", "selector"]),
            place("targetValue", &["target", "value"]),
            place("targetAverageValue", &["target", "averageValue"]),
        ],
    ),
];

/// The same in a status.
const CURRENT: [(&str, &str, &[FieldPaths]); 5] = [
    (
        "Resource",
        "resource",
        &[
            place("name", &["name"]),
            place("currentAverageUtilization", &["current", "averageUtilization"]),
            place("currentAverageValue", &["current", "averageValue"]),
        ],
    ),
    (
        "ContainerResource",
        "containerResource",
        &[
            place("name", &["name"]),
            place("container", &["container"]),
            place("currentAverageUtilization", &["current", "averageUtilization"]),
            place("currentAverageValue", &["current", "averageValue"]),
        ],
    ),
    (
        "Pods",
        "pods",
        &[
            place("metricName", &["metric", "name"]),
            place("selector", &["metric", "selector"]),
            place("currentAverageValue", &["current", "averageValue"]),
        ],
    ),
    (
        "Object",
        "object",
        &[
            place("target", &["describedObject"]),
            place("metricName", &["metric", "name"]),
            place("selector", &["metric", "selector"]),
            place("currentValue", &["current", "value"]),
            place("averageValue", &["current", "averageValue"]),
        ],
    ),
    (
        "External",
        "external",
        &[
            place("metricName", &["metric", "name"]),
            place("metricSelector", &["metric", "selector"]),
            place("currentValue", &["current", "value"]),
            place("currentAverageValue", &["current", "averageValue"]),
        ],
    ),
];

pub(super) fn wanted_to_first(metric: &Value) -> Value {
    to_first(metric, &WANTED)
}

pub(super) fn current_to_first(metric: &Value) -> Value {
    to_first(metric, &CURRENT)
}

pub(super) fn current_to_second(metric: &Value) -> Value {
    to_second(metric, &CURRENT)
}

/// Sets the type of a target.
pub(super) fn wanted_to_second(metric: &Value) -> Value {
    let mut metric = to_second(metric, &WANTED);
    for (_, member, _) in &WANTED {
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

fn to_first(metric: &Value, sorts: &[(&str, &str, &[FieldPaths])]) -> Value {
    let Some((sort, member, places)) = sorts.iter().find(|(sort, _, _)| metric["type"] == json!(sort)) else {
        return metric.clone();
    };
    let mut flat = Map::new();
    for place in *places {
        let found = place.second.iter().fold(&metric[*member], |value, step| &value[*step]);
        if !found.is_null() {
            flat.insert(place.first.to_owned(), found.clone());
        }
    }
    json!({"type": sort, (*member): flat})
}

fn to_second(metric: &Value, sorts: &[(&str, &str, &[FieldPaths])]) -> Value {
    let Some((sort, member, places)) = sorts.iter().find(|(sort, _, _)| metric["type"] == json!(sort)) else {
        return metric.clone();
    };
    let mut nested = json!({});
    for place in *places {
        let found = &metric[*member][place.first];
        if !found.is_null() {
            let place = place.second.iter().fold(&mut nested, |value, step| &mut value[*step]);
            *place = found.clone();
        }
    }
    json!({"type": sort, (*member): nested})
}
