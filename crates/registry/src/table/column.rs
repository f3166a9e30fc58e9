//! The columns of a table.

use std::borrow::Cow;

use serde_json::{Value, json};

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub name: Cow<'static, str>,
    /// `string`, `integer`, `number`, `date` or `boolean`; cells do not always obey.
    pub kind: Cow<'static, str>,
    /// `name` for the object's name; most often empty.
    pub format: Cow<'static, str>,
    /// What it shows, in a sentence; empty for kinds that everybody knows.
    pub description: Cow<'static, str>,
    /// 0 is always shown, more only when there is space.
    pub priority: i64,
}

/// The object's name.
pub(crate) const NAME: Column = known("Name", "string", "name", 0);
/// The object's name where other things matter more.
pub(crate) const WIDE_NAME: Column = known("Name", "string", "name", 1);
/// How old the object is.
pub(crate) const AGE: Column = text("Age");
/// When the object was created.
pub(crate) const CREATED: Column = known("Created At", "date", "", 0);

/// A column of text.
pub(crate) const fn text(name: &'static str) -> Column {
    known(name, "string", "", 0)
}

/// A column of names of other things.
pub(crate) const fn named(name: &'static str) -> Column {
    known(name, "string", "name", 0)
}

/// A column of numbers.
pub(crate) const fn number(name: &'static str) -> Column {
    known(name, "integer", "", 0)
}

/// A column of `true` and `false`.
pub(crate) const fn truth(name: &'static str) -> Column {
    known(name, "boolean", "", 0)
}

/// A column of text that is shown when there is space.
pub(crate) const fn wide(name: &'static str) -> Column {
    known(name, "string", "", 1)
}

/// A column of a kind that everybody knows.
const fn known(name: &'static str, kind: &'static str, format: &'static str, priority: i64) -> Column {
    Column {
        name: Cow::Borrowed(name),
        kind: Cow::Borrowed(kind),
        format: Cow::Borrowed(format),
        description: Cow::Borrowed(""),
        priority,
    }
}

impl Column {
    pub(crate) fn definition(&self) -> Value {
        json!({
            "name": self.name, "type": self.kind, "format": self.format, "description": self.description,
            "priority": self.priority,
        })
    }
}
