//! Errors about invalid YAML, with the wording and line numbers of Go's parser.
//!
//! Go's implementation has a scanner and a parser. Lines count from 0 inside of it; errors of the scanner have the
//! line counted from 1, those of the parser the line as it is, and line 0 is not reported at all.

use saphyr_parser::ScanError;

/// Which part of Go's implementation reports an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorSource {
    Scanner,
    Parser,
}

use ErrorSource::{Parser, Scanner};

const NO_TOKEN: &str = "found character that cannot start any token";
const NO_KEY: &str = "did not find expected key";
const NO_NODE: &str = "did not find expected node content";
const NO_COLON: &str = "could not find expected ':'";
const END_OF_SEQUENCE: &str = "did not find expected ',' or ']'";
const END_OF_MAPPING: &str = "did not find expected ',' or '}'";
const END_OF_STREAM: &str = "found unexpected end of stream";

/// Errors of our parser with their wording in Go.
const WORDS: &[(&str, ErrorSource, &str)] = &[
    ("expected ',' or ']'", Parser, END_OF_SEQUENCE),
    ("illegal placement of ':' indicator", Parser, END_OF_SEQUENCE),
    ("simple key expect ':'", Scanner, NO_COLON),
    ("simple key expected", Scanner, NO_COLON),
    ("tabs disallowed within this context (block indentation)", Scanner, NO_TOKEN),
    ("tabs disallowed in this context", Scanner, NO_TOKEN),
    ("'-' must be followed by a valid YAML whitespace", Scanner, NO_TOKEN),
    ("invalid trailing content after double-quoted scalar", Parser, NO_KEY),
    ("wrongly indented line in block scalar", Parser, NO_KEY),
    ("did not find expected hexadecimal number", Scanner, "did not find expected hexdecimal number"),
    ("the handle wasn't declared", Parser, "found undefined tag handle"),
];

/// Errors that have the same wording in both, and that Go's parser reports.
const OF_THE_PARSER: &[&str] = &[
    NO_KEY,
    NO_NODE,
    "did not find expected '-' indicator",
    "did not find expected <document start>",
    "did not find expected <stream-start>",
];

/// Converts an error of our parser to the error of Go's parser.
pub(super) fn in_go_words(error: &ScanError, text: &str) -> String {
    let info = error.info();
    // Go reports the problem without its context.
    let problem = match info.split_once(", ") {
        Some((doing, problem)) if doing.starts_with("while ") => problem,
        _ => info,
    };
    let (at, line) = (byte_of(text, error.marker().index()), error.marker().line());
    if let Some((_, source, words)) = WORDS.iter().find(|(ours, _, _)| *ours == problem) {
        return reported(*source, line, words);
    }
    match problem {
        "found unknown anchor" => unknown_anchor(text, at),
        "found a tab" => {
            reported(Scanner, tabbed(text, line), "found a tab character that violates indentation")
        }
        "a block scalar content cannot start with a tab" => {
            let words = "found a tab character where an indentation space is expected";
            reported(Scanner, tabbed(text, line), words)
        }
        END_OF_STREAM => reported(Scanner, last_line(text), END_OF_STREAM),
        "invalid indentation in quoted scalar" => quoted(text, at, line),
        END_OF_MAPPING if is_in_sequence(&text[..at]) => reported(Parser, line, END_OF_SEQUENCE),
        END_OF_MAPPING => reported(Parser, line, END_OF_MAPPING),
        "misplaced bracket" => {
            let before = text[..at].rsplit('\n').next().unwrap_or_default().trim_end();
            let awaits_node = before.is_empty() || before.ends_with([':', '-', ',', '?']);
            reported(Parser, line, if awaits_node { NO_NODE } else { NO_KEY })
        }
        problem if problem.starts_with("unexpected character") => reported(Scanner, line, NO_TOKEN),
        problem if OF_THE_PARSER.contains(&problem) => reported(Parser, line, problem),
        problem => reported(Scanner, line, problem),
    }
}

