//! Objects as rows of a `Table`, which `kubectl get` prints, and as `PartialObjectMetadata`.
//!
//! A [`Printer`] has the columns of a kind and turns objects into cells: by the strategy of a built-in kind, which shows
//! name and creation time by default, or by a custom resource definition. Rows always have all cells; clients omit those of
//! low priority.

pub(crate) mod cell;
pub(crate) mod column;
mod partial;

use std::borrow::Cow;
use std::cmp::Ordering;

use gantry_json::{Value, json};

use crate::custom::{CellBudget, Columns};
use crate::kinds::{Kind, Nature};
use crate::{FieldError, Refusal, Timestamp, strategies};
use column::{CREATED, NAME, TableColumn};
use gantry_schema::encode;

pub(crate) use gantry_primitives::age;
pub use gantry_schema::custom::Column;
pub use partial::{is_a_list, not_a_list, partial, partial_list, write_partial_list};

/// Turns objects of one kind into rows.
#[derive(Clone, Copy)]
pub enum Printer<'k> {
    /// By the strategy of a built-in kind.
    BuiltIn(&'static Rows),
    /// By the paths of a custom resource definition.
    Custom(&'k Columns),
}

/// The columns of a built-in kind, and how its objects become rows.
#[derive(Clone, Copy)]
pub struct Rows {
    pub(crate) columns: &'static [TableColumn],
    /// Returns all cells of an object, for kinds whose cells are computed together; the columns have only headings.
    pub(crate) whole: Option<fn(&Value, Timestamp) -> Vec<Value>>,
    /// The conditions of a row, which clients use to style it.
    pub(crate) conditions: fn(&Value) -> Option<Value>,
    /// The order of rows, if it differs from the list.
    pub(crate) order: Option<fn(&Value, &Value) -> Ordering>,
}

impl Rows {
    /// Name and creation time.
    pub(crate) const DEFAULT: Self = Self::new(&[NAME, CREATED]);

    /// Rows without conditions.
    pub(crate) const fn new(columns: &'static [TableColumn]) -> Self {
        Self { columns, whole: None, conditions: |_| None, order: None }
    }

    /// Returns the cells of an object.
    pub(crate) fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        match self.whole {
            Some(cells) => cells(object, now),
            None => self.columns.iter().map(|column| column.cell(object, now)).collect(),
        }
    }
}

/// The requested version of `meta.k8s.io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `v1`.
    V1,
    /// `v1beta1`, of the same shape.
    V1Beta1,
}

/// The part of an object that its row includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncludeObject {
    /// Nothing.
    None,
    /// Its metadata.
    Metadata,
    /// All of it.
    Object,
}

/// Whether a Table has column definitions: on a watch only the first one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headings {
    /// The Table has column definitions.
    Shown,
    /// The Table has none: the client got them before.
    Known,
}

/// The requested form of a Table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The version of the Table.
    pub version: Version,
    /// The part of an object that each row includes.
    pub include: IncludeObject,
    /// Whether there are column definitions.
    pub headings: Headings,
}

impl<'k> Printer<'k> {
    /// The printer of a served kind.
    pub fn of_kind(kind: &'k Kind) -> Self {
        match &kind.nature {
            Nature::BuiltIn(_) => Self::of(kind.group, kind.kind),
            Nature::Custom(custom) => Self::Custom(&custom.columns),
        }
    }

    /// The printer of a built-in kind; the default one for unknown kinds.
    pub fn of(group: &str, kind: &str) -> Self {
        Self::BuiltIn(&strategies::built_in(group, "", kind).rows)
    }

