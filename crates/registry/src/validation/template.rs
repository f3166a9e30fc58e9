//! Pod templates, as Deployments and their like hold them.

use serde_json::Value;

use super::error_list::{ErrorList, Path, is_set, list, text};
use super::{metadata, pod};

/// A template: labels, annotations and the pod's spec.
pub(crate) fn template(errors: &mut ErrorList, at: &Path<'_>, template: &Value) {
    let metadata = &template["metadata"];
    // The path has no `metadata` in it, as in Kubernetes.
    metadata::labels(errors, &at.child("labels"), metadata, "labels");
    metadata::annotations(errors, &at.child("annotations"), metadata);
    let (at, spec) = (at.child("spec"), &template["spec"]);
    pod::spec(errors, &at, spec);
    if !list(spec, "ephemeralContainers").is_empty() {
        errors
            .forbidden(&at.child("ephemeralContainers"), "ephemeral containers not allowed in pod template");
    }
}

/// A template of pods that are to run for good; `owner` is the kind that says so.
pub(crate) fn of_services(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, owner: &str) {
    template(errors, &at.child("template"), &spec["template"]);
    runs_for_good(errors, at, spec, owner);
}

/// The policy and deadline of pods that are to run for good.
pub(crate) fn runs_for_good(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, owner: &str) {
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
