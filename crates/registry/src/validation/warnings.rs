//! What is odd about an object that is stored all the same.

use serde_json::Value;

use super::found::{Path, number, text};
use super::names::label;
use super::{definition, pod_warnings};
use crate::kinds::Kind;

/// The warnings about a new object.
pub(super) fn of_new(kind: &Kind, object: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    match (kind.group, kind.kind) {
        ("", "Pod") => name(&mut warnings, object, "the Pod's hostname"),
        ("apps", "Deployment" | "ReplicaSet") | ("", "ReplicationController") | ("batch", "Job") => {
            name(&mut warnings, object, "Pod names and hostnames");
        }
        _ => {}
    }
    of_pods(&mut warnings, kind, object);
    warnings.extend(of_others(kind, object));
    warnings
}

/// The warnings about a changed object: about pods whenever what is asked for changes, about other kinds those that are
/// new.
pub(super) fn of_changed(kind: &Kind, old: &Value, new: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    if kind.kind == "Pod" || old["spec"] != new["spec"] {
        of_pods(&mut warnings, kind, new);
    }
    let before = of_others(kind, old);
    warnings.extend(of_others(kind, new).into_iter().filter(|warning| !before.contains(warning)));
    warnings
}

/// The warnings about a pod, or about the template that an object makes pods from.
fn of_pods(warnings: &mut Vec<String>, kind: &Kind, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    match (kind.group, kind.kind) {
        ("", "Pod") => pod_warnings::of(warnings, &Path::root(), object),
        ("apps", _) | ("", "ReplicationController") | ("batch", "Job") => {
            pod_warnings::of(warnings, &at.child("template"), &spec["template"]);
        }
        ("batch", "CronJob") => {
            let at = at.child("jobTemplate");
            let at = at.child("spec");
            pod_warnings::of(warnings, &at.child("template"), &spec["jobTemplate"]["spec"]["template"]);
        }
        _ => {}
    }
    if kind.kind == "StatefulSet" && number(spec, "revisionHistoryLimit").is_some_and(|limit| limit < 0) {
        let why = "a negative value retains all historical revisions; a value >= 0 is recommended";
        warnings.push(format!("{}: {why}", at.child("revisionHistoryLimit")));
    }
}

/// The warnings about kinds that hold no pods.
fn of_others(kind: &Kind, object: &Value) -> Vec<String> {
    match (kind.group, kind.kind) {
        ("apiextensions.k8s.io", _) => definition::warnings(&object["spec"]).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn name(warnings: &mut Vec<String>, object: &Value, used_in: &str) {
    let wrong = label(text(&object["metadata"], "name"));
    if !wrong.is_empty() {
        warnings.push(format!(
            "metadata.name: this is used in {used_in}, which can result in surprising behavior; a DNS label is \
             recommended: [{}]",
            wrong.join(" ")
        ));
    }
}
