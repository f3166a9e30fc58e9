//! Converts autoscalers between v2 and v1, which has one metric and keeps the others in annotations.

mod metrics;

use gantry_json::{Map, Value, json};

use crate::defaults::setting::{Object, ensure, is_empty, object};

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// Converts v2 to v1.
pub(crate) fn to_first(mut autoscaler: Value) -> Value {
    let mut notes = Vec::new();
    if let Some(spec) = part(&mut autoscaler, "spec") {
        let (processor, others) = take_cpu_metric(spec.remove("metrics"), "target");
        insert(spec, "targetCPUUtilizationPercentage", processor);
        let others: Vec<Value> = others.iter().map(metrics::wanted_to_first).collect();
        notes.push((METRICS, list(others)));
        notes.push((BEHAVIOR, spec.remove("behavior")));
    }
    if let Some(status) = part(&mut autoscaler, "status") {
        let (processor, others) = take_cpu_metric(status.remove("currentMetrics"), "current");
        insert(status, "currentCPUUtilizationPercentage", processor);
        let others: Vec<Value> = others.iter().map(metrics::current_to_first).collect();
        notes.push((CURRENT_METRICS, list(others)));
        notes.push((CONDITIONS, status.remove("conditions").filter(|conditions| *conditions != json!([]))));
    }
    for (name, note) in notes {
        if let Some(note) = note.filter(|note| !note.is_null()) {
            annotate(&mut autoscaler, name, &note);
        }
    }
    autoscaler
}

/// Converts v1 to v2.
pub(crate) fn to_second(mut autoscaler: Value) -> Value {
    let [wanted, current, conditions, behavior] =
        [METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR].map(|name| take_annotation(&mut autoscaler, name));
    if let Some(spec) = part(&mut autoscaler, "spec") {
        let processor = spec.remove("targetCPUUtilizationPercentage").map(|percent| {
            let target = json!({"type": "Utilization", "averageUtilization": percent});
            json!({"type": "Resource", "resource": {"name": "cpu", "target": target}})
        });
        let others = elements(wanted).iter().map(metrics::wanted_to_second).collect::<Vec<_>>();
        insert(spec, "metrics", list(processor.into_iter().chain(others).collect()));
        insert(spec, "behavior", behavior);
    }
    let has_status = current.is_some() || conditions.is_some();
    if has_status && let Some(members) = object(&mut autoscaler) {
        ensure(members, "status");
    }
    if let Some(status) = part(&mut autoscaler, "status") {
        let processor = status.remove("currentCPUUtilizationPercentage").map(|percent| {
            // v1 has no field for the average value.
            json!({"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": percent}}})
        });
        let others = elements(current).iter().map(metrics::current_to_second).collect::<Vec<_>>();
        insert(status, "currentMetrics", list(processor.into_iter().chain(others).collect()));
        insert(status, "conditions", conditions);
    }
    autoscaler
}

/// Splits metrics into the CPU utilization and the others.
fn take_cpu_metric(metrics: Option<Value>, amount: &str) -> (Option<Value>, Vec<Value>) {
    let mut others = elements(metrics);
    let is_processor = |metric: &Value| {
        metric["type"] == json!("Resource")
            && metric["resource"]["name"] == json!("cpu")
            && metric["resource"][amount]["averageUtilization"].is_number()
    };
    let place = others.iter().position(is_processor);
    let processor = place.map(|place| others.remove(place)["resource"][amount]["averageUtilization"].take());
    (processor, others)
}

fn elements(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(elements)) => elements,
        _ => Vec::new(),
    }
}

fn list(elements: Vec<Value>) -> Option<Value> {
    (!elements.is_empty()).then_some(Value::Array(elements))
}

fn part<'a>(autoscaler: &'a mut Value, name: &str) -> Option<&'a mut Map> {
    autoscaler.get_mut(name).and_then(object)
}

fn insert(object: &mut Object, field: &str, value: Option<Value>) {
    if let Some(value) = value {
        object.insert(field.to_owned(), value);
    }
}

fn annotate(autoscaler: &mut Value, name: &str, note: &Value) {
    let metadata = object(autoscaler).and_then(|autoscaler| ensure(autoscaler, "metadata"));
    if let Some(annotations) = metadata.and_then(|metadata| ensure(metadata, "annotations")) {
        annotations.insert(name.to_owned(), json!(note.to_string()));
    }
}

/// Removes and parses an annotation; leaves an invalid one in place.
fn take_annotation(autoscaler: &mut Value, name: &str) -> Option<Value> {
    let metadata = autoscaler.get_mut("metadata").and_then(object)?;
    let annotations = metadata.get_mut("annotations").and_then(object)?;
    let note = gantry_json::from_str(annotations.get(name)?.as_str()?).ok()?;
    annotations.remove(name);
    if is_empty(metadata, "annotations") {
        metadata.remove("annotations");
    }
    Some(note)
}
