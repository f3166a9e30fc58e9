//! Defaults that several workloads share.

use gantry_json::{Value, json};

use super::setting::{Object, default_text, ensure, is_empty};

/// Returns the labels of a template, if it has any.
pub(crate) fn template_labels(spec: &Object) -> Option<Value> {
    let labels = spec.get("template")?.get("metadata")?.get("labels")?;
    labels.as_object().filter(|labels| !labels.is_empty()).map(|labels| Value::Object(labels.clone()))
}

/// Sets the labels of an object without labels.
pub(crate) fn default_labels(object: &mut Object, labels: Value) {
    if let Some(metadata) = ensure(object, "metadata")
        && is_empty(metadata, "labels")
    {
        metadata.insert("labels", labels);
    }
}

/// Sets the labels of an object without any to those of its template. It is read with them, even if stored without.
pub(crate) fn label_by_template(object: &mut Value) {
    let Value::Object(object) = object else { return };
    if let Some(labels) = object.get("spec").and_then(Value::as_object).and_then(template_labels) {
        default_labels(object, labels);
    }
}

/// Returns the parameters of a rolling update, inserting them if the strategy is one; `None` otherwise.
pub(crate) fn rolling_update<'a>(spec: &'a mut Object, strategy: &str) -> Option<&'a mut Object> {
    let strategy = ensure(spec, strategy)?;
    default_text(strategy, "type", "RollingUpdate");
    if strategy["type"] != json!("RollingUpdate") {
        return None;
    }
    ensure(strategy, "rollingUpdate")
}
