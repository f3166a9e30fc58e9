//! One word, one meaning: a type name that is defined twice is listed in the glossary, once per definition. Public types
//! count in the workspace, and those that are visible in a crate (`pub(crate)`) count in it.
//!
//! The glossary is a table, `| Word | Meaning | Where |`; `Where` of such a type is the file that defines it.

use super::{Finding, Repository, numbered};
use std::collections::{BTreeMap, BTreeSet};

const GLOSSARY: &str = "docs/glossary.md";
const KEYWORDS: &[&str] = &["struct", "enum", "trait", "type"];

/// A type that is visible at least in its crate, and the line that defines it.
struct Definition<'a> {
    name: &'a str,
    is_public: bool,
    path: &'a str,
    line: usize,
}

impl Definition<'_> {
    fn package(&self) -> &str {
        self.path.split('/').nth(1).unwrap_or_default()
    }

    /// Whether both are visible in one place.
    fn meets(&self, other: &Self) -> bool {
        (self.path, self.line) != (other.path, other.line)
            && (self.is_public && other.is_public || self.package() == other.package())
    }
}

/// Finds types of the same name that the glossary does not distinguish, and rows that name no definition.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let definitions = definitions(repository);
    let mut by_name: BTreeMap<&str, Vec<&Definition>> = BTreeMap::new();
    for definition in &definitions {
        by_name.entry(definition.name).or_default().push(definition);
    }
    let rows = rows(repository.tree.text(GLOSSARY).unwrap_or_default());
    let listed: BTreeSet<(&str, &str)> = rows.iter().map(|(_, word, path)| (*word, *path)).collect();
    let ambiguous =
        by_name.values().flat_map(|same| same.iter().filter(|one| same.iter().any(|other| one.meets(other))));
    let mut findings: Vec<Finding> = ambiguous
        .filter(|definition| !listed.contains(&(definition.name, definition.path)))
        .map(|Definition { name, path, line, .. }| {
            let message = format!(
                "`{name}` is the name of another visible type too; rename one, or list each in {GLOSSARY}"
            );
            Finding::new(path, *line, message)
        })
        .collect();
    let defined: BTreeSet<(&str, &str)> = definitions.iter().map(|it| (it.name, it.path)).collect();
    let stale = rows
        .iter()
        .filter(|(_, word, path)| path.starts_with("crates/") && !defined.contains(&(*word, *path)));
    findings.extend(stale.map(|(line, word, path)| {
        Finding::new(GLOSSARY, *line, format!("{path} defines no visible type `{word}`; fix or drop the row"))
    }));
    findings
}

fn definitions(repository: &Repository) -> Vec<Definition<'_>> {
    let sources = repository.tree.with_extension("rs");
    let sources = sources.filter(|(path, _)| path.starts_with("crates/") && path.contains("/src/"));
    sources
        .flat_map(|(path, text)| {
            let types = numbered(text).filter_map(|(line, content)| Some((line, visible_type(content)?)));
            types.map(move |(line, (name, is_public))| Definition { name, is_public, path, line })
        })
        .collect()
}

/// The name of the type that a line makes visible, and whether it is public; a type that a macro declares is indented.
fn visible_type(line: &str) -> Option<(&str, bool)> {
    let line = line.trim_start();
    let public = line.strip_prefix("pub ");
    let (keyword, rest) = public.or_else(|| line.strip_prefix("pub(crate) "))?.split_once(' ')?;
    let name = rest.split(|sign: char| !sign.is_alphanumeric() && sign != '_').next()?;
    (KEYWORDS.contains(&keyword) && !name.is_empty()).then_some((name, public.is_some()))
}

/// The rows of the glossary's tables: line, word, place.
fn rows(glossary: &str) -> Vec<(usize, &str, &str)> {
    let cells = numbered(glossary).filter_map(|(line, content)| {
        let mut cells = content.strip_prefix('|')?.split('|').map(|cell| cell.trim().trim_matches('`'));
        let (word, _meaning, place) = (cells.next()?, cells.next()?, cells.next()?);
        Some((line, word, place))
    });
    cells.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn findings(glossary: &str) -> Vec<String> {
        let tree = Tree::of([
            (GLOSSARY, glossary),
            ("crates/a/src/lib.rs", "pub struct Decision;\npub(super) struct Cache;\n"),
            ("crates/a/src/step.rs", "text_enum! {\n    pub enum Step {\n        A = \"a\",\n    }\n}\n"),
            ("crates/b/src/lib.rs", "pub struct Decision<'a>(&'a str);\nstruct Step;\npub struct Cache;\n"),
            ("crates/b/tests/it.rs", "pub struct Decision;\n"),
        ]);
        let repository = Repository { tree, ..Repository::default() };
        check(&repository).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn two_public_types_of_one_name_are_findings_unless_the_glossary_lists_both() {
        let message = "`Decision` is the name of another visible type too; rename one, or list each in docs/glossary.md";
        let both = [format!("crates/a/src/lib.rs:1: {message}"), format!("crates/b/src/lib.rs:1: {message}")];
        assert_eq!(findings(""), both);
        let one = "| `Decision` | what a does | `crates/a/src/lib.rs` |\n";
        assert_eq!(findings(one), both[1..]);
        let other = "| `Decision` | what b does | `crates/b/src/lib.rs` |\n";
        assert_eq!(findings(&format!("{one}{other}")), [""; 0]);
    }

    #[test]
    fn types_of_a_crate_count_in_that_crate() {
        let tree = Tree::of([
            ("crates/a/src/lib.rs", "pub(crate) struct Slot;\npub struct Gap;\n"),
            ("crates/b/src/a.rs", "pub(crate) struct Slot;\n"),
            ("crates/b/src/b.rs", "pub(crate) enum Gap {}\n"),
            ("crates/b/src/c.rs", "pub(crate) enum Gap {}\npub(super) struct Slot;\n"),
        ]);
        let found = check(&Repository { tree, ..Repository::default() });
        let places: Vec<_> = found.iter().map(|finding| (finding.path.as_str(), finding.line)).collect();
        assert_eq!(places, [("crates/b/src/b.rs", 1), ("crates/b/src/c.rs", 1)]);
    }

    #[test]
    fn a_row_about_a_removed_type_is_a_finding() {
        let glossary = "| Decision | a | crates/a/src/lib.rs |\n| Decision | b | crates/b/src/lib.rs |\n\
                        | Cache | c | crates/a/src/lib.rs |\n| Step | s | crates/a/src/step.rs |\n| resync | a word, no type | runtime |\n";
        let expected =
            "docs/glossary.md:3: crates/a/src/lib.rs defines no visible type `Cache`; fix or drop the row";
        assert_eq!(findings(glossary), [expected]);
    }
}
