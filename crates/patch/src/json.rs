//! JSON patch (RFC 6902), with Kubernetes' deviations.
//!
//! Deviations from the RFC: `replace` of a missing member adds it; the part of a path before its first slash is
//! ignored, so the whole document cannot be addressed; indices may count from the end; a missing `value` is `null`;
//! `copy` from a missing member copies `null`, and `test` finds `null` there.

use serde_json::{Map, Value};

use super::{does_not_apply, unreadable};
use gantry_primitives::Refusal;
use gantry_schema::decode::Finding;

/// The most operations of a patch (A0.11).
const OPERATIONS_MAX: usize = 10_000;

/// The most bytes of JSON that one patch may copy; without a limit, copies of copies grow exponentially.
const COPIED_BYTES_MAX: usize = 3 * 1024 * 1024;

/// The nesting limit of the result. Bodies are limited by their parser, but moves can nest further, and the result is
/// walked recursively.
const NESTING_MAX: usize = 500;

/// A location: a member or an element of a container.
struct Place {
    /// The path of the container.
    container: Vec<String>,
    /// The name of the member or the index of the element, as written.
    key: String,
}

/// Applies all operations in order.
pub(super) fn apply(current: &Value, body: &Value) -> Result<Value, Refusal> {
    let operations = operations(body)?;
    let mut document = current.clone();
    let mut copied_bytes = 0;
    for operation in operations {
        operate(&mut document, operation, &mut copied_bytes).ok_or_else(does_not_apply)?;
    }
    Ok(document)
}

/// The findings of strict validation: unknown and duplicate members of operations.
pub(super) fn findings(body: &Value, duplicates: Vec<Finding>) -> Vec<Finding> {
    let known = |name: &str| matches!(name, "op" | "path" | "from" | "value");
    let operations = body.as_array().map(Vec::as_slice).unwrap_or_default();
    let members =
        operations.iter().enumerate().filter_map(|(index, operation)| Some((index, operation.as_object()?)));
    let names = members.flat_map(|(index, members)| members.keys().map(move |name| (index, name)));
    let unknown = names.filter(|(_, name)| !known(name));
    let unknown = unknown.map(|(index, name)| Finding::Unknown(format!("[{index}].{name}")));
    let mut findings: Vec<_> = unknown.chain(duplicates).collect();
    findings.sort_by_key(operation_of);
    findings.into_iter().map(|finding| Finding::Operation(Box::new(finding))).collect()
}

/// The operation of a finding: the index at the start of its path.
fn operation_of(finding: &Finding) -> usize {
    let (Finding::Unknown(path) | Finding::Duplicate(path)) = finding else { return 0 };
    let index = path.strip_prefix('[').and_then(|path| path.split_once(']'));
    index.and_then(|(index, _)| index.parse().ok()).unwrap_or(0)
}

/// Parses the operations of a body; whether they apply is checked when they are executed.
fn operations(body: &Value) -> Result<&[Value], Refusal> {
    let refuse = |value: &Value, target: &str| {
        Refusal::bad_request(format!("error decoding patch: {}", unreadable(value, target)))
    };
    let operations = match body {
        Value::Null => &[],
        Value::Array(operations) => operations.as_slice(),
        other => return Err(refuse(other, "value of type []handlers.jsonPatchOp")),
    };
    for operation in operations {
        let Value::Object(members) = operation else {
            if operation.is_null() {
                continue;
            }
            return Err(refuse(operation, "value of type handlers.jsonPatchOp"));
        };
        for name in ["op", "path", "from"] {
            if let Some(value) = members.get(name)
                && !value.is_string()
                && !value.is_null()
            {
                return Err(refuse(value, &format!("struct field jsonPatchOp.{name} of type string")));
            }
        }
    }
    if operations.len() > OPERATIONS_MAX {
        return Err(too_many(operations.len()));
    }
    Ok(operations)
}

fn too_many(count: usize) -> Refusal {
    Refusal {
        code: 413,
        reason: "RequestEntityTooLarge",
        message: format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {count}"
        ),
        details: None,
    }
}

