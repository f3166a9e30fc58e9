//! A JSON value.

use std::borrow::Cow;
use std::fmt;

use serde_json::Number;
use smol_str::SmolStr;

use crate::{Index, Map};

/// A JSON value.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(SmolStr),
    /// A list.
    Array(Vec<Value>),
    /// An object.
    Object(Map),
}

pub(crate) static NULL: Value = Value::Null;

impl Value {
    /// The member of this name, or the item at this position.
    pub fn get(&self, index: impl Index) -> Option<&Self> {
        index.find(self)
    }

    /// The member of this name, or the item at this position, to be changed.
    pub fn get_mut(&mut self, index: impl Index) -> Option<&mut Self> {
        index.find_mut(self)
    }

    /// The value at a JSON pointer.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        tokens(pointer)?.try_fold(self, |value, token| match value {
            Self::Object(members) => members.get(&token),
            Self::Array(items) => items.get(position(&token)?),
            _ => None,
        })
    }

    /// The value at a JSON pointer, to be changed.
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        tokens(pointer)?.try_fold(self, |value, token| match value {
            Self::Object(members) => members.get_mut(&token),
            Self::Array(items) => items.get_mut(position(&token)?),
            _ => None,
        })
    }

    /// Whether this is an object and an unchanged clone of the other one: equal without a comparison.
    pub fn is_clone_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Object(one), Self::Object(other)) => one.shares_members_with(other),
            _ => false,
        }
    }

    /// Replaces each object in this value that equals the object at the same place in another value by a clone of it,
    /// and returns whether the whole values are equal. Shared objects are in memory once, and are not compared again.
    pub fn share_with(&mut self, other: &Self) -> bool {
        match (&mut *self, other) {
            (Self::Object(members), Self::Object(others)) => members.share_with(others),
            (Self::Array(items), Self::Array(others)) => {
                let mut are_equal = items.len() == others.len();
                for (item, other) in items.iter_mut().zip(others) {
                    are_equal &= item.share_with(other);
                }
                are_equal
            }
            (one, other) => one == other,
        }
    }

    /// Leaves `null` in its place.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// A number.
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// An integer of this range.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// An integer of this range.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number().and_then(Number::as_u64)
    }

    /// A number as a float.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().and_then(Number::as_f64)
    }

    /// The items of a list.
    pub fn as_array(&self) -> Option<&Vec<Self>> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The items of a list, to be changed.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Self>> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&Map> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// The members of an object, to be changed.
    pub fn as_object_mut(&mut self) -> Option<&mut Map> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether it is a boolean.
    pub fn is_boolean(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Whether it is an integer of this range.
    pub fn is_i64(&self) -> bool {
        self.as_number().is_some_and(Number::is_i64)
    }

    /// Whether it is an integer of this range.
    pub fn is_u64(&self) -> bool {
        self.as_number().is_some_and(Number::is_u64)
    }

    /// Whether it is a number that is not an integer.
    pub fn is_f64(&self) -> bool {
        self.as_number().is_some_and(Number::is_f64)
    }

    /// Whether it is a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Whether it is a list.
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }
}

/// The unescaped tokens of a JSON pointer.
fn tokens(pointer: &str) -> Option<impl Iterator<Item = Cow<'_, str>>> {
    let mut parts = pointer.split('/');
    // A pointer is empty or begins with a slash.
    if parts.next() != Some("") {
        return None;
    }
    Some(parts.map(|part| {
        if part.contains('~') { part.replace("~1", "/").replace("~0", "~").into() } else { part.into() }
    }))
}

/// A position in a list, as JSON pointers write it.
fn position(token: &str) -> Option<usize> {
    if token.starts_with('+') || (token.starts_with('0') && token.len() > 1) {
        return None;
    }
    token.parse().ok()
}

impl<I: Index> std::ops::Index<I> for Value {
    type Output = Self;

    fn index(&self, index: I) -> &Self {
        index.find(self).unwrap_or(&NULL)
    }
}

impl<I: Index> std::ops::IndexMut<I> for Value {
    fn index_mut(&mut self, index: I) -> &mut Self {
        index.find_or_insert(self)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Bool(value) => write!(f, "Bool({value})"),
            Self::Number(number) => fmt::Debug::fmt(number, f),
            Self::String(text) => write!(f, "String({text:?})"),
            Self::Array(items) => {
                f.write_str("Array ")?;
                fmt::Debug::fmt(items, f)
            }
            Self::Object(members) => {
                f.write_str("Object ")?;
                fmt::Debug::fmt(members, f)
            }
        }
    }
}

/// Compact JSON, or indented by two spaces with `{:#}`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if f.alternate() { crate::to_string_pretty(self) } else { crate::to_string(self) };
        f.write_str(&text.map_err(|_| fmt::Error)?)
    }
}

impl std::str::FromStr for Value {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        crate::from_str(text)
    }
}

macro_rules! from_numbers {
    ($($number:ty),*) => {$(
        impl From<$number> for Value {
            fn from(number: $number) -> Self {
                Self::Number(number.into())
            }
        }
        impl PartialEq<$number> for Value {
            fn eq(&self, other: &$number) -> bool {
                self.as_number().is_some_and(|number| *number == Number::from(*other))
            }
        }
        impl PartialEq<$number> for &Value {
            fn eq(&self, other: &$number) -> bool {
                **self == *other
            }
        }
    )*};
}

from_numbers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

macro_rules! from_texts {
    ($($text:ty),*) => {$(
        impl From<$text> for Value {
            fn from(text: $text) -> Self {
                Self::String(text.into())
            }
        }
    )*};
}

from_texts!(&str, String, SmolStr, Box<str>, Cow<'_, str>);

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Number::from_f64(number).map_or(Self::Null, Self::Number)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<Map> for Value {
    fn from(members: Map) -> Self {
        Self::Object(members)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().collect()
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<N: Into<SmolStr>> FromIterator<(N, Value)> for Value {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(members: I) -> Self {
        Self::Object(members.into_iter().collect())
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::Number(number) => Self::Number(number),
            serde_json::Value::String(text) => Self::String(text.into()),
            serde_json::Value::Array(items) => items.into_iter().collect(),
            serde_json::Value::Object(members) => {
                members.into_iter().map(|(name, value)| (name, Self::from(value))).collect()
            }
        }
    }
}

impl From<Value> for serde_json::Value {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::String(text.into()),
            Value::Array(items) => items.into_iter().collect(),
            Value::Object(members) => {
                members.into_iter().map(|(name, value)| (String::from(name), Self::from(value))).collect()
            }
        }
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(*other)
    }
}

impl PartialEq<String> for Value {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<Value> for &str {
    fn eq(&self, other: &Value) -> bool {
        other == *self
    }
}

impl PartialEq<Value> for str {
    fn eq(&self, other: &Value) -> bool {
        other == self
    }
}

impl PartialEq<Value> for String {
    fn eq(&self, other: &Value) -> bool {
        other == self
    }
}

impl PartialEq<bool> for Value {
    fn eq(&self, other: &bool) -> bool {
        self.as_bool() == Some(*other)
    }
}

impl PartialEq<bool> for &Value {
    fn eq(&self, other: &bool) -> bool {
        self.as_bool() == Some(*other)
    }
}

impl PartialEq<f64> for Value {
    fn eq(&self, other: &f64) -> bool {
        self.as_f64() == Some(*other)
    }
}
