//! Validates metadata: names, labels, annotations, owners, finalizers.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::addresses;
use super::error_list::{ErrorList, Path, is_set, list, number, text};
use super::go_format::{ordered_json, ordered_json_list};
use super::names::{label, label_value, path_segment, qualified_name, subdomain};
use crate::kinds::{Kind, NameRule, Scope};
use crate::strategies;

const ANNOTATIONS_MAX_BYTES: usize = 262_144;
const OWNER: &str = "meta/v1.OwnerReference";
/// Standard finalizers without a domain.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// Validates the metadata of a new object.
pub(crate) fn create(errors: &mut ErrorList, kind: &Kind, object: &Value) {
    let (at, metadata) = (Path::new("metadata"), &object["metadata"]);
    name(errors, kind, metadata, &at);
    namespace(errors, kind, metadata, &at);
    attached(errors, &at, metadata);
    known_finalizers(errors, kind, &at, metadata);
}

/// Validates the metadata of an embedded object, which may have no name.
pub(crate) fn embedded(errors: &mut ErrorList, at: &Path<'_>, metadata: &Value) {
    for field in ["generateName", "name"] {
        let name = text(metadata, field);
        errors.invalid_text(&at.child(field), name, path_segment(name));
    }
    let namespace = text(metadata, "namespace");
    errors.optional_text(&at.child("namespace"), namespace, label);
    errors.not_negative(at, metadata, "generation");
    attached(errors, at, metadata);
}

/// Validates the metadata of a changed object.
pub(crate) fn update(errors: &mut ErrorList, kind: &Kind, old: &Value, new: &Value) {
    let at = Path::new("metadata");
    let (old, new) = (&old["metadata"], &new["metadata"]);
    attached(errors, &at, new);
    if is_set(old, "deletionTimestamp") {
        no_new_finalizers(errors, &at.child("finalizers"), old, new);
    }
    for field in ["name", "namespace", "uid", "creationTimestamp"] {
        // Absent fields have been restored before.
        let is_same = !is_set(new, field) || text(new, field) == text(old, field);
        errors.immutable(&at.child(field), is_same, &new[field]);
    }
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        let is_same = !is_set(new, field) || new[field] == old[field];
        errors.immutable(&at.child(field), is_same, &new[field]);
    }
    known_finalizers(errors, kind, &at, new);
}

/// Validates labels. The path of errors names the map.
pub(crate) fn labels(errors: &mut ErrorList, at: &Path<'_>, holder: &Value, field: &str) {
    for (key, value) in errors.members(at, holder, field) {
        errors.invalid_text(at, key, qualified_name(key));
        let value = value.as_str().unwrap_or("");
        errors.invalid_text(at, value, label_value(value));
    }
}

/// Validates the keys and the total size of annotations.
pub(crate) fn annotations(errors: &mut ErrorList, at: &Path<'_>, holder: &Value) {
    let mut bytes = 0_usize;
    for (key, value) in errors.members(at, holder, "annotations") {
        errors.invalid_text(at, key, qualified_name(&key.to_lowercase()));
        bytes = bytes.saturating_add(key.len()).saturating_add(value.as_str().map_or(0, str::len));
    }
    if bytes > ANNOTATIONS_MAX_BYTES {
        errors.too_long(at, ANNOTATIONS_MAX_BYTES);
    }
}

/// Validates the finalizers of a namespace's spec.
pub(crate) fn finalizer_names(errors: &mut ErrorList, at: &Path<'_>, finalizers: &[Value]) {
    for (index, finalizer) in finalizers.iter().enumerate() {
        let name = finalizer.as_str().unwrap_or("");
        errors.invalid_text(&at.index(index), name, qualified_name(name));
        known_finalizer(errors, &at.index(index), name);
    }
}

/// Validates labels, annotations, owners and finalizers.
fn attached(errors: &mut ErrorList, at: &Path<'_>, metadata: &Value) {
    labels(errors, &at.child("labels"), metadata, "labels");
    annotations(errors, &at.child("annotations"), metadata);
    owners(errors, &at.child("ownerReferences"), list(metadata, "ownerReferences"));
    finalizers(errors, &at.child("finalizers"), list(metadata, "finalizers"));
}

/// Drops owner references that are repeated exactly, and returns a warning about them, which says when they were found.
pub(crate) fn deduplicate_owners(object: &mut Value, when: &str) -> Option<String> {
    let Some(Value::Array(owners)) = object.pointer_mut("/metadata/ownerReferences") else { return None };
    let (mut kept, mut repeated) = (BTreeSet::new(), Vec::new());
    owners.retain(|owner| {
        let is_new = kept.insert(owner.to_string());
        if !is_new {
            repeated.push(text(owner, "uid").to_owned());
        }
        is_new
    });
    (!repeated.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, \
             and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            repeated.join(", ")
        )
    })
}

fn name(errors: &mut ErrorList, kind: &Kind, metadata: &Value, at: &Path<'_>) {
    let (name, prefix) = (text(metadata, "name"), text(metadata, "generateName"));
    if !prefix.is_empty() {
        let wrong = name_rule(kind, &without_trailing_dash(prefix));
        errors.invalid_text(&at.child("generateName"), prefix, wrong);
    }
    if name.is_empty() {
        errors.required(&at.child("name"), "name or generateName is required");
    } else {
        errors.invalid_text(&at.child("name"), name, name_rule(kind, name));
    }
}

