//! `-o custom-columns`: `NAME:.metadata.name,IMAGE:.spec.template.spec.containers[*].image`.

use gantry_json::Value;

use super::jsonpath::{Template, as_go_prints};
use super::rows::{Rows, Widths};
use crate::failure::Failure;
use crate::field::list;

/// The columns of `-o custom-columns`.
#[derive(Clone, Debug)]
pub(crate) struct CustomColumns(Vec<(String, Template)>);

impl CustomColumns {
    /// Reads `HEADER:path,HEADER:path`.
    pub(crate) fn parse(spec: &str) -> Result<Self, Failure> {
        if spec.is_empty() {
            return Err(Failure::other("custom-columns format specified but no custom columns given"));
        }
        let column = |part: &str| {
            let (header, path) = part.split_once(':').ok_or_else(|| {
                Failure::other(format!(
                    "unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>"
                ))
            })?;
            Ok((header.to_owned(), Template::relaxed(path)?))
        };
        spec.split(',').map(column).collect::<Result<_, _>>().map(Self)
    }

    /// Reads a file: a line of headers and a line of paths.
    pub(crate) fn parse_file(content: &str) -> Result<Self, Failure> {
        let mut lines = content.lines();
        let (headers, paths) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let pairs = headers.split_whitespace().zip(paths.split_whitespace());
        pairs
            .map(|(header, path)| Ok((header.to_owned(), Template::relaxed(path)?)))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The header and a row for the object, or for each object of a list.
    pub(crate) fn print(&self, object: &Value) -> Result<String, Failure> {
        let items =
            if object.get("items").is_some() { list(object, "/items") } else { std::slice::from_ref(object) };
        let header = self.0.iter().map(|(header, _)| header.clone()).collect();
        let rows = items.iter().map(|item| self.row(item)).collect::<Result<_, _>>()?;
        Ok(Rows { header, rows }.lines(&mut Widths::default(), true))
    }

    fn row(&self, object: &Value) -> Result<Vec<String>, Failure> {
        let cell = |template: &Template| {
            let found: Vec<String> = template.find(object)?.iter().map(|value| as_go_prints(value)).collect();
            Ok(if found.is_empty() { "<none>".to_owned() } else { found.join(",") })
        };
        self.0.iter().map(|(_, template)| cell(template)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K2.2: maps and lists are shown as kubectl shows them.
    #[test]
    fn columns_show_maps_as_go_prints_them() {
        let columns = CustomColumns::parse("LABELS:.labels,GRID:.grid").unwrap();
        let object = json!({"labels": {"b": "2", "a": "1"}, "grid": [[1, 2.5], [null]]});
        let rendered = columns.print(&object).unwrap();
        assert_eq!(rendered, "LABELS         GRID\nmap[a:1 b:2]   [[1 2.5] [<nil>]]\n");
    }

    /// K2.2: a column for each path; a missing value is `<none>`.
    #[test]
    fn columns_show_the_values_at_their_paths() {
        let columns = CustomColumns::parse("NAME:.metadata.name,IMAGES:spec.c[*].image,X:{.nope}").unwrap();
        let object = json!({"metadata": {"name": "web"}, "spec": {"c": [{"image": "a"}, {"image": "b"}]}});
        assert_eq!(columns.print(&object).unwrap(), "NAME   IMAGES   X\nweb    a,b      <none>\n");
        assert!(CustomColumns::parse("NAME").is_err());
        let of_file = CustomColumns::parse_file("NAME X\nmetadata.name .nope\n").unwrap();
        assert_eq!(of_file.print(&object).unwrap(), "NAME   X\nweb    <none>\n");
    }
}
