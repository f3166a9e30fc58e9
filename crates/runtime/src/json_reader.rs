//! Reads single members of objects in JSON text, in one pass and without decoding the others.
//!
//! It reads text without whitespace, as API servers write it. For anything unexpected it returns `None`: the caller
//! then decodes the whole object.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::de::DeserializeOwned;

/// A position in JSON text. Every method reads one value from there, and moves the position behind it.
pub(crate) struct JsonReader<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> JsonReader<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// The position of the next value.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Whether all of the text was read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// Skips a value, and returns its place in the text.
    pub(crate) fn place(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.skip()?;
        Some(start..self.at)
    }

    /// Reads an object. `member` gets each name as it is in the text, and reads the value.
    pub(crate) fn object(&mut self, mut member: impl FnMut(&mut Self, &'t [u8]) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Some(());
        }
        loop {
            let name = self.raw_string()?;
            self.expect(b':')?;
            member(self, name)?;
            if !self.take(b',') {
                return self.expect(b'}');
            }
        }
    }

    /// Reads an array, each item by `item`.
    pub(crate) fn array<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        self.expect(b'[')?;
        if self.take(b']') {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if !self.take(b',') {
                return self.expect(b']').map(|()| items);
            }
        }
    }

    /// Reads `null`, or a value by `read`.
    #[expect(clippy::option_option, reason = "what cannot be read differs from null")]
    pub(crate) fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.text[self.at..].starts_with(b"null") {
            self.at += 4;
            return Some(None);
        }
        read(self).map(Some)
    }

    /// Reads a string.
    pub(crate) fn string(&mut self) -> Option<String> {
        let start = self.at;
        let raw = self.raw_string()?;
        if raw.contains(&b'\\') {
            return gantry_json::from_slice(&self.text[start..self.at]).ok();
        }
        String::from_utf8(raw.to_vec()).ok()
    }

    /// Reads an object whose values are strings.
    pub(crate) fn string_map(&mut self) -> Option<BTreeMap<String, String>> {
        let mut map = BTreeMap::new();
        self.object(|reader, name| {
            // A name with escapes is left to the decoder of the whole object.
            let name = Some(name).filter(|name| !name.contains(&b'\\'))?;
            let name = String::from_utf8(name.to_vec()).ok()?;
            map.insert(name, reader.string()?);
            Some(())
        })?;
        Some(map)
    }

    /// Decodes a value.
    pub(crate) fn value<T: DeserializeOwned>(&mut self) -> Option<T> {
        let start = self.at;
        self.skip()?;
        gantry_json::from_slice(&self.text[start..self.at]).ok()
    }

    /// Skips a value.
    pub(crate) fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.text.get(self.at)? {
                b'"' => {
                    self.raw_string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                // The end of a number or literal.
                b',' | b'}' | b']' if depth == 0 => return Some(()),
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Reads a string, and returns what is between its quotes.
    fn raw_string(&mut self) -> Option<&'t [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            let rest = self.text.get(self.at..)?;
            self.at += rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
            if self.text[self.at] == b'"' {
                self.at += 1;
                return Some(&self.text[start..self.at - 1]);
            }
            self.at += 2;
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the members `a` and `b` of an object.
    fn read(json: &str) -> Option<(String, Option<Vec<i64>>)> {
        let (mut a, mut b) = (String::new(), None);
        let mut reader = JsonReader::new(json.as_bytes());
        reader.object(|reader, name| {
            match name {
                b"a" => a = reader.string()?,
                b"b" => b = reader.optional(|reader| reader.array(JsonReader::value))?,
                _ => reader.skip()?,
            }
            Some(())
        })?;
        reader.is_at_end().then_some((a, b))
    }

    #[test]
    fn members_are_read_and_others_are_skipped() {
        let table = [
            ("{}", "", None),
            (r#"{"a":"x","b":[1,-2]}"#, "x", Some(vec![1, -2])),
            (r#"{"x":{"a":[{"b":"]}\""}]},"b":[],"a":"\u00e4\"é"}"#, "ä\"é", Some(vec![])),
            (r#"{"b":null,"n":-1.5e3,"t":true,"u":null,"a":""}"#, "", None),
        ];
        for (json, a, b) in table {
            assert_eq!(read(json), Some((a.to_owned(), b)), "{json}");
        }
    }

    #[test]
    fn names_and_values_of_a_map_are_read() {
        let map = |json: &str| JsonReader::new(json.as_bytes()).string_map();
        let expected =
            BTreeMap::from([("a/b".to_owned(), "x".to_owned()), ("c".to_owned(), "\n".to_owned())]);
        assert_eq!(map(r#"{"c":"\n","a/b":"x"}"#), Some(expected));
        assert_eq!((map(r#"{"a":1}"#), map(r#"{"\n":"a"}"#)), (None, None));
    }

    #[test]
    fn text_that_cannot_be_parsed_is_not_read() {
        let table = [
            "",
            "{",
            "[]",
            "null",
            r#"{"a"#,
            r#"{"a":"#,
            r#"{"a":"x"#,
            r#"{"a":"x\"#,
            r#"{"a":"x""#,
            r#"{"a":1}"#,
            r#"{"b":[1}"#,
            r#"{"b":[1"#,
            r#"{"b":["1"]}"#,
            r#"{ "a":"x"}"#,
            r#"{"a": "x"}"#,
            r#"{"x":[}"#,
            r#"{"x":"#,
        ];
        for json in table {
            assert_eq!(read(json), None, "{json}");
        }
    }
}
