//! The printer columns of a custom kind.

use std::borrow::Cow;

use gantry_json::{Value, json};

use gantry_formats::rfc3339::{self, TimeLayout};
use gantry_primitives::Timestamp;
use gantry_primitives::age::short;

use crate::jsonpath::{JsonPath, VisitBudget, shown};

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub name: Cow<'static, str>,
    /// `string`, `integer`, `number`, `date` or `boolean`; cells may have other types.
    pub kind: Cow<'static, str>,
    /// `name` for the object's name; usually empty.
    pub format: Cow<'static, str>,
    /// The description; empty for built-in kinds.
    pub description: Cow<'static, str>,
    /// 0 is always shown, higher priorities only in wide output.
    pub priority: i64,
}

/// The object's name.
const NAME: Column = Column {
    name: Cow::Borrowed("Name"),
    kind: Cow::Borrowed("string"),
    format: Cow::Borrowed("name"),
    description: Cow::Borrowed(""),
    priority: 0,
};

/// The columns of one version of a custom kind, the name first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    headings: Vec<Column>,
    /// The type and path of the columns after the name.
    contents: Vec<(Content, JsonPath)>,
}

/// How a column renders its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Integer,
    Number,
    Boolean,
    /// Any value, as text.
    Text,
    /// The time since a timestamp.
    Date,
    /// Of an unknown type: always empty.
    Nothing,
}

impl Column {
    /// The column definition in a Table.
    pub fn definition(&self) -> Value {
        json!({
            "name": self.name, "type": self.kind, "format": self.format, "description": self.description,
            "priority": self.priority,
        })
    }
}

impl Columns {
    /// Reads the `additionalPrinterColumns` of a version; without any, the age is shown.
    ///
    /// Columns from the first invalid path on are dropped, as in Kubernetes.
    pub fn read(version: &Value) -> Self {
        let age = [json!({
            "name": "Age", "type": "date", "description": "How long ago the object was created.",
            "jsonPath": ".metadata.creationTimestamp",
        })];
        let written = version["additionalPrinterColumns"].as_array().map_or(&[][..], Vec::as_slice);
        let mut columns = Self { headings: vec![NAME], contents: Vec::new() };
        for column in if written.is_empty() { &age[..] } else { written } {
            let Ok(path) = JsonPath::parse(text(column, "jsonPath")) else { break };
            columns.headings.push(heading(column));
            columns.contents.push((Content::of(text(column, "type")), path));
        }
        columns
    }

    /// The columns, the name first.
    pub fn headings(&self) -> &[Column] {
        &self.headings
    }

    /// The cells of an object; `null` where the path finds no suitable value. Columns are left out once the budget of
    /// the table is used up.
    pub fn cells(&self, object: &Value, now: Timestamp, budget: &mut CellBudget) -> Vec<Value> {
        let mut cells = vec![Value::from(text(&object["metadata"], "name"))];
        for (content, path) in &self.contents {
            if budget.is_spent() {
                break;
            }
            // Of several values only the first is shown.
            let found = path.find_within(object, &mut budget.visits).ok();
            let found = found.and_then(|found| found.first().copied());
            let cell = found.and_then(|value| content.cell(value, now)).unwrap_or(Value::Null);
            // The whole text was formatted, even if the cell is truncated.
            budget.bytes = budget.bytes.saturating_sub(CELL_BYTES + cell.as_str().map_or(0, str::len));
            cells.push(shortened(cell));
        }
        cells
    }
}

/// Limits the work and the size of the cells of one table, for any columns and objects.
#[derive(Debug)]
pub struct CellBudget {
    visits: VisitBudget,
    bytes: usize,
}

/// The values that the columns of a table may visit: many times those of the largest clusters.
const TABLE_VISITS_MAX: usize = 16 << 20;
/// The size of the cells of a table.
const TABLE_BYTES_MAX: usize = 32 << 20;
/// The longest text of a cell. A path may find the whole object, which is unreadable in a table.
const CELL_TEXT_MAX: usize = 16 << 10;
/// The size of a cell without its text.
const CELL_BYTES: usize = 32;

impl CellBudget {
    fn is_spent(&self) -> bool {
        self.bytes == 0 || self.visits.is_spent()
    }
}

impl Default for CellBudget {
    fn default() -> Self {
        Self { visits: VisitBudget::of(TABLE_VISITS_MAX), bytes: TABLE_BYTES_MAX }
    }
}

impl Content {
    fn of(kind: &str) -> Self {
        match kind {
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "string" => Self::Text,
            "date" => Self::Date,
            _ => Self::Nothing,
        }
    }

    fn cell(self, value: &Value, now: Timestamp) -> Option<Value> {
        match self {
            Self::Integer => integer(value).map(Value::from),
            Self::Number => value.as_f64().map(number),
            Self::Boolean => value.as_bool().map(Value::from),
            Self::Text if value.is_null() => Some(Value::from("<no value>")),
            Self::Text => Some(Value::from(shown(value))),
            Self::Date => value.as_str().map(|time| Value::from(since(time, now))),
            Self::Nothing => None,
        }
    }
}

