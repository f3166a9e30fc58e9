//! Events, of the old group and of the new.

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, text};
use super::names::qualified_name;
use crate::kinds::Kind;

/// Where events about things without a namespace are.
const DEFAULT_NAMESPACE: &str = "default";

/// An event: it lives where its object lives, and the new ones say who reports what.
pub(super) fn event(found: &mut Found, kind: &Kind, object: &Value) {
    let modern = kind.group == "events.k8s.io";
    let about = if modern { &object["regarding"] } else { &object["involvedObject"] };
    let (here, there) = (text(&object["metadata"], "namespace"), text(about, "namespace"));
    let is_near = if there.is_empty() { here.is_empty() || here == DEFAULT_NAMESPACE } else { here == there };
    if !is_near {
        let at = Path::new("involvedObject");
        found.invalid(&at.child("namespace"), &json!(there), "does not match event.namespace");
    }
    if modern && !is_set(object, "eventTime") {
        found.required(&Path::new("eventTime"), "");
    }
    if modern || is_set(object, "eventTime") {
        reporter(found, modern, object);
    }
}

fn reporter(found: &mut Found, modern: bool, object: &Value) {
    let controller = if modern { "reportingController" } else { "reportingComponent" };
    let name = text(object, controller);
    if name.is_empty() {
        found.required(&Path::new("reportingController"), "");
    } else {
        found.invalid_text(&Path::new("reportingController"), name, qualified_name(name));
    }
    for field in ["reportingInstance", "action", "reason"] {
        if text(object, field).is_empty() {
            found.required(&Path::new(field), "");
        }
    }
    let kind = text(object, "type");
    if modern && !matches!(kind, "Normal" | "Warning") {
        found.invalid(&Path::new("type"), &json!(""), format!("has invalid value: {kind}"));
    }
}
