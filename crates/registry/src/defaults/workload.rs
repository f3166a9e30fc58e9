//! Defaults of what keeps pods running.

use serde_json::{Value, json};

use super::setting::{Object, default_text, ensure, is_empty};

/// The labels of a template, if it has any.
pub(crate) fn template_labels(spec: &Object) -> Option<Value> {
    let labels = spec.get("template")?.get("metadata")?.get("labels")?;
    labels.as_object().filter(|labels| !labels.is_empty()).map(|labels| Value::Object(labels.clone()))
}

/// Gives an object without labels these.
pub(crate) fn label_if_bare(object: &mut Object, labels: Value) {
    if let Some(metadata) = ensure(object, "metadata")
        && is_empty(metadata, "labels")
    {
        metadata.insert("labels".to_owned(), labels);
    }
}

/// The limits of a rolling update, there if and only if the strategy is one (validation refuses leftovers).
pub(crate) fn rolling_update<'a>(spec: &'a mut Object, strategy: &str) -> Option<&'a mut Object> {
    let strategy = ensure(spec, strategy)?;
    default_text(strategy, "type", "RollingUpdate");
    if strategy["type"] != json!("RollingUpdate") {
        return None;
    }
    ensure(strategy, "rollingUpdate")
}
