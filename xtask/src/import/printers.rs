//! Reads `printers.go`: the columns of the tables of kinds.

use std::collections::{BTreeMap, BTreeSet};

use super::table::Entry;

/// The entries of `columns.tsv`: a block for each kind.
pub(super) fn read(text: &str) -> Vec<Entry> {
    let mut columns: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut handlers = BTreeSet::new();
    let mut kinds = BTreeMap::new();
    let mut table = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_suffix(" := []metav1.TableColumnDefinition{") {
            table = Some(name);
        } else if let Some(column) = line.strip_prefix("{Name: ") {
            columns.entry(table.unwrap_or_default()).or_default().push(row(column));
        } else if let Some(handler) = line.strip_prefix("_ = h.TableHandler(") {
            handlers.extend(handler.strip_suffix(')').and_then(|handler| handler.split_once(", ")));
        } else if let Some((name, rest)) = line.strip_prefix("func ").and_then(|line| line.split_once('(')) {
            let kind = rest.split_once(" *").and_then(|(_, kind)| kind.split(',').next());
            kinds.extend(kind.map(|kind| (name, kind.rsplit('.').next().unwrap_or(kind))));
        }
    }
    let of_kinds = handlers.into_iter().filter_map(|(table, print)| {
        let kind = kinds.get(print).filter(|kind| !kind.ends_with("List"))?;
        Some((*kind, columns.get(table)?))
    });
    let of_kinds: BTreeMap<_, _> = of_kinds.collect();
    let entry = |(kind, rows): (&str, &Vec<String>)| Entry {
        key: kind.to_owned(),
        lines: std::iter::once(kind.to_owned()).chain(rows.iter().cloned()).collect(),
    };
    of_kinds.into_iter().map(entry).collect()
}

/// Name, type, format and priority of a column, from the text after `{Name: `.
fn row(column: &str) -> String {
    let quoted = |text: &str| text.split('"').nth(1).unwrap_or_default().to_owned();
    let member = |name: &str| column.split_once(name).map(|(_, value)| value);
    let [kind, format] = [" Type: ", " Format: "].map(|name| member(name).map(quoted).unwrap_or_default());
    let priority = member(" Priority: ").and_then(|value| value.split([',', '}']).next()).unwrap_or("0");
    format!("\t{}\t{kind}\t{format}\t{priority}", quoted(column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_columns_of_their_handlers() {
        let text = r#"
	craneColumns := []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"]},
		{Name: "Load", Type: "integer", Priority: 1, Description: "In tons."},
	}
	_ = h.TableHandler(craneColumns, printCraneList)
	_ = h.TableHandler(craneColumns, printCrane)
func printCrane(obj *harbour.Crane, options printers.GenerateOptions) ([]metav1.TableRow, error) {
func printCraneList(list *harbour.CraneList, options printers.GenerateOptions) ([]metav1.TableRow, error) {
"#;
        let lines: Vec<_> = read(text).into_iter().flat_map(|entry| entry.lines).collect();
        assert_eq!(lines, ["Crane", "\tName\tstring\tname\t0", "\tLoad\tinteger\t\t1"]);
    }
}
