//! Validates the versions of a definition.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::{go_format, schema, selectable};
use crate::validation::error_list::{ErrorList, Path, is_set, list, text};
use crate::validation::names::label_from_a_letter;

const COLUMN_TYPES: &str = "boolean,date,integer,number,string";
const COLUMN_FORMATS: &str = "byte,date,date-time,double,float,int32,int64,password";
const WARNING_MAX: usize = 256;

/// The fields that all versions share.
#[derive(Debug)]
pub(super) struct Shared {
    fields: Vec<&'static str>,
}

impl Shared {
    pub(super) fn of(versions: &[Value]) -> Self {
        let empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        let same = |one: &Value, other: &Value| one == other || (empty(one) && empty(other));
        let mut fields = vec!["schema", "subresources", "additionalPrinterColumns", "selectableFields"];
        fields.retain(|field| {
            versions.first().is_some_and(|first| versions.iter().all(|v| same(&v[*field], &first[*field])))
        });
        Self { fields }
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.fields.contains(&field)
    }
}

/// Validates all versions, and that exactly one is the storage version.
pub(super) fn versions(errors: &mut ErrorList, at: &Path<'_>, spec: &Value, shared: &Shared) {
    let versions = list(spec, "versions");
    for (index, version) in versions.iter().enumerate() {
        let wrong = label_from_a_letter(text(version, "name"));
        if !wrong.is_empty() {
            errors.invalid(&at.index(index).child("name"), &json!(text(version, "name")), wrong.join(","));
        }
        one(errors, &at.index(index), version, shared);
    }
    let names: BTreeSet<_> = versions.iter().map(|version| text(version, "name")).collect();
    if names.len() < versions.len() {
        errors.invalid_formatted(
            at,
            go_format::versions(&spec["versions"], shared),
            "must contain unique version names",
        );
    }
    if versions.iter().filter(|version| version["storage"] == true).count() != 1 {
        let why = "must have exactly one version marked as storage version";
        errors.invalid_formatted(at, go_format::versions(&spec["versions"], shared), why);
    }
}

/// Returns the fields that all versions share.
pub(super) fn shared(errors: &mut ErrorList, at: &Path<'_>, versions: &[Value], shared: &Shared) {
    let Some(first) = versions.first() else { return };
    let common = |field: &str| if shared.has(field) { &first[field] } else { &Value::Null };
    let has_status = versions.iter().any(has_status);
    schema::schema(errors, &at.child("validation"), common("schema"), has_status);
    subresources(errors, &at.child("subresources"), common("subresources"));
    columns(errors, &at.child("additionalPrinterColumns"), common("additionalPrinterColumns"));
    let fields = common("selectableFields");
    if fields.as_array().is_some_and(|fields| !fields.is_empty()) {
        let at = at.child("selectableFields");
        if common("schema").is_null() {
            errors.invalid(&at, &json!(""), "may only be set when validations.schema is included");
        } else {
            selectable::fields(errors, &at, fields, &common("schema")["openAPIV3Schema"]);
        }
    }
}

fn one(errors: &mut ErrorList, at: &Path<'_>, version: &Value, shared: &Shared) {
    deprecation(errors, &at.child("deprecationWarning"), version);
    let own = |field: &str| if shared.has(field) { &Value::Null } else { &version[field] };
    schema::schema(errors, &at.child("schema"), own("schema"), has_status(version));
    subresources(errors, &at.child("subresources"), own("subresources"));
    columns(errors, &at.child("additionalPrinterColumns"), own("additionalPrinterColumns"));
    let fields = own("selectableFields");
    if fields.as_array().is_some_and(|fields| !fields.is_empty()) {
        let (at, schema) = (at.child("selectableFields"), &own("schema")["openAPIV3Schema"]);
        if schema.is_null() {
            // The message is upstream's.
            let why = "may only be set when `version.schema.openAPIV3Schema` is not included";
            errors.invalid(&at, &json!(""), why);
        } else {
            selectable::fields(errors, &at, fields, schema);
        }
    }
}

fn has_status(version: &Value) -> bool {
    is_set(&version["subresources"], "status")
}

fn deprecation(errors: &mut ErrorList, at: &Path<'_>, version: &Value) {
    let Some(warning) = version["deprecationWarning"].as_str() else { return };
    let mut wrong = |why: String| errors.invalid(at, &json!(warning), why);
    if version["deprecated"] != true {
        return wrong("can only be set for deprecated versions".to_owned());
    }
    if warning.len() > WARNING_MAX {
        wrong(format!("must be <= {WARNING_MAX} characters long"));
    }
    if warning.is_empty() {
        wrong("must not be an empty string".to_owned());
    }
    let printable = |c: char| c == ' ' || !(c.is_control() || c.is_whitespace());
    if let Some((index, _)) = warning.char_indices().find(|(_, c)| !printable(*c)) {
        wrong(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {index}"
        ));
    }
}

fn columns(errors: &mut ErrorList, at: &Path<'_>, columns: &Value) {
    for (index, column) in columns.as_array().into_iter().flatten().enumerate() {
        let at = at.index(index);
        if text(column, "name").is_empty() {
            errors.required(&at.child("name"), "");
        }
        let (kind, format) = (text(column, "type"), text(column, "format"));
        if kind.is_empty() {
            errors.required(&at.child("type"), &format!("must be one of {COLUMN_TYPES}"));
        } else if !COLUMN_TYPES.split(',').any(|known| known == kind) {
            errors.invalid(&at.child("type"), &json!(kind), format!("must be one of {COLUMN_TYPES}"));
        }
        if !format.is_empty() && !COLUMN_FORMATS.split(',').any(|known| known == format) {
            errors.invalid(&at.child("format"), &json!(format), format!("must be one of {COLUMN_FORMATS}"));
        }
        match text(column, "jsonPath") {
            "" => errors.required(&at.child("JSONPath"), ""),
            path => {
                simple_path(errors, &at.child("JSONPath"), path);
            }
        }
    }
}

fn subresources(errors: &mut ErrorList, at: &Path<'_>, subresources: &Value) {
    let scale = &subresources["scale"];
    if scale.is_null() {
        return;
    }
    for (field, place, under) in [
        ("specReplicasPath", "scale.specReplicasPath", ".spec"),
        ("statusReplicasPath", "scale.statusReplicasPath", ".status"),
    ] {
        let (at, path) = (at.child(place), text(scale, field));
        if path.is_empty() {
            errors.required(&at, "");
        } else if simple_path(errors, &at, path) && !is_under(path, under) {
            errors.invalid(&at, &json!(path), format!("should be a json path under {under}"));
        }
    }
    let (at, path) = (at.child("scale.labelSelectorPath"), text(scale, "labelSelectorPath"));
    if !path.is_empty()
        && simple_path(errors, &at, path)
        && !is_under(path, ".spec")
        && !is_under(path, ".status")
    {
        errors.invalid(&at, &json!(path), "should be a json path under either .spec or .status");
    }
}

fn is_under(path: &str, part: &str) -> bool {
    path.strip_prefix(part).is_some_and(|rest| rest.starts_with('.'))
}

/// Validates that a path begins with a dot, and returns whether it does.
fn simple_path(errors: &mut ErrorList, at: &Path<'_>, path: &str) -> bool {
    let is_simple = path.starts_with('.');
    if !is_simple {
        errors.invalid(at, &json!(path), "must be a simple json path starting with .");
    }
    is_simple
}

/// Returns all schemas of a definition.
pub(super) fn schemas(spec: &Value) -> impl Iterator<Item = &Value> {
    list(spec, "versions").iter().map(|version| &version["schema"]["openAPIV3Schema"])
}
