//! Validates objects embedded in custom resources: they have a version, a kind and metadata like any other object.

use gantry_json::{Map, Value};

use super::super::error_list::{ErrorList, Path};
use super::super::metadata;
use super::super::names::label_from_a_letter;
use crate::FieldError;
use crate::custom::StructuralSchema;

/// Returns the errors in the objects embedded in this one.
pub(super) fn validate(structure: &StructuralSchema, object: &Value) -> Vec<FieldError> {
    let mut errors = ErrorList::default();
    each(structure, &mut errors, &Path::root(), object);
    errors.all
}

/// Validates every object embedded in a value.
fn each(structure: &StructuralSchema, errors: &mut ErrorList, at: &Path<'_>, value: &Value) {
    match value {
        Value::Object(members) => {
            if structure.embedded {
                validate_object(errors, at, members);
            }
            for (name, member) in members {
                let Some(declared) = structure.member(name) else { continue };
                let at = if structure.properties.contains_key(name.as_str()) {
                    at.child(name)
                } else {
                    at.key(name)
                };
                each(declared, errors, &at, member);
            }
        }
        Value::Array(elements) => {
            if let Some(items) = &structure.items {
                for (index, element) in elements.iter().enumerate() {
                    each(items, errors, &at.index(index), element);
                }
            }
        }
        _ => {}
    }
}

fn validate_object(errors: &mut ErrorList, at: &Path<'_>, members: &Map) {
    for name in ["apiVersion", "kind"] {
        if !members.contains_key(name) {
            errors.required(&at.child(name), "");
        }
    }
    if let Some(version) = members.get("apiVersion") {
        let wrong = match version.as_str() {
            None => Some("must be a string".to_owned()),
            Some("") => Some("must not be empty".to_owned()),
            Some(text) if text.matches('/').count() > 1 => {
                Some(format!("unexpected GroupVersion string: {text}"))
            }
            Some(_) => None,
        };
        report(errors, &at.child("apiVersion"), version, wrong);
    }
    if let Some(kind) = members.get("kind") {
        let wrong = match kind.as_str() {
            None => Some("must be a string".to_owned()),
            Some("") => Some("must not be empty".to_owned()),
            Some(text) => {
                let reasons = label_from_a_letter(&text.to_lowercase());
                let why =
                    || format!("may have mixed case, but should otherwise match: {}", reasons.join(","));
                (!reasons.is_empty()).then(why)
            }
        };
        report(errors, &at.child("kind"), kind, wrong);
    }
    match members.get("metadata") {
        None | Some(Value::Null) => {}
        Some(metadata @ Value::Object(_)) => metadata::embedded(errors, &at.child("metadata"), metadata),
        Some(other) => {
            let is = match other {
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Bool(_) => "bool",
                _ => "number",
            };
            let why = format!("json: cannot unmarshal {is} into Go value of type v1.ObjectMeta");
            report(errors, &at.child("metadata"), other, Some(why));
        }
    }
}

fn report(errors: &mut ErrorList, at: &Path<'_>, value: &Value, wrong: Option<String>) {
    if let Some(why) = wrong {
        errors.invalid(at, value, why);
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    /// Appendix E: an embedded object must have a version and a kind, and its metadata is validated.
    #[test]
    fn embedded_objects_are_objects() {
        let table: [(Value, &[&str]); 5] = [
            (json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a_B"}}), &[]),
            (json!({}), &["t[0].apiVersion: Required value", "t[0].kind: Required value"]),
            (
                json!({"apiVersion": 1, "kind": ""}),
                &[
                    "t[0].apiVersion: Invalid value: 1: must be a string",
                    "t[0].kind: Invalid value: \"\": must not be empty",
                ],
            ),
            (
                json!({"apiVersion": "a/b/c", "kind": "Some_Thing", "metadata": 1}),
                &[
                    "t[0].apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
                    "t[0].kind: Invalid value: \"Some_Thing\": may have mixed case, but should otherwise match: a DNS-1035 \
                     label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, \
                     and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
                     '[a-z]([-a-z0-9]*[a-z0-9])?')",
                    "t[0].metadata: Invalid value: 1: json: cannot unmarshal number into Go value of type v1.ObjectMeta",
                ],
            ),
            (
                json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a/b", "namespace": "A.b", "generation": -1}}),
                &[
                    "t[0].metadata.name: Invalid value: \"a/b\": may not contain '/'",
                    "t[0].metadata.namespace: Invalid value: \"A.b\": a lowercase RFC 1123 label must consist of lower case \
                     alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. \
                     'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
                    "t[0].metadata.generation: Invalid value: -1: must be greater than or equal to 0",
                ],
            ),
        ];
        let structure = StructuralSchema::read(&json!({"type": "object", "properties": {"t": {
            "type": "array", "items": {"type": "object", "x-kubernetes-embedded-resource": true},
        }}}));
        for (object, expected) in table {
            let errors = validate(&structure, &json!({"t": [object]}));
            let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(texts, expected, "{object}");
        }
    }
}
