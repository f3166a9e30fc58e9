//! Validates CustomResourceDefinitions.
//!
//! Fields that all versions share are validated once, at the top level, as in Kubernetes' internal type. That is why errors
//! name `spec.validation` where clients wrote `spec.versions`.

mod conversion;
mod defaults;
mod expressions;
mod extensions;
mod go_format;
mod names;
mod schema;
mod selectable;
mod structural;
mod versions;
mod warnings;

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::FieldError;
use crate::custom::approval::{self, Approval};
use crate::custom::condition;
use crate::validation::error_list::{ErrorList, Path, is_set, list, text};
use crate::validation::names::{label_from_a_letter, subdomain};
use versions::Shared;

pub(crate) use warnings::warnings;

/// Validates a new definition.
pub(crate) fn create(errors: &mut ErrorList, definition: &Value) {
    definition_name(errors, definition);
    spec(errors, &Path::new("spec"), &definition["spec"], conversion::Bundles::Any);
    status(errors, definition);
    stored_versions(errors, definition);
    if approval::is_protected(text(&definition["spec"], "group")) {
        approved(errors, definition);
    }
    preserve_unknown_fields(errors, definition);
}

/// Validates a changed definition.
pub(crate) fn update(errors: &mut ErrorList, old: &Value, new: &Value) {
    let (at, before, now) = (Path::new("spec"), &old["spec"], &new["spec"]);
    spec(errors, &at, now, conversion::Bundles::of(old));
    let names = at.child("names");
    let mut immutable = |at: &Path<'_>, pointer: &str| {
        let value = |spec: &Value| spec.pointer(pointer).cloned().unwrap_or_else(|| json!(""));
        errors.immutable(at, value(before) == value(now), &value(now));
    };
    if condition::holds(old, condition::ESTABLISHED) {
        immutable(&at.child("scope"), "/scope");
        immutable(&names.child("kind"), "/names/kind");
    }
    immutable(&at.child("group"), "/group");
    immutable(&names.child("plural"), "/names/plural");
    status(errors, new);
    stored_versions(errors, new);
    if approval::is_protected(text(now, "group")) && approval::of(old).0 != approval::of(new).0 {
        approved(errors, new);
    }
    if before["preserveUnknownFields"] != true {
        preserve_unknown_fields(errors, new);
    }
}

/// Validates the status of a definition.
pub(crate) fn status(errors: &mut ErrorList, definition: &Value) {
    let at = Path::new("status");
    names::names(errors, &at.child("acceptedNames"), &definition["status"]["acceptedNames"]);
}

/// Validates the name of a definition. Its error comes after other errors about the name.
fn definition_name(errors: &mut ErrorList, definition: &Value) {
    let (spec, name) = (&definition["spec"], &definition["metadata"]["name"]);
    let wanted = format!("{}.{}", text(&spec["names"], "plural"), text(spec, "group"));
    if name.as_str().is_none_or(|name| name.is_empty() || name == wanted) {
        return;
    }
    let is_name = |error: &&FieldError| matches!(&*error.field, "metadata.name" | "metadata.generateName");
    let place = errors.all.iter().take_while(is_name).count();
    let why = "must be spec.names.plural+\".\"+spec.group";
    errors.all.insert(place, FieldError::invalid("metadata.name", name, why));
}

