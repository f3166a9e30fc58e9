//! YAML in block style, members sorted by name.
//!
//! A value is written while it is read, from JSON as well as from a tree: only the lines of an object whose members are not
//! sorted yet are moved.

use std::fmt;
use std::ops::Range;

use gantry_json::Value;
use gantry_primitives::refusal::go_float;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};

/// Converts JSON to YAML; `None` if it is invalid, or if indentation makes the YAML [many times](indented_bytes_max) as
/// long.
pub fn yaml(json: &[u8]) -> Option<String> {
    converted(json, Position::Document)
}

/// Converts JSON to an element of a list in YAML that is not indented, such as the items of a list of objects; `None` as for
/// [`yaml`].
pub fn yaml_element(json: &[u8]) -> Option<String> {
    converted(json, Position::Element)
}

/// The YAML of a value.
pub fn yaml_text(value: &Value) -> String {
    // A value is valid, and its length has no limit.
    let written = text_within(value, usize::MAX);
    debug_assert!(written.is_some(), "a value is written");
    written.unwrap_or_default()
}

/// The YAML of a value; `None` if indentation makes it [many times](indented_bytes_max) as long as JSON.
pub fn yaml_text_within(value: &Value) -> Option<String> {
    text_within(value, indented_bytes_max(json_bytes(value)))
}

/// The approximate length of the JSON of a value.
pub fn json_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
        Value::String(text) => text.len() + 2,
        Value::Array(elements) => elements.iter().map(|element| json_bytes(element) + 1).sum::<usize>() + 2,
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| name.len() + 4 + json_bytes(value));
            members.sum::<usize>() + 2
        }
    }
}

fn text_within(value: &Value, bytes_max: usize) -> Option<String> {
    let mut out = String::new();
    Node { position: Position::Document, level: 0, bytes_max, out: &mut out }
        .deserialize(Tree(value))
        .ok()?;
    Some(out)
}

/// Returns the most bytes of JSON of this length when it is indented. Each line of a deep value is mostly indentation.
pub fn indented_bytes_max(json_bytes: usize) -> usize {
    json_bytes.saturating_mul(8).saturating_add(1 << 20)
}

fn converted(json: &[u8], position: Position) -> Option<String> {
    // Most text is about as long in YAML.
    let mut out = String::with_capacity(json.len() + json.len() / 8);
    let bytes_max = indented_bytes_max(json.len());
    let mut json = serde_json::Deserializer::from_slice(json);
    Node { position, level: 0, bytes_max, out: &mut out }.deserialize(&mut json).ok()?;
    json.end().ok().map(|()| out)
}

/// A value as a source that [`Node`] reads as it reads JSON.
struct Tree<'v>(&'v Value);

impl<'de> Deserializer<'de> for Tree<'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) if number.is_i64() => number.deserialize_any(visitor),
            Value::Number(number) => {
                // As JSON is read, in which whole numbers have no fraction.
                let mut json = Vec::new();
                super::text::number(number, &mut json);
                serde_json::from_slice::<serde_json::Number>(&json)?.deserialize_any(visitor)
            }
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(elements) => visitor.visit_seq(SeqDeserializer::new(elements.iter().map(Tree))),
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| (name.as_str(), Tree(value)));
                visitor.visit_map(MapDeserializer::new(members))
            }
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, serde_json::Error> for Tree<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The position of a value in its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Document,
    /// The key and its colon are written already.
    Member,
    /// The dash is written with the element.
    Element,
}

/// Writes one value, up to the end of its last line.
struct Node<'a> {
    position: Position,
    /// The indentation of its parent.
    level: usize,
    /// The most bytes of the document.
    bytes_max: usize,
    out: &'a mut String,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar("null");
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.scalar(if value { "true" } else { "false" });
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.scalar(&value.to_string());
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.scalar(&value.to_string());
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.scalar(&if value == 0.0 { "0".to_owned() } else { go_float(value) });
        Ok(())
    }

    fn visit_str<E: Error>(mut self, value: &str) -> Result<(), E> {
        let column = self.start_scalar();
        self.out.push_str(&text(value, self.level, column));
        self.out.push('\n');
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        let level = self.level + usize::from(self.position == Position::Element);
        let before = self.out.len();
        let start = self.start_block();
        while elements.next_element_seed(self.child(Position::Element, level))?.is_some() {
            self.check_length()?;
        }
        if self.out.len() == start {
            self.out.truncate(before);
            self.scalar("[]");
        } else {
            self.end_block(start);
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        let Some(mut key) = members.next_key::<String>()? else {
            self.scalar("{}");
            return Ok(());
        };
        let level = self.level + usize::from(self.position != Position::Document);
        let start = self.start_block();
        let mut written = Vec::new();
        loop {
            let from = self.out.len();
            indent(level, self.out);
            self.out.push_str(&in_one_line(&key));
            self.out.push(':');
            members.next_value_seed(self.child(Position::Member, level))?;
            self.check_length()?;
            written.push((key, from..self.out.len()));
            match members.next_key()? {
                Some(next) => key = next,
                None => break,
            }
        }
        sort(&mut written, start, self.out);
        self.end_block(start);
        Ok(())
    }
}

