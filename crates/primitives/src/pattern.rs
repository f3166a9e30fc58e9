//! Regular expressions in Go's syntax.
//!
//! Where Rust's engine and Go's differ, the pattern is rewritten: classes such as `\d` are ASCII in Go, and `[` within
//! a class and a brace that is not a repetition are literals.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its source.
    text: String,
    /// The error if it is invalid.
    compiled: Result<Regex, String>,
}

/// A cache of patterns: schemas often repeat the same one, and compiling is slow.
#[derive(Debug, Default)]
pub struct Patterns(BTreeMap<String, Arc<Pattern>>);

/// Returns the error of an invalid pattern.
pub fn check_pattern(text: &str) -> Result<(), String> {
    Pattern::new(text).compiled.map(|_| ())
}

impl Patterns {
    /// The pattern with this source.
    pub fn get(&mut self, text: &str) -> Arc<Pattern> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let pattern = Arc::new(Pattern::new(text));
        self.0.insert(text.to_owned(), Arc::clone(&pattern));
        pattern
    }
}

impl Pattern {
    /// Compiles a pattern with a size limit.
    pub fn compiled(text: &str, most_bytes: usize) -> Result<Self, String> {
        let built = RegexBuilder::new(&translate(text)).size_limit(most_bytes).build();
        let regex = built.map_err(|error| reason(&error))?;
        Ok(Self { text: text.to_owned(), compiled: Ok(regex) })
    }

    /// Its source.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The matches in a text.
    pub fn finds<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.compiled.iter().flat_map(move |regex| regex.find_iter(text)).map(|found| found.as_str())
    }

    fn new(text: &str) -> Self {
        let compiled = Regex::new(&translate(text)).map_err(|error| reason(&error));
        Self { text: text.to_owned(), compiled }
    }

    /// Checks that a text matches; the error is the expected pattern.
    pub fn check(&self, text: &str) -> Result<(), String> {
        match &self.compiled {
            Ok(regex) if regex.is_match(text) => Ok(()),
            Ok(_) => Err(self.text.clone()),
            Err(why) => Err(format!("{}, but pattern is invalid: {why}", self.text)),
        }
    }
}

/// The last line of an error is the reason, the lines before show the position.
fn reason(error: &regex::Error) -> String {
    let drawn = error.to_string();
    drawn.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Patterns are equal if their sources are.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Translates a pattern from Go's syntax.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => escape(&mut letters, &mut out),
            '[' => class(&mut letters, &mut out),
            '{' if !counts(letters.clone()) => out.push_str("\\{"),
            _ => out.push(letter),
        }
    }
    out
}

/// An escape outside of a class.
fn escape(letters: &mut Peekable<Chars<'_>>, out: &mut String) {
    if letters.next_if_eq(&'b').is_some() {
        out.push_str("(?-u:\\b)");
    } else if letters.next_if_eq(&'Q').is_some() {
        quoted(letters, out);
    } else {
        one_escape(letters, out);
    }
}

/// Literal text up to `\E`.
fn quoted(letters: &mut Peekable<Chars<'_>>, out: &mut String) {
    while let Some(letter) = letters.next() {
        if letter == '\\' && letters.peek() == Some(&'E') {
            letters.next();
            return;
        }
        literal(letter, out);
    }
}

/// An escape anywhere.
fn one_escape(letters: &mut Peekable<Chars<'_>>, out: &mut String) {
    match letters.next() {
        Some('d') => out.push_str("[0-9]"),
        Some('D') => out.push_str("[^0-9]"),
        Some('s') => out.push_str("[\\t\\n\\f\\r ]"),
        Some('S') => out.push_str("[^\\t\\n\\f\\r ]"),
        Some('w') => out.push_str("[0-9A-Za-z_]"),
        Some('W') => out.push_str("[^0-9A-Za-z_]"),
        Some(first @ '0'..='7') => octal(first, letters, out),
        Some(letter @ ('p' | 'P' | 'x')) => {
            out.extend(['\\', letter]);
            if letters.peek() == Some(&'{') {
                until('}', letters, out);
            }
        }
        Some(letter) if letter.is_ascii_punctuation() => literal(letter, out),
        Some(letter) => out.extend(['\\', letter]),
        None => out.push('\\'),
    }
}

/// A character by its octal code; a single digit would be a back-reference, which neither engine supports.
fn octal(first: char, letters: &mut Peekable<Chars<'_>>, out: &mut String) {
    let mut number = first.to_digit(8).unwrap_or_default();
    let mut digits = 1;
    while digits < 3
        && let Some(digit) = letters.peek().and_then(|next| next.to_digit(8))
    {
        number = number * 8 + digit;
        digits += 1;
        letters.next();
    }
    if digits == 1 && first != '0' {
        out.extend(['\\', first]);
    } else {
        let _ = write!(out, "\\x{{{number:x}}}");
    }
}

