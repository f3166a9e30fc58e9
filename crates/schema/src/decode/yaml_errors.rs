//! Errors about invalid YAML, with the wording and line numbers of Go's parser.
//!
//! Go's implementation has a scanner and a parser. Lines count from 0 inside of it; errors of the scanner have the
//! line counted from 1, those of the parser the line as it is, and line 0 is not reported at all.

use saphyr_parser::ScanError;

/// Which half of Go's implementation reports an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Scanner,
    Parser,
}

use Half::{Parser, Scanner};

const NO_TOKEN: &str = "found character that cannot start any token";
const NO_KEY: &str = "did not find expected key";
const NO_NODE: &str = "did not find expected node content";
const NO_COLON: &str = "could not find expected ':'";
const END_OF_SEQUENCE: &str = "did not find expected ',' or ']'";
const END_OF_MAPPING: &str = "did not find expected ',' or '}'";
const END_OF_STREAM: &str = "found unexpected end of stream";

/// Errors of our parser with their wording in Go.
const WORDS: &[(&str, Half, &str)] = &[
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

/// Converts an error of our parser to that of Go's.
pub(super) fn in_go_words(error: &ScanError, text: &str) -> String {
    let info = error.info();
    // Go reports the problem without its context.
    let problem = match info.split_once(", ") {
        Some((doing, problem)) if doing.starts_with("while ") => problem,
        _ => info,
    };
    let (at, line) = (byte_of(text, error.marker().index()), error.marker().line());
    if let Some((_, half, words)) = WORDS.iter().find(|(ours, _, _)| *ours == problem) {
        return reported(*half, line, words);
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
fn reported(half: Half, line: usize, problem: &str) -> String {
    let shown = match half {
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
                    format!("yaml: line {line}: the lines of a quoted text have to be indented")
                }
                Some(':') => reported(Scanner, end, "mapping values are not allowed in this context"),
                Some(_) => reported(Parser, end, NO_KEY),
            };
        }
    }
    reported(Scanner, last_line(text), END_OF_STREAM)
}

