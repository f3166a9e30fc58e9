//! Every Rust file describes itself, is short enough to read, and has no unfinished parts.

use super::{Finding, Repository, code, numbered};

/// The maximum number of lines of a file; most have a third of this.
const LINES_MAX: usize = 700;

/// Markers of open work. Built from parts, so that this file does not find itself.
const NOTES: [&str; 2] = [concat!("FIX", "ME"), concat!("TO", "DO")];

/// Macros that stand for missing code, or that remain from debugging.
const UNFINISHED: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// Words of riddles, which no name of a function contains: such a name does not say what is asserted or done.
const RIDDLES: [&str; 12] = [
    "dice",
    "forgiven",
    "forgives",
    "furnished",
    "ghost",
    "judged",
    "nobody",
    "remembers",
    "somebody",
    "tells",
    "told",
    "whoever",
];

/// Checks every Rust file of the repository.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    repository.tree.with_extension("rs").flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !opens_with_a_sentence(text) {
        findings.push(Finding::new(path, 1, "does not begin with `//!`; describe the file"));
    }
    let lines = text.lines().count();
    if lines > LINES_MAX {
        let message = format!("has {lines} lines, more than {LINES_MAX}; split it");
        findings.push(Finding::new(path, lines, message));
    }
    findings.extend(notes(path, text));
    findings.extend(unfinished(path, text));
    findings.extend(riddles(path, text));
    findings
}

fn opens_with_a_sentence(text: &str) -> bool {
    let opening = text.lines().next().and_then(|line| line.strip_prefix("//!"));
    opening.is_some_and(|sentence| sentence.trim().contains(' '))
}

fn notes(path: &str, text: &str) -> Vec<Finding> {
    let noted = numbered(text).filter_map(|(line, content)| Some((line, note(content)?)));
    noted
        .map(|(line, note)| {
            Finding::new(path, line, format!("contains {note}; do it, or open an issue and delete it"))
        })
        .collect()
}

fn note(line: &str) -> Option<&str> {
    line.split(|sign| !code::is_word_char(sign)).find(|word| NOTES.contains(word))
}

fn unfinished(path: &str, text: &str) -> Vec<Finding> {
    let code = code::only(text);
    let tokens = code::tokens(&code);
    let word = |index: usize| tokens.get(index).map_or("", |(_, word)| word);
    let mut findings = Vec::new();
    for (index, (position, token)) in tokens.iter().enumerate() {
        let message = if UNFINISHED.contains(token) && word(index + 1) == "!" {
            format!("`{token}!` is left over; finish the code")
        } else if *token == "ignore" && word(index.wrapping_sub(1)) == "[" {
            "an ignored test tests nothing; assert the current wrong result, with a note".to_owned()
        } else {
            continue;
        };
        let line = code[..*position].matches('\n').count() + 1;
        findings.push(Finding::new(path, line, message));
    }
    findings
}

/// Finds functions whose names contain a word of riddles.
fn riddles(path: &str, text: &str) -> Vec<Finding> {
    let code = code::only(text);
    let tokens = code::tokens(&code);
    let names = tokens.windows(2).filter_map(|pair| match pair {
        [(_, "fn"), name] => Some(*name),
        _ => None,
    });
    let riddling = names.filter_map(|(position, name)| {
        let word = name.split('_').find(|word| RIDDLES.contains(word))?;
        Some((position, name, word))
    });
    riddling
        .map(|(position, name, word)| {
            let line = code[..position].matches('\n').count() + 1;
            let message =
                format!("`{name}` contains `{word}`; use the terms of Kubernetes in the indicative");
            Finding::new(path, line, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check_file("a.rs", text).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_file_opens_with_a_sentence() {
        assert_eq!(lines("//! The nouns.\n"), [0; 0]);
        assert_eq!(lines("//! x\n"), [1]);
        assert_eq!(lines("use std::fmt;\n//! The nouns.\n"), [1]);
        assert_eq!(lines(""), [1]);
    }

    #[test]
    fn a_note_to_self_is_found_as_a_word_of_its_own() {
        let note = NOTES[0];
        assert_eq!(lines(&format!("//! The nouns.\n// {note}: later\nlet x{note}x = 1;\n")), [2]);
    }

    #[test]
    fn unfinished_macros_and_ignored_tests_are_found_in_code_only() {
        let text = "//! The nouns.\n#[ignore]\nfn a() { todo!() }\n// todo!() #[ignore]\nlet s = \"dbg!\";\n";
        assert_eq!(lines(text), [2, 3]);
        assert_eq!(lines("//! The nouns.\n#[ignore = \"slow\"]\n"), [2]);
        assert_eq!(lines("//! The nouns.\n#[expect(unused)]\nlet todo = 1; ignore(todo);\n"), [0; 0]);
    }

    #[test]
    fn names_of_functions_contain_no_riddles() {
        assert_eq!(lines("//! The nouns.\nfn a_watch_tells_all() {}\nfn a_watch_delivers_all() {}\n"), [2]);
        assert_eq!(lines("//! The nouns.\nlet told = 1; // fn tells\nfn retold() {}\n"), [0; 0]);
    }

    #[test]
    fn files_have_at_most_seven_hundred_lines() {
        assert_eq!(lines(&format!("//! The nouns.\n{}", "\n".repeat(LINES_MAX - 1))), [0; 0]);
        assert_eq!(lines(&format!("//! The nouns.\n{}", "\n".repeat(LINES_MAX))), [LINES_MAX + 1]);
    }
}
