//! `cargo xtask tidy`: the repository checks itself.
//!
//! Each check is a small function from the repository's text and manifests to findings; only [`Repository::read`]
//! touches the disk. All findings are printed, one per line, in a form that editors can jump to.

mod code;
mod documents;
mod edges;
mod glossary;
mod modules;
mod purity;
mod rules;
mod sources;

use crate::console;
use crate::failure::Failure;
use crate::tree::Tree;
use crate::workspace::Workspace;
use std::fmt;
use std::path::Path;

/// The usage of `tidy`.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask tidy [--rules]

Run the repository's own checks and print every finding as `path:line: problem; fix`.

  --rules   Print every rule handle with the tests that cite it instead, those without a test first
";

/// The input of the checks.
#[derive(Debug, Default)]
struct Repository {
    tree: Tree,
    workspace: Workspace,
}

/// One thing to fix, and where.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

const CHECKS: &[fn(&Repository) -> Vec<Finding>] = &[
    edges::check,
    purity::check,
    modules::check,
    sources::check,
    documents::check,
    rules::check,
    glossary::check,
];

/// Runs the checks, or lists the rules.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = crate::cargo::repository_root()?;
    match arguments {
        [] => check(&root),
        [flag] if flag == "--rules" => {
            console::data(&rules::listing(&Repository::read(&root)?));
            Ok(())
        }
        [other, ..] => Err(Failure::unknown_argument(other)),
    }
}

/// Runs every check and prints every finding.
pub(crate) fn check(root: &Path) -> Result<(), Failure> {
    let repository = Repository::read(root)?;
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(&repository)).collect();
    findings.sort();
    if findings.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
    console::data(&lines.join("\n"));
    Err(Failure::Failed(format!("tidy has {} finding(s)", findings.len())))
}

impl Repository {
    fn read(root: &Path) -> Result<Self, Failure> {
        Ok(Self { tree: Tree::read(root)?, workspace: Workspace::read(root)? })
    }
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, message } = self;
        write!(out, "{path}:{line}: {message}")
    }
}

/// The lines of a text with their numbers, the first being 1.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_printed_with_path_and_line() {
        let finding = Finding::new("docs/spec/objects.md", 7, "no test cites D1.7");
        assert_eq!(finding.to_string(), "docs/spec/objects.md:7: no test cites D1.7");
    }
}
