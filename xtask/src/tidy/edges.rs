//! Crate edges: the table in ARCHITECTURE.md and the manifests agree, in both directions.
//!
//! Development dependencies are not restricted, except that crates for tests may be nothing else.

use super::{Finding, Repository, numbered};
use crate::workspace::{Package, Purpose, Workspace};
use std::collections::{BTreeMap, BTreeSet};

const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Crate edges";
/// Crates that may only be dev-dependencies, except of each other.
const TESTS_ONLY: [&str; 3] = ["gantry-bench-protocol", "gantry-test-cluster", "gantry-testkit"];

/// One row of the table: a crate and what it may use.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    line: usize,
    name: String,
    may_use: BTreeSet<String>,
}

/// Compares the table with the manifests.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = tests_only(&repository.workspace);
    match repository.tree.text(DOCUMENT).map(parse_table) {
        None => findings.push(Finding::new(DOCUMENT, 1, format!("is missing; write it, with `{HEADING}`"))),
        Some(None) => {
            let message =
                format!("has no table under `{HEADING}`; add one: | `crate` | `may`, `use` | why |");
            findings.push(Finding::new(DOCUMENT, 1, message));
        }
        Some(Some(rows)) => findings.extend(compare(&rows, &repository.workspace)),
    }
    findings
}

fn tests_only(workspace: &Workspace) -> Vec<Finding> {
    let products = workspace.packages.iter().filter(|package| !TESTS_ONLY.contains(&package.name.as_str()));
    let uses = products.flat_map(|package| product_names(package).map(move |name| (package, name)));
    uses.filter(|(_, name)| TESTS_ONLY.contains(name))
        .map(|(package, name)| {
            let message = format!("`{name}` is for tests; move it to [dev-dependencies]");
            Finding::new(&manifest(package), 1, message)
        })
        .collect()
}

/// Reads the rows under the heading, up to the next heading; `None` when there is no table.
fn parse_table(document: &str) -> Option<Vec<Row>> {
    let below = numbered(document).skip_while(|(_, line)| line.trim_end() != HEADING).skip(1);
    let section = below.take_while(|(_, line)| !line.starts_with("# ") && !line.starts_with("## "));
    let rows: Vec<Row> = section.filter_map(|(line, text)| parse_row(line, text)).collect();
    (!rows.is_empty()).then_some(rows)
}

/// Reads one row; the header and the dashes below it name no crate in backticks and are not rows.
fn parse_row(line: usize, text: &str) -> Option<Row> {
    let mut cells = text.trim().strip_prefix('|')?.split('|');
    let name = in_backticks(cells.next()?).into_iter().next()?;
    if name.ends_with('/') {
        return None; // A header such as `crates/`.
    }
    Some(Row { line, name, may_use: in_backticks(cells.next()?) })
}

fn in_backticks(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn compare(rows: &[Row], workspace: &Workspace) -> Vec<Finding> {
    // The table may name a crate of ours by folder or by package name; both mean the folder.
    let folders: BTreeMap<&str, &str> =
        workspace.packages.iter().map(|package| (package.name.as_str(), package.short_name())).collect();
    let short = |name: &str| folders.get(name).map_or(name, |folder| *folder).to_owned();
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let used: BTreeSet<String> = product_names(package).map(&short).collect();
        match rows.iter().find(|row| short(&row.name) == package.short_name()) {
            Some(row) => {
                let may_use: BTreeSet<String> = row.may_use.iter().map(|name| short(name)).collect();
                findings.extend(compare_row(row.line, package, &may_use, &used));
            }
            None => findings.push(Finding::new(DOCUMENT, heading_line(rows), missing_row(package, &used))),
        }
    }
    let known =
        |row: &&Row| workspace.packages.iter().any(|package| package.short_name() == short(&row.name));
    findings.extend(rows.iter().filter(|row| !known(row)).map(|row| {
        Finding::new(
            DOCUMENT,
            row.line,
            format!("there is no crate `{}`; drop this row of `{HEADING}`", row.name),
        )
    }));
    findings
}