/// Truncates the text of a cell.
fn shortened(cell: Value) -> Value {
    match cell.as_str() {
        Some(text) if text.len() > CELL_TEXT_MAX => {
            Value::from(format!("{}...", &text[..text.floor_char_boundary(CELL_TEXT_MAX)]))
        }
        _ => cell,
    }
}

fn heading(column: &Value) -> Column {
    let member = |name: &str| Cow::Owned(text(column, name).to_owned());
    let description = match text(column, "description") {
        "" => format!("Custom resource definition column (in JSONPath format): {}", text(column, "jsonPath")),
        described => described.to_owned(),
    };
    Column {
        name: member("name"),
        kind: member("type"),
        format: member("format"),
        description: Cow::Owned(description),
        priority: column["priority"].as_i64().unwrap_or(0),
    }
}

fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().unwrap_or("")
}

/// An integer; fractions are truncated.
fn integer(value: &Value) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "values out of range saturate")]
    value.as_i64().or_else(|| value.as_f64().map(|float| float as i64))
}

/// Prints a number without a fraction of zero.
fn number(float: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "up to here, every whole number is exact")]
    if float.fract() == 0.0 && float.abs() <= EXACT { Value::from(float as i64) } else { Value::from(float) }
}

/// The time since a timestamp; `<unknown>` if it is missing or zero.
fn since(text: &str, now: Timestamp) -> String {
    let zero = Timestamp::parse("0001-01-01T00:00:00Z");
    match rfc3339::parse(text, TimeLayout::Seconds).ok().map(|time| Timestamp::from_secs(time.seconds)) {
        _ if text.is_empty() || text == "null" => "<unknown>".to_owned(),
        None => "<invalid>".to_owned(),
        then if then == zero => "<unknown>".to_owned(),
        Some(then) => short(now.seconds_after(then)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-16T12:00:00Z";

    fn now() -> Timestamp {
        Timestamp::parse(NOW).unwrap()
    }

    fn object() -> Value {
        json!({
            "metadata": {"name": "blue", "creationTimestamp": "2026-11-15T23:30:00Z"},
            "spec": {
                "size": 42, "ratio": 3.25, "whole": 5.0, "large": 1e30, "on": true, "word": "x", "none": null,
                "servers": [{"hosts": ["foo"], "ports": [1]}, {"hosts": ["bar", "baz"], "ports": [2, 3]}],
                "map": {"b": "<", "a": 1.5},
            },
            "status": {
                "conditions": [
                    {"type": "Synced", "status": "False"},
                    {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-16T13:58:00.5+02:00"},
                ],
                "zero": "0001-01-01T00:00:00Z", "empty": "", "later": "2026-11-16T13:00:00Z",
            },
        })
    }

    /// A cell is truncated: thirty columns with all of a large object would be tens of megabytes.
    #[test]
    fn a_cell_is_truncated() {
        let version =
            json!({"additionalPrinterColumns": [{"name": "X", "type": "string", "jsonPath": ".spec"}]});
        let object = json!({"metadata": {"name": "a"}, "spec": "é".repeat(1 << 20)});
        let cells = Columns::read(&version).cells(&object, now(), &mut CellBudget::default());
        let text = cells[1].as_str().unwrap();
        assert!(text.len() <= CELL_TEXT_MAX + 3 && text.ends_with("é..."), "{}", text.len());
    }

    fn cell(kind: &str, path: &str) -> Value {
        let version = json!({"additionalPrinterColumns": [{"name": "X", "type": kind, "jsonPath": path}]});
        let mut cells = Columns::read(&version).cells(&object(), now(), &mut CellBudget::default());
        assert_eq!((cells.len(), &cells[0]), (2, &json!("blue")), "{path}");
        cells.remove(1)
    }

    /// Appendix E: the content of a cell depends on the type of its column and on the values that its path finds.
    #[test]
    fn cells_are_of_the_type_of_their_column() {
        let cases = [
            ("integer", ".spec.size", json!(42)),
            ("integer", ".spec.ratio", json!(3)),
            ("integer", ".spec.large", json!(i64::MAX)),
            ("integer", ".spec.on", json!(null)),
            ("integer", ".spec.word", json!(null)),
            ("integer", ".spec.none", json!(null)),
            ("integer", ".spec.servers[*].ports", json!(null)),
            ("integer", ".spec.servers[*].ports[0]", json!(1)),
            ("number", ".spec.size", json!(42)),
            ("number", ".spec.ratio", json!(3.25)),
            ("number", ".spec.whole", json!(5)),
            ("number", ".spec.word", json!(null)),
            ("boolean", ".spec.on", json!(true)),
            ("boolean", ".spec.size", json!(null)),
            ("boolean", ".spec.word", json!(null)),
            ("string", ".spec.word", json!("x")),
            ("string", ".spec.size", json!("42")),
            ("string", ".spec.ratio", json!("3.25")),
            ("string", ".spec.on", json!("true")),
            ("string", ".spec.none", json!("<no value>")),
            ("string", ".spec.nope", json!(null)),
            ("string", ".spec.map", json!("{\"a\":1.5,\"b\":\"\\u003c\"}")),
            ("string", ".spec.servers[0].hosts[0]", json!("foo")),
            ("string", ".spec.servers[1].hosts", json!("[\"bar\",\"baz\"]")),
            ("string", ".spec.servers[*].hosts", json!("[\"foo\"]")),
            ("string", ".spec.servers[7].hosts", json!(null)),
            ("string", ".spec.word[0]", json!(null)),
            ("string", ".status.conditions[?(@.type==\"Ready\")].status", json!("True")),
            ("string", ".status.conditions[?(@.type == 'Ready')].status", json!("True")),
            ("string", ".status.conditions[?(@.type==\"Gone\")].status", json!(null)),
            ("string", ".", json!(null)),
            ("date", ".metadata.creationTimestamp", json!("12h")),
            ("date", ".status.conditions[?(@.type==\"Ready\")].lastTransitionTime", json!("2m")),
            ("date", ".status.later", json!("<invalid>")),
            ("date", ".status.empty", json!("<unknown>")),
            ("date", ".status.zero", json!("<unknown>")),
            ("date", ".spec.word", json!("<invalid>")),
            ("date", ".spec.size", json!(null)),
            ("date", ".status.nope", json!(null)),
            ("color", ".spec.word", json!(null)),
        ];
        for (kind, path, expected) in cases {
            assert_eq!(cell(kind, path), expected, "{kind} {path}");
        }
    }

    /// The visited values and the bytes of a table are limited.
    #[test]
    fn the_cells_of_a_table_are_limited() {
        let deep = (0..100).fold(json!({}), |inner, _| json!({"a": inner}));
        let column = |path: &str| json!({"name": "X", "type": "string", "jsonPath": path});
        let columns = [column(".spec.n"), column(".spec..a..a..a..a..a"), column(".spec.n")];
        let columns = Columns::read(&json!({"additionalPrinterColumns": columns}));
        let object = json!({"metadata": {"name": "a"}, "spec": {"n": 1, "deep": deep}});
        let budget = &mut CellBudget { visits: VisitBudget::of(100_000), bytes: TABLE_BYTES_MAX };
        assert_eq!(columns.cells(&object, now(), budget), [json!("a"), json!("1"), json!(null)]);
        assert_eq!(columns.cells(&object, now(), budget), [json!("a")]);
        let large = json!({"metadata": {"name": "a"}, "spec": "x".repeat(1 << 20)});
        let columns = Columns::read(&json!({"additionalPrinterColumns": vec![column(".spec"); 200]}));
        assert!(columns.cells(&large, now(), &mut CellBudget::default()).len() < 70);
    }

    fn named(columns: &Columns) -> Vec<&str> {
        columns.headings().iter().map(|column| column.name.as_ref()).collect()
    }

    /// Appendix E: a kind without columns shows its name and its age.
    #[test]
    fn without_columns_there_are_name_and_age() {
        for version in [json!({}), json!({"additionalPrinterColumns": []})] {
            let columns = Columns::read(&version);
            assert_eq!(named(&columns), ["Name", "Age"]);
            assert_eq!(columns.headings()[1].kind, "date");
            assert_eq!(
                columns.cells(&object(), now(), &mut CellBudget::default()),
                [json!("blue"), json!("12h")]
            );
            assert_eq!(
                columns.cells(&json!({}), now(), &mut CellBudget::default()),
                [json!(""), json!(null)]
            );
        }
    }

    /// Appendix E: columns have the description of the definition, or their path.
    #[test]
    fn columns_are_described() {
        let columns = Columns::read(&json!({"additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "format": "int32", "jsonPath": ".spec.size", "priority": 10},
            {"name": "On", "type": "boolean", "jsonPath": ".spec.on", "description": "Whether it runs."},
        ]}));
        assert_eq!(named(&columns), ["Name", "Size", "On"]);
        let [name, size, on] = columns.headings() else { panic!("three columns") };
        assert_eq!((name.kind.as_ref(), name.format.as_ref(), name.priority), ("string", "name", 0));
        assert_eq!((size.kind.as_ref(), size.format.as_ref(), size.priority), ("integer", "int32", 10));
        assert_eq!(size.description, "Custom resource definition column (in JSONPath format): .spec.size");
        assert_eq!(on.description, "Whether it runs.");
    }

    /// Appendix E: columns from the first invalid path on are dropped.
    #[test]
    fn columns_from_an_invalid_path_on_are_dropped() {
        let column = |name: &str, path: &str| json!({"name": name, "type": "string", "jsonPath": path});
        let columns = Columns::read(&json!({"additionalPrinterColumns": [
            column("A", ".a"), column("B", ".b[?(@.x==1 && @.y==2)]"), column("C", ".c"),
        ]}));
        assert_eq!(named(&columns), ["Name", "A"]);
    }
}
