//! Validates the schema of a version.

use gantry_json::{Value, json};

use super::{defaults, expressions, extensions, go_format, structural};
use crate::validation::error_list::{ErrorList, Path, is_set, list, members, text};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
/// Unsupported fields of schemas.
const UNSUPPORTED: [&str; 6] =
    ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];
/// Fields that the root of a schema may have if the status is a subresource, as Go and as JSON name them.
const AT_ROOT: [(&str, &str); 22] = [
    ("Description", "description"),
    ("Type", "type"),
    ("Format", "format"),
    ("Title", "title"),
    ("Maximum", "maximum"),
    ("ExclusiveMaximum", "exclusiveMaximum"),
    ("Minimum", "minimum"),
    ("ExclusiveMinimum", "exclusiveMinimum"),
    ("MaxLength", "maxLength"),
    ("MinLength", "minLength"),
    ("Pattern", "pattern"),
    ("MaxItems", "maxItems"),
    ("MinItems", "minItems"),
    ("UniqueItems", "uniqueItems"),
    ("MultipleOf", "multipleOf"),
    ("Required", "required"),
    ("Items", "items"),
    ("Properties", "properties"),
    ("ExternalDocs", "externalDocs"),
    ("Example", "example"),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields"),
    ("XValidations", "x-kubernetes-validations"),
];

/// Validates the field `schema` of a version; `has_status` if the status is a subresource.
pub(super) fn schema(errors: &mut ErrorList, at: &Path<'_>, validation: &Value, has_status: bool) {
    let root = &validation["openAPIV3Schema"];
    if root.is_null() {
        return;
    }
    let before = errors.all.len();
    if has_status {
        root_with_status(errors, at, root);
    }
    if root["nullable"] == true {
        errors.forbidden(&at.child("openAPIV3Schema.nullable"), "nullable cannot be true at the root");
    }
    let here = at.child("openAPIV3Schema");
    let unsupported = structural::unsupported(root);
    let before_it = errors.all.len();
    if unsupported.is_none() {
        structural::structural(errors, &here, root);
        if errors.all.len() == before_it {
            defaults::defaults(errors, &here, root);
        }
    }
    open_api(errors, &here, root, Context { is_root: true, in_metadata: false, no_defaults: None });
    if unsupported.is_none() && errors.all.len() == before_it {
        expressions::expressions(errors, &here, root);
    }
    // It was reported at its path, or is reported here.
    if let Some(problem) = unsupported.filter(|_| errors.all.len() == before) {
        errors.invalid(&here, &json!(""), problem);
    }
}

/// Whether the predicate holds for a schema or any schema in it.
pub(super) fn any(schema: &Value, is: &dyn Fn(&Value) -> bool) -> bool {
    let mut found = false;
    each(schema, &mut |schema| found |= is(schema));
    found
}

/// Visits a schema and all schemas in it.
pub(super) fn each(schema: &Value, visit: &mut dyn FnMut(&Value)) {
    if !schema.is_object() {
        return;
    }
    visit(schema);
    for field in ["items", "allOf", "anyOf", "oneOf", "not"] {
        let inner = &schema[field];
        inner.as_array().into_iter().flatten().for_each(|inner| each(inner, visit));
        each(inner, visit);
    }
    members(schema, "properties").for_each(|(_, inner)| each(inner, visit));
    each(&schema["additionalProperties"], visit);
}

/// The context of a schema.
#[derive(Clone, Copy)]
struct Context {
    is_root: bool,
    in_metadata: bool,
    /// The error for defaults, if they are not allowed here.
    no_defaults: Option<&'static str>,
}

