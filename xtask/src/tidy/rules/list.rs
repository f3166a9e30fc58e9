//! Reading `docs/rules.tsv`: one rule per line, its handle, a tab, its title in our words.

use super::super::{Finding, numbered};
use super::handle::Handle;
use std::collections::BTreeSet;

/// One line of the list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) handle: Handle,
    pub(super) title: String,
    pub(super) line: usize,
}

/// Reads the list; lines that are no rule, or name one twice, become findings.
pub(super) fn parse(path: &str, text: &str) -> (Vec<Rule>, Vec<Finding>) {
    let mut rules: Vec<Rule> = Vec::new();
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for (line, content) in numbered(text).filter(|(_, content)| !content.is_empty()) {
        match parse_line(content) {
            None => findings.push(Finding::new(path, line, "is no rule; write: handle, tab, title")),
            Some((handle, _)) if !seen.insert(handle) => {
                findings.push(Finding::new(
                    path,
                    line,
                    format!("names {handle} a second time; keep one line"),
                ));
            }
            Some((handle, title)) => rules.push(Rule { handle, title: title.to_owned(), line }),
        }
    }
    (rules, findings)
}

fn parse_line(content: &str) -> Option<(Handle, &str)> {
    let (handle, title) = content.split_once('\t')?;
    let title = Some(title.trim()).filter(|title| !title.is_empty() && !title.contains('\t'));
    Some((Handle::parse(handle)?, title?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_handle_a_tab_and_a_title() {
        let (rules, findings) = parse("x", "D1.1\tWakes on change\n\nG8\tScenarios\n");
        let read: Vec<_> =
            rules.iter().map(|it| (it.line, it.handle.to_string(), it.title.as_str())).collect();
        assert_eq!(read, [(1, "D1.1".to_owned(), "Wakes on change"), (3, "G8".to_owned(), "Scenarios")]);
        assert_eq!(findings, []);
    }

    #[test]
    fn what_is_no_rule_or_names_one_twice_is_a_finding() {
        let (rules, findings) = parse("x", "D1.1 spaces\nD1.1\t\nQ1\tno such family\nR8\tone\nR8\ttwo\n");
        assert_eq!(rules.len(), 1);
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [1, 2, 3, 5]);
    }
}