fn compare_row(
    line: usize,
    package: &Package,
    may_use: &BTreeSet<String>,
    used: &BTreeSet<String>,
) -> Vec<Finding> {
    let (name, manifest) = (package.short_name(), manifest(package));
    let undeclared = used.difference(may_use).map(|dependency| {
        format!("{manifest} uses `{dependency}`, the row of `{name}` does not; add it to the row or drop the dependency")
    });
    let unused = may_use.difference(used).map(|dependency| {
        format!(
            "the row of `{name}` allows `{dependency}`, {manifest} does not use it; take it out of the row"
        )
    });
    undeclared.chain(unused).map(|message| Finding::new(DOCUMENT, line, message)).collect()
}

fn missing_row(package: &Package, used: &BTreeSet<String>) -> String {
    let name = package.short_name();
    let used: Vec<String> = used.iter().map(|dependency| format!("`{dependency}`")).collect();
    format!("`{HEADING}` has no row for `{name}`; add: | `{name}` | {} | why |", used.join(", "))
}

fn heading_line(rows: &[Row]) -> usize {
    rows.first().map_or(1, |row| row.line)
}

fn product_names(package: &Package) -> impl Iterator<Item = &str> {
    let product = package.dependencies.iter().filter(|dependency| dependency.purpose == Purpose::Product);
    product.map(|dependency| dependency.name.as_str())
}

fn manifest(package: &Package) -> String {
    format!("{}/Cargo.toml", package.folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    const TABLE: &str = "\
# Map
| `not` | `this` |
## Crate edges
| `crates/` | may use | why |
|---|---|---|
| `model` | `serde`, `k8s-openapi` | the nouns |
| `decide` | `gantry-model` | nothing `else` |
## After
| `nor` | `this` |
";

    fn findings(packages: Vec<Package>) -> Vec<String> {
        let repository =
            Repository { tree: Tree::of([(DOCUMENT, TABLE)]), workspace: Workspace { packages } };
        check(&repository).iter().map(Finding::to_string).collect()
    }

    fn model() -> Package {
        Package::using("gantry-model", "crates/model", &["serde", "k8s-openapi"])
    }

    fn decide(product: &[&str]) -> Package {
        Package::using("gantry-decide", "crates/decide", product)
    }

    #[test]
    fn only_the_table_under_the_heading_counts_and_only_its_first_two_columns() {
        let rows = parse_table(TABLE).unwrap();
        let read: Vec<_> = rows.iter().map(|row| (row.line, row.name.as_str(), row.may_use.len())).collect();
        assert_eq!(read, [(6, "model", 2), (7, "decide", 1)]);
    }

    #[test]
    fn a_correct_table_has_no_findings() {
        assert_eq!(findings(vec![model(), decide(&["gantry-model"])]), [""; 0]);
    }

    #[test]
    fn an_edge_that_the_table_does_not_allow_names_the_row_to_change() {
        let expected = "ARCHITECTURE.md:7: crates/decide/Cargo.toml uses `tokio`, the row of `decide` does not; \
                        add it to the row or drop the dependency";
        assert_eq!(findings(vec![model(), decide(&["gantry-model", "tokio"])]), [expected]);
    }

    #[test]
    fn an_edge_that_only_the_table_has_is_found_too() {
        let expected = "ARCHITECTURE.md:7: the row of `decide` allows `model`, crates/decide/Cargo.toml does not \
                        use it; take it out of the row";
        assert_eq!(findings(vec![model(), decide(&[])]), [expected]);
    }

    #[test]
    fn a_crate_without_a_row_gets_one_proposed_and_a_row_without_a_crate_is_refused() {
        let packages = vec![model(), Package::using("gantry-sim", "crates/sim", &["gantry-model", "rand"])];
        let expected = [
            "ARCHITECTURE.md:6: `## Crate edges` has no row for `sim`; add: | `sim` | `model`, `rand` | why |",
            "ARCHITECTURE.md:7: there is no crate `decide`; drop this row of `## Crate edges`",
        ];
        assert_eq!(findings(packages), expected);
    }

    #[test]
    fn the_test_builders_are_a_development_dependency_or_none() {
        let workspace = Workspace { packages: vec![decide(&["gantry-testkit"])] };
        let found = tests_only(&workspace);
        assert_eq!((found.len(), found[0].path.as_str()), (1, "crates/decide/Cargo.toml"));
    }

    #[test]
    fn a_missing_document_or_table_is_one_finding() {
        assert_eq!(check(&Repository::default()).len(), 1);
        assert_eq!(parse_table("## Crate edges\nsoon\n"), None);
    }
}