    /// Returns the headings.
    pub fn columns(&self) -> Cow<'k, [Column]> {
        match self {
            Self::BuiltIn(rows) => rows.columns.iter().filter_map(TableColumn::heading).collect(),
            Self::Custom(columns) => Cow::Borrowed(columns.headings()),
        }
    }

    /// Returns the Table of a list with this metadata.
    ///
    /// Objects must have kind and apiVersion if rows include them.
    pub fn table<'o>(
        &self,
        metadata: &Value,
        objects: impl IntoIterator<Item = &'o Value>,
        layout: Layout,
        now: Timestamp,
    ) -> Value {
        let mut budget = CellBudget::default();
        let columns = self.columns();
        let rows: Vec<_> =
            objects.into_iter().map(|object| self.row(object, layout, now, &mut budget)).collect();
        // Kubernetes writes null for an empty list of a kind without columns of its own.
        let is_default = columns.iter().any(|column| Some(column) == CREATED.heading().as_ref());
        let rows = if rows.is_empty() && is_default { Value::Null } else { Value::Array(rows) };
        let definitions: Value = match layout.headings {
            Headings::Shown => columns.iter().map(Column::definition).collect(),
            Headings::Known => Value::Null,
        };
        json!({
            "kind": "Table", "apiVersion": layout.version.api_version(), "metadata": metadata,
            "columnDefinitions": definitions, "rows": rows,
        })
    }

    /// Writes the Table of a list, and a newline. Objects are decoded one after another, unless their rows have an order of
    /// their own.
    pub fn write_table<E>(
        &self,
        metadata: &Value,
        objects: impl Iterator<Item = Result<Value, E>>,
        layout: Layout,
        now: Timestamp,
    ) -> Result<Vec<u8>, E> {
        let mut budget = CellBudget::default();
        // The rows are the last member.
        let table = self.table(metadata, [], layout, now);
        if let Self::BuiltIn(Rows { order: Some(order), .. }) = self {
            let mut objects = objects.collect::<Result<Vec<_>, E>>()?;
            objects.sort_by(order);
            let rows = objects.iter().map(|object| Ok(self.row(object, layout, now, &mut budget)));
            return write_list(table, "rows", rows);
        }
        let rows = objects.map(|object| Ok(self.row(&object?, layout, now, &mut budget)));
        write_list(table, "rows", rows)
    }

    /// Returns the Table of one object: of a get, a write, a watch event or a bookmark.
    pub fn table_of_one(&self, object: &Value, layout: Layout, now: Timestamp) -> Value {
        let metadata = match &object["metadata"]["resourceVersion"] {
            Value::Null => json!({}),
            version => json!({"resourceVersion": version}),
        };
        self.table(&metadata, [object], layout, now)
    }

    fn row(&self, object: &Value, layout: Layout, now: Timestamp, budget: &mut CellBudget) -> Value {
        let included = match layout.include {
            IncludeObject::None => Value::Null,
            IncludeObject::Metadata => without_fields(partial(object, layout.version)),
            IncludeObject::Object => object.clone(),
        };
        let mut row = json!({"object": included});
        match self {
            Self::Custom(columns) => row["cells"] = Value::Array(columns.cells(object, now, budget)),
            Self::BuiltIn(rows) => {
                row["cells"] = Value::Array(rows.cells(object, now));
                if let Some(conditions) = (rows.conditions)(object) {
                    row["conditions"] = conditions;
                }
            }
        }
        row
    }
}

/// Writes an object, and a newline, with these elements in place of its last member, an empty list or null of this name.
fn write_list<E>(
    mut object: Value,
    name: &str,
    elements: impl Iterator<Item = Result<Value, E>>,
) -> Result<Vec<u8>, E> {
    let mut elements = elements.peekable();
    if elements.peek().is_none() {
        return Ok([encode::plain(&object), vec![b'\n']].concat());
    }
    object.as_object_mut().and_then(|members| members.remove(name));
    let mut out = encode::plain(&object);
    out.pop(); // The brace that closes the object.
    let mut before = format!(",\"{name}\":[");
    for element in elements {
        out.extend_from_slice(before.as_bytes());
        out.extend_from_slice(&encode::plain(&element?));
        ",".clone_into(&mut before);
    }
    out.extend_from_slice(b"]}\n");
    Ok(out)
}

/// Annotations that are fields of Kubernetes' internal version, from which it makes rows.
const FIELDS_AS_ANNOTATIONS: [&str; 6] = [
    "autoscaling.alpha.kubernetes.io/behavior",
    "autoscaling.alpha.kubernetes.io/conditions",
    "autoscaling.alpha.kubernetes.io/current-metrics",
    "autoscaling.alpha.kubernetes.io/metrics",
    "deprecated.daemonset.template.generation",
    "deprecated.deployment.rollback.to",
];

/// Drops annotations that are fields of the internal version.
fn without_fields(mut partial: Value) -> Value {
    let Some(Value::Object(annotations)) = partial.pointer_mut("/metadata/annotations") else {
        return partial;
    };
    annotations.retain(|name, _| !FIELDS_AS_ANNOTATIONS.contains(&name.as_str()));
    if annotations.is_empty()
        && let Some(Value::Object(metadata)) = partial.get_mut("metadata")
    {
        metadata.remove("annotations");
    }
    partial
}

impl Version {
    /// `meta.k8s.io/v1` or `meta.k8s.io/v1beta1`.
    pub fn api_version(self) -> &'static str {
        match self {
            Version::V1 => "meta.k8s.io/v1",
            Version::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

impl IncludeObject {
    /// Parses an `includeObject` parameter.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        match text {
            "" | "Metadata" => Ok(Self::Metadata),
            "None" => Ok(Self::None),
            "Object" => Ok(Self::Object),
            other => {
                let why = "must be 'Metadata', 'Object', 'None', or empty";
                let wrong = FieldError::invalid("includeObject", &Value::from(other), why);
                Err(Refusal::bad_request(format!("Unable to convert to Table as requested: {wrong}")))
            }
        }
    }
}