fn name_rule(kind: &Kind, name: &str) -> Vec<String> {
    match kind.names {
        NameRule::Subdomain => subdomain(name),
        NameRule::Label => label(name),
        NameRule::PathSegment => path_segment(name),
        NameRule::IpAddress => addresses::not_canonical(name).into_iter().collect(),
    }
}

/// Replaces a dash at the end of a prefix, where more will follow.
fn without_trailing_dash(prefix: &str) -> String {
    match prefix.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => format!("{rest}a"),
        _ => prefix.to_owned(),
    }
}

fn namespace(errors: &mut ErrorList, kind: &Kind, metadata: &Value, at: &Path<'_>) {
    let namespace = text(metadata, "namespace");
    match kind.scope {
        Scope::Namespaced if !namespace.is_empty() => {
            errors.invalid_text(&at.child("namespace"), namespace, label(namespace));
        }
        Scope::Cluster if !namespace.is_empty() => {
            errors.forbidden(&at.child("namespace"), "not allowed on this type");
        }
        _ => {}
    }
    if number(metadata, "generation").is_some_and(|generation| generation < 0) {
        errors.not_negative(at, metadata, "generation");
    }
}

fn owners(errors: &mut ErrorList, at: &Path<'_>, owners: &[Value]) {
    let mut controller: Option<&Value> = None;
    for (index, owner) in owners.iter().enumerate() {
        one_owner(errors, &at.index(index), owner);
        if owner["controller"].as_bool() != Some(true) {
            continue;
        }
        if let Some(first) = controller {
            let named = |owner: &Value| format!("{}/{}", text(owner, "kind"), text(owner, "name"));
            let why = format!(
                "Only one reference can have Controller set to true. Found \"true\" in references for {} and {}",
                named(first),
                named(owner)
            );
            errors.invalid_formatted(at, ordered_json_list(OWNER, owners), &why);
        } else {
            controller = Some(owner);
        }
    }
}

fn one_owner(errors: &mut ErrorList, at: &Path<'_>, owner: &Value) {
    let api_version = text(owner, "apiVersion");
    if api_version.matches('/').count() > 1 {
        errors.invalid(
            &at.child("apiVersion"),
            &owner["apiVersion"],
            "must be <group>/<version> or <version>",
        );
    }
    for field in ["apiVersion", "kind", "name", "uid"] {
        if text(owner, field).is_empty() {
            errors.required(&at.child(field), "must not be empty");
        }
    }
    if api_version == "v1" && text(owner, "kind") == "Event" {
        let why = "/v1, Kind=Event is disallowed from being an owner";
        errors.invalid_formatted(at, ordered_json(OWNER, owner), why);
    }
}

fn finalizers(errors: &mut ErrorList, at: &Path<'_>, finalizers: &[Value]) {
    for name in finalizers.iter().filter_map(Value::as_str) {
        errors.invalid_text(at, name, qualified_name(name));
    }
    let has = |name: &str| finalizers.iter().any(|finalizer| finalizer == name);
    if has("orphan") && has("foregroundDeletion") {
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.invalid(at, &json!(finalizers), why);
    }
}

/// Validates that finalizers without a domain are standard ones, unless the kind accepts any. Custom resources get warnings
/// instead.
fn known_finalizers(errors: &mut ErrorList, kind: &Kind, at: &Path<'_>, metadata: &Value) {
    if strategies::of(kind).any_finalizers {
        return;
    }
    for (index, name) in list(metadata, "finalizers").iter().enumerate() {
        known_finalizer(errors, &at.child("finalizers").index(index), name.as_str().unwrap_or(""));
    }
}

/// Returns warnings about finalizers without a domain that were added to a custom resource.
pub(crate) fn finalizer_warnings(old: &Value, new: &Value) -> Vec<String> {
    let added = added_finalizers(&old["metadata"], &new["metadata"]);
    let is_odd = |name: &&str| !name.contains('/') && !STANDARD_FINALIZERS.contains(name);
    let warning = |name: &str| {
        let path = if name.contains('.') { " including a path (/)" } else { "" };
        format!(
            "metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts \
             with other finalizer writers"
        )
    };
    added.into_iter().filter(is_odd).map(warning).collect()
}

/// Returns the finalizers that the old metadata does not have.
fn added_finalizers<'v>(old: &Value, new: &'v Value) -> BTreeSet<&'v str> {
    let before: BTreeSet<_> = list(old, "finalizers").iter().filter_map(Value::as_str).collect();
    list(new, "finalizers").iter().filter_map(Value::as_str).filter(|name| !before.contains(name)).collect()
}

fn known_finalizer(errors: &mut ErrorList, at: &Path<'_>, name: &str) {
    if !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
        let why = "name is neither a standard finalizer name nor is it fully qualified";
        errors.invalid(at, &json!(name), why);
    }
}

fn no_new_finalizers(errors: &mut ErrorList, at: &Path<'_>, old: &Value, new: &Value) {
    let added = added_finalizers(old, new);
    if !added.is_empty() {
        let shown: Vec<_> = added.into_iter().map(|name| format!("{name:?}")).collect();
        let why = "no new finalizers can be added if the object is being deleted, found new finalizers";
        errors.forbidden(at, format!("{why} []string{{{}}}", shown.join(", ")));
    }
}
