//! Masks values that differ from run to run in the output of kubectl: ages, times, uids, versions, addresses.
//!
//! A pattern is matched character by character: `9` is a digit, `#` some digits, `~` a hexadecimal digit, `@` a letter, `*`
//! some letters and digits; all other characters match themselves.

/// The characters allowed on both sides of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sides {
    /// Anything.
    Any,
    /// No letter, no digit.
    Word,
    /// A blank or a parenthesis, or the end of the line.
    Column,
}

/// Patterns, their allowed surroundings, and their replacements, in the order in which they are applied.
const MASKS: [(&str, Sides, &str); 20] = [
    ("pod-template-hash=*", Sides::Any, "pod-template-hash=HASH"),
    ("pod-template-hash: *", Sides::Any, "pod-template-hash: HASH"),
    ("#y#d", Sides::Word, "<age>"),
    ("#d#h", Sides::Word, "<age>"),
    ("#h#m", Sides::Word, "<age>"),
    ("#m#s", Sides::Word, "<age>"),
    ("#s", Sides::Column, "<age>"),
    ("#m", Sides::Column, "<age>"),
    ("#h", Sides::Column, "<age>"),
    ("#d", Sides::Column, "<age>"),
    ("9999-99-99T99:99:99Z", Sides::Any, "<time>"),
    ("9999-99-99T99:99:99.#Z", Sides::Any, "<time>"),
    ("@@@, 99 @@@ 9999 99:99:99 +9999", Sides::Any, "<time>"),
    ("~~~~~~~~-~~~~-~~~~-~~~~-~~~~~~~~~~~~", Sides::Any, "<uid>"),
    ("resourceVersion: \"#\"", Sides::Any, "resourceVersion: <rv>"),
    ("https://127.0.0.1:#", Sides::Any, "<server>"),
    ("http://127.0.0.1:#", Sides::Any, "<server>"),
    ("/tmp/LIVE-#/", Sides::Any, "/tmp/LIVE/"),
    ("/tmp/MERGED-#/", Sides::Any, "/tmp/MERGED/"),
    ("(x# over <age>)", Sides::Any, ""),
];

/// The line without values that differ from run to run.
pub(crate) fn masked(line: &str) -> String {
    let line = without_log_header(line);
    let masked =
        MASKS.iter().fold(line, |line, (pattern, sides, shown)| replaced(&line, pattern, *sides, shown));
    folded(&masked)
}

/// Replaces the header of a log line (`E0102 15:04:05.678901   12345 file.go:67]`), which has the time and the source.
fn without_log_header(line: &str) -> String {
    let is_header = ["E", "W", "I"].iter().any(|severity| {
        line.strip_prefix(severity).is_some_and(|rest| length(rest, "9999 99:99:99.# ").is_some())
    });
    match line.split_once(']') {
        Some((_, rest)) if is_header => format!("<log>{rest}"),
        _ => line.to_owned(),
    }
}

fn replaced(line: &str, pattern: &str, sides: Sides, shown: &str) -> String {
    let (mut done, mut rest) = (String::new(), line);
    let mut before = None;
    while let Some(next) = rest.chars().next() {
        let found = length(rest, pattern)
            .filter(|length| sides.allow(before) && sides.allow(rest[*length..].chars().next()));
        let step = found.unwrap_or(next.len_utf8());
        done.push_str(if found.is_some() { shown } else { &rest[..step] });
        before = rest[..step].chars().last();
        rest = &rest[step..];
    }
    done
}

/// The length of a match at the beginning of the text.
fn length(text: &str, pattern: &str) -> Option<usize> {
    let mut rest = text;
    for wanted in pattern.chars() {
        let (is_meant, many): (fn(char) -> bool, bool) = match wanted {
            '9' => (|c| c.is_ascii_digit(), false),
            '#' => (|c| c.is_ascii_digit(), true),
            '~' => (|c| c.is_ascii_digit() || ('a'..='f').contains(&c), false),
            '@' => (|c| c.is_ascii_alphabetic(), false),
            '*' => (|c| c.is_ascii_lowercase() || c.is_ascii_digit(), true),
            itself => {
                rest = rest.strip_prefix(itself)?;
                continue;
            }
        };
        let end = rest.find(|c| !is_meant(c)).unwrap_or(rest.len());
        rest = &rest[if many { end } else { end.min(1) }..];
        if end == 0 {
            return None;
        }
    }
    Some(text.len() - rest.len())
}

/// The width of columns depends on the names in them: two blanks replace any larger number.
fn folded(line: &str) -> String {
    let is_blank = |c| matches!(c, ' ' | '\t');
    let (mut folded, mut rest) = (String::new(), line.trim_end());
    while let Some(at) = rest.find(is_blank) {
        let blanks = rest[at..].find(|c| !is_blank(c)).unwrap_or(rest.len() - at);
        folded.push_str(&rest[..at]);
        folded.push_str(if blanks > 1 { "  " } else { &rest[at..=at] });
        rest = &rest[at + blanks..];
    }
    folded + rest
}

impl Sides {
    fn allow(self, beside: Option<char>) -> bool {
        match (self, beside) {
            (Self::Any, _) | (_, None) => true,
            (Self::Word, Some(c)) => !c.is_alphanumeric() && c != '_',
            (Self::Column, Some(c)) => matches!(c, ' ' | '\t' | '(' | ')'),
        }
    }
}

#[test]
fn values_that_differ_between_runs_are_masked() {
    let lines = [
        ("web-5d-x   1/1     Running  0   5m12s", "web-5d-x  1/1  Running  0  <age>"),
        ("  Normal  Scaled  3s (x2 over 10s)  me", "  Normal  Scaled  <age>  me"),
        ("nginx:1.9.1 on 25% in 10min at 1d2", "nginx:1.9.1 on 25% in 10min at 1d2"),
        ("at Mon, 02 Jan 2006 15:04:05 +0000", "at <time>"),
        ("time: \"2026-01-01T12:00:00Z\"", "time: \"<time>\""),
        ("E0102 15:04:05.678901   12345 memcache.go:67] no", "<log> no"),
        ("app=web,pod-template-hash=5d4f8c7b9", "app=web,pod-template-hash=HASH"),
        ("running at https://127.0.0.1:41234", "running at <server>"),
        ("a\tb\t \tc  ", "a\tb  c"),
    ];
    for (line, shown) in lines {
        assert_eq!(masked(line), shown);
    }
}
