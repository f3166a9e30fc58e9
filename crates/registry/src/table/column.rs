//! The columns of the tables of built-in kinds: headings, and how cells are read from an object.

use std::borrow::Cow;

use gantry_json::{Value, json};

use super::{Column, cell};
use crate::Timestamp;

/// A column of a built-in kind.
#[derive(Clone, Copy)]
pub(crate) struct TableColumn {
    name: &'static str,
    kind: &'static str,
    format: &'static str,
    priority: i64,
    cell: Cell,
}

/// How a cell is read from an object. Paths have dots.
#[derive(Clone, Copy)]
enum Cell {
    /// The string at a path, or this word if it is absent.
    Text(&'static str, &'static str),
    Number(&'static str),
    /// The number of elements of a list.
    Count(&'static str),
    Labels(&'static str),
    Selector(&'static str),
    /// A member of each element of a list.
    Joined(&'static str, &'static str),
    Computed(fn(&Value, Timestamp) -> Value),
}

/// The object's name.
pub(crate) const NAME: TableColumn = named("Name").text_at("metadata.name");
/// The object's name, in wide output only.
pub(crate) const WIDE_NAME: TableColumn = TableColumn { priority: 1, ..NAME };
/// The object's age.
pub(crate) const AGE: TableColumn = text("Age").computed(|object, now| json!(cell::age(object, now)));
/// The object's age, which has no heading in Kubernetes.
pub(crate) const AGE_WITHOUT_HEADING: TableColumn = TableColumn { name: "", ..AGE };
/// The object's creation timestamp.
pub(crate) const CREATED: TableColumn =
    column("Created At", "date", "", 0).text_or("metadata.creationTimestamp", "0001-01-01T00:00:00Z");
/// The names of the containers of a pod template.
pub(crate) const CONTAINERS: TableColumn =
    wide("Containers").joined_at("spec.template.spec.containers", "name");
/// The images of the containers of a pod template.
pub(crate) const IMAGES: TableColumn = wide("Images").joined_at("spec.template.spec.containers", "image");

/// A column of strings.
pub(crate) const fn text(name: &'static str) -> TableColumn {
    column(name, "string", "", 0)
}

/// A column of names of other objects.
pub(crate) const fn named(name: &'static str) -> TableColumn {
    column(name, "string", "name", 0)
}

/// A column of numbers.
pub(crate) const fn number(name: &'static str) -> TableColumn {
    column(name, "integer", "", 0)
}

/// A column of booleans.
pub(crate) const fn boolean(name: &'static str) -> TableColumn {
    column(name, "boolean", "", 0)
}

/// A column of booleans, in wide output only.
pub(crate) const fn wide_boolean(name: &'static str) -> TableColumn {
    column(name, "boolean", "", 1)
}

/// A column of strings, in wide output only.
pub(crate) const fn wide(name: &'static str) -> TableColumn {
    column(name, "string", "", 1)
}

const fn column(name: &'static str, kind: &'static str, format: &'static str, priority: i64) -> TableColumn {
    TableColumn { name, kind, format, priority, cell: Cell::Text("", "") }
}

impl TableColumn {
    /// Shows the string at a path.
    pub(crate) const fn text_at(self, path: &'static str) -> Self {
        self.text_or(path, "")
    }

    /// Shows the string at a path, or this word if it is absent.
    pub(crate) const fn text_or(self, path: &'static str, absent: &'static str) -> Self {
        Self { cell: Cell::Text(path, absent), ..self }
    }

    /// Shows the number at a path.
    pub(crate) const fn number_at(self, path: &'static str) -> Self {
        Self { cell: Cell::Number(path), ..self }
    }

    /// Shows the number of elements of the list at a path.
    pub(crate) const fn count_at(self, path: &'static str) -> Self {
        Self { cell: Cell::Count(path), ..self }
    }

    /// Shows the map of labels at a path.
    pub(crate) const fn labels_at(self, path: &'static str) -> Self {
        Self { cell: Cell::Labels(path), ..self }
    }

    /// Shows the selector at a path.
    pub(crate) const fn selector_at(self, path: &'static str) -> Self {
        Self { cell: Cell::Selector(path), ..self }
    }

    /// Shows a member of each element of the list at a path.
    pub(crate) const fn joined_at(self, path: &'static str, member: &'static str) -> Self {
        Self { cell: Cell::Joined(path, member), ..self }
    }

    /// Shows what this function returns.
    pub(crate) const fn computed(self, cell: fn(&Value, Timestamp) -> Value) -> Self {
        Self { cell: Cell::Computed(cell), ..self }
    }

    /// Returns the cell of an object.
    pub(super) fn cell(&self, object: &Value, now: Timestamp) -> Value {
        match self.cell {
            Cell::Text(path, absent) => json!(cell::text_or(object, path, absent)),
            Cell::Number(path) => json!(cell::number(object, path)),
            Cell::Count(path) => json!(cell::list(object, path).len()),
            Cell::Labels(path) => json!(cell::labels(object, path)),
            Cell::Selector(path) => json!(cell::selector(object, path)),
            Cell::Joined(path, member) => json!(cell::joined(cell::list(object, path), member)),
            Cell::Computed(compute) => compute(object, now),
        }
    }

    /// Returns the heading, if there is one.
    pub(super) fn heading(&self) -> Option<Column> {
        let Self { name, kind, format, priority, .. } = *self;
        let [name, kind, format, description] = [name, kind, format, ""].map(Cow::Borrowed);
        (!name.is_empty()).then_some(Column { name, kind, format, description, priority })
    }
}
