//! Validates pod templates.

use gantry_json::Value;

use super::error_list::{ErrorList, Path, is_set, list, text};
use super::{metadata, pod};

/// Validates the labels, annotations and spec of a template.
pub(crate) fn template(errors: &mut ErrorList, at: &Path<'_>, template: &Value) {
    let metadata = &template["metadata"];
    // The path does not contain `metadata`, as in Kubernetes.
    metadata::labels(errors, &at.child("labels"), metadata, "labels");
    metadata::annotations(errors, &at.child("annotations"), metadata);
    let (at, spec) = (at.child("spec"), &template["spec"]);
    pod::spec(errors, &at, spec);
    if !list(spec, "ephemeralContainers").is_empty() {
        errors
            .forbidden(&at.child("ephemeralContainers"), "ephemeral containers not allowed in pod template");
    }
}

/// Validates a template of pods that are always restarted; `owner` is the kind that requires it.
pub(crate) fn restarting_template(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, owner: &str) {
    template(errors, &at.child("template"), &spec["template"]);
    always_restarts(errors, at, spec, owner);
}

/// Validates the restart policy and deadline of pods that are always restarted.
pub(crate) fn always_restarts(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, owner: &str) {
    let at = at.child("template");
    let (at, pod) = (at.child("spec"), &spec["template"]["spec"]);
    if !matches!(text(pod, "restartPolicy"), "Always") {
        errors.unsupported(&at.child("restartPolicy"), &pod["restartPolicy"], &["Always"]);
    }
    if is_set(pod, "activeDeadlineSeconds") {
        let why = format!("activeDeadlineSeconds in {owner} is not Supported");
        errors.forbidden(&at.child("activeDeadlineSeconds"), why);
    }
}
