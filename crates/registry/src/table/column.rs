//! The columns of the tables of built-in kinds.

use std::borrow::Cow;

pub(crate) use super::Column;

/// The object's name.
pub(crate) const NAME: Column = known("Name", "string", "name", 0);
/// The object's name, in wide output only.
pub(crate) const WIDE_NAME: Column = known("Name", "string", "name", 1);
/// The object's age.
pub(crate) const AGE: Column = text("Age");
/// The object's creation timestamp.
pub(crate) const CREATED: Column = known("Created At", "date", "", 0);

/// A column of strings.
pub(crate) const fn text(name: &'static str) -> Column {
    known(name, "string", "", 0)
}

/// A column of names of other objects.
pub(crate) const fn named(name: &'static str) -> Column {
    known(name, "string", "name", 0)
}

/// A column of numbers.
pub(crate) const fn number(name: &'static str) -> Column {
    known(name, "integer", "", 0)
}

/// A column of booleans.
pub(crate) const fn truth(name: &'static str) -> Column {
    known(name, "boolean", "", 0)
}

/// A column of booleans, in wide output only.
pub(crate) const fn wide_truth(name: &'static str) -> Column {
    known(name, "boolean", "", 1)
}

/// A column of strings, in wide output only.
pub(crate) const fn wide(name: &'static str) -> Column {
    known(name, "string", "", 1)
}

/// A column of a built-in kind.
const fn known(name: &'static str, kind: &'static str, format: &'static str, priority: i64) -> Column {
    Column {
        name: Cow::Borrowed(name),
        kind: Cow::Borrowed(kind),
        format: Cow::Borrowed(format),
        description: Cow::Borrowed(""),
        priority,
    }
}
