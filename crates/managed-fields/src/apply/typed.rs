//! Type-checks an applied configuration, with the errors of Kubernetes' typed objects.

use std::collections::BTreeSet;

use gantry_json::Value;

use crate::ownership::shape::{MissingKeyReason, Parts, Shape};
use crate::ownership::{ManagedFields, Write};
use gantry_primitives::Refusal;
use gantry_schema::custom::SchemaType;
use gantry_schema::decode;
use gantry_schema::decode::{type_mismatch, wrap_int32};
use gantry_schema::schema::Type;

/// Returns an error if an applied configuration does not match the schema of its kind.
pub(super) fn check(applied: &Value, write: &Write<'_>) -> Result<(), Refusal> {
    let mut walk = Walk { path: String::new(), errors: Vec::new() };
    walk.value(Shape::root(write.nature), applied);
    let problem = match walk.errors.as_slice() {
        [] => return Ok(()),
        [only] => only.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    let described = described(applied);
    Err(Refusal::server_error(format!("failed to create typed patch object ({described}): {problem}")))
}

/// Returns an error if values of an applied configuration cannot be decoded.
pub(super) fn check_values(applied: &Value, write: &Write<'_>) -> Result<(), Refusal> {
    if write.nature.message().is_none() {
        return Ok(());
    }
    let problem = type_mismatch(applied, write.nature)
        .or_else(|| decode::assembled(wrap_int32(applied.clone(), write.nature), write.nature).err());
    let Some(problem) = problem else { return Ok(()) };
    let described = described(applied);
    if decode::unreadable_annotation(applied, write.nature).as_ref() == Some(&problem) {
        let step = format!("failed to convert to unversioned ({described})");
        return Err(Refusal::server_error(format!("{step}: {problem}")));
    }
    let kind = group_version_kind(write.api_version, write.kind);
    Err(Refusal::server_error(format!(
        "failed to convert new object ({described}) to proper version: unable to convert unstructured object to {kind}: \
         {problem}"
    )))
}

/// Returns an error if a stored object has list elements that cannot be owned.
pub(super) fn check_stored(live: &Value, write: &Write<'_>) -> Result<(), Refusal> {
    let Some((place, why)) = first_without_key(write, live) else { return Ok(()) };
    let metadata = |field: &str| live["metadata"][field].as_str().unwrap_or("");
    let (namespace, name) = (metadata("namespace"), metadata("name"));
    let described = format!("{namespace}/{name}; {}", group_version_kind(write.api_version, write.kind));
    let step = if ManagedFields::of(live).is_empty() {
        format!(
            "failed to create manager for existing fields: failed to convert new object ({described}) to smd typed"
        )
    } else {
        format!("failed to create typed live object ({described})")
    };
    Err(Refusal::server_error(format!("{step}: {place}: {why}")))
}

/// The first element of a list without the keys by which it would be owned: the path of its list, and the reason.
///
/// Of the built-in kinds, only service accounts can have such an element: no other kind has the field.
pub(crate) fn first_without_key(write: &Write<'_>, object: &Value) -> Option<(&'static str, String)> {
    write.nature.message()?;
    let shape = Shape::root(write.nature).member("secrets")?;
    let secrets = object.get("secrets").and_then(Value::as_array)?;
    let keys = secrets.iter().map(|secret| shape.name_of(secret)).enumerate();
    let mut errors = keys.filter_map(|(index, name)| name.err().map(|why| (index, why)));
    errors.next().map(|(index, why)| (".secrets", format!("element {index}: {}", message(why, shape))))
}

/// An object in errors: `default/web; apps/v1, Kind=Deployment`.
fn described(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    let kind = group_version_kind(text("/apiVersion"), text("/kind"));
    format!("{}/{}; {kind}", text("/metadata/namespace"), text("/metadata/name"))
}

/// `apps/v1, Kind=Deployment`, or `/v1, Kind=Pod` for the core group.
pub(super) fn group_version_kind(api_version: &str, kind: &str) -> String {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    format!("{group}/{version}, Kind={kind}")
}

struct Walk {
    path: String,
    errors: Vec<String>,
}

impl Walk {
    fn value(&mut self, shape: Shape<'_>, value: &Value) {
        if value.is_null() {
            return;
        }
        match shape {
            Shape::Scalar(kind) => self.scalar(kind, value),
            Shape::Atomic(Type::Message(id) | Type::Inline(id)) => self.members(Shape::Struct(*id), value),
            Shape::Atomic(Type::Map(inner)) => self.members(Shape::Map(inner), value),
            Shape::Atomic(Type::List(element)) => self.plain_list(Shape::nested(element), value),
            Shape::Atomic(_) | Shape::Free => {}
            Shape::Root(_) | Shape::Struct(_) | Shape::Map(_) => self.members(shape, value),
            Shape::Keyed { .. } | Shape::Set(_) => self.named_list(shape, value),
            Shape::Described(described) => match (described.schema_type(), value) {
                (Some(SchemaType::Array), _) if shape.parts() == Parts::Elements => {
                    self.named_list(shape, value);
                }
                (Some(SchemaType::Array), _) | (None | Some(SchemaType::IntOrString), Value::Array(_)) => {
                    self.plain_list(shape.element(), value);
                }
                (Some(SchemaType::Object), _) | (_, Value::Object(_)) => self.members(shape, value),
                _ => {}
            },
        }
    }

    fn members(&mut self, shape: Shape<'_>, value: &Value) {
        let Value::Object(members) = value else {
            return self.error(&format!("expected map, got &{{{}}}", in_go(value)));
        };
        for (name, member) in members {
            self.at(&format!(".{name}"), |walk| match shape.member(name) {
                Some(inner) => walk.value(inner, member),
                None => walk.error("field not declared in schema"),
            });
        }
    }

    fn plain_list(&mut self, element: Shape<'_>, value: &Value) {
        let Value::Array(elements) = value else { return self.no_list(value) };
        for (index, value) in elements.iter().enumerate() {
            self.at(&format!("[{index}]"), |walk| walk.value(element, value));
        }
    }

    fn named_list(&mut self, shape: Shape<'_>, value: &Value) {
        let Value::Array(elements) = value else { return self.no_list(value) };
        let mut seen = BTreeSet::new();
        for (index, element) in elements.iter().enumerate() {
            match shape.name_of(element) {
                // The first element without keys ends the list.
                Err(why) => return self.error(&format!("element {index}: {}", message(why, shape))),
                Ok(name) => {
                    let step = name.to_string();
                    if !seen.insert(name) {
                        self.error(&format!("duplicate entries for key {step}"));
                    }
                    self.at(&step, |walk| walk.value(shape.element(), element));
                }
            }
        }
    }

    fn scalar(&mut self, kind: &Type, value: &Value) {
        match (kind, value) {
            (Type::String | Type::Bytes | Type::Duration, Value::String(_))
            | (Type::Bool, Value::Bool(_))
            | (Type::Int32 | Type::Int64 | Type::Float64, Value::Number(_)) => {}
            (Type::String | Type::Bytes | Type::Duration, other) => {
                let text = in_go_syntax(other);
                self.error(&format!("expected string, got &value.valueUnstructured{{Value:{text}}}"));
            }
            (Type::Bool, other) => self.error(&format!("expected boolean, got &{{{}}}", in_go(other))),
            (Type::Int32 | Type::Int64 | Type::Float64, other) => {
                self.error(&format!("expected numeric (int or float), got {}", go_type(other)));
            }
            (_, Value::Object(_) | Value::Array(_)) => {
                self.error(&format!("expected any scalar, got &{{{}}}", in_go(value)));
            }
            _ => {}
        }
    }

    fn no_list(&mut self, value: &Value) {
        self.error(&format!("expected list, got &{{{}}}", in_go(value)));
    }

    fn at(&mut self, step: &str, inside: impl FnOnce(&mut Self)) {
        let here = self.path.len();
        self.path.push_str(step);
        inside(self);
        self.path.truncate(here);
    }

    fn error(&mut self, problem: &str) {
        let error =
            if self.path.is_empty() { problem.to_owned() } else { format!("{}: {problem}", self.path) };
        self.errors.push(error);
    }
}

fn message(why: MissingKeyReason, list: Shape<'_>) -> String {
    match why {
        MissingKeyReason::Null => "associative list with keys may not have a null element".to_owned(),
        MissingKeyReason::NotAnObject => {
            "associative list with keys may not have non-map elements".to_owned()
        }
        MissingKeyReason::NoKeyFields => {
            let keys: Vec<_> = list.keys().iter().map(|key| format!("{key:?}")).collect();
            format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have default \
                 values for any key fields)",
                keys.join(" ")
            )
        }
        MissingKeyReason::Object => {
            "associative list without keys has an element that's a map type".to_owned()
        }
        MissingKeyReason::List => "not supported: associative list with lists as elements".to_owned(),
        MissingKeyReason::NullValue => {
            "associative list without keys has an element that's an explicit null".to_owned()
        }
    }
}

/// A value in Go's `%v` format: `map[a:1]`, `[a b]`.
fn in_go(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.to_string(),
        Value::Array(elements) => format!("[{}]", elements.iter().map(in_go).collect::<Vec<_>>().join(" ")),
        Value::Object(members) => {
            let members: Vec<_> =
                members.iter().map(|(name, value)| format!("{name}:{}", in_go(value))).collect();
            format!("map[{}]", members.join(" "))
        }
        other => other.to_string(),
    }
}

/// A value in Go's syntax: `map[string]interface {}{"a":1}`.
fn in_go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(in_go_syntax).collect();
            format!("[]interface {{}}{{{}}}", elements.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<_> =
                members.iter().map(|(name, value)| format!("{name:?}:{}", in_go_syntax(value))).collect();
            format!("map[string]interface {{}}{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
