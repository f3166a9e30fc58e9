//! The columns of a table.

use serde_json::{Value, json};

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub name: &'static str,
    /// `string`, `integer`, `date` or `boolean`; cells do not always obey.
    pub kind: &'static str,
    /// `name` for the object's name, empty otherwise.
    pub format: &'static str,
    /// 0 is always shown, 1 only when there is space.
    pub priority: u8,
}

/// The object's name.
pub(super) const NAME: Column = Column { name: "Name", kind: "string", format: "name", priority: 0 };
/// How old the object is.
pub(super) const AGE: Column = text("Age");
/// When the object was created.
pub(super) const CREATED: Column = Column { name: "Created At", kind: "date", format: "", priority: 0 };

/// A column of text.
pub(super) const fn text(name: &'static str) -> Column {
    Column { name, kind: "string", format: "", priority: 0 }
}

/// A column of numbers.
pub(super) const fn number(name: &'static str) -> Column {
    Column { kind: "integer", ..text(name) }
}

/// A column of `true` and `false`.
pub(super) const fn truth(name: &'static str) -> Column {
    Column { kind: "boolean", ..text(name) }
}

/// A column of text that is shown when there is space.
pub(super) const fn wide(name: &'static str) -> Column {
    Column { priority: 1, ..text(name) }
}

impl Column {
    pub(super) fn definition(&self) -> Value {
        json!({
            "name": self.name, "type": self.kind, "format": self.format, "description": "",
            "priority": self.priority,
        })
    }
}
