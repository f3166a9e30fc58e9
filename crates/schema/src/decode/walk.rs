//! Decodes a tree along the schema: known fields are kept in canonical form, others become findings.
//!
//! There are two kinds of errors, as in Go: a value of a wrong type is recorded and decoding continues, so that the
//! first one is reported; a string that a type cannot parse (a quantity, a time) ends it at once.

use gantry_json::{Map, SmolStr, Value};

use super::complete::{complete, zero};
use super::depth::TOO_DEEP;
use super::time;
use super::tree::{MOST_NESTED, SHALLOW, Tree};
use super::{Finding, base64, float, go_types, kind};
use crate::schema::{Field, MessageId, Other, Type, schema};
use gantry_formats::quantity::Quantity;
use gantry_formats::rfc3339::TimeLayout;

/// Decodes an object of this message; the error is Go's.
pub(super) fn object(root: &mut Tree, id: MessageId) -> Result<(Map, Vec<Finding>), String> {
    let mut walk = Walk {
        path: String::new(),
        fields: Vec::new(),
        nested: 0,
        holder: schema().message(id).name,
        findings: Vec::new(),
        wrong_type: None,
    };
    let members = match root {
        Tree::Object(members) => walk.message(members, id, Level::Root)?,
        Tree::Stored(Value::Object(members)) => std::mem::take(members),
        _ => walk.message(&mut [], id, Level::Root)?,
    };
    match walk.wrong_type {
        Some(problem) => Err(problem),
        None => Ok((members, walk.findings)),
    }
}

struct Walk {
    /// The current path, for findings: `spec.template.spec.containers[0]`.
    path: String,
    /// The current path, for type errors: without indices and keys.
    fields: Vec<&'static str>,
    /// How many messages enclose the current one.
    nested: usize,
    /// The message of the current field.
    holder: &'static str,
    findings: Vec<Finding>,
    /// The first value of a wrong type.
    wrong_type: Option<String>,
}

/// Whether it is the root object, whose kind and version are known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Within,
}

impl Walk {
    fn message(
        &mut self,
        members: &mut [(SmolStr, Tree)],
        id: MessageId,
        level: Level,
    ) -> Result<Map, String> {
        if self.nested >= MOST_NESTED {
            return Err(TOO_DEEP.to_owned());
        }
        self.nested += 1;
        let holder = std::mem::replace(&mut self.holder, schema().message(id).name);
        let mut read = Vec::with_capacity(members.len());
        let mut seen: Vec<usize> = Vec::with_capacity(members.len());
        for (key, tree) in members {
            let back = self.enter(key);
            match schema().position(id, key) {
                Some(position) => {
                    self.once(position, &mut seen);
                    let field = schema().field_at(id, position);
                    let depth = self.fields.len();
                    self.fields.extend(embedded(id, position));
                    let value = self.field(field, tree)?;
                    self.fields.truncate(depth);
                    match value {
                        Some(value) => read.push((std::mem::take(key), value)),
                        None => read.retain(|(name, _): &(SmolStr, _)| name != field.json),
                    }
                }
                None => match TYPE_FIELDS.iter().position(|name| name == key) {
                    Some(index) if level == Level::Root || kind::is_kind(id) => {
                        let name = TYPE_FIELDS[index];
                        self.once(usize::MAX - index, &mut seen);
                        read.extend(self.type_field(name, tree, level).map(|text| (name.into(), text)));
                    }
                    _ => Finding::Unknown(self.path.clone()).note(&mut self.findings),
                },
            }
            self.path.truncate(back);
        }
        // Of several members of the same name the last one counts.
        let mut read = Map::from_iter(read);
        complete(&mut read, id);
        self.holder = holder;
        self.nested -= 1;
        Ok(read)
    }

    /// Keeps kind and version of an embedded object; in the root object they were decoded before.
    fn type_field(&mut self, name: &'static str, tree: &mut Tree, level: Level) -> Option<Value> {
        match tree {
            Tree::Null => None,
            Tree::String(text) if level == Level::Root || text.is_empty() => None,
            Tree::String(text) => Some(Value::String(std::mem::take(text))),
            other => {
                let depth = self.fields.len();
                self.fields.extend((level == Level::Within).then_some("TypeMeta").into_iter().chain([name]));
                let problem = self.type_error(name, &Type::String, other.noun());
                self.fields.truncate(depth);
                self.wrong(problem)
            }
        }
    }

