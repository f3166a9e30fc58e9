//! Citations of sections, subsections and appendices: `D10`, `D§10.2` (D10.2 is a rule) and `Appendix E`.
//!
//! A section has the letter of the rules in its document. The letters of appendices are unique.

use super::super::{Finding, numbered};
use super::handle::{FAMILIES, cited};
use super::specification::{FOLDER, Rule};
use crate::tree::Tree;
use std::collections::BTreeSet;

/// Finds citations of sections that the specification does not have or that do not name their document, and
/// sections that are defined twice.
pub(super) fn check(tree: &Tree, rules: &[Rule]) -> Vec<Finding> {
    let (defined, mut findings) = defined(tree, rules);
    let letters: BTreeSet<char> = rules.iter().map(|rule| rule.handle.family).collect();
    for (path, text) in tree.files().filter(|(path, _)| path.starts_with("crates/")) {
        for (line, content) in numbered(text) {
            let unknown = names(content, &letters).into_iter().filter(|name| !defined.contains(name));
            findings.extend(unknown.map(|name| {
                Finding::new(path, line, format!("cites {name}, which {FOLDER} does not have; fix either"))
            }));
            // Versions are numbers, too.
            let is_section = |number: &str| {
                !is_subsection(number)
                    || defined.iter().any(|it| it.split_once('§').is_some_and(|(_, it)| it == number))
            };
            if let Some(number) = without_document(content).filter(|number| is_section(number)) {
                let message = format!("cites section {number} of no document; write D§{number} or the like");
                findings.push(Finding::new(path, line, message));
            }
        }
    }
    findings
}

/// The names of all sections, from the headings of the specification.
fn defined(tree: &Tree, rules: &[Rule]) -> (BTreeSet<String>, Vec<Finding>) {
    let mut names = BTreeSet::new();
    let mut findings = Vec::new();
    for (path, text) in tree.with_extension("md").filter(|(path, _)| path.starts_with(FOLDER)) {
        let letter = rules.iter().find(|rule| rule.path == path).map(|rule| rule.handle.family);
        for (line, content) in numbered(text).filter(|(_, content)| content.starts_with('#')) {
            let title = content.trim_start_matches('#').trim_start();
            let number = title.split(' ').next().unwrap_or_default().trim_end_matches('.');
            let name = match (appendix(title), letter) {
                (Some(appendix), _) => appendix,
                (None, Some(letter)) if is_subsection(number) => format!("{letter}§{number}"),
                (None, Some(letter)) if number.parse::<u16>().is_ok() => format!("{letter}{number}"),
                _ => continue,
            };
            if !names.insert(name.clone()) {
                findings.push(Finding::new(path, line, format!("defines {name} a second time; rename one")));
            }
        }
    }
    (names, findings)
}

/// The sections that a line cites, in documents with rules of these letters.
fn names(line: &str, letters: &BTreeSet<char>) -> Vec<String> {
    let sections = cited(line).into_iter().filter(|it| it.number.is_none() && letters.contains(&it.family));
    let appendices = line.match_indices("Appendix ").filter_map(|(at, _)| appendix(&line[at..]));
    let subsections = line.match_indices('§').filter_map(|(at, sign)| {
        let letter = line[..at].chars().next_back().filter(|letter| FAMILIES.contains(*letter))?;
        let rest = &line[at + sign.len()..];
        let end = rest.find(|sign: char| !(sign.is_ascii_digit() || sign == '.')).unwrap_or(rest.len());
        Some(format!("{letter}§{}", rest[..end].trim_end_matches('.')))
    });
    sections.map(|section| section.to_string()).chain(appendices).chain(subsections).collect()
}

/// `Appendix E` at the start of a text.
fn appendix(text: &str) -> Option<String> {
    let letter = text.strip_prefix("Appendix ")?.split(|sign: char| !sign.is_alphanumeric()).next()?;
    (letter.len() == 1).then(|| format!("Appendix {letter}"))
}

/// The number of a section in a comment that does not name the document: `section 6`, `2.6:` or `(2.6)`.
fn without_document(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!']).trim_start();
    let digits = |text: &'_ str| text.find(|sign: char| !(sign.is_ascii_digit() || sign == '.'));
    let in_words = comment.split_once("ection ").filter(|_| !comment.contains("RFC")).map(|(_, rest)| {
        let end = digits(rest).unwrap_or(rest.len());
        rest[..end].trim_end_matches('.')
    });
    let leading = comment.split(':').next().unwrap_or_default().split(", ");
    let leading = leading.filter_map(|part| part.split(' ').next()).find(|word| is_subsection(word));
    let in_brackets = comment.split('(').skip(1).filter_map(|rest| rest.split(')').next());
    let found = in_words.filter(|number| !number.is_empty()).or(leading);
    found.or_else(|| in_brackets.into_iter().find(|word| is_subsection(word)))
}

/// Whether a text is a number such as `10.2`.
fn is_subsection(text: &str) -> bool {
    text.split_once('.').is_some_and(|(section, number)| {
        [section, number]
            .iter()
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::specification;
    use super::*;

    fn findings(line: &str) -> Vec<String> {
        let tree = Tree::of([
            ("docs/spec/d.md", "## 10. Rollouts\n### 10.2 Recreate\n- **D10.1** a\n## Appendix E. More\n"),
            ("crates/a/src/lib.rs", line),
        ]);
        let (rules, _) = specification::parse(&tree);
        check(&tree, &rules).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn sections_subsections_and_appendices_are_found_by_their_names() {
        let known = "/// D10, D§10.2, Appendix E: as in D§10.2. Section 5.3 of RFC 6902, TLS 1.3 (1.3 or later).\n// kubectl 1.20, 1.37: both.";
        assert_eq!(findings(known), [""; 0]);
        for name in ["D11", "D§10.3", "R§10.2", "Appendix F"] {
            let message =
                format!("crates/a/src/lib.rs:1: cites {name}, which docs/spec/ does not have; fix either");
            assert_eq!(findings(&format!("/// {name}: waits.")), [message]);
        }
    }

    #[test]
    fn a_section_without_its_document_is_a_finding() {
        for comment in ["/// Section 6: waits.", "//! Waits (section 6).", "// In section 6."] {
            assert!(findings(comment)[0].ends_with("cites section 6 of no document; write D§6 or the like"));
        }
        for comment in ["/// 10.2: waits.", "/// D10.1, 10.2 quota: waits.", "/// Waits (10.2)."] {
            assert!(
                findings(comment)[0].ends_with("cites section 10.2 of no document; write D§10.2 or the like")
            );
        }
    }

    #[test]
    fn a_second_appendix_of_one_letter_is_a_finding() {
        let tree =
            Tree::of([("docs/spec/a.md", "## Appendix E. More\n"), ("docs/spec/b.md", "## Appendix E\n")]);
        let found: Vec<_> = check(&tree, &[]).iter().map(Finding::to_string).collect();
        assert_eq!(found, ["docs/spec/b.md:1: defines Appendix E a second time; rename one"]);
    }
}