/// Whether the innermost open bracket at the end of a text is that of a list.
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
    use super::super::yaml::read;

    /// The errors of kubectl 1.37 and kube-apiserver 1.37 about invalid YAML.
    const BROKEN: &[(&str, &str)] = &[
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata: [a, b\n",
            "yaml: line 5: did not find expected ',' or ']'",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata: {a: b\n",
            "yaml: line 5: did not find expected ',' or '}'",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata: [a, b\nother: c\n",
            "yaml: line 5: did not find expected ',' or ']'",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata: {a: b\nother: c\n",
            "yaml: line 5: did not find expected ',' or '}'",
        ),
        ("a: [\n", "yaml: line 1: did not find expected node content"),
        ("a: {\n", "yaml: line 1: did not find expected node content"),
        ("[\n", "yaml: line 1: did not find expected node content"),
        ("[a, b\n", "yaml: line 1: did not find expected ',' or ']'"),
        ("a: [b\nc: d\n", "yaml: line 1: did not find expected ',' or ']'"),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n\tdata: x\n",
            "yaml: line 5: found a tab character that violates indentation",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n\ta: b\n",
            "yaml: line 6: found character that cannot start any token",
        ),
        ("a:\n\tb: c\n", "yaml: line 2: found character that cannot start any token"),
        ("a: b\n\tc: d\n", "yaml: line 2: found a tab character that violates indentation"),
        ("- a\n\t- b\n", "yaml: line 2: found a tab character that violates indentation"),
        ("a:\n  - b\n\t- c\n", "yaml: line 3: found a tab character that violates indentation"),
        ("a:\n  b: c\n\td: e\n", "yaml: line 3: found a tab character that violates indentation"),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n data: x\n",
            "yaml: line 4: did not find expected key",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  a: b\n c: d\n",
            "yaml: line 6: did not find expected key",
        ),
        ("a: b\n  c: d\n", "yaml: line 2: mapping values are not allowed in this context"),
        ("a:\n    b: c\n  d: e\n", "yaml: line 2: did not find expected key"),
        ("a:\n  b: c\n   d: e\n", "yaml: line 3: mapping values are not allowed in this context"),
        ("- a\n  - b\nc\n", "yaml: line 4: could not find expected ':'"),
        ("a:\n- b\n c: d\n", "yaml: line 3: mapping values are not allowed in this context"),
        ("a: b: c\n", "yaml: mapping values are not allowed in this context"),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata: a: b\n",
            "yaml: line 5: mapping values are not allowed in this context",
        ),
        ("a: 'b\nc: d\n", "yaml: line 3: found unexpected end of stream"),
        ("a: \"b\nc: d\n", "yaml: line 3: found unexpected end of stream"),
        ("a: 'b\n", "yaml: line 2: found unexpected end of stream"),
        ("a: \"b\n", "yaml: line 2: found unexpected end of stream"),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata: \"x\n",
            "yaml: line 6: found unexpected end of stream",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata: 'it's'\n",
            "yaml: line 4: did not find expected key",
        ),
        ("a: \"x\" y\n", "yaml: did not find expected key"),
        ("a: 'x' y\n", "yaml: did not find expected key"),
        ("a: \"\\q\"\n", "yaml: found unknown escape character"),
        ("a: \"\\xZZ\"\n", "yaml: did not find expected hexdecimal number"),
        ("a: \"\\u12\"\n", "yaml: did not find expected hexdecimal number"),
        ("a: *b\n", "yaml: unknown anchor 'b' referenced"),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata: *nope\n",
            "yaml: unknown anchor 'nope' referenced",
        ),
        ("a: &x b\nc: *y\n", "yaml: unknown anchor 'y' referenced"),
        ("a: &\n", "yaml: did not find expected alphabetic or numeric character"),
        ("a: *\n", "yaml: did not find expected alphabetic or numeric character"),
        ("*a: b\n", "yaml: unknown anchor 'a' referenced"),
        ("<<: 3\n", "yaml: map merge requires map or sequence of maps as the value"),
        ("a: b\n<<: x\n", "yaml: map merge requires map or sequence of maps as the value"),
        ("a: b\nc\n", "yaml: line 3: could not find expected ':'"),
        ("a: b\nc\nd: e\n", "yaml: line 3: could not find expected ':'"),
        ("a\nb: c\n", "yaml: line 2: mapping values are not allowed in this context"),
        ("- a\nb: c\n", "yaml: line 1: did not find expected '-' indicator"),
        ("a: b\n- c\n", "yaml: line 1: did not find expected key"),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n- x\n",
            "yaml: line 4: did not find expected key",
        ),
        ("%YAML 1.1\n", "yaml: line 1: did not find expected <document start>"),
        ("%\n", "yaml: could not find expected directive name"),
        ("a: @b\n", "yaml: found character that cannot start any token"),
        ("a: `b\n", "yaml: found character that cannot start any token"),
        ("@\n", "yaml: found character that cannot start any token"),
        ("a: %b\n", "yaml: found character that cannot start any token"),
        ("a: !<x\n", "yaml: did not find the expected '>'"),
        ("a: !!int x\n", "yaml: cannot decode !!str `x` as a !!int"),
        ("a: !!float x\n", "yaml: cannot decode !!str `x` as a !!float"),
        ("a: !!bool x\n", "yaml: cannot decode !!str `x` as a !!bool"),
        ("a: !x!y z\n", "yaml: found undefined tag handle"),
        ("a: |\n  b\n c\n", "yaml: line 2: did not find expected key"),
        ("a: |x\n  b\n", "yaml: did not find expected comment or line break"),
        ("a: >5\n b\n", "yaml: line 1: did not find expected key"),
        ("a: |0\n b\n", "yaml: found an indentation indicator equal to 0"),
        ("a: |-3\n   b\n  c\n", "yaml: line 2: did not find expected key"),
        ("a: |\n\tb\n", "yaml: line 2: found a tab character where an indentation space is expected"),
        ("a: >-+\n b\n", "yaml: did not find expected comment or line break"),
        ("a: \u{1}\n", "yaml: control characters are not allowed"),
        ("a: b\u{0}c\n", "yaml: control characters are not allowed"),
        ("a: \u{7f}\n", "yaml: control characters are not allowed"),
        ("\u{1}\n", "yaml: control characters are not allowed"),
        ("a: '\u{2}'\n", "yaml: control characters are not allowed"),
        ("? a\n: b\n? c\nd\n", "yaml: line 5: could not find expected ':'"),
        ("? [a]\n: b\n", "yaml: invalid map key: []interface {}{\"a\"}"),
        ("[a]: b\n", "yaml: invalid map key: []interface {}{\"a\"}"),
        ("? {a: b}\n: c\n", "yaml: invalid map key: map[interface {}]interface {}{\"a\":\"b\"}"),
        ("a: ]\n", "yaml: did not find expected node content"),
        ("a: }\n", "yaml: did not find expected node content"),
        ("]\n", "yaml: did not find expected node content"),
        ("}\n", "yaml: did not find expected node content"),
        ("a: [b]]\n", "yaml: did not find expected key"),
        ("a: {b}}\n", "yaml: did not find expected key"),
        ("a: [b,,c]\n", "yaml: did not find expected node content"),
        ("a: {b,,c}\n", "yaml: did not find expected node content"),
        ("a: [,]\n", "yaml: did not find expected node content"),
        ("a: {,}\n", "yaml: did not find expected node content"),
        ("[a b: c\n", "yaml: line 1: did not find expected ',' or ']'"),
        ("[a: b: c]\n", "yaml: did not find expected ',' or ']'"),
        ("[a, b}\n", "yaml: did not find expected ',' or ']'"),
        ("a: [b, c\n  d: e\n", "yaml: line 1: did not find expected ',' or ']'"),
        ("a: [\n  b\nc: d\n", "yaml: line 2: did not find expected ',' or ']'"),
        ("a: [\n  b,\n", "yaml: line 2: did not find expected node content"),
        ("-\n- a: b\n  c\n", "yaml: line 4: could not find expected ':'"),
        ("- a: b\n c: d\n", "yaml: line 1: did not find expected '-' indicator"),
        ("- a\n- b: c\n  d\n  e: f\n", "yaml: line 4: could not find expected ':'"),
        ("a: - b\n", "yaml: block sequence entries are not allowed in this context"),
        ("a: ? b\n", "yaml: mapping keys are not allowed in this context"),
        ("key: value\n  more: x\n", "yaml: line 2: mapping values are not allowed in this context"),
        ("spec:\n  containers:\n  - name: a\n   image: b\n", "yaml: line 3: did not find expected key"),
        ("spec:\n  containers:\n    - name: a\n   - name: b\n", "yaml: line 3: did not find expected key"),
        (
            "spec:\n  containers:\n  - name: a\n    image: b\n   ports: []\n",
            "yaml: line 4: did not find expected key",
        ),
        ("a: \"b\"c: d\n", "yaml: did not find expected key"),
        ("a:b\nc: d\n", "yaml: line 2: mapping values are not allowed in this context"),
        ("a: b #c\nd:e\nf: g\n", "yaml: line 3: could not find expected ':'"),
        ("a: .inf\n", "json: unsupported value: +Inf"),
        ("a: .nan\n", "json: unsupported value: NaN"),
        ("a:\n  b:\n c:\n", "yaml: line 2: did not find expected key"),
        ("a: {\n b: c\n", "yaml: line 2: did not find expected ',' or '}'"),
        (
            "a: {{ .Values.x }}\n",
            "yaml: invalid map key: map[interface {}]interface {}{\".Values.x\":interface {}(nil)}",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata: {{ .x }}\n",
            "yaml: invalid map key: map[interface {}]interface {}{\".x\":interface {}(nil)}",
        ),
        ("a: {{b}}\nc: d\n", "yaml: invalid map key: map[interface {}]interface {}{\"b\":interface {}(nil)}"),
        ("a: b\n{{ x }}\n", "yaml: line 3: could not find expected ':'"),
        ("a: %{x}\n", "yaml: found character that cannot start any token"),
        ("a: &b &c d\n", "yaml: did not find expected key"),
        ("a: &b *c\n", "yaml: did not find expected key"),
        ("a: b\nb: &x\n  c: *x\n", "yaml: anchor 'x' value contains itself"),
        ("a: 'b' 'c'\n", "yaml: did not find expected key"),
        ("'a: b\n", "yaml: line 2: found unexpected end of stream"),
        ("\"a: b\n", "yaml: line 2: found unexpected end of stream"),
        ("a: b\r\nc: [\r\n", "yaml: line 2: did not find expected node content"),
        ("a: b\rc: [\r\n", "yaml: line 2: did not find expected node content"),
        ("\n\n\na: [\n", "yaml: line 4: did not find expected node content"),
        ("# c\na: [\n# d\n", "yaml: line 3: did not find expected node content"),
        ("a: b: c: d\n", "yaml: mapping values are not allowed in this context"),
        ("a: b\n c: d: e\n", "yaml: line 2: mapping values are not allowed in this context"),
        ("a: [b: {c: d]\n", "yaml: did not find expected ',' or '}'"),
        ("a: |2\n b\n", "yaml: line 1: did not find expected key"),
        ("- - - a\n  - b\n c\n", "yaml: line 2: did not find expected '-' indicator"),
        ("a: >\n  b\n c\nd: e\n", "yaml: line 2: did not find expected key"),
        ("? \ta\n", "yaml: found character that cannot start any token"),
        ("- \t- a\n", "yaml: found character that cannot start any token"),
        ("a: b\n \tc: d\n", "yaml: line 2: mapping values are not allowed in this context"),
    ];

    /// K1 table, A2.12: Go's wording and line numbers.
    #[test]
    fn broken_texts_are_reported_in_go_words() {
        for (text, problem) in BROKEN {
            assert_eq!(read(text.as_bytes()).map(|_| ()), Err((*problem).to_owned()), "{text:?}");
        }
    }
}
