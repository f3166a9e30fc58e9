//! The strategies of ServiceCIDRs and IPAddresses.

use gantry_json::{Value, json};
use gantry_primitives::names::{path_segment, subdomain};

use super::KindStrategy;
use crate::Timestamp;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::addresses;
use crate::validation::error_list::{ErrorList, Path, is_set, list, text};

const RANGE_COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("CIDRs").computed(|object, _| {
        let ranges: Vec<_> = cell::list(object, "spec.cidrs").iter().filter_map(Value::as_str).collect();
        json!(ranges.join(","))
    }),
    column::AGE,
];
const ADDRESS_COLUMNS: &[TableColumn] =
    &[column::NAME, column::text("ParentRef").computed(parent_cell), column::AGE_WITHOUT_HEADING];

pub(super) const RANGE: KindStrategy = KindStrategy {
    initial_status: |_| Some(json!({})),
    validate: |errors, _, old, new| {
        let new = list(&new["spec"], "cidrs");
        match old {
            None => validate_ranges(errors, new),
            Some(old) => validate_changed_ranges(errors, list(&old["spec"], "cidrs"), new),
        }
    },
    rows: Rows::new(RANGE_COLUMNS),
    ..KindStrategy::DEFAULT
};

pub(super) const ADDRESS: KindStrategy = KindStrategy {
    validate: |errors, _, old, new| {
        let at = Path::new("spec");
        if let Some(old) = old {
            let is_same = old["spec"]["parentRef"] == new["spec"]["parentRef"];
            errors.unchanged(&at.child("parentRef"), is_same);
        }
        validate_parent(errors, &at.child("parentRef"), &new["spec"]);
    },
    rows: Rows::new(ADDRESS_COLUMNS),
    ..KindStrategy::DEFAULT
};

/// Validates the ranges of a ServiceCIDR: one, or one of each family.
fn validate_ranges(errors: &mut ErrorList, ranges: &[Value]) {
    let at = Path::new("spec");
    let at = at.child("cidrs");
    if ranges.is_empty() {
        return errors.required(&at, "at least one CIDR required");
    }
    if ranges.len() > 2 {
        return errors.invalid(&at, &json!({"CIDRs": ranges}), "may only hold up to 2 values");
    }
    let texts = ranges.iter().map(|range| range.as_str().unwrap_or(""));
    for (index, range) in texts.clone().enumerate() {
        addresses::canonical_cidr(errors, &at.index(index), range);
    }
    if !addresses::are_of_different_families(texts) {
        let why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        errors.invalid(&at, &json!(ranges), why);
    }
}

/// Validates changed ranges: only one of the other family can be added.
fn validate_changed_ranges(errors: &mut ErrorList, old: &[Value], new: &[Value]) {
    let at = Path::new("spec");
    let at = at.child("cidrs");
    match (old, new) {
        _ if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                errors.immutable(&at.index(index), old == new, new);
            }
        }
        ([old], [first, _]) => {
            errors.immutable(&at.index(0), old == first, first);
            validate_ranges(errors, new);
        }
        _ => errors.immutable(&at, false, &json!(new)),
    }
}

/// Validates the reference to the object that an address belongs to.
fn validate_parent(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    if !is_set(spec, "parentRef") {
        return errors.required(at, "");
    }
    let parent = &spec["parentRef"];
    let group = text(parent, "group");
    errors.optional_text(&at.child("group"), group, subdomain);
    for (field, is_required) in [("resource", true), ("name", true), ("namespace", false)] {
        let value = text(parent, field);
        if !value.is_empty() {
            errors.invalid_text(&at.child(field), value, path_segment(value));
        } else if is_required {
            errors.required(&at.child(field), "");
        }
    }
}

/// Kubernetes has a cell for the age and no column for it.
fn parent_cell(object: &Value, _: Timestamp) -> Value {
    let parent = cell::at(object, "spec.parentRef");
    let (group, resource) = (text(parent, "group"), text(parent, "resource"));
    let resource = if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") };
    let parts = [resource.as_str(), text(parent, "namespace"), text(parent, "name")];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    json!(parts.join("/"))
}
