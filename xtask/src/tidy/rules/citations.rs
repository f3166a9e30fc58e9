//! Citations of rules, and which of them are in tests.
//!
//! A test is a file in a `tests` folder of a crate, of any extension since stories are text; a source file named
//! `tests.rs` or `…_tests.rs`; or the part of a source file below its inline `#[cfg(test)] mod …`.

use super::super::{Finding, numbered};
use super::handle::{Handle, cited};
use super::specification::{FOLDER, Rule};
use crate::tree::Tree;
use std::collections::BTreeSet;

/// One citation of a rule in the crates.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Citation {
    pub(super) handle: Handle,
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) in_test: bool,
}

/// Finds all citations of rules below `crates/`.
pub(super) fn find(tree: &Tree) -> Vec<Citation> {
    let mut citations = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| path.starts_with("crates/")) {
        let Some(first_test_line) = first_test_line(path, text) else { continue };
        for (line, content) in numbered(text) {
            let in_test = line >= first_test_line;
            let handles = cited(content).into_iter();
            citations.extend(handles.map(|handle| Citation { handle, path: path.to_owned(), line, in_test }));
        }
    }
    citations
}

/// Finds citations of numbered rules that the specification does not define: typing errors and removed rules.
pub(super) fn of_no_rule(citations: &[Citation], rules: &[Rule]) -> Vec<Finding> {
    let known: BTreeSet<Handle> = rules.iter().map(|rule| rule.handle).collect();
    let families: BTreeSet<char> = known.iter().map(|handle| handle.family).collect();
    let unknown = citations.iter().filter(|Citation { handle, .. }| {
        // A bare `D6` names a section.
        handle.number.is_some() && families.contains(&handle.family) && !known.contains(handle)
    });
    unknown
        .map(|Citation { handle, path, line, .. }| {
            Finding::new(path, *line, format!("cites {handle}, which {FOLDER} does not define; fix either"))
        })
        .collect()
}

/// The line at which the tests of a file begin, beyond its end without tests; `None` for files that are not checked.
fn first_test_line(path: &str, text: &str) -> Option<usize> {
    let (folders, name) = path.rsplit_once('/')?;
    if folders.split('/').any(|folder| folder == "tests") {
        return Some(1);
    }
    let stem = name.strip_suffix(".rs")?;
    if stem == "tests" || stem.ends_with("_tests") {
        return Some(1);
    }
    Some(inline_tests(text).unwrap_or(usize::MAX))
}

/// The line of the `#[cfg(test)]` before an inline module; `mod tests;` is another file.
fn inline_tests(text: &str) -> Option<usize> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let opens_module = |index: usize| {
        let item = lines[index + 1..].iter().find(|line| !line.starts_with("#[") && !line.starts_with("//"));
        item.is_some_and(|item| {
            item.trim_start_matches("pub(crate) ").starts_with("mod ") && item.contains('{')
        })
    };
    let index = (0..lines.len()).find(|index| lines[*index] == "#[cfg(test)]" && opens_module(*index))?;
    Some(index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_lines(path: &str, text: &str) -> Vec<(usize, bool)> {
        let found = find(&Tree::of([(path, text)]));
        found.into_iter().map(|citation| (citation.line, citation.in_test)).collect()
    }

    #[test]
    fn a_file_in_a_tests_folder_is_test_whatever_its_extension() {
        for path in ["crates/a/tests/b.rs", "crates/a/tests/stories/b.txt", "crates/a/src/b/tests/c.rs"] {
            assert_eq!(test_lines(path, "# D1.1"), [(1, true)], "{path}");
        }
        for path in ["crates/a/src/tests.rs", "crates/a/src/rolling_tests.rs"] {
            assert_eq!(test_lines(path, "/// D1.1"), [(1, true)], "{path}");
        }
    }

    #[test]
    fn a_source_file_is_test_from_its_inline_test_module_on() {
        let text = "/// D1.1\nfn f() {}\n#[cfg(test)]\nmod tests {\n/// D1.1\n}\n";
        assert_eq!(test_lines("crates/a/src/b.rs", text), [(1, false), (5, true)]);
    }

    #[test]
    fn a_test_module_in_another_file_does_not_make_this_file_a_test() {
        let text = "#[cfg(test)]\nmod tests;\n/// D1.1\nfn f() {}\n";
        assert_eq!(test_lines("crates/a/src/b.rs", text), [(3, false)]);
    }

    #[test]
    fn other_files_and_other_folders_are_not_read() {
        assert_eq!(test_lines("crates/a/README.md", "D1.1"), []);
        assert_eq!(test_lines("xtask/src/tests.rs", "D1.1"), []);
    }
}
