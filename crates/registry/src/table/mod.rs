//! Objects as rows of a `Table`, which `kubectl get` prints, and as `PartialObjectMetadata`.
//!
//! A [`Printer`] has the columns of a kind and turns objects into cells: by the strategy of a built-in kind, which shows
//! name and creation time by default, or by a custom resource definition. Rows always have all cells; clients omit those of
//! low priority.

pub(crate) mod cell;
pub(crate) mod column;
mod partial;

use std::cmp::Ordering;

use gantry_json::{Value, json};

use crate::custom::{CellBudget, Columns};
use crate::kinds::{Kind, Nature};
use crate::{FieldError, Refusal, Timestamp, strategies};
use cell::{created, name};
use column::{CREATED, NAME};
use gantry_schema::encode;

pub(crate) use gantry_primitives::age;
pub use gantry_schema::custom::Column;
pub use partial::{is_a_list, not_a_list, partial, partial_list, write_partial_list};

const ANY: &[Column] = &[NAME, CREATED];

/// Turns objects of one kind into rows.
#[derive(Clone, Copy)]
pub struct Printer<'k> {
    /// The columns.
    pub columns: &'k [Column],
    cells: Cells<'k>,
}

/// How objects become cells.
#[derive(Clone, Copy)]
enum Cells<'k> {
    /// By the strategy of a built-in kind.
    Known(&'static Rows),
    /// By the paths of a custom resource definition.
    Custom(&'k Columns),
}

/// The columns of a built-in kind, and how its objects become rows.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) columns: &'static [Column],
    pub(crate) cells: fn(&Value, Timestamp) -> Vec<Value>,
    /// The conditions of a row, which clients use to style it.
    pub(crate) conditions: fn(&Value) -> Option<Value>,
    /// The order of rows, if it is not that of the list.
    pub(crate) order: Option<fn(&Value, &Value) -> Ordering>,
}

impl Rows {
    /// Name and creation time.
    pub(crate) const DEFAULT: Self = Self::new(ANY, any);

    /// Rows without conditions.
    pub(crate) const fn new(columns: &'static [Column], cells: fn(&Value, Timestamp) -> Vec<Value>) -> Self {
        Self { columns, cells, conditions: |_| None, order: None }
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

/// How much of an object its row includes.
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
    /// It has them.
    Shown,
    /// The client has them.
    Known,
}

/// The requested form of a Table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The version of the Table.
    pub version: Version,
    /// What each row includes.
    pub include: IncludeObject,
    /// Whether there are column definitions.
    pub headings: Headings,
}

impl<'k> Printer<'k> {
    /// The printer of a served kind.
    pub fn of_kind(kind: &'k Kind) -> Self {
        match &kind.nature {
            Nature::BuiltIn(_) => Self::of(kind.group, kind.kind),
            Nature::Custom(custom) => Self::custom(&custom.columns),
        }
    }

    /// The printer of a built-in kind; the default one for unknown kinds.
    pub fn of(group: &str, kind: &str) -> Self {
        let rows = &strategies::built_in(group, "", kind).rows;
        Self { columns: rows.columns, cells: Cells::Known(rows) }
    }

    /// The printer of a custom resource, with the columns of its version.
    pub fn custom(columns: &'k Columns) -> Self {
        Self { columns: columns.headings(), cells: Cells::Custom(columns) }
    }

    /// Whether the kind has no columns of its own.
    fn is_default(&self) -> bool {
        self.columns.contains(&CREATED)
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
        let rows: Vec<_> =
            objects.into_iter().map(|object| self.row(object, layout, now, &mut budget)).collect();
        // Kubernetes writes null for an empty list of a kind without columns of its own.
        let rows = if rows.is_empty() && self.is_default() { Value::Null } else { Value::Array(rows) };
        let definitions: Value = match layout.headings {
            Headings::Shown => self.columns.iter().map(Column::definition).collect(),
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
        // The rows come last.
        let table = self.table(metadata, [], layout, now);
        if let Cells::Known(Rows { order: Some(order), .. }) = self.cells {
            let mut objects = objects.collect::<Result<Vec<_>, E>>()?;
            objects.sort_by(order);
            let rows = objects.iter().map(|object| Ok(self.row(object, layout, now, &mut budget)));
            return write_list(&table, "rows", rows);
        }
        let rows = objects.map(|object| Ok(self.row(&object?, layout, now, &mut budget)));
        write_list(&table, "rows", rows)
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
        match self.cells {
            Cells::Custom(columns) => row["cells"] = Value::Array(columns.cells(object, now, budget)),
            Cells::Known(rows) => {
                row["cells"] = Value::Array((rows.cells)(object, now));
                if let Some(conditions) = (rows.conditions)(object) {
                    row["conditions"] = conditions;
                }
            }
        }
        row
    }
}

/// Writes an object, and a newline, with these elements in place of its empty list or null of this name.
fn write_list<E>(
    object: &Value,
    name: &str,
    elements: impl Iterator<Item = Result<Value, E>>,
) -> Result<Vec<u8>, E> {
    let bytes = encode::plain(object);
    let marks = ["[]", "null"].map(|empty| format!("\"{name}\":{empty}"));
    let place = |mark: &String| bytes.windows(mark.len()).position(|window| window == mark.as_bytes());
    let found = marks.iter().find_map(|mark| Some((place(mark)?, mark.len())));
    let mut elements = elements.peekable();
    let (Some((start, length)), Some(_)) = (found, elements.peek()) else {
        return Ok([bytes, vec![b'\n']].concat());
    };
    let mut out = bytes[..start].to_vec();
    for (index, element) in elements.enumerate() {
        let before = if index == 0 { format!("\"{name}\":[") } else { ",".to_owned() };
        out.extend_from_slice(before.as_bytes());
        out.extend_from_slice(&encode::plain(&element?));
    }
    out.push(b']');
    out.extend_from_slice(&bytes[start + length..]);
    out.push(b'\n');
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

fn any(object: &Value, _: Timestamp) -> Vec<Value> {
    vec![json!(name(object)), json!(created(object))]
}