/// The error about an alias at this position without an anchor.
pub(super) fn unknown_anchor(text: &str, at: usize) -> String {
    format!("yaml: unknown anchor '{}' referenced", alias_name(text, at))
}

/// The name of the alias at or after this position.
pub(super) fn alias_name(text: &str, at: usize) -> &str {
    let rest =
        text.get(at..).and_then(|rest| rest.find('*').map(|star| &rest[star + 1..])).unwrap_or_default();
    let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '-');
    &rest[..end.unwrap_or(rest.len())]
}

/// The first character that YAML does not allow.
pub(super) fn has_control_characters(text: &str) -> bool {
    text.chars().any(|letter| {
        letter.is_control() && !matches!(letter, '\t' | '\n' | '\r' | '\u{85}')
            || matches!(letter, '\u{fffe}' | '\u{ffff}')
    })
}

/// The byte offset of a character.
pub(super) fn byte_of(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

/// An error with a line that is counted from 1.
fn reported(source: ErrorSource, line: usize, problem: &str) -> String {
    let shown = match source {
        // The first line is not reported.
        Scanner if line <= 1 => 0,
        Scanner => line,
        Parser => line.saturating_sub(1),
    };
    if shown == 0 { format!("yaml: {problem}") } else { format!("yaml: line {shown}: {problem}") }
}

/// The last line of a text.
fn last_line(text: &str) -> usize {
    text.matches('\n').count() + 1
}

/// The first line after this one that is indented by a tab.
fn tabbed(text: &str, line: usize) -> usize {
    let is_tabbed =
        |one: &str| one.chars().take_while(|letter| letter.is_whitespace()).any(|letter| letter == '\t');
    let found = text.lines().skip(line).position(is_tabbed);
    found.map_or(line, |nth| line + nth + 1)
}

/// The error about a quoted string whose further lines are not indented. Go accepts them and looks for the closing
/// quote.
fn quoted(text: &str, at: usize, line: usize) -> String {
    let rest = &text[at..];
    let Some(quote) = rest.chars().next() else { return reported(Scanner, line, END_OF_STREAM) };
    let mut letters = rest.char_indices().skip(1).peekable();
    while let Some((place, letter)) = letters.next() {
        if letter == '\\' && quote == '"'
            || letter == quote && quote == '\'' && letters.peek().is_some_and(|next| next.1 == quote)
        {
            letters.next();
            continue;
        }
        if letter == quote {
            let end = last_line(&rest[..place]) + line - 1;
            let follows = rest[place + 1..].lines().next().unwrap_or_default().trim_start();
            return match follows.chars().next() {
                None | Some('#') => {
                    format!("yaml: line {line}: the lines of a quoted string must be indented")
                }
                Some(':') => reported(Scanner, end, "mapping values are not allowed in this context"),
                Some(_) => reported(Parser, end, NO_KEY),
            };
        }
    }
    reported(Scanner, last_line(text), END_OF_STREAM)
}

/// Whether the innermost open bracket at the end of a text is a square one.
fn is_in_sequence(text: &str) -> bool {
    let mut open = Vec::new();
    let mut quote = None;
    for letter in text.chars() {
        match (quote, letter) {
            (Some(own), letter) if letter == own => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[' | '{') => open.push(letter),
            (None, ']' | '}') => {
                open.pop();
            }
            _ => {}
        }
    }
    open.last() == Some(&'[')
}

#[cfg(test)]
mod tests {
    use gantry_json::Value;

    use super::super::yaml::read;

    /// K1 table, A2.12: Go's wording and line numbers, in the responses of kubectl 1.37 and kube-apiserver 1.37.
    #[test]
    fn syntax_errors_have_the_messages_of_go() {
        for line in include_str!("../../tests/recorded/broken_yaml.jsonl").lines() {
            let recorded: Value = gantry_json::from_str(line).unwrap();
            let (text, problem) = (recorded[0].as_str().unwrap(), recorded[1].as_str().unwrap());
            assert_eq!(read(text.as_bytes()).map(|_| ()), Err(problem.to_owned()), "{text:?}");
        }
    }
}
