//! Objects as rows of a Table, which is what `kubectl get` shows, and reduced to their metadata.
//!
//! Each kind has a [`Printer`]: its columns, and how an object becomes cells. Kinds without one of their own show a
//! name and a time, kinds that users defined what their definition says. Rows always have all cells; leaving out those
//! of low priority is up to the client.

pub(crate) mod cluster;
mod column;
pub(crate) mod devices;
pub(crate) mod events;
mod field;
pub(crate) mod network;
mod partial;
pub(crate) mod pods;
pub(crate) mod storage;
pub(crate) mod workloads;

use serde_json::{Value, json};

use gantry_primitives::age;
pub use gantry_primitives::age::short;
pub use gantry_schema::custom::Column;
pub use partial::{is_a_list, not_a_list, partial, partial_list};

use crate::custom::Columns;
use crate::kinds::{Kind, Nature};
use crate::strategies;
use crate::{FieldError, Refusal, Timestamp};

/// How objects of one kind become rows.
#[derive(Clone, Copy)]
pub struct Printer<'k> {
    /// The columns.
    pub columns: &'k [Column],
    cells: Cells<'k>,
}

/// How an object becomes cells.
#[derive(Clone, Copy)]
enum Cells<'k> {
    /// By the strategy of a built-in kind.
    Known(&'static Rows),
    /// By the paths of a definition.
    Custom(&'k Columns),
}

/// The columns of a built-in kind, and how its objects become rows.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) columns: &'static [Column],
    pub(crate) cells: fn(&Value, Timestamp) -> Vec<Value>,
    /// The conditions of a row, which clients use to style it.
    pub(crate) conditions: fn(&Value) -> Option<Value>,
}

impl Rows {
    /// A name and a time.
    pub(crate) const DEFAULT: Self = Self::new(cluster::ANY, cluster::any);

    /// Rows without conditions.
    pub(crate) const fn new(columns: &'static [Column], cells: fn(&Value, Timestamp) -> Vec<Value>) -> Self {
        Self { columns, cells, conditions: |_| None }
    }
}

/// The version of `meta.k8s.io` that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `v1`.
    V1,
    /// `v1beta1`, of the same shape.
    V1Beta1,
}

/// How much of an object goes with its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncludeObject {
    /// Nothing.
    None,
    /// Its metadata.
    Metadata,
    /// All of it.
    Object,
}

/// Whether a Table says what its columns are: on a watch only the first does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headings {
    /// It does.
    Shown,
    /// They are known.
    Known,
}

/// How a Table is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The version of the Table.
    pub version: Version,
    /// What goes with each row.
    pub include: IncludeObject,
    /// Whether columns are described.
    pub headings: Headings,
}

impl<'k> Printer<'k> {
    /// The printer for a kind that is served.
    pub fn of_kind(kind: &'k Kind) -> Self {
        match &kind.nature {
            Nature::BuiltIn(_) => Self::of(kind.group, kind.kind),
            Nature::Custom(custom) => Self::custom(&custom.columns),
        }
    }

    /// The printer for a kind; it is the default one for kinds that are not known.
    pub fn of(group: &str, kind: &str) -> Self {
        let rows = &strategies::built_in(group, "", kind).rows;
        Self { columns: rows.columns, cells: Cells::Known(rows) }
    }

    /// The printer for a kind that users defined, with the columns of one of its versions.
    pub fn custom(columns: &'k Columns) -> Self {
        Self { columns: columns.headings(), cells: Cells::Custom(columns) }
    }

    /// Whether the kind has no columns of its own.
    fn is_default(&self) -> bool {
        self.columns.contains(&column::CREATED)
    }

    /// The Table of a list; `metadata` is the list's own, with its version and where it goes on.
    ///
    /// Objects must say their kind if they are wanted as a whole.
    pub fn table<'o>(
        &self,
        metadata: &Value,
        objects: impl IntoIterator<Item = &'o Value>,
        layout: Layout,
        now: Timestamp,
    ) -> Value {
        let rows: Vec<_> = objects.into_iter().map(|object| self.row(object, layout, now)).collect();
        // Kubernetes writes no list at all where the kind has no columns of its own.
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

    /// The Table of one object: of a get, a write, an event of a watch or a bookmark.
    pub fn table_of_one(&self, object: &Value, layout: Layout, now: Timestamp) -> Value {
        let metadata = match &object["metadata"]["resourceVersion"] {
            Value::Null => json!({}),
            version => json!({"resourceVersion": version}),
        };
        self.table(&metadata, [object], layout, now)
    }

    fn row(&self, object: &Value, layout: Layout, now: Timestamp) -> Value {
        let included = match layout.include {
            IncludeObject::None => Value::Null,
            IncludeObject::Metadata => without_fields(partial(object, layout.version)),
            IncludeObject::Object => object.clone(),
        };
        let mut row = json!({"object": included});
        match self.cells {
            Cells::Custom(columns) => row["cells"] = Value::Array(columns.cells(object, now)),
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

/// Annotations that are fields of the object inside Kubernetes, where the rows of a Table are made.
const FIELDS_AS_ANNOTATIONS: [&str; 6] = [
    "autoscaling.alpha.kubernetes.io/behavior",
    "autoscaling.alpha.kubernetes.io/conditions",
    "autoscaling.alpha.kubernetes.io/current-metrics",
    "autoscaling.alpha.kubernetes.io/metrics",
    "deprecated.daemonset.template.generation",
    "deprecated.deployment.rollback.to",
];

/// The metadata of a row, which has no annotations that stand for fields.
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
    /// Reads an `includeObject` parameter.
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
