//! The rules that `docs/spec` defines.
//!
//! A bold handle defines a rule: `**D8.1 new size**`, `**A0.1 [P0]**`, or in a heading `## 12. Rollback (**D12**)`.

use super::super::{Finding, numbered};
use super::handle::Handle;
use crate::tree::Tree;
use std::collections::BTreeSet;

/// The folder of the specification.
pub(super) const FOLDER: &str = "docs/spec/";

/// The length of a rule's title, which is the beginning of its text.
const TITLE_CHARS: usize = 80;

/// One rule, and where it is defined.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) handle: Handle,
    pub(super) title: String,
    pub(super) path: String,
    pub(super) line: usize,
}

/// Reads the Markdown files of the specification. A handle that is defined twice is a finding.
pub(super) fn parse(tree: &Tree) -> (Vec<Rule>, Vec<Finding>) {
    let mut rules = Vec::new();
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for (path, text) in tree.with_extension("md").filter(|(path, _)| path.starts_with(FOLDER)) {
        for (line, content) in numbered(text) {
            for handle in defined(content) {
                if seen.insert(handle) {
                    rules.push(Rule { handle, title: title(content), path: path.to_owned(), line });
                } else {
                    let message = format!("defines {handle} a second time; keep one definition");
                    findings.push(Finding::new(path, line, message));
                }
            }
        }
    }
    rules.sort_by_key(|rule| rule.handle);
    (rules, findings)
}

/// The handles that a line defines. A bold section number without a rule number defines one in headings only.
fn defined(line: &str) -> impl Iterator<Item = Handle> {
    let bold = line.split("**").skip(1).step_by(2);
    let handles = bold.filter_map(|text| Handle::parse(text.split(' ').next()?));
    handles.filter(|handle| handle.number.is_some() || line.starts_with('#'))
}

fn title(line: &str) -> String {
    let text = line.trim_start_matches(['#', '-', ' ']).replace("**", "");
    match text.char_indices().nth(TITLE_CHARS) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handles(text: &str) -> Vec<String> {
        let (rules, _) =
            parse(&Tree::of([("docs/spec/deployment.md", text), ("docs/other.md", "**D1.1** no")]));
        rules.iter().map(|rule| rule.handle.to_string()).collect()
    }

    #[test]
    fn a_bold_handle_defines_a_rule_and_a_bold_section_does_in_a_heading() {
        let text = "## 8. Sizing\n- **D8.2 new size**(Rolling): total. See **all** of D8.9 and **D8**.\n1. **D8.1 [P0]** resize\n## 12. Rollback (**D12**)\n";
        assert_eq!(handles(text), ["D8.1", "D8.2", "D12"]);
    }

    #[test]
    fn a_rule_has_its_line_and_the_start_of_its_text() {
        let (rules, _) =
            parse(&Tree::of([("docs/spec/d.md", &*format!("\n- **D1.1** {}", "x".repeat(100)))]));
        let expected = Rule {
            handle: Handle { family: 'D', section: 1, number: Some(1) },
            title: format!("D1.1 {}…", "x".repeat(75)),
            path: "docs/spec/d.md".to_owned(),
            line: 2,
        };
        assert_eq!(rules, [expected]);
    }

    #[test]
    fn a_second_definition_is_a_finding() {
        let (_, findings) = parse(&Tree::of([("docs/spec/d.md", "**D1.1** a\n**D1.1** b\n")]));
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert_eq!(lines, ["docs/spec/d.md:2: defines D1.1 a second time; keep one definition"]);
    }
}
