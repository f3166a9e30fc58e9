//! A new job selects the pods that it makes, by its uid, unless it brings a selector of its own.

use serde_json::Value;

use crate::defaults::setting::{child, default, ensure, object, text};
use crate::defaults::workload::{label_if_bare, template_labels};

/// Labels the pods that a new job will make with its uid and its name, and selects them.
pub(crate) fn select_own_pods(job: &mut Value) {
    let Some(job) = object(job) else { return };
    let Some(metadata) = child(job, "metadata") else { return };
    let (name, uid) = (text(metadata, "name").to_owned(), text(metadata, "uid").to_owned());
    let Some(spec) = child(job, "spec") else { return };
    if spec.get("manualSelector").and_then(Value::as_bool) == Some(true) {
        return;
    }
    let labels = ensure(spec, "template").and_then(|template| ensure(template, "metadata"));
    if let Some(labels) = labels.and_then(|metadata| ensure(metadata, "labels")) {
        for (label, value) in [
            ("batch.kubernetes.io/controller-uid", &uid),
            ("controller-uid", &uid),
            ("batch.kubernetes.io/job-name", &name),
            ("job-name", &name),
        ] {
            // Another value that the client wrote is refused by validation.
            default(labels, label, value.as_str());
        }
    }
    let chosen = ensure(spec, "selector").and_then(|selector| ensure(selector, "matchLabels"));
    if let Some(chosen) = chosen {
        default(chosen, "batch.kubernetes.io/controller-uid", uid);
    }
    if let Some(labels) = template_labels(spec) {
        label_if_bare(job, labels);
    }
}