fn spec(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, bundles: conversion::Bundles) {
    group(errors, &at.child("group"), text(spec, "group"));
    errors.one_of(&at.child("scope"), &spec["scope"], &["Cluster", "Namespaced"]);
    let (versions_at, all) = (at.child("versions"), list(spec, "versions"));
    let schemas = || all.iter().map(|version| &version["schema"]["openAPIV3Schema"]);
    for (index, _) in schemas().enumerate().filter(|(_, schema)| schema.is_null()) {
        errors.required(&versions_at.index(index).child("schema").child("openAPIV3Schema"), "");
    }
    if spec["preserveUnknownFields"] == true && schemas().any(|schema| schema::any(schema, &has_default)) {
        let why = "must be false in order to use defaults in the schema";
        errors.invalid(&at.child("preserveUnknownFields"), &json!(true), why);
    }
    let shared = Shared::of(all);
    versions::versions(errors, &versions_at, spec, &shared);
    first_version(errors, &at.child("version"), all);
    for field in ["plural", "singular", "kind", "listKind"] {
        if text(&spec["names"], field).is_empty() {
            errors.required(&at.child("names").child(field), "");
        }
    }
    names::names(errors, &at.child("names"), &spec["names"]);
    versions::shared(errors, at, all, &shared);
    let (conversion_at, converted) = (at.child("conversion"), &spec["conversion"]);
    let strategy = &converted["strategy"];
    if is_set(spec, "conversion") && strategy != "None" && spec["preserveUnknownFields"] == true {
        let why = "must be None if spec.preserveUnknownFields is true";
        errors.invalid(&conversion_at.child("strategy"), strategy, why);
    }
    conversion::conversion(errors, &conversion_at, converted, bundles);
}

fn group(errors: &mut ErrorList, at: &Path<'_>, group: &str) {
    let wrong = subdomain(group);
    if group.is_empty() {
        errors.required(at, "");
    } else if !wrong.is_empty() {
        errors.invalid(at, &json!(group), wrong.join(","));
    } else if !group.contains('.') {
        errors.invalid(at, &json!(group), "should be a domain with at least one dot");
    }
}

/// Validates the name of the first version, which Kubernetes' internal type repeats in `spec.version`.
fn first_version(errors: &mut ErrorList, at: &Path<'_>, versions: &[Value]) {
    let name = versions.first().map_or("", |version| text(version, "name"));
    let wrong = label_from_a_letter(name);
    if !name.is_empty() && !wrong.is_empty() {
        errors.invalid(at, &json!(name), wrong.join(","));
    }
}

/// Validates the stored versions: each must be a version of the definition.
fn stored_versions(errors: &mut ErrorList, definition: &Value) {
    let (status, at) = (&definition["status"], Path::new("status"));
    let (at, stored) = (at.child("storedVersions"), list(status, "storedVersions"));
    if stored.is_empty() {
        return errors.invalid(&at, &Value::Null, "must have at least one stored version");
    }
    let versions = list(&definition["spec"], "versions");
    for version in versions.iter().filter(|version| version["storage"] == true) {
        if !stored.contains(&version["name"]) {
            let why = format!("must have the storage version {}", text(version, "name"));
            errors.invalid(&at, &json!(stored), why);
        }
    }
    let names: BTreeSet<_> = versions.iter().map(|version| version["name"].as_str()).collect();
    for (index, name) in stored.iter().enumerate() {
        if !names.contains(&name.as_str()) {
            let shown = name.as_str().unwrap_or_default();
            let why = format!(
                "missing from spec.versions; {shown} was previously a storage version, and must remain in \
                 spec.versions until a storage migration ensures no data remains persisted in {shown} and removes \
                 {shown} from status.storedVersions"
            );
            errors.invalid(&at.index(index), name, why);
        }
    }
}

fn approved(errors: &mut ErrorList, definition: &Value) {
    let metadata = Path::new("metadata");
    let at = metadata.child("annotations");
    let at = at.key(approval::ANNOTATION);
    match approval::of(definition) {
        (Approval::Approved | Approval::Bypassed, _) => {}
        (Approval::Missing, why) => errors.required(&at, &why),
        (Approval::Invalid, why) => {
            errors.invalid(&at, &definition["metadata"]["annotations"][approval::ANNOTATION], why);
        }
    }
}

fn preserve_unknown_fields(errors: &mut ErrorList, definition: &Value) {
    let preserve = &definition["spec"]["preserveUnknownFields"];
    if *preserve == true {
        let at = Path::new("spec");
        let why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema \
                   instead";
        errors.invalid(&at.child("preserveUnknownFields"), preserve, why);
    }
}

fn has_default(schema: &Value) -> bool {
    is_set(schema, "default")
}
