//! A document as it was written: all keys in order, including duplicates; numbers as text.
//!
//! `serde_json` keeps neither duplicates nor order, and has a limit of 128 levels; here it is 10000. No function
//! recurses over more than [`SHALLOW`] levels, so a deep document cannot overflow the stack.

use std::cell::Cell;
use std::collections::BTreeSet;

use gantry_json::{SmolStr, Value};

use super::Finding;

/// The nesting limit of parts without a schema, which are walked recursively.
pub(super) const SHALLOW: usize = 500;
/// The nesting limit of messages, which are walked recursively. Schemas nest in two levels of JSON.
pub(super) const MOST_NESTED: usize = 60;

/// The most objects of a body: an object of two bytes takes many times as much memory.
const OBJECTS_MAX: usize = 150_000;

/// The number of objects of a body so far.
#[derive(Debug, Default)]
pub(super) struct ObjectCount(Cell<usize>);

impl ObjectCount {
    /// Counts more objects; returns an error if there are too many.
    pub(super) fn add(&self, objects: usize) -> Result<(), String> {
        self.0.set(self.0.get() + objects);
        if self.0.get() > OBJECTS_MAX { Err(format!("more than {OBJECTS_MAX} objects")) } else { Ok(()) }
    }

    pub(super) fn get(&self) -> usize {
        self.0.get()
    }
}

/// A document that can be dropped without recursion.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) root: Tree,
    /// The number of levels.
    pub(super) depth: usize,
}

/// A value as it was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Tree {
    #[default]
    Null,
    Bool(bool),
    Number(SmolStr),
    String(SmolStr),
    List(Vec<Tree>),
    Object(Vec<(SmolStr, Tree)>),
    /// A part of a stored object that a patch did not change: it is in canonical form.
    Stored(Value),
}

impl Tree {
    /// A patched value; parts that are unchanged clones of the stored value at the same path are kept.
    pub(super) fn of_patched(value: Value, stored: &Value) -> Self {
        if value.is_clone_of(stored) {
            return Self::Stored(value);
        }
        match value {
            Value::Array(elements) => {
                let elements = elements.into_iter().enumerate();
                Self::List(elements.map(|(index, value)| Self::of_patched(value, &stored[index])).collect())
            }
            Value::Object(members) => {
                let member = |(key, value): (SmolStr, Value)| {
                    let value = Self::of_patched(value, &stored[key.as_str()]);
                    (key, value)
                };
                Self::Object(members.into_iter().map(member).collect())
            }
            scalar => scalar.into(),
        }
    }

    /// The name of its type in Go's errors.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::List(_) => "array",
            // Only objects are shared.
            Self::Object(_) | Self::Stored(_) => "object",
        }
    }

    /// The last member of this name, if this is an object.
    pub(super) fn get(&self, key: &str) -> Option<&Tree> {
        let Self::Object(members) = self else { return None };
        members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Takes the value out of the tree; of duplicate members the last is used.
    ///
    /// Recursive: only for at most [`SHALLOW`] levels.
    pub(super) fn take_value(&mut self) -> Value {
        match std::mem::take(self) {
            Self::Null => Value::Null,
            Self::Bool(boolean) => Value::Bool(boolean),
            Self::Number(text) => gantry_json::from_str(&text).unwrap_or(Value::Null),
            Self::String(text) => Value::String(text),
            Self::Stored(value) => value,
            Self::List(elements) => {
                Value::Array(elements.into_iter().map(|mut element| element.take_value()).collect())
            }
            Self::Object(members) => {
                Value::Object(members.into_iter().map(|(key, mut value)| (key, value.take_value())).collect())
            }
        }
    }

    /// Whether there are no more than this many levels.
    pub(super) fn is_within(&self, levels: usize) -> bool {
        match self {
            Self::List(_) | Self::Object(_) if levels == 0 => false,
            Self::List(elements) => elements.iter().all(|element| element.is_within(levels - 1)),
            Self::Object(members) => members.iter().all(|(_, value)| value.is_within(levels - 1)),
            _ => true,
        }
    }

    /// Whether an object has two members of one name; recursive like [`Tree::take_value`].
    pub(super) fn has_duplicates(&self) -> bool {
        match self {
            Self::List(elements) => elements.iter().any(Self::has_duplicates),
            Self::Object(members) => {
                // Most writers sort members.
                let is_sorted = members.is_sorted_by(|(one, _), (next, _)| one < next);
                let mut seen = BTreeSet::new();
                !is_sorted && !members.iter().all(|(key, _)| seen.insert(key))
                    || members.iter().any(|(_, value)| value.has_duplicates())
            }
            _ => false,
        }
    }

    /// Reports duplicate members in a tree without schema; recursive like [`Tree::take_value`].
    pub(super) fn duplicates(&self, path: &mut String, findings: &mut Vec<Finding>) {
        let length = path.len();
        match self {
            Self::List(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    path.extend(["[", &index.to_string(), "]"]);
                    element.duplicates(path, findings);
                    path.truncate(length);
                }
            }
            Self::Object(members) => {
                let mut seen = BTreeSet::new();
                for (key, value) in members {
                    path.extend([if length == 0 { "" } else { "." }, key]);
                    if !seen.insert(key) {
                        Finding::Duplicate(path.clone()).note(findings);
                    }
                    value.duplicates(path, findings);
                    path.truncate(length);
                }
            }
            _ => {}
        }
    }
}

impl From<Value> for Tree {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(boolean) => Self::Bool(boolean),
            Value::Number(number) => Self::Number(number.to_string().into()),
            Value::String(text) => Self::String(text),
            Value::Array(elements) => Self::List(elements.into_iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Object(members.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
        }
    }
}

impl Drop for Document {
    fn drop(&mut self) {
        if self.depth <= SHALLOW {
            return;
        }
        let mut left = vec![std::mem::take(&mut self.root)];
        while let Some(tree) = left.pop() {
            match tree {
                Tree::List(elements) => left.extend(elements),
                Tree::Object(members) => left.extend(members.into_iter().map(|(_, value)| value)),
                _ => {}
            }
        }
    }
}
