//! Validates Nodes.

use std::collections::BTreeSet;

use gantry_formats::quantity::Quantity;
use gantry_json::{Value, json};

use crate::validation::addresses;
use crate::validation::error_list::{ErrorList, Path, list, text};
use crate::validation::names::{label_value, qualified_name};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Validates a new or changed Node.
pub(crate) fn node(errors: &mut ErrorList, object: &Value) {
    taints(errors, list(&object["spec"], "taints"));
    ranges(errors, list(&object["spec"], "podCIDRs"));
    resources(errors, &object["status"]);
}

/// Returns warnings about a Node.
pub(crate) fn warnings(spec: &Value) -> Vec<String> {
    if text(spec, "externalID").is_empty() {
        return Vec::new();
    }
    vec!["spec.externalID: this field is deprecated, and is unused by Kubernetes".to_owned()]
}

/// Validates the status of a Node.
pub(crate) fn status(errors: &mut ErrorList, object: &Value) {
    resources(errors, &object["status"]);
    let (at, addresses) = (Path::new("status"), list(&object["status"], "addresses"));
    let mut seen = BTreeSet::new();
    for (index, address) in addresses.iter().enumerate() {
        if !seen.insert(address.to_string()) {
            let (kind, value) = (json!(text(address, "type")), json!(text(address, "address")));
            let shown = format!(r#"{{"Type":{kind},"Address":{value}}}"#);
            errors.duplicate_formatted(&at.child("addresses").index(index), shown);
        }
    }
}

/// Validates quantities: not negative, and integers where resources are counted.
fn resources(errors: &mut ErrorList, status: &Value) {
    let at = Path::new("status");
    for field in ["capacity", "allocatable"] {
        let at = at.child(field);
        for (name, amount) in errors.members(&at, status, field) {
            let Some(value) = amount.as_str().and_then(|text| Quantity::parse(text).ok()) else { continue };
            if value.billionths() < 0 {
                errors.invalid(&at.child(name), amount, "must be greater than or equal to 0");
            }
            if name == "pods" && value.billionths() % 1_000_000_000 != 0 {
                errors.invalid(&at.child(name), amount, "must be an integer");
            }
        }
    }
}

/// Validates pod CIDRs, at most one per family.
fn ranges(errors: &mut ErrorList, ranges: &[Value]) {
    let at = Path::new("spec");
    let at = at.child("podCIDRs");
    for (index, range) in ranges.iter().enumerate() {
        let text = range.as_str().unwrap_or("");
        addresses::cidr(errors, &at.index(index), text);
    }
    if ranges.len() < 2 {
        return;
    }
    let mut texts = ranges.iter().map(|range| range.as_str().unwrap_or(""));
    let malformed = texts.clone().enumerate().find(|(_, text)| addresses::parse_cidr(text).is_none());
    if let Some((index, text)) = malformed {
        let why = format!(
            "invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[{index}]: <nil> (invalid CIDR \
             address: {text})"
        );
        errors.internal(&at, &why);
    }
    if malformed.is_some() || ranges.len() > 2 || !addresses::are_of_different_families(&mut texts) {
        let why = "may specify no more than one CIDR for each IP family";
        errors.invalid(&at, &json!(ranges), why);
    }
}

/// Validates taints, unique by key and effect. The path in errors is below `metadata`, as in Kubernetes.
fn taints(errors: &mut ErrorList, taints: &[Value]) {
    let at = Path::new("metadata");
    let at = at.child("taints");
    let mut seen = BTreeSet::new();
    for (index, taint) in taints.iter().enumerate() {
        let at = at.index(index);
        let (key, value) = (text(taint, "key"), text(taint, "value"));
        errors.invalid_text(&at.child("key"), key, qualified_name(key));
        let wrong = label_value(value);
        if !wrong.is_empty() {
            errors.invalid(&at.child("value"), &json!(value), wrong.join(";"));
        }
        errors.one_of(&at.child("effect"), &taint["effect"], &EFFECTS);
        if !seen.insert((key, taint["effect"].to_string())) {
            // With the Go names of fields.
            let (key, value, added) = (json!(key), json!(value), &taint["timeAdded"]);
            let effect = &taint["effect"];
            let shown = format!(r#"{{"Key":{key},"Value":{value},"Effect":{effect},"TimeAdded":{added}}}"#);
            let why = "taints must be unique by key and effect pair";
            errors.duplicate_formatted(&at, format!("{shown}: {why}"));
        }
    }
}

/// Validates that pod CIDRs and provider id do not change once set.
pub(crate) fn changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let (at, old, new) = (Path::new("spec"), &old["spec"], &new["spec"]);
    if !list(old, "podCIDRs").is_empty() && list(old, "podCIDRs") != list(new, "podCIDRs") {
        let why = "node updates may not change podCIDR except from \"\" to valid";
        errors.forbidden(&at.child("podCIDRs"), why);
    }
    let provider = text(old, "providerID");
    if !provider.is_empty() && provider != text(new, "providerID") {
        let how = if text(new, "providerID").is_empty() { "cleared" } else { "modified" };
        errors.invalid(&at.child("providerID"), &Value::Null, format!("field cannot be {how} once set"));
    }
    if text(old, "externalID") != text(new, "externalID") {
        errors.forbidden(&at.child("externalID"), "may not be updated");
    }
}
