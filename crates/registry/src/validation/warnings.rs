//! Warnings that several kinds share.

use std::collections::BTreeSet;

use gantry_json::Value;

use super::error_list::{Path, list, text};
use super::names::label;
use super::pod_warnings::{self, newer_label};

/// The number of characters of warnings that a response shows; Kubernetes truncates more.
pub const SHOWN_CHARS_MAX: usize = 4096;
/// The number of characters that each warning is truncated to if all of them would be longer than that.
pub const SHOWN_ITEM_CHARS_MAX: usize = 256;

/// Warns about the template at `spec.template`, unless the spec of an object is unchanged.
pub(crate) fn template(warnings: &mut Vec<String>, old: Option<&Value>, new: &Value) {
    if is_changed(old, new) {
        pod_warnings::of(warnings, &Path::new("spec").child("template"), &new["spec"]["template"]);
    }
}

/// Warns about the pod template within the job template at `spec.jobTemplate`, unless the spec of an object is unchanged.
pub(crate) fn job_template(warnings: &mut Vec<String>, old: Option<&Value>, new: &Value) {
    if is_changed(old, new) {
        let at = Path::new("spec");
        let at = at.child("jobTemplate");
        let template = &new["spec"]["jobTemplate"]["spec"]["template"];
        pod_warnings::of(warnings, &at.child("spec").child("template"), template);
    }
}

fn is_changed(old: Option<&Value>, new: &Value) -> bool {
    let generation = |object: &Value| object["metadata"]["generation"].as_i64();
    old.is_none_or(|old| generation(old) != generation(new))
}

/// Adds the warnings about an object that the stored one does not get.
pub(crate) fn new_only(
    warnings: &mut Vec<String>,
    old: Option<&Value>,
    new: &Value,
    find: fn(&mut Vec<String>, &Value),
) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    if let Some(old) = old {
        find(&mut before, old);
    }
    find(&mut after, new);
    let before: BTreeSet<_> = before.into_iter().collect();
    warnings.extend(after.into_iter().filter(|warning| !before.contains(warning)));
}

/// Warns about the name of an object that is not a DNS label.
pub(crate) fn name(warnings: &mut Vec<String>, object: &Value, used_in: &str) {
    let wrong = label(text(&object["metadata"], "name"));
    if !wrong.is_empty() {
        warnings.push(format!(
            "metadata.name: this is used in {used_in}, which can result in surprising behavior; a DNS label is \
             recommended: [{}]",
            wrong.join(" ")
        ));
    }
}

/// Warns about deprecated labels in the topologies of a StorageClass.
pub(crate) fn topology_labels(warnings: &mut Vec<String>, class: &Value) {
    let at = Path::new("allowedTopologies");
    for (index, term) in list(class, "allowedTopologies").iter().enumerate() {
        let at = at.index(index);
        for (index, expression) in list(term, "matchLabelExpressions").iter().enumerate() {
            let (at, key) = (at.child("matchLabelExpressions"), text(expression, "key"));
            let at = at.index(index);
            if let Some(instead) = newer_label(key) {
                warnings.push(format!("{}: {instead}", at.child("key")));
            }
        }
    }
}
