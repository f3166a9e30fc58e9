//! The strategy of StorageVersionMigrations.

use gantry_json::{Value, json};
use gantry_primitives::names::{label_from_a_letter, subdomain};

use super::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::error_list::{ErrorList, Path, list, text};
use crate::validation::go_format::ordered_json_list;
use crate::validation::status;

const COLUMNS: &[TableColumn] = &[
    column::text("Name").text_at("metadata.name"),
    column::text("Resource").computed(|object, _| {
        let resource = cell::at(object, "spec.resource");
        let (group, name) = (text(resource, "group"), text(resource, "resource"));
        let resource = if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") };
        json!(resource)
    }),
    column::text("Status").computed(|object, _| {
        let conditions = cell::list(object, "status.conditions").iter();
        let mut shown = conditions
            .filter(|found| found["status"] == "True")
            .filter_map(|found| found["type"].as_str())
            .filter(|kind| matches!(*kind, "Running" | "Failed" | "Succeeded"));
        json!(shown.next_back().unwrap_or("Unknown"))
    }),
];

pub(super) const STRATEGY: KindStrategy = KindStrategy {
    initial_status: |_| Some(json!({})),
    validate: |errors, _, _, new| validate_resource(errors, &new["spec"]["resource"]),
    validate_change: |errors, old, new| {
        if old["spec"] != new["spec"] {
            let resource = &new["spec"]["resource"];
            let (group, name) = (json!(text(resource, "group")), json!(text(resource, "resource")));
            let shown = format!("{{\"Resource\":{{\"group\":{group},\"resource\":{name}}}}}");
            errors.invalid_formatted(&Path::new("spec"), shown, "field is immutable");
        }
    },
    validate_status: |errors, _, old, new| validate_status(errors, &old["status"], &new["status"]),
    rows: Rows::new(COLUMNS),
    ..KindStrategy::DEFAULT
};

fn validate_resource(errors: &mut ErrorList, resource: &Value) {
    let at = Path::new("spec");
    let at = at.child("resource");
    let (group, name) = (text(resource, "group"), text(resource, "resource"));
    if name.is_empty() {
        errors.required(&at.child("resource"), "resource is required to be set");
    } else {
        let wrong = label_from_a_letter(name);
        if !wrong.is_empty() {
            errors.invalid(&at.child("resource"), &json!(name), wrong.join(","));
        }
    }
    let wrong = subdomain(group);
    if !group.is_empty() && !wrong.is_empty() {
        errors.invalid(&at.child("group"), &json!(group), wrong.join(","));
    }
}

/// Validates a status: its resource version and the conditions of success and failure are final once set.
fn validate_status(errors: &mut ErrorList, old: &Value, new: &Value) {
    let at = Path::new("status");
    let version = text(new, "resourceVersion");
    if !version.is_empty() && !is_version(version) {
        let why = format!("resource version is not well formed: {version}");
        errors.invalid(&at.child("resourceVersion"), &json!(version), why);
    }
    let conditions = list(new, "conditions");
    status::conditions(errors, conditions);
    let before = text(old, "resourceVersion");
    if !before.is_empty() && before != version {
        errors.invalid(&at.child("resourceVersion"), &json!(version), "field is immutable");
    }
    let is = |status: &Value, kind: &str| {
        list(status, "conditions").iter().any(|found| found["type"] == kind && found["status"] == "True")
    };
    let mut refuse = |why: &str| {
        let shown = ordered_json_list("meta/v1.Condition", conditions);
        errors.invalid_formatted(&at.child("conditions"), shown, why);
    };
    if is(new, "Succeeded") && is(new, "Failed") {
        refuse("Both success and failed conditions cannot be true at the same time");
    }
    if is(old, "Succeeded") && !is(new, "Succeeded") {
        refuse("Success condition cannot be set to false once it is true");
    }
    if is(old, "Failed") && !is(new, "Failed") {
        refuse("Failed condition cannot be set to false once it is true");
    }
}

fn is_version(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0')
}
