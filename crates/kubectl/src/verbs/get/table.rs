//! A table that the server made, with the columns that only a client adds.

use gantry_json::Value;

use crate::failure::Failure;
use crate::field::{at, list, pairs, shown, text};
use crate::print::Rows;
use crate::print::jsonpath::Template;

/// Which columns are shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Columns of lower priority, too.
    pub(super) wide: bool,
    /// The namespace.
    pub(super) namespace: bool,
    /// The prefix of each name.
    pub(super) prefix: Option<String>,
    /// All labels.
    pub(super) labels: bool,
    /// Single labels.
    pub(super) label_columns: Vec<String>,
    /// The value of `--sort-by`.
    pub(super) sort_by: Option<String>,
}

/// The rows of a table.
pub(super) fn rows(table: &Value, columns: &Columns) -> Result<Rows, Failure> {
    if table["kind"] != "Table" {
        return Ok(of_plain_object(table, columns));
    }
    let definitions = list(table, "/columnDefinitions");
    let shown_columns: Vec<usize> = definitions
        .iter()
        .enumerate()
        .filter(|(_, one)| columns.wide || crate::field::number(one, "/priority") == 0)
        .map(|(nth, _)| nth)
        .collect();
    let mut rows: Vec<(Value, Vec<String>)> = Vec::new();
    for row in list(table, "/rows") {
        let cells = shown_columns.iter().map(|nth| shown(row["cells"].get(*nth).unwrap_or(&Value::Null)));
        let key = match &columns.sort_by {
            None => Value::Null,
            Some(path) => sort_key(path, &row["object"])?,
        };
        rows.push((key, columns.completed(cells.collect(), &row["object"])));
    }
    if columns.sort_by.is_some() {
        rows.sort_by(|(one, _), (other, _)| compare(one, other));
    }
    let header = shown_columns.iter().map(|nth| text(&definitions[*nth], "/name").to_uppercase()).collect();
    Ok(Rows {
        header: columns.completed_header(header),
        rows: rows.into_iter().map(|(_, row)| row).collect(),
    })
}

/// The rows of objects for which the server returned no table.
fn of_plain_object(object: &Value, columns: &Columns) -> Rows {
    let objects =
        if object.get("items").is_some() { list(object, "/items") } else { std::slice::from_ref(object) };
    let rows = objects
        .iter()
        .map(|object| {
            let cells = vec![text(object, "/metadata/name").to_owned(), "<unknown>".to_owned()];
            columns.completed(cells, object)
        })
        .collect();
    Rows { header: columns.completed_header(vec!["NAME".into(), "AGE".into()]), rows }
}

impl Columns {
    /// How much of each object the server is to send beside its row: the value of `includeObject`.
    ///
    /// Managed fields are most of a row's size, so metadata is requested only if a column needs it.
    pub(super) fn objects(&self) -> &'static str {
        let has_columns_of_its_own = self.namespace || self.labels || !self.label_columns.is_empty();
        match (&self.sort_by, has_columns_of_its_own) {
            (Some(_), _) => "Object",
            (None, true) => "Metadata",
            (None, false) => "None",
        }
    }

    fn completed_header(&self, mut header: Vec<String>) -> Vec<String> {
        if self.namespace {
            header.insert(0, "NAMESPACE".into());
        }
        header.extend(
            self.label_columns.iter().map(|label| label.rsplit('/').next().unwrap_or(label).to_uppercase()),
        );
        if self.labels {
            header.push("LABELS".into());
        }
        header
    }

    fn completed(&self, mut cells: Vec<String>, object: &Value) -> Vec<String> {
        if let (Some(prefix), Some(name)) = (&self.prefix, cells.first_mut()) {
            *name = format!("{prefix}/{name}");
        }
        if self.namespace {
            cells.insert(0, text(object, "/metadata/namespace").to_owned());
        }
        let labels = at(object, "/metadata/labels");
        cells.extend(self.label_columns.iter().map(|label| labels.get(label).map_or(String::new(), shown)));
        if self.labels {
            let all = pairs(object, "/metadata/labels");
            cells.push(if all.is_empty() { "<none>".to_owned() } else { all });
        }
        cells
    }
}

/// The sort key of an object.
pub(super) fn sort_key(path: &str, object: &Value) -> Result<Value, Failure> {
    let template = Template::relaxed(path)?;
    let found = template.find(object)?;
    Ok(found.first().map(|value| (*value).clone()).unwrap_or_default())
}

pub(super) fn compare(one: &Value, other: &Value) -> std::cmp::Ordering {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        _ => shown(one).cmp(&shown(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    #[test]
    fn only_the_objects_that_columns_need_are_requested() {
        assert_eq!(Columns::default().objects(), "None");
        assert_eq!(Columns { namespace: true, ..Columns::default() }.objects(), "Metadata");
        assert_eq!(Columns { sort_by: Some(".a".into()), ..Columns::default() }.objects(), "Object");
    }

    /// K2.2: namespace first, labels last, the type before the name.
    #[test]
    fn a_client_adds_columns() {
        let table = json!({"kind": "Table",
            "columnDefinitions": [{"name": "Name", "priority": 0}, {"name": "Ready", "priority": 0}, {"name": "IP", "priority": 1}],
            "rows": [{"cells": ["web", 3, "10.0.0.1"], "object": {"metadata": {"namespace": "shop", "labels": {"b": "2", "a": "1"}}}}]});
        let all = Columns {
            namespace: true,
            prefix: Some("pod".into()),
            labels: true,
            label_columns: vec!["x/b".into(), "b".into()],
            ..Columns::default()
        };
        let rows = rows(&table, &all).unwrap();
        assert_eq!(rows.header, ["NAMESPACE", "NAME", "READY", "B", "B", "LABELS"]);
        assert_eq!(rows.rows, [["shop", "pod/web", "3", "", "2", "a=1,b=2"]]);
        let wide = super::rows(&table, &Columns { wide: true, ..Columns::default() }).unwrap();
        assert_eq!(wide.header, ["NAME", "READY", "IP"]);
    }
}
