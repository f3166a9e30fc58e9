//! Parses templates.

use gantry_json::Value;

use super::{Comparison, JsonPath, Operand, Part, Problem, Step};

/// The nesting limit of ranges and filters: far deeper than in practice, and safe for the stack.
const DEPTH_MAX: u8 = 50;

/// Parses a whole template.
pub(super) fn template(text: &str) -> Result<Vec<Part>, Problem> {
    Reader { rest: text, depth: 0 }.parts(false)
}

/// Parses a text that is a single path.
pub(super) fn path(text: &str) -> Result<JsonPath, Problem> {
    let mut reader = Reader { rest: text, depth: 0 };
    let path = reader.path()?;
    reader.skip_spaces();
    match (reader.rest.chars().next(), path.0.is_empty()) {
        (Some(letter), _) => Err(format!("unrecognized character in action: {letter}").into()),
        (None, true) => Err("empty path".into()),
        (None, false) => Ok(path),
    }
}

struct Reader<'t> {
    rest: &'t str,
    depth: u8,
}

/// The content of a pair of braces.
enum Braced {
    Part(Part),
    Range(JsonPath),
    End,
}

impl Reader<'_> {
    fn parts(&mut self, in_range: bool) -> Result<Vec<Part>, Problem> {
        let mut parts = Vec::new();
        while !self.rest.is_empty() {
            let Some(open) = self.rest.find('{') else {
                parts.push(Part::Text(self.rest.to_owned()));
                self.rest = "";
                break;
            };
            if open > 0 {
                parts.push(Part::Text(self.rest[..open].to_owned()));
            }
            self.rest = &self.rest[open + 1..];
            match self.braced()? {
                Braced::Part(part) => parts.push(part),
                Braced::Range(path) => {
                    let inside = self.deeper(|reader| reader.parts(true))?;
                    parts.push(Part::Range(path, inside));
                }
                Braced::End if in_range => return Ok(parts),
                Braced::End => return Err("not in range, nothing to end".into()),
            }
        }
        if in_range { Err("unterminated range".into()) } else { Ok(parts) }
    }

    /// Parses a nested part.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Problem>) -> Result<T, Problem> {
        if self.depth == DEPTH_MAX {
            return Err("nested too deeply".into());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn braced(&mut self) -> Result<Braced, Problem> {
        self.skip_spaces();
        if let Some(quote) = self.rest.chars().next().filter(|first| *first == '"' || *first == '\'') {
            let text = self.quoted(quote)?;
            self.close()?;
            return Ok(Braced::Part(Part::Text(text)));
        }
        if let Some(rest) = self.rest.strip_prefix("range ") {
            self.rest = rest;
            self.skip_spaces();
            let path = self.path()?;
            self.close()?;
            return Ok(Braced::Range(path));
        }
        if let Some(rest) = self.rest.strip_prefix("end") {
            self.rest = rest;
            self.close()?;
            return Ok(Braced::End);
        }
        let path = self.path()?;
        self.close()?;
        Ok(Braced::Part(Part::JsonPath(path)))
    }

    fn close(&mut self) -> Result<(), Problem> {
        self.skip_spaces();
        self.expect("}", "unclosed action")
    }

    fn expect(&mut self, sign: &str, problem: &str) -> Result<(), Problem> {
        self.rest = self.rest.strip_prefix(sign).ok_or(problem)?;
        Ok(())
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Parses a path. Its first character does not matter: inside a range or filter, `$` is the current value, too.
    fn path(&mut self) -> Result<JsonPath, Problem> {
        self.rest = self.rest.strip_prefix(['$', '@']).unwrap_or(self.rest);
        let mut steps = Vec::new();
        loop {
            if let Some(rest) = self.rest.strip_prefix("..") {
                if steps.last() == Some(&Step::Descend) {
                    return Err("invalid multiple recursive descent".into());
                }
                self.rest = rest;
                steps.push(Step::Descend);
                if self.rest.starts_with(|letter: char| letter == '_' || letter.is_alphanumeric()) {
                    steps.push(self.name());
                }
            } else if let Some(rest) = self.rest.strip_prefix('.') {
                self.rest = rest;
                steps.push(self.name());
            } else if let Some(rest) = self.rest.strip_prefix('[') {
                self.rest = rest;
                steps.extend(self.bracketed()?);
            } else {
                break;
            }
        }
        Ok(JsonPath(steps))
    }

    /// A name after a dot; dots in it are escaped.
    fn name(&mut self) -> Step {
        let name = self.name_until(&['.', '[', ']', '}', ' ', ')', '=', '!', '<', '>', ',', '|']);
        if name == "*" { Step::Each } else { Step::Member(name) }
    }

    /// A quoted name.
    fn quoted_name(&mut self) -> Step {
        Step::Member(self.name_until(&['.']))
    }

    fn name_until(&mut self, ends: &[char]) -> String {
        let mut name = String::new();
        let mut letters = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => name.extend(letters.next().map(|(_, escaped)| escaped)),
                letter if ends.contains(&letter) => {
                    end = at;
                    break;
                }
                other => name.push(other),
            }
        }
        self.rest = &self.rest[end..];
        name
    }

    /// The content of brackets, usually one step.
    fn bracketed(&mut self) -> Result<Vec<Step>, Problem> {
        if let Some(rest) = self.rest.strip_prefix("?(") {
            self.rest = rest;
            return self.deeper(Self::filter).map(|filter| vec![filter]);
        }
        let mut choices = Vec::new();
        loop {
            self.skip_spaces();
            choices.push(self.index()?);
            self.skip_spaces();
            match self.rest.chars().next() {
                Some(',') => self.rest = &self.rest[1..],
                Some(']') => {
                    self.rest = &self.rest[1..];
                    break;
                }
                _ => return Err("unterminated array".into()),
            }
        }
        match choices.len() {
            1 => Ok(choices.concat()),
            _ => Ok(vec![Step::Union(choices.into_iter().map(JsonPath).collect())]),
        }
    }

    fn index(&mut self) -> Result<Vec<Step>, Problem> {
        if self.rest.starts_with('\'') {
            return self.quoted_members();
        }
        let end = self.rest.find([',', ']']).ok_or("unterminated array")?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let text = text.trim();
        let number = |text: &str| match text.trim() {
            "" => Ok(None),
            digits => digits.parse::<i64>().map(Some).map_err(|_| format!("invalid array index {text}")),
        };
        if text == "*" {
            return Ok(vec![Step::Slice(None, None, None)]);
        }
        if !text.contains(':') {
            return Ok(vec![Step::Nth(number(text)?.unwrap_or(0))]);
        }
        let mut bounds = text.splitn(3, ':').map(number);
        let mut bound = || bounds.next().unwrap_or(Ok(None));
        Ok(vec![Step::Slice(bound()?, bound()?, bound()?)])
    }

    /// Quoted members, separated by dots.
    fn quoted_members(&mut self) -> Result<Vec<Step>, Problem> {
        let raw = self.raw_quoted('\'')?;
        let mut reader = Reader { rest: &raw, depth: self.depth };
        let mut members = vec![reader.quoted_name()];
        while let Some(rest) = reader.rest.strip_prefix('.') {
            reader.rest = rest;
            members.push(reader.quoted_name());
        }
        Ok(members)
    }

    fn filter(&mut self) -> Result<Step, Problem> {
        self.skip_spaces();
        let left = self.operand()?;
        self.skip_spaces();
        let signs = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let compared = match signs.into_iter().find(|(sign, _)| self.rest.starts_with(sign)) {
            None => None,
            Some((sign, comparison)) => {
                self.rest = &self.rest[sign.len()..];
                self.skip_spaces();
                Some((comparison, self.operand()?))
            }
        };
        self.skip_spaces();
        self.expect(")]", "unterminated filter")?;
        Ok(Step::Filter(left, compared))
    }

    fn operand(&mut self) -> Result<Operand, Problem> {
        match self.rest.chars().next() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote).map(|text| Operand::Value(text.into())),
            Some('@' | '$' | '.') => self.path().map(Operand::JsonPath),
            _ => {
                let end = self.rest.find([')', ' ', '=', '!', '<', '>']).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                match (word, gantry_json::from_str(word)) {
                    ("", _) => Err("a filter compares with nothing".into()),
                    (_, Ok(value @ (Value::Bool(_) | Value::Number(_)))) => Ok(Operand::Value(value)),
                    _ => Ok(Operand::Word(word.to_owned())),
                }
            }
        }
    }

    /// A quoted string, with escapes such as `
    /// `.
    fn quoted(&mut self, quote: char) -> Result<String, Problem> {
        let raw = self.raw_quoted(quote)?;
        let mut text = String::new();
        let mut letters = raw.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => text.extend(letters.next().map(|escaped| match escaped {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    other => other,
                })),
                other => text.push(other),
            }
        }
        Ok(text)
    }

    fn raw_quoted(&mut self, quote: char) -> Result<String, Problem> {
        let inside = &self.rest[quote.len_utf8()..];
        let mut escaped = false;
        for (at, letter) in inside.char_indices() {
            if letter == quote && !escaped {
                self.rest = &inside[at + quote.len_utf8()..];
                return Ok(inside[..at].to_owned());
            }
            escaped = letter == '\\' && !escaped;
        }
        Err("unterminated quoted string".into())
    }
}