    fn once(&mut self, position: usize, seen: &mut Vec<usize>) {
        if seen.contains(&position) {
            Finding::Duplicate(self.path.clone()).note(&mut self.findings);
        } else {
            seen.push(position);
        }
    }

    /// The value of a field; `None` if it is not set or of a wrong type.
    fn field(&mut self, field: &'static Field, tree: &mut Tree) -> Result<Option<Value>, String> {
        if *tree == Tree::Null {
            return Ok(None);
        }
        self.fields.push(field.json);
        let value = self.value(field, &field.kind, tree);
        self.fields.pop();
        value
    }

    fn value(
        &mut self,
        field: &'static Field,
        kind: &Type,
        tree: &mut Tree,
    ) -> Result<Option<Value>, String> {
        let value = match (kind, &mut *tree) {
            (_, Tree::Stored(value)) => value.take(),
            (Type::Message(id) | Type::Inline(id), Tree::Object(members)) => {
                Value::Object(self.message(members, *id, Level::Within)?)
            }
            (Type::List(element), Tree::List(elements)) => {
                return self.list(field, element, elements).map(Some);
            }
            (Type::Map(value), Tree::Object(entries)) => return self.map(field, value, entries).map(Some),
            (Type::String | Type::Duration | Type::IntOrString, Tree::String(text)) => {
                Value::String(std::mem::take(text))
            }
            (Type::Bool, Tree::Bool(boolean)) => Value::Bool(*boolean),
            (Type::Int32 | Type::IntOrString, Tree::Number(text)) if text.parse::<i32>().is_ok() => {
                integer(text)
            }
            (Type::Int64, Tree::Number(text)) if text.parse::<i64>().is_ok() => integer(text),
            (Type::Float64, Tree::Number(text)) if text.parse::<f64>().is_ok_and(f64::is_finite) => {
                float(text.parse::<f64>().unwrap_or_default())
            }
            (Type::Int32 | Type::Int64 | Type::Float64, Tree::Number(text)) => {
                let noun = format!("number {text}");
                return Ok(self.mistyped(field, kind, &noun));
            }
            (Type::Bytes, Tree::String(text)) => match base64::decode(text) {
                Ok(bytes) => Value::from(base64::encode(&bytes)),
                Err(at) => return Ok(self.wrong(format!("illegal base64 data at input byte {at}"))),
            },
            // Go also reads bytes one by one.
            (Type::Bytes, Tree::List(bytes)) if bytes.iter().all(|byte| byte_of(byte).is_some()) => {
                let bytes: Vec<u8> = bytes.iter().filter_map(byte_of).collect();
                Value::from(base64::encode(&bytes))
            }
            (Type::Quantity, tree) => Value::from(quantity(tree)?.to_string()),
            (Type::IntOrString, Tree::Number(text)) => {
                let noun = format!("number {text}");
                return Err(self.type_error(field.json, kind, &noun));
            }
            (Type::Time, Tree::String(text)) => written(time::normal(text, TimeLayout::Seconds)?),
            (Type::MicroTime, Tree::String(text)) => written(time::normal(text, TimeLayout::Micros)?),
            (Type::IntOrString | Type::Time | Type::MicroTime, tree) => {
                return Err(self.type_error(field.json, kind, tree.noun()));
            }
            (Type::Raw, tree) if tree.is_within(SHALLOW) => tree.take_value(),
            (Type::Raw, _) => return Err(TOO_DEEP.to_owned()),
            (Type::Or(other, id), tree) => return self.either(field, *other, *id, tree),
            (_, tree) => {
                let noun = tree.noun();
                return Ok(self.mistyped(field, kind, noun));
            }
        };
        Ok(Some(value))
    }

