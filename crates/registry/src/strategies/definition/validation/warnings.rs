//! Warnings about definitions.

use std::collections::BTreeSet;

use gantry_json::Value;

use super::{schema, versions};
use crate::validation::error_list::text;

/// Known formats of strings, without dashes.
const FORMATS: [&str; 26] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

/// Warns about unknown formats, and sets of objects.
pub(crate) fn warnings(spec: &Value) -> Vec<String> {
    let (mut formats, mut sets) = (Vec::new(), BTreeSet::new());
    let (mut one, mut all) = (BTreeSet::new(), Vec::new());
    for schema in versions::schemas(spec) {
        // A shared schema is checked once.
        if one.insert(schema.to_string()) {
            all.push(schema);
        }
    }
    for schema in all {
        schema::each(schema, &mut |schema| {
            let (kind, format) = (text(schema, "type"), text(schema, "format"));
            if !format.is_empty() && !is_known(kind, format) {
                formats.push(format!("unrecognized format {format:?}"));
            }
            let items = text(&schema["items"], "type");
            if schema["x-kubernetes-list-type"] == "set" && matches!(items, "object" | "array") {
                sets.insert(format!(
                    "x-kubernetes-list-type: set for items of type {items:?} is not supported by server-side apply \
                     or CEL validation rules"
                ));
            }
        });
    }
    formats.into_iter().chain(sets).collect()
}

fn is_known(kind: &str, format: &str) -> bool {
    match kind {
        "" | "string" => FORMATS.contains(&format.replace('-', "").as_str()),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}