fn root_with_status(errors: &mut ErrorList, at: &Path<'_>, root: &Value) {
    let order = go_format::schema_fields();
    let mut set = order.into_iter().filter(|field| is_set(root, field));
    if let Some(field) = set.find(|field| {
        !AT_ROOT.iter().any(|(_, known)| known == field) || (*field == "type" && root["type"] != "object")
    }) {
        if field == "type" {
            let why = "only \"object\" is allowed as the type at the root of the schema if the status subresource \
                       is enabled";
            return errors.invalid(&at.child("openAPIV3Schema.type"), &root["type"], why);
        }
        let names: Vec<_> = AT_ROOT.iter().map(|(name, _)| *name).collect();
        let why = format!(
            "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
            names.join(" ")
        );
        errors.invalid_formatted(&at.child("openAPIV3Schema"), go_format::schema(root), &why);
    }
}

fn open_api(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, context: Context) {
    if !schema.is_object() {
        return;
    }
    standard(errors, at, schema, context);
    if schema["uniqueItems"] == true {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.forbidden(&at.child("uniqueItems"), why);
    }
    let within = Context { is_root: false, ..context };
    let additional = &schema["additionalProperties"];
    if !additional.is_null() {
        let here = at.child("additionalProperties");
        if *additional != true && members(schema, "properties").next().is_some() {
            errors.forbidden(&here, "additionalProperties and properties are mutual exclusive");
        }
        let why = context.in_metadata.then_some("inside additionalProperties applying to object metadata");
        open_api(errors, &here, additional, Context { no_defaults: why.or(within.no_defaults), ..within });
    }
    properties(errors, &at.child("properties"), schema, context);
    open_api(errors, &at.child("not"), &schema["not"], within);
    for field in ["allOf", "oneOf", "anyOf"] {
        for (index, inner) in list(schema, field).iter().enumerate() {
            open_api(errors, &at.child(field).index(index), inner, within);
        }
    }
    for (name, inner) in members(schema, "definitions") {
        open_api(errors, &at.child("definitions").key(name), inner, within);
    }
    open_api(errors, &at.child("items"), &schema["items"], within);
    for (index, inner) in list(schema, "items").iter().enumerate() {
        open_api(errors, &at.child("items").index(index), inner, within);
    }
    for (name, inner) in members(schema, "dependencies") {
        open_api(errors, &at.child("dependencies").key(name), inner, within);
    }
    extensions::list_and_map_types(errors, at, schema);
    extensions::rules(errors, &at.child("x-kubernetes-validations"), schema);
}

/// Validates the OpenAPI fields of a schema.
fn standard(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, context: Context) {
    let kind = text(schema, "type");
    if !kind.is_empty() && !TYPES.contains(&kind) {
        errors.unsupported(&at.child("type"), &schema["type"], &TYPES);
    }
    if let Some(why) = context.no_defaults.filter(|_| is_set(schema, "default")) {
        errors.forbidden(&at.child("default"), format!("must not be set {why}"));
    }
    for field in UNSUPPORTED.into_iter().filter(|field| is_set(schema, field)) {
        errors.forbidden(&at.child(field), format!("{field} is not supported"));
    }
    if kind == "null" {
        errors.forbidden(&at.child("type"), "type cannot be set to null, use nullable as an alternative");
    }
    if !list(schema, "items").is_empty() {
        errors.forbidden(&at.child("items"), "items must be a schema object and not an array");
    }
    if context.in_metadata && schema["x-kubernetes-embedded-resource"] == true {
        let at = at.child("x-kubernetes-embedded-resource");
        errors.forbidden(&at, "must not be used inside of resource meta");
    }
}

fn properties(errors: &mut ErrorList, at: &Path<'_>, schema: &Value, context: Context) {
    let is_resource = context.is_root || schema["x-kubernetes-embedded-resource"] == true;
    for (name, inner) in members(schema, "properties") {
        let top_level = match name.as_str() {
            "metadata" => Some("in top-level metadata"),
            "kind" => Some("in top-level kind"),
            "apiVersion" => Some("in top-level apiVersion"),
            _ => None,
        };
        let no_defaults = top_level.filter(|_| context.is_root).or(context.no_defaults);
        let in_metadata = context.in_metadata || (is_resource && top_level.is_some());
        open_api(errors, &at.key(name), inner, Context { is_root: false, in_metadata, no_defaults });
    }
}
