//! JSON patch (RFC 6902), with Kubernetes' deviations.
//!
//! Deviations from the RFC: `replace` of a missing member adds it; the part of a path before its first slash is
//! ignored, so the whole document cannot be addressed; indices may count from the end; a missing `value` is `null`;
//! `copy` from a missing member copies `null`, and `test` reads `null` there.

use std::collections::BTreeMap;

use gantry_json::{SmolStr, Value};

use super::document::{ChunkedList, Node};
use super::{does_not_apply, unreadable};
use gantry_primitives::{Refusal, StatusReason};
use gantry_schema::decode::Finding;

/// The most operations of a patch (A0.11).
const OPERATIONS_MAX: usize = 10_000;

/// The most bytes of JSON that one patch may copy; without a limit, copies of copies grow exponentially.
const COPIED_BYTES_MAX: usize = 3 * 1024 * 1024;

/// The nesting limit of the result. Bodies are limited by their parser, but moves can nest further, and the result is
/// walked recursively.
const NESTING_MAX: usize = 500;

/// The most values that are visited to determine how deep the moved values are; a patch that moves large values to
/// deeper places repeatedly does not apply.
const VISITS_MAX: usize = 16 << 20;

/// A location: a member or an element of a container.
struct Location {
    /// The path of the container.
    container: Vec<String>,
    /// The name of the member or the index of the element, as written.
    key: String,
}

/// Applies all operations in order.
pub(super) fn apply(current: &Value, body: &Value) -> Result<Value, Refusal> {
    let operations = operations(body)?;
    let mut patching =
        Patching { document: Node::Closed(current.clone()), copied_bytes: 0, visits: VISITS_MAX };
    for operation in operations {
        patching.operate(operation).ok_or_else(does_not_apply)?;
    }
    Ok(patching.document.into_value())
}

/// A patch that is being applied.
struct Patching {
    document: Node,
    copied_bytes: usize,
    /// The remaining visits.
    visits: usize,
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
    let message = format!(
        "Request entity too large: The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {count}"
    );
    Refusal::new(StatusReason::RequestEntityTooLarge, message)
}

impl Patching {
    /// Executes one operation; `None` if it does not apply.
    fn operate(&mut self, operation: &Value) -> Option<()> {
        let text = |name| operation.get(name).and_then(Value::as_str);
        let value = || Node::Closed(operation.get("value").cloned().unwrap_or_default());
        let location = Location::parse(text("path")?)?;
        match text("op")? {
            "add" => {
                let value = value();
                self.check_depth(&location, &value)?;
                location.add(&mut self.document, value)
            }
            "replace" => {
                let value = value();
                self.check_depth(&location, &value)?;
                location.replace(&mut self.document, value)
            }
            "remove" => location.remove(&mut self.document).map(drop),
            "test" => {
                let wanted = operation.get("value").unwrap_or(&Value::Null);
                let is_same = location.read(&mut self.document, |found| match found {
                    Some(found) => found.equals(wanted),
                    None => wanted.is_null(),
                });
                is_same?.then_some(())
            }
            "move" => {
                let from = Location::parse(text("from")?)?;
                let moved = from.remove(&mut self.document)?;
                // Only a move to a deeper location can exceed the limit.
                if location.container.len() > from.container.len() {
                    self.check_depth(&location, &moved)?;
                }
                location.add(&mut self.document, moved)
            }
            "copy" => {
                let from = Location::parse(text("from")?)?;
                let copy = from
                    .read(&mut self.document, |found| found.map_or(Value::Null, |found| found.to_value()))?;
                if !copy.is_null() {
                    self.copied_bytes += copy.to_string().len();
                }
                (self.copied_bytes <= COPIED_BYTES_MAX).then_some(())?;
                let copy = Node::Closed(copy);
                self.check_depth(&location, &copy)?;
                location.add(&mut self.document, copy)
            }
            _ => None,
        }
    }

    /// Returns `None` if the value would be nested too deeply at the location.
    fn check_depth(&mut self, location: &Location, value: &Node) -> Option<()> {
        let depth = value.depth(&mut self.visits)?;
        (location.container.len() + depth <= NESTING_MAX).then_some(())
    }
}

impl Location {
    fn parse(pointer: &str) -> Option<Self> {
        let (_, steps) = pointer.split_once('/')?;
        let mut container: Vec<_> = steps.split('/').map(unescape).collect();
        let key = container.pop()?;
        Some(Self { container, key })
    }

    /// Calls the function with the value at the location, or with `None` for a missing member.
    fn read<T>(&self, document: &mut Node, read: impl FnOnce(Option<&mut Node>) -> T) -> Option<T> {
        Some(match self.container_in(document)? {
            Container::Object(members) => read(members.get_mut(self.key.as_str())),
            Container::List(elements) => {
                let index = index(&self.key, elements.len())?;
                read(Some(elements.get_mut(index)?))
            }
        })
    }

    fn add(&self, document: &mut Node, value: Node) -> Option<()> {
        match self.container_in(document)? {
            Container::Object(members) => {
                members.insert(self.key.as_str().into(), value);
            }
            Container::List(elements) if self.key == "-" => elements.insert(elements.len(), value),
            Container::List(elements) => {
                // An element may be added after the last one, which is index -1.
                let index = index(&self.key, elements.len() + 1)?;
                elements.insert(index, value);
            }
        }
        Some(())
    }

    fn remove(&self, document: &mut Node) -> Option<Node> {
        match self.container_in(document)? {
            Container::Object(members) => members.remove(self.key.as_str()),
            Container::List(elements) => elements.remove(index(&self.key, elements.len())?),
        }
    }

    fn replace(&self, document: &mut Node, value: Node) -> Option<()> {
        match self.container_in(document)? {
            Container::Object(members) => {
                members.insert(self.key.as_str().into(), value);
            }
            Container::List(elements) => {
                let index = index(&self.key, elements.len())?;
                *elements.get_mut(index)? = value;
            }
        }
        Some(())
    }

    fn container_in<'a>(&self, document: &'a mut Node) -> Option<Container<'a>> {
        let mut at = document;
        for step in &self.container {
            at = match at.open() {
                Node::Object(members) => members.get_mut(step.as_str())?,
                Node::List(elements) => {
                    let index = index(step, elements.len())?;
                    elements.get_mut(index)?
                }
                Node::Closed(_) => return None,
            };
        }
        match at.open() {
            Node::Object(members) => Some(Container::Object(members)),
            Node::List(elements) => Some(Container::List(elements)),
            Node::Closed(_) => None,
        }
    }
}

/// A container.
enum Container<'a> {
    Object(&'a mut BTreeMap<SmolStr, Node>),
    List(&'a mut ChunkedList),
}

/// Unescapes `~1` to a slash and `~0` to a tilde, once from the left: `~01` is `~1`.
fn unescape(step: &str) -> String {
    step.split("~0").map(|part| part.replace("~1", "/")).collect::<Vec<_>>().join("~")
}

/// An index below `len`; negative ones count from the end.
fn index(key: &str, len: usize) -> Option<usize> {
    let index: i64 = key.parse().ok()?;
    let back = || len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?);
    if index < 0 { back() } else { usize::try_from(index).ok().filter(|index| *index < len) }
}
