//! The specification's handles, when its folder is at hand: is our list of rules complete?
//!
//! A rule is a bold handle, `**D8.1 new size**` or `**A0.1 [P0]**`; a heading `## 12. …` or `### 19.1 …` gives a handle
//! to rules that have none of their own.

use super::super::{Finding, numbered};
use super::handle::Handle;
use super::list::Rule;
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// What the files of the specification name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Specification {
    rules: BTreeMap<Handle, Option<Priority>>,
    sections: BTreeSet<Handle>,
}

/// What breaks without a rule; only some families say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Priority {
    P0,
    P1,
    P2,
}

/// Reads every Markdown file of the specification.
pub(super) fn parse(tree: &Tree) -> Specification {
    let mut specification = Specification::default();
    for (_, text) in tree.with_extension("md") {
        let rules: BTreeMap<Handle, Option<Priority>> = bold(text).filter_map(parse_bold).collect();
        // A file's family is that of its rules: section 12 of the file with D1.1 is D12.
        if let Some(Handle { family, .. }) = rules.keys().next().copied() {
            let headings =
                numbered(text).filter_map(|(_, line)| line.trim_start_matches('#').strip_prefix(' '));
            let numbers = headings.filter_map(|heading| heading.split(' ').next());
            let handles = numbers
                .filter_map(|number| Handle::parse(&format!("{family}{}", number.trim_end_matches('.'))));
            specification.sections.extend(handles);
        }
        specification.rules.extend(rules);
    }
    specification
}

/// Finds rules that the list lacks, and lines of the list that name nothing.
pub(super) fn compare(list: &str, rules: &[Rule], specification: &Specification) -> Vec<Finding> {
    let listed: BTreeSet<Handle> = rules.iter().map(|rule| rule.handle).collect();
    let required =
        specification.rules.iter().filter(|(handle, priority)| must_be_listed(**handle, **priority));
    let missing =
        required.map(|(handle, _)| handle).filter(|handle| !listed.contains(handle)).map(|handle| {
            Finding::new(list, rules.len(), format!("lacks {handle} of the specification; add a line for it"))
        });
    let exists =
        |handle: &Handle| specification.rules.contains_key(handle) || specification.sections.contains(handle);
    let gone = rules.iter().filter(|rule| !exists(&rule.handle)).map(|rule| {
        Finding::new(
            list,
            rule.line,
            format!("{} is not in the specification; drop or mend the line", rule.handle),
        )
    });
    missing.chain(gone).collect()
}

/// The API's rules are graded, and some without a grade say what clients do rather than what we do.
fn must_be_listed(handle: Handle, priority: Option<Priority>) -> bool {
    let is_graded = matches!(priority, Some(Priority::P0 | Priority::P1));
    handle.family != 'A' || is_graded
}

fn bold(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split("**").skip(1).step_by(2))
}

fn parse_bold(bold: &str) -> Option<(Handle, Option<Priority>)> {
    let handle = Handle::parse(bold.split(' ').next()?)?;
    let marks = [("[P0", Priority::P0), ("[P1", Priority::P1), ("[P2", Priority::P2)];
    let priority = marks.into_iter().find(|(mark, _)| bold.contains(mark)).map(|(_, priority)| priority);
    // A bold section number alone is emphasis, not a rule.
    handle.number.map(|_| (handle, priority))
}

#[cfg(test)]
mod tests {
    use super::super::list;
    use super::*;

    const DEPLOYMENTS: &str = "\
## 8. Sizing
- **D8.1 new size**(Rolling): total. See **all** of D8.9.
1. **D8.2** resize
## 12. Rollback
prose
### 19.1 Resolving
";

    fn specification() -> Specification {
        let api = "## 0. Transport\n- **A0.1 [P0]** TLS\n- **A0.2** URLs\n- **A2.21 Delete through update [P0]** x\n";
        parse(&Tree::of([("api.md", api), ("deployment.md", DEPLOYMENTS), ("README.md", "## 3. Nothing\n")]))
    }

    fn findings(list: &str) -> Vec<String> {
        let (rules, _) = list::parse("list", list);
        compare("list", &rules, &specification()).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_complete_list_has_every_bold_handle_and_may_have_sections() {
        assert_eq!(findings("D8.1\ta\nD8.2\tb\nD12\tc\nD19.1\td\nA0.1\te\nA2.21\tf\n"), [""; 0]);
    }

    #[test]
    fn a_missing_rule_and_an_invented_one_are_found() {
        let expected = [
            "list:3: lacks A2.21 of the specification; add a line for it",
            "list:3: lacks D8.2 of the specification; add a line for it",
            "list:2: D8.9 is not in the specification; drop or mend the line",
        ];
        assert_eq!(findings("D8.1\ta\nD8.9\tb\nA0.1\tc\n"), expected);
    }
}
