//! Rule coverage: every rule of the specification is cited by a test, and every citation names a rule or a section.
//!
//! `docs/spec` defines rules by handle; tests cite handles. Tidy can check that a test cites a rule, not that it would
//! fail without it: reviewers (and `cargo xtask mutants`) have to check that.

mod citations;
mod handle;
mod sections;
mod specification;

use super::{Finding, Repository};
use citations::Citation;
use handle::Handle;
use specification::{FOLDER, Rule};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Finds rules without a test, citations of no rule, and rules that are defined twice.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let (rules, mut findings) = specification::parse(&repository.tree);
    if rules.is_empty() {
        findings.push(Finding::new(FOLDER, 1, "defines no rules; a bold handle (**D1.1**) defines one"));
    }
    let citations = citations::find(&repository.tree);
    let by_handle = tests_by_handle(&citations);
    let uncovered = rules.iter().filter(|rule| !by_handle.contains_key(&rule.handle));
    findings.extend(uncovered.map(|Rule { handle, path, line, .. }| {
        Finding::new(path, *line, format!("no test cites {handle}; write one that fails without the rule"))
    }));
    findings.extend(citations::of_no_rule(&citations, &rules));
    findings.extend(sections::check(&repository.tree, &rules));
    findings
}

/// All rules with the tests that cite them, those without a test first.
pub(super) fn listing(repository: &Repository) -> String {
    let (rules, _) = specification::parse(&repository.tree);
    let citations = citations::find(&repository.tree);
    let by_handle = tests_by_handle(&citations);
    let (covered, uncovered): (Vec<&Rule>, Vec<&Rule>) =
        rules.iter().partition(|rule| by_handle.contains_key(&rule.handle));
    let mut text = format!("{} rules, {} without a test\n", rules.len(), uncovered.len());
    for Rule { handle, title, path, line } in uncovered.into_iter().chain(covered) {
        let _ = writeln!(text, "{path}:{line}: {title}");
        match by_handle.get(handle) {
            None => text.push_str("    no test\n"),
            Some(tests) => tests.iter().for_each(|Citation { path, line, .. }| {
                let _ = writeln!(text, "    {path}:{line}");
            }),
        }
    }
    text
}

fn tests_by_handle(citations: &[Citation]) -> BTreeMap<Handle, Vec<&Citation>> {
    let mut by_handle: BTreeMap<Handle, Vec<&Citation>> = BTreeMap::new();
    for citation in citations.iter().filter(|citation| citation.in_test) {
        by_handle.entry(citation.handle).or_default().push(citation);
    }
    by_handle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    const RULES: &str = "- **D1.1** Wakes on change\n- **D1.2** Wakes the owner\n- **D1.10** Sleeps\n";

    fn repository(test: &str) -> Repository {
        let tree = Tree::of([("docs/spec/deployment.md", RULES), ("crates/decide/tests/wake.rs", test)]);
        Repository { tree, ..Repository::default() }
    }

    #[test]
    fn a_rule_that_no_test_cites_is_a_finding_on_its_line() {
        let found = check(&repository("/// D1.1 and D1.2: wakes\n"));
        let expected =
            "docs/spec/deployment.md:3: no test cites D1.10; write one that fails without the rule";
        assert_eq!(found.iter().map(Finding::to_string).collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn a_longer_handle_does_not_cover_a_shorter_one() {
        let found = check(&repository("/// D1.10\n"));
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_citation_of_no_rule_is_a_finding_on_its_line() {
        let found = check(&repository("/// D1.1-D1.2, D1.10\n/// D1.11\n"));
        assert_eq!(found.len(), 1);
        assert!(
            found[0].to_string().starts_with("crates/decide/tests/wake.rs:2: cites D1.11"),
            "{}",
            found[0]
        );
    }

    #[test]
    fn a_specification_without_rules_is_a_finding() {
        let found = check(&Repository::default());
        assert_eq!(found.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(), ["docs/spec/"]);
    }

    #[test]
    fn the_listing_puts_rules_without_a_test_first() {
        let text = listing(&repository("/// D1.1: wakes\n"));
        let expected = "3 rules, 2 without a test\n\
                        docs/spec/deployment.md:2: D1.2 Wakes the owner\n    no test\n\
                        docs/spec/deployment.md:3: D1.10 Sleeps\n    no test\n\
                        docs/spec/deployment.md:1: D1.1 Wakes on change\n    crates/decide/tests/wake.rs:1\n";
        assert_eq!(text, expected);
    }
}