    /// Decodes an object or its alternative. It is decoded separately: paths in its errors are relative to it, and
    /// unknown fields in it are dropped silently.
    fn either(
        &mut self,
        field: &'static Field,
        other: Other,
        id: MessageId,
        tree: &mut Tree,
    ) -> Result<Option<Value>, String> {
        let findings = self.findings.len();
        let fields = std::mem::take(&mut self.fields);
        let value = match (other, tree) {
            (_, Tree::Object(members)) => {
                self.message(members, id, Level::Within).map(|members| Some(Value::Object(members)))
            }
            (Other::Bool, Tree::Bool(boolean)) => Ok(Some(Value::Bool(*boolean))),
            (Other::Bool, _) => Err("boolean or JSON schema expected".to_owned()),
            (Other::List, Tree::List(elements)) => self.list(field, &Type::Message(id), elements).map(Some),
            (Other::Texts, Tree::List(elements)) => self.list(field, &Type::String, elements).map(Some),
            (Other::List | Other::Texts, _) => Ok(None),
        };
        self.fields = fields;
        self.findings.truncate(findings);
        value
    }

    fn list(&mut self, field: &'static Field, element: &Type, trees: &mut [Tree]) -> Result<Value, String> {
        let mut read = Vec::with_capacity(trees.len());
        for (index, tree) in trees.iter_mut().enumerate() {
            let back = self.path.len();
            self.path.extend(["[", &index.to_string(), "]"]);
            let value = if *tree == Tree::Null { None } else { self.value(field, element, tree)? };
            read.push(value.unwrap_or_else(|| zero(element)));
            self.path.truncate(back);
        }
        Ok(Value::Array(read))
    }

    fn map(
        &mut self,
        field: &'static Field,
        kind: &Type,
        entries: &mut [(SmolStr, Tree)],
    ) -> Result<Value, String> {
        let mut read = Map::new();
        let resources = *kind == Type::Quantity && self.holder.starts_with("core/");
        for (key, tree) in entries {
            let back = self.enter(key);
            let value = match (&mut *tree, resources) {
                (Tree::Null, _) => None,
                (tree, true) => Some(Value::from(amount(tree)?)),
                (tree, false) => self.value(field, kind, tree)?,
            };
            if read.insert(std::mem::take(key), value.unwrap_or_else(|| zero(kind))).is_some() {
                Finding::Duplicate(self.path.clone()).note(&mut self.findings);
            }
            self.path.truncate(back);
        }
        Ok(Value::Object(read))
    }

    /// Enters a member, and returns the previous lengths of the paths.
    fn enter(&mut self, key: &str) -> usize {
        let back = self.path.len();
        if back > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        back
    }

    fn mistyped(&mut self, field: &Field, kind: &Type, noun: &str) -> Option<Value> {
        let problem = self.type_error(field.json, kind, noun);
        self.wrong(problem)
    }

    /// Records the first problem; the value counts as not set.
    fn wrong(&mut self, problem: String) -> Option<Value> {
        self.wrong_type.get_or_insert(problem);
        None
    }

    fn type_error(&self, field: &str, kind: &Type, noun: &str) -> String {
        let holder = self.holder.rsplit('.').next().unwrap_or(self.holder);
        let path = self.fields.join(".");
        let wanted = go_types::name(self.holder, field, kind);
        format!("json: cannot unmarshal {noun} into Go struct field {holder}.{path} of type {wanted}")
    }
}

/// The embedded Go struct that declares a field; type errors have it in the path.
fn embedded(id: MessageId, position: usize) -> Option<&'static str> {
    if schema().is_own(id, position) {
        return None;
    }
    let field = schema().field_at(id, position);
    schema().inlined(id, field.json).map(|inlined| schema().message(inlined).short_name())
}

/// The fields of every object, which the schema does not list.
const TYPE_FIELDS: [&str; 2] = ["kind", "apiVersion"];

fn byte_of(tree: &Tree) -> Option<u8> {
    match tree {
        Tree::Number(text) => text.parse().ok(),
        _ => None,
    }
}

fn integer(text: &str) -> Value {
    text.parse::<i64>().map_or(Value::Null, Value::from)
}

fn written(time: Option<String>) -> Value {
    time.map_or(Value::Null, Value::from)
}

/// A resource quantity.
fn amount(tree: &Tree) -> Result<String, String> {
    quantity(tree).map(|quantity| quantity.in_thousandths().to_string())
}

fn quantity(tree: &Tree) -> Result<Quantity, String> {
    let text = match tree {
        Tree::String(text) | Tree::Number(text) => text.trim(),
        _ => "",
    };
    Quantity::parse(text).map_err(|problem| problem.to_string())
}