impl Node<'_> {
    fn child(&mut self, position: Position, level: usize) -> Node<'_> {
        Node { position, level, bytes_max: self.bytes_max, out: self.out }
    }

    fn check_length<E: Error>(&self) -> Result<(), E> {
        if self.out.len() > self.bytes_max { Err(E::custom("too long")) } else { Ok(()) }
    }

    fn scalar(mut self, text: &str) {
        self.start_scalar();
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Writes what is before a value on its line, and returns its column.
    fn start_scalar(&mut self) -> usize {
        match self.position {
            Position::Document => return 0,
            Position::Member => self.out.push(' '),
            Position::Element => {
                indent(self.level, self.out);
                self.out.push_str("- ");
            }
        }
        self.out.chars().rev().take_while(|letter| *letter != '\n').count()
    }

    /// Starts the lines of a list or object that is not empty, and returns where they start.
    fn start_block(&mut self) -> usize {
        if self.position == Position::Member {
            self.out.push('\n');
        }
        self.out.len()
    }

    /// Ends the lines of a list or object: an element has its dash in the indentation of its first line.
    fn end_block(&mut self, start: usize) {
        if self.position == Position::Element {
            let dash = start + 2 * self.level;
            self.out.replace_range(dash..dash + 2, "- ");
        }
    }
}

/// Sorts the lines of members by key.
fn sort(members: &mut [(String, Range<usize>)], start: usize, out: &mut String) {
    if members.is_sorted_by(|(one, _), (next, _)| one <= next) {
        return;
    }
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    let sorted: String = members.iter().map(|(_, lines)| &out[lines.clone()]).collect();
    out.replace_range(start.., &sorted);
}

/// A string: a block if it has several lines, plain if YAML reads it as a string, otherwise quoted.
fn text(text: &str, level: usize, column: usize) -> String {
    let fits_a_block = !text.contains(" \n") && !text.ends_with(' ') && text.chars().all(is_printable);
    if !text.contains('\n') || !fits_a_block {
        return folded(&in_one_line(text), level, column);
    }
    let hint = if text.starts_with([' ', '\n']) { "2" } else { "" };
    let chomp = match text.strip_suffix('\n') {
        None => "-",
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => "+",
        Some(_) => "",
    };
    let mut block = format!("|{hint}{chomp}");
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        block.push('\n');
        if !line.is_empty() {
            indent(level + 1, &mut block);
            block.push_str(line);
        }
    }
    block
}

/// A string at this column, folded at the first single space after the maximal width.
fn folded(line: &str, level: usize, column: usize) -> String {
    const WIDTH: usize = 80;
    let letters: Vec<char> = line.chars().collect();
    let quote = letters.first().copied().filter(|first| ['\'', '"'].contains(first));
    let (mut folded, mut width, mut is_after_space) = (String::with_capacity(line.len()), column, false);
    for (nth, &letter) in letters.iter().enumerate() {
        let is_before_space = letters.get(nth + 1) == Some(&' ');
        // A space next to a quote would be lost; in double quotes it can be escaped.
        let may_break = match quote {
            None => !is_before_space,
            Some(quote) => nth > 1 && nth + 2 < letters.len() && (!is_before_space || quote == '"'),
        };
        if letter == ' ' && !is_after_space && width > WIDTH && may_break {
            folded.push('\n');
            indent(level + 1, &mut folded);
            width = 2 * (level + 1);
            if is_before_space {
                folded.push('\\');
                width += 1;
            }
        } else {
            folded.push(letter);
            width += 1;
        }
        is_after_space = letter == ' ';
    }
    folded
}

