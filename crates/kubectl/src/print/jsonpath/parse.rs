//! Reads templates.

use serde_json::{Value, json};

use super::{Comparison, Operand, Part, Path, Step};

/// Reads a whole template.
pub(super) fn template(text: &str) -> Result<Vec<Part>, String> {
    let mut reader = Reader { rest: text };
    let parts = reader.parts(false)?;
    Ok(parts)
}

struct Reader<'t> {
    rest: &'t str,
}

/// What stood between braces.
enum Braced {
    Part(Part),
    Range(Path),
    End,
}

impl Reader<'_> {
    fn parts(&mut self, in_range: bool) -> Result<Vec<Part>, String> {
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
                    let inside = self.parts(true)?;
                    parts.push(Part::Range(path, inside));
                }
                Braced::End if in_range => return Ok(parts),
                Braced::End => return Err("not in range, nothing to end".to_owned()),
            }
        }
        if in_range { Err("unterminated range".to_owned()) } else { Ok(parts) }
    }

    fn braced(&mut self) -> Result<Braced, String> {
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
        Ok(Braced::Part(Part::Path(path)))
    }

    fn close(&mut self) -> Result<(), String> {
        self.skip_spaces();
        self.expect("}").map_err(|_| "unclosed action".to_owned())
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        self.rest = self
            .rest
            .strip_prefix(sign)
            .ok_or_else(|| format!("unexpected {:?}, expected {sign}", self.rest))?;
        Ok(())
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn path(&mut self) -> Result<Path, String> {
        let from_root = self.rest.starts_with('$');
        if from_root || self.rest.starts_with('@') {
            self.rest = &self.rest[1..];
        }
        let mut steps = Vec::new();
        loop {
            if let Some(rest) = self.rest.strip_prefix("..") {
                self.rest = rest;
                steps.push(Step::Descend);
                if let Some(name) = self.name() {
                    steps.push(name);
                }
            } else if let Some(rest) = self.rest.strip_prefix('.') {
                self.rest = rest;
                steps.extend(self.name());
            } else if let Some(rest) = self.rest.strip_prefix('[') {
                self.rest = rest;
                steps.push(self.bracketed()?);
            } else {
                break;
            }
        }
        Ok(Path { from_root, steps })
    }

    /// The name after a dot; dots in it are escaped.
    fn name(&mut self) -> Option<Step> {
        let mut name = String::new();
        let mut letters = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => name.extend(letters.next().map(|(_, escaped)| escaped)),
                '.' | '[' | ']' | '}' | ' ' | ')' | '=' | '!' | '<' | '>' | ',' | '|' => {
                    end = at;
                    break;
                }
                other => name.push(other),
            }
        }
        self.rest = &self.rest[end..];
        match name.as_str() {
            "" => None,
            "*" => Some(Step::Each),
            _ => Some(Step::Member(name)),
        }
    }

    fn bracketed(&mut self) -> Result<Step, String> {
        if let Some(rest) = self.rest.strip_prefix("?(") {
            self.rest = rest;
            return self.filter();
        }
        let mut steps = Vec::new();
        loop {
            self.skip_spaces();
            steps.push(self.index()?);
            self.skip_spaces();
            match self.rest.chars().next() {
                Some(',') => self.rest = &self.rest[1..],
                Some(']') => {
                    self.rest = &self.rest[1..];
                    break;
                }
                _ => return Err("unterminated array".to_owned()),
            }
        }
        match steps.len() {
            1 => steps.pop().ok_or_else(String::new),
            _ => Ok(Step::Union(steps)),
        }
    }

    fn index(&mut self) -> Result<Step, String> {
        if let Some(quote) = self.rest.chars().next().filter(|first| *first == '"' || *first == '\'') {
            return self.quoted_member(quote);
        }
        let end = self.rest.find([',', ']']).ok_or("unterminated array")?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let text = text.trim();
        if text == "*" {
            return Ok(Step::Each);
        }
        let number = |text: &str| match text.trim() {
            "" => Ok(None),
            digits => digits.parse::<i64>().map(Some).map_err(|_| format!("invalid array index {text}")),
        };
        if !text.contains(':') {
            return number(text)?.map(Step::Nth).ok_or_else(|| "empty array index".to_owned());
        }
        let mut bounds = text.splitn(3, ':').map(number);
        let mut bound = || bounds.next().unwrap_or(Ok(None));
        Ok(Step::Slice(bound()?, bound()?, bound()?))
    }

    /// A member in quotes; among several, dots part a path.
    fn quoted_member(&mut self, quote: char) -> Result<Step, String> {
        let raw = self.raw_quoted(quote)?;
        let mut names = vec![String::new()];
        let mut letters = raw.chars();
        while let Some(letter) = letters.next() {
            match (letter, names.last_mut()) {
                ('\\', Some(name)) => name.extend(letters.next()),
                ('.', _) => names.push(String::new()),
                (other, Some(name)) => name.push(other),
                (_, None) => {}
            }
        }
        if names.len() == 1 {
            return Ok(Step::Member(names.concat()));
        }
        Ok(Step::Chain(names.into_iter().map(Step::Member).collect()))
    }

    fn filter(&mut self) -> Result<Step, String> {
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
        self.expect(")]").map_err(|_| "unterminated filter".to_owned())?;
        Ok(Step::Filter(left, compared))
    }

    fn operand(&mut self) -> Result<Operand, String> {
        match self.rest.chars().next() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote).map(|text| Operand::Value(text.into())),
            Some('@' | '$' | '.') => self.path().map(Operand::Path),
            _ => {
                let end = self.rest.find([')', ' ', '=', '!', '<', '>']).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                let value: Option<Value> = match word {
                    "" => None,
                    word => serde_json::from_str(word).ok().or_else(|| Some(json!(word))),
                };
                value.map(Operand::Value).ok_or_else(|| "a filter compares with nothing".to_owned())
            }
        }
    }

    /// A text in quotes, with escapes such as `\n`.
    fn quoted(&mut self, quote: char) -> Result<String, String> {
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

    fn raw_quoted(&mut self, quote: char) -> Result<String, String> {
        let inside = &self.rest[quote.len_utf8()..];
        let mut escaped = false;
        for (at, letter) in inside.char_indices() {
            if letter == quote && !escaped {
                self.rest = &inside[at + quote.len_utf8()..];
                return Ok(inside[..at].to_owned());
            }
            escaped = letter == '\\' && !escaped;
        }
        Err("unterminated quoted string".to_owned())
    }
}
