//! Parses JSON into a tree, with the errors of Go's parser.

use gantry_json::SmolStr;

use super::tree::{Document, ObjectCount, Tree};

/// The nesting limit (A0.11).
const DEEPEST: usize = 10_000;

/// Parses one JSON document; the error is Go's.
pub(super) fn read(bytes: &[u8]) -> Result<Document, String> {
    let mut reader = Reader { bytes, at: 0, open: Vec::new(), depth: 0, objects: ObjectCount::default() };
    let read = reader.document();
    let (open, depth) = (reader.open, reader.depth);
    match read {
        Ok(root) => Ok(Document { root, depth }),
        Err(problem) => {
            // The partial tree may be deep, and must not be dropped recursively.
            let root = Tree::List(open.into_iter().map(Open::close).collect());
            drop(Document { root, depth });
            Err(problem)
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The enclosing lists and objects of the current position.
    open: Vec<Open>,
    depth: usize,
    objects: ObjectCount,
}

enum Open {
    List(Vec<Tree>),
    /// The members so far, and the key of the next value.
    Object(Vec<(SmolStr, Tree)>, SmolStr),
}

/// The start of a value.
enum Begun {
    Whole(Tree),
    /// A list or object that is not empty.
    Opened,
}

impl Open {
    fn close(self) -> Tree {
        match self {
            Self::List(elements) => Tree::List(elements),
            Self::Object(members, _) => Tree::Object(members),
        }
    }
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Tree, String> {
        loop {
            let Begun::Whole(mut value) = self.value()? else { continue };
            loop {
                let Some(open) = self.open.last_mut() else {
                    return self.nothing_follows().map(|()| value);
                };
                let end = match open {
                    Open::List(elements) => {
                        elements.push(value);
                        b']'
                    }
                    Open::Object(members, key) => {
                        members.push((std::mem::take(key), value));
                        b'}'
                    }
                };
                match self.next_byte()? {
                    b',' if end == b'}' => {
                        self.key()?;
                        break;
                    }
                    b',' => break,
                    byte if byte == end => value = self.open.pop().map(Open::close).unwrap_or_default(),
                    _ if end == b'}' => return Err(self.unexpected("after object key:value pair")),
                    _ => return Err(self.unexpected("after array element")),
                }
            }
        }
    }

    fn value(&mut self) -> Result<Begun, String> {
        let first = self.next_byte()?;
        let tree = match first {
            b'{' => {
                self.enter(Open::Object(Vec::new(), SmolStr::default()))?;
                self.objects.add(1)?;
                if self.peek() != Some(b'}') {
                    self.key()?;
                    return Ok(Begun::Opened);
                }
                self.at += 1;
                self.open.pop();
                Tree::Object(Vec::new())
            }
            b'[' => {
                self.enter(Open::List(Vec::new()))?;
                if self.peek() != Some(b']') {
                    return Ok(Begun::Opened);
                }
                self.at += 1;
                self.open.pop();
                Tree::List(Vec::new())
            }
            b'"' => Tree::String(self.string()?),
            b't' => self.literal("true", Tree::Bool(true))?,
            b'f' => self.literal("false", Tree::Bool(false))?,
            b'n' => self.literal("null", Tree::Null)?,
            b'-' | b'0'..=b'9' => Tree::Number(self.number()?),
            _ => return Err(self.unexpected("looking for beginning of value")),
        };
        Ok(Begun::Whole(tree))
    }

    fn enter(&mut self, open: Open) -> Result<(), String> {
        self.open.push(open);
        self.depth = self.depth.max(self.open.len());
        if self.open.len() > DEEPEST { Err("exceeded max depth".to_owned()) } else { Ok(()) }
    }

    /// Parses a key and its colon.
    fn key(&mut self) -> Result<(), String> {
        if self.next_byte()? != b'"' {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        let read = self.string()?;
        if self.next_byte()? != b':' {
            return Err(self.unexpected("after object key"));
        }
        if let Some(Open::Object(_, key)) = self.open.last_mut() {
            *key = read;
        }
        Ok(())
    }

    fn literal(&mut self, word: &'static str, tree: Tree) -> Result<Tree, String> {
        for expected in &word.as_bytes()[1..] {
            let byte = self.byte_here()?;
            if byte != *expected {
                let context = format!("in literal {word} (expecting '{}')", char::from(*expected));
                return Err(self.unexpected(&context));
            }
        }
        Ok(tree)
    }

    /// Parses the rest of a number after its first byte.
    fn number(&mut self) -> Result<SmolStr, String> {
        let start = self.at - 1;
        if self.bytes[start] == b'-' && !self.byte_here()?.is_ascii_digit() {
            return Err(self.unexpected("in numeric literal"));
        }
        if self.bytes[self.at - 1] != b'0' {
            self.digits();
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            if !self.byte_here()?.is_ascii_digit() {
                return Err(self.unexpected("after decimal point in numeric literal"));
            }
            self.digits();
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !self.byte_here()?.is_ascii_digit() {
                return Err(self.unexpected("in exponent of numeric literal"));
            }
            self.digits();
        }
        Ok(String::from_utf8_lossy(&self.bytes[start..self.at]).into())
    }

    fn digits(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
    }

    /// Parses the rest of a string after its opening quote.
    fn string(&mut self) -> Result<SmolStr, String> {
        let (bytes, mut text) = (self.bytes, Vec::new());
        loop {
            let rest = &bytes[self.at..];
            let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
            let plain = &rest[..rest.iter().position(is_special).unwrap_or(rest.len())];
            self.at += plain.len();
            match self.byte_here()? {
                b'"' if text.is_empty() => return Ok(text_of(plain)),
                b'"' => {
                    text.extend_from_slice(plain);
                    return Ok(text_of(&text));
                }
                b'\\' => {
                    text.extend_from_slice(plain);
                    let character = self.escape()?;
                    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => return Err(self.unexpected("in string literal")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        Ok(match self.byte_here()? {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            same @ (b'"' | b'\\' | b'/') => char::from(same),
            b'u' => {
                let unit = self.hexadecimal()?;
                let pair_follows =
                    (0xd800..0xdc00).contains(&unit) && self.bytes[self.at..].starts_with(b"\\u");
                if pair_follows {
                    let before = self.at;
                    self.at += 2;
                    let low = self.hexadecimal()?;
                    if (0xdc00..0xe000).contains(&low) {
                        let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                        return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    self.at = before;
                }
                char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return Err(self.unexpected("in string escape code")),
        })
    }

    fn hexadecimal(&mut self) -> Result<u32, String> {
        let mut unit = 0;
        for _ in 0..4 {
            let byte = self.byte_here()?;
            let Some(digit) = char::from(byte).to_digit(16) else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            unit = unit * 16 + digit;
        }
        Ok(unit)
    }

    fn nothing_follows(&mut self) -> Result<(), String> {
        if self.peek().is_none() {
            return Ok(());
        }
        self.at += 1;
        Err(self.unexpected("after top-level value"))
    }

    /// Peeks at the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn next_byte(&mut self) -> Result<u8, String> {
        self.peek();
        self.byte_here()
    }

    fn byte_here(&mut self) -> Result<u8, String> {
        let byte = self.bytes.get(self.at).copied().ok_or("unexpected end of JSON input")?;
        self.at += 1;
        Ok(byte)
    }

    /// The error about the byte that was just read.
    fn unexpected(&self, context: &str) -> String {
        let quoted = match self.bytes.get(self.at.saturating_sub(1)).copied().unwrap_or_default() {
            b'\'' => r"'\''".to_owned(),
            b'"' => "'\"'".to_owned(),
            byte => format!("'{}'", char::from(byte).escape_debug()),
        };
        format!("invalid character {quoted} {context}")
    }
}

/// The text of a string, in which invalid UTF-8 is replaced. Almost all is valid, which is quick to check.
fn text_of(bytes: &[u8]) -> SmolStr {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes).into(), SmolStr::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        read(text.as_bytes()).unwrap_err()
    }

    /// A2.23: duplicate keys are kept in order.
    #[test]
    fn members_keep_their_order_and_duplicates() {
        let document = read(br#" {"b": [1, {"x": null}], "a": "\u00e9\ud83d\ude00\n", "b": 2.0} "#).unwrap();
        let Tree::Object(members) = &document.root else { panic!("{document:?}") };
        let keys: Vec<_> = members.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["b", "a", "b"]);
        assert_eq!(members[1].1, Tree::String("é😀\n".into()));
        assert_eq!(members[2].1, Tree::Number("2.0".into()));
        assert_eq!(document.depth, 3);
    }

    /// A2.12: invalid JSON is refused with the errors of Go's parser.
    #[test]
    fn errors_name_the_character() {
        assert_eq!(problem("not json"), "invalid character 'o' in literal null (expecting 'u')");
        assert_eq!(problem("{"), "unexpected end of JSON input");
        assert_eq!(problem(""), "unexpected end of JSON input");
        assert_eq!(problem("{}x"), "invalid character 'x' after top-level value");
        assert_eq!(problem("{a:1}"), "invalid character 'a' looking for beginning of object key string");
        assert_eq!(problem(r#"{"a" 1}"#), "invalid character '1' after object key");
        assert_eq!(problem(r#"{"a":1 "b"}"#), "invalid character '\"' after object key:value pair");
        assert_eq!(problem("[1 2]"), "invalid character '2' after array element");
        assert_eq!(problem("[1,]"), "invalid character ']' looking for beginning of value");
        assert_eq!(problem("01"), "invalid character '1' after top-level value");
        assert_eq!(problem("1.x"), "invalid character 'x' after decimal point in numeric literal");
        assert_eq!(problem("\"\n\""), "invalid character '\\n' in string literal");
        assert_eq!(problem(r#""\x""#), "invalid character 'x' in string escape code");
    }

    /// A0.11: ten thousand levels are parsed, one more is refused, and neither overflows the stack.
    #[test]
    fn nesting_ends_at_ten_thousand_levels() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(read(nested(10_000).as_bytes()).unwrap().depth, 10_000);
        assert_eq!(problem(&nested(10_001)), "exceeded max depth");
        assert_eq!(problem(&"[".repeat(9_000)), "unexpected end of JSON input");
        assert_eq!(problem(&"{\"a\":".repeat(100_000)), "exceeded max depth");
    }
}