/// A string in one line: plain, in single quotes if it has special characters, otherwise in double quotes.
fn in_one_line(text: &str) -> String {
    if text.contains('\n') || !text.chars().all(is_printable) || is_another_plain_scalar(text) {
        return Value::from(text).to_string();
    }
    let begins_oddly = text.starts_with(|first: char| "#,[]{}&*!|>'\"%@`".contains(first))
        || text.starts_with("---")
        || text.starts_with("...")
        || ["-", "?", ":"].into_iter().any(|sign| text == sign || text.starts_with(&format!("{sign} ")));
    let has_signs = text.contains(": ") || text.ends_with(':') || text.contains(" #");
    if begins_oddly || has_signs || text.starts_with(' ') || text.ends_with(' ') {
        return format!("'{}'", text.replace('\'', "''"));
    }
    text.to_owned()
}

fn is_printable(letter: char) -> bool {
    letter == '\n' || !letter.is_control() && letter != '\u{feff}'
}

/// Whether YAML 1.1 or 1.2 reads it as something else than a string.
fn is_another_plain_scalar(text: &str) -> bool {
    let words = ["", "~", "<<", "=", "y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    words.contains(&text.to_ascii_lowercase().as_str()) || is_a_number(text) || is_a_time(text)
}

fn is_a_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+']);
    let special = [".inf", ".nan"].contains(&digits.to_ascii_lowercase().as_str());
    let radix = ["0x", "0o", "0b"].into_iter().any(|prefix| {
        let rest = digits.strip_prefix(prefix);
        rest.is_some_and(|rest| {
            !rest.is_empty() && rest.chars().all(|digit| digit.is_ascii_hexdigit() || digit == '_')
        })
    });
    let plain = digits.replace('_', "");
    let begins = plain.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    // YAML 1.1 reads 1:30 as a number of base sixty.
    let sexagesimal =
        begins && plain.contains(':') && plain.split(':').all(|part| part.parse::<f64>().is_ok());
    special || radix || sexagesimal || (begins && plain.parse::<f64>().is_ok())
}