/// A class after its opening bracket.
fn class(letters: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    if letters.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut is_first = true;
    while let Some(next) = letters.peek() {
        if *next == ']' && !is_first {
            letters.next();
            out.push(']');
            return;
        }
        is_first = false;
        // A dash between two characters is a range, elsewhere a literal.
        if class_member(letters, out) == Member::Letter && opens_a_range(letters.clone()) {
            letters.next();
            out.push('-');
            class_member(letters, out);
        }
    }
}

#[derive(PartialEq)]
enum Member {
    Letter,
    Class,
}

fn class_member(letters: &mut Peekable<Chars<'_>>, out: &mut String) -> Member {
    match letters.next() {
        Some('\\') => {
            let is_class = letters.peek().is_some_and(|next| "dDsSwWpP".contains(*next));
            one_escape(letters, out);
            if is_class { Member::Class } else { Member::Letter }
        }
        Some('[') if letters.peek() == Some(&':') => {
            named_class(letters, out);
            Member::Class
        }
        Some(letter) => {
            literal(letter, out);
            Member::Letter
        }
        None => Member::Class,
    }
}

fn opens_a_range(mut letters: Peekable<Chars<'_>>) -> bool {
    letters.next() == Some('-') && !matches!(letters.next(), Some(']') | None)
}

/// `[:alpha:]` within a class.
fn named_class(letters: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    until(']', letters, out);
}

/// Copies everything up to this character.
fn until(end: char, letters: &mut Peekable<Chars<'_>>, out: &mut String) {
    for letter in letters.by_ref() {
        out.push(letter);
        if letter == end {
            return;
        }
    }
}

/// A literal character.
fn literal(letter: char, out: &mut String) {
    if letter.is_ascii_punctuation() {
        out.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
    } else {
        out.push(letter);
    }
}

/// Whether this is the rest of `{2}`, `{2,}` or `{2,3}`.
fn counts(mut letters: Peekable<Chars<'_>>) -> bool {
    let mut digits = || {
        let mut count = 0;
        while letters.next_if(char::is_ascii_digit).is_some() {
            count += 1;
        }
        (count, letters.next())
    };
    match digits() {
        (1.., Some('}')) => true,
        (1.., Some(',')) => matches!(digits(), (_, Some('}'))),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appendix E: patterns have Go's meaning.
    #[test]
    fn patterns_have_the_syntax_of_go() {
        let table: [(&str, &[&str], &[&str]); 20] = [
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", &["a", "a-b"], &["", "a-", "A"]),
            (r"^\d+$", &["123"], &["", "١"]),
            (r"^\w+\s\S$", &["a_1 b"], &["ä b"]),
            (r"^[\w.-]+$", &["a.b-c"], &["a b"]),
            (r"^[\d-x]+$", &["1-x"], &["y"]),
            (r"^[^\s]+$", &["ab"], &["a b"]),
            ("^[[]$", &["["], &["a"]),
            ("^[a&&b]$", &["a", "b", "&"], &["c"]),
            ("^[+--]$", &[",", "+", "-"], &["."]),
            ("^[]a]$", &["]", "a"], &["b"]),
            ("^[[:alpha:]_]+$", &["a_b"], &["1"]),
            ("^{a}$", &["{a}"], &["a"]),
            ("^a{,2}$", &["a{,2}"], &["aa"]),
            ("^a{2}b{1,}$", &["aab", "aabb"], &["ab"]),
            (r"^\/a\_\<b\>\-$", &["/a_<b>-"], &["a"]),
            (r"^\Qa.b\E.$", &["a.bc"], &["axbc"]),
            (r"^[\p{L}]\pN\p{Greek}$", &["ä1α"], &["a1a"]),
            (r"^\x41\x{42}\103\bd?$", &["ABC"], &["ABCd"]),
            ("(?i)^abc$", &["ABC"], &["abd"]),
            (r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$", &["1h30m", "1.5s"], &["1d"]),
        ];
        for (pattern, matching, others) in table {
            let pattern = Pattern::new(pattern);
            for text in matching {
                assert_eq!(pattern.check(text), Ok(()), "{text:?} with {pattern:?}");
            }
            for text in others {
                assert_eq!(pattern.check(text), Err(pattern.text.clone()), "{text:?} with {pattern:?}");
            }
        }
    }

    #[test]
    fn an_invalid_pattern_matches_nothing() {
        let broken = Pattern::new("(a");
        assert_eq!(check_pattern("(a"), Err("unclosed group".to_owned()));
        assert_eq!(check_pattern("^a$"), Ok(()));
        assert_eq!(broken.check("a"), Err("(a, but pattern is invalid: unclosed group".to_owned()));
    }

    #[test]
    fn the_same_pattern_is_compiled_once() {
        let mut patterns = Patterns::default();
        assert!(Arc::ptr_eq(&patterns.get("^a$"), &patterns.get("^a$")));
    }
}
