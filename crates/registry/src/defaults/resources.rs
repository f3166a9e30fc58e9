//! Defaults of resources.

use gantry_json::{Value, json};

use super::setting::{Object, default, each, ensure, text};

/// Copies limits to absent requests.
pub(crate) fn request_limits(resources: &mut Object) {
    copy_missing(resources, "limits", "requests");
}

/// Sets the defaults of a LimitRange: absent defaults are the maximum, absent default requests the default.
pub(crate) fn limit_range(range: &mut Object) {
    let Some(spec) = range.get_mut("spec").and_then(Value::as_object_mut) else { return };
    for limit in each(spec, "limits").filter(|limit| text(limit, "type") == "Container") {
        copy_missing(limit, "max", "default");
        copy_missing(limit, "default", "defaultRequest");
        copy_missing(limit, "min", "defaultRequest");
    }
}

fn copy_missing(object: &mut Object, from: &str, to: &str) {
    let Some(Value::Object(source)) = object.get(from) else { return };
    if source.is_empty() {
        return;
    }
    let source = source.clone();
    if let Some(target) = ensure(object, to) {
        for (name, amount) in source {
            default(target, &name, json!(amount));
        }
    }
}