fn is_a_time(text: &str) -> bool {
    let date = text.get(..10).unwrap_or_default().as_bytes();
    let looks_like_one = date.len() == 10
        && date.iter().enumerate().all(|(nth, byte)| match nth {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    looks_like_one && text[10..].chars().all(|letter| letter.is_ascii_digit() || "TtZz :.+-".contains(letter))
}

fn indent(level: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", level));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Format, plain};
    use gantry_json::json;

    /// A9.2: YAML is read back as the same object.
    #[test]
    fn yaml_decodes_to_the_same_object_as_json() {
        let object = json!({
            "kind": "ConfigMap", "data": {"a": "two\nlines", "yes": "no", "n": "1", "e": "", "t": "key: value # x"},
            "metadata": {"labels": {}, "finalizers": ["a/b", "c"], "owners": [{"name": "x", "deep": [[1, 2], []]}]},
            "spec": {"replicas": 3, "paused": true, "nothing": null},
        });
        let written = yaml(object.to_string().as_bytes()).unwrap();
        assert_eq!(plain(written.as_bytes(), Format::Yaml).unwrap().0, object, "{written}");
        assert!(written.contains("metadata:\n  finalizers:\n  - a/b\n  - c\n"), "{written}");
        assert_eq!(
            yaml_text(&json!([1_234_567.5, 1e30, 1e-6, 0.25, -0.0, 5e6, u64::MAX])),
            "- 1.2345675e+06\n- 1e+30\n- 1e-06\n- 0.25\n- 0\n- 5000000\n- 1.8446744073709552e+19\n"
        );
        assert!(written.contains("  - deep:\n    - - 1\n      - 2\n    - []\n    name: x\n"), "{written}");
        assert_eq!(yaml(b"nonsense"), None);
        assert_eq!(yaml(b"{} {}"), None);
        let scalars = ["null", "true", "-1", "[]", "{}"];
        assert!(scalars.iter().all(|json| yaml(json.as_bytes()) == Some(format!("{json}\n"))));
    }

    #[test]
    fn deep_values_are_not_indented_beyond_a_limit() {
        let nested = |levels: usize| {
            format!("{}{}{}", "[".repeat(levels), vec!["0"; 100_000].join(","), "]".repeat(levels))
        };
        assert!(yaml(nested(5).as_bytes()).is_some());
        assert_eq!(yaml(nested(100).as_bytes()), None);
        let value = |levels| gantry_json::from_str::<Value>(&nested(levels)).unwrap();
        assert_eq!(yaml_text_within(&value(5)), yaml(nested(5).as_bytes()));
        assert_eq!(yaml_text_within(&value(100)), None);
    }

    /// An element has the same text as in a list that is converted as a whole.
    #[test]
    fn elements_are_those_of_a_list() {
        let elements = [r#"{"b":[1,{"c":"x\ny"}],"a":{}}"#, "[1,[2]]", "\"text\"", "{}"];
        let whole = yaml(format!("{{\"items\":[{}]}}", elements.join(",")).as_bytes()).unwrap();
        let parts: String = elements.iter().map(|json| yaml_element(json.as_bytes()).unwrap()).collect();
        assert_eq!(whole, format!("items:\n{parts}"));
    }

    /// A9.2: members are sorted with all their lines, in whatever order they are in JSON.
    #[test]
    fn members_are_sorted_with_their_lines() {
        let json = br#"{"z":[{"c":1,"b":{"w":2,"v":["\n",[{"f":1,"e":[]}]]},"a":{}}],"a":"two\nlines"}"#;
        assert_eq!(
            yaml(json).unwrap(),
            "a: |-\n  two\n  lines\nz:\n- a: {}\n  b:\n    v:\n    - |2+\n\n    - - e: []\n        f: 1\n    w: 2\n  c: 1\n"
        );
    }

    /// A9.2: quotes only where YAML needs them, several lines as a block.
    #[test]
    fn yaml_is_written_as_go_writes_it() {
        let cases = [
            ("nginx:1.7.9", "nginx:1.7.9"),
            ("a: b", "'a: b'"),
            ("*", "'*'"),
            ("it's", "it's"),
            ("25%", "25%"),
            ("%25", "'%25'"),
            ("true", "\"true\""),
            ("1", "\"1\""),
            ("1.5e3", "\"1.5e3\""),
            ("1:30", "\"1:30\""),
            ("2026-11-15T17:54:17Z", "\"2026-11-15T17:54:17Z\""),
            ("2026-11-15 or so", "2026-11-15 or so"),
            ("", "\"\""),
            ("- x", "'- x'"),
            ("-x", "-x"),
            ("{}", "'{}'"),
            ("tab\there", "\"tab\\there\""),
            ("two\nlines", "|-\n  two\n  lines"),
            ("two\nlines\n", "|\n  two\n  lines"),
            ("two\n\n", "|+\n  two\n"),
        ];
        for (value, written) in cases {
            assert_eq!(yaml_text(&json!({"k": value})), format!("k: {written}\n"), "{value}");
            assert_eq!(
                plain(yaml_text(&json!({"k": value})).as_bytes(), Format::Yaml).unwrap().0,
                json!({"k": value})
            );
        }
    }
    /// A9.2: long strings are folded at spaces, and strings in lists are indented below their dash.
    #[test]
    fn long_texts_are_folded_as_go_folds_them() {
        let words = |n: usize| vec!["wwwwwwwww"; n].join(" ");
        let cases = [
            (words(8), words(8)),
            (words(9), words(8) + "\n  wwwwwwwww"),
            (format!("a: {}", words(9)), format!("'a: {}\n  wwwwwwwww'", words(8))),
            (format!("{}  w w", words(8)), format!("{}  w\n  w", words(8))),
            (format!("\t{}", words(9)), format!("\"\\t{}\n  wwwwwwwww\"", words(8))),
            (format!("\t{}  w", words(8)), format!("\"\\t{}\n  \\ w\"", words(8))),
            ("w".repeat(200), "w".repeat(200)),
        ];
        for (value, written) in cases {
            let text = yaml_text(&json!({"k": value}));
            assert_eq!(text, format!("k: {written}\n"));
            assert_eq!(plain(text.as_bytes(), Format::Yaml).unwrap().0, json!({"k": value}));
        }
        let list = json!({"args": ["two\nlines\n", words(9)]});
        let text = yaml_text(&list);
        assert_eq!(text, format!("args:\n- |\n  two\n  lines\n- {}\n  wwwwwwwww\n", words(8)));
        assert_eq!(plain(text.as_bytes(), Format::Yaml).unwrap().0, list);
    }
}