/// Executes one operation; `None` if it does not apply.
fn operate(document: &mut Value, operation: &Value, copied_bytes: &mut usize) -> Option<()> {
    let text = |name| operation.get(name).and_then(Value::as_str);
    let value = operation.get("value").unwrap_or(&Value::Null);
    let place = Place::parse(text("path")?)?;
    match text("op")? {
        "add" | "replace" if !place.has_room_for(value) => None,
        "add" => place.add(document, value.clone()),
        "remove" => place.remove(document).map(drop),
        "replace" => place.replace(document, value.clone()),
        "test" => (place.get(document)? == value).then_some(()),
        "move" => {
            let from = Place::parse(text("from")?)?;
            let moved = from.remove(document)?;
            // Only a descent can make the object deeper.
            let goes_down = place.container.len() > from.container.len();
            (!goes_down || place.has_room_for(&moved)).then_some(())?;
            place.add(document, moved)
        }
        "copy" => {
            let copy = Place::parse(text("from")?)?.get(document)?.clone();
            if !copy.is_null() {
                *copied_bytes += copy.to_string().len();
            }
            (*copied_bytes <= COPIED_BYTES_MAX && place.has_room_for(&copy)).then_some(())?;
            place.add(document, copy)
        }
        _ => None,
    }
}

impl Place {
    fn parse(pointer: &str) -> Option<Self> {
        let (_, steps) = pointer.split_once('/')?;
        let mut container: Vec<_> = steps.split('/').map(unescape).collect();
        let key = container.pop()?;
        Some(Self { container, key })
    }

    /// The value at the location; `null` for a missing member.
    fn get<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        let mut at = document;
        for step in &self.container {
            at = match at {
                Value::Object(members) => members.get(step)?,
                Value::Array(elements) => &elements[index(step, elements.len())?],
                _ => return None,
            };
        }
        match at {
            Value::Object(members) => Some(members.get(&self.key).unwrap_or(&Value::Null)),
            Value::Array(elements) => Some(&elements[index(&self.key, elements.len())?]),
            _ => None,
        }
    }

    fn add(&self, document: &mut Value, value: Value) -> Option<()> {
        match self.container_in(document)? {
            Container::Object(members) => {
                members.insert(self.key.clone(), value);
            }
            Container::Array(elements) if self.key == "-" => elements.push(value),
            Container::Array(elements) => {
                // An element may be added after the last one, which is -1 from the end.
                let index = index(&self.key, elements.len() + 1)?;
                elements.insert(index, value);
            }
        }
        Some(())
    }

    fn remove(&self, document: &mut Value) -> Option<Value> {
        match self.container_in(document)? {
            Container::Object(members) => members.remove(&self.key),
            Container::Array(elements) => {
                let index = index(&self.key, elements.len())?;
                Some(elements.remove(index))
            }
        }
    }

    fn replace(&self, document: &mut Value, value: Value) -> Option<()> {
        match self.container_in(document)? {
            Container::Object(members) => {
                members.insert(self.key.clone(), value);
            }
            Container::Array(elements) => {
                let index = index(&self.key, elements.len())?;
                elements[index] = value;
            }
        }
        Some(())
    }

    fn has_room_for(&self, value: &Value) -> bool {
        self.container.len() + depth(value) <= NESTING_MAX
    }

    fn container_in<'a>(&self, document: &'a mut Value) -> Option<Container<'a>> {
        let mut at = document;
        for step in &self.container {
            at = match at {
                Value::Object(members) => members.get_mut(step)?,
                Value::Array(elements) => {
                    let index = index(step, elements.len())?;
                    &mut elements[index]
                }
                _ => return None,
            };
        }
        match at {
            Value::Object(members) => Some(Container::Object(members)),
            Value::Array(elements) => Some(Container::Array(elements)),
            _ => None,
        }
    }
}

/// A container.
enum Container<'a> {
    Object(&'a mut Map<String, Value>),
    Array(&'a mut Vec<Value>),
}

/// Unescapes `~1` to a slash and `~0` to a tilde, once from the left: `~01` is `~1`.
fn unescape(step: &str) -> String {
    step.split("~0").map(|part| part.replace("~1", "/")).collect::<Vec<_>>().join("~")
}

fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Object(members) => members.values().map(depth).max(),
        Value::Array(elements) => elements.iter().map(depth).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

/// An index below `len`; negative ones count from the end.
fn index(key: &str, len: usize) -> Option<usize> {
    let index: i64 = key.parse().ok()?;
    let back = || len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?);
    if index < 0 { back() } else { usize::try_from(index).ok().filter(|index| *index < len) }
}
