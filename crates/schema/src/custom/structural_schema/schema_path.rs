//! Paths into a schema, such as `.spec['a key']`.

use gantry_json::Value;

const CUT_SHORT: &str = "unexpected end of JSON path";
const NO_FIELD: &str = "does not refer to a valid field";

/// Whether members may be named in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brackets {
    /// `.spec['a key']` is a path.
    Allowed,
    /// Only dots separate members.
    Refused,
}

/// Resolves a path in a schema: returns the names of the properties on it, and the schema at its end.
pub fn resolve<'a>(
    path: &str,
    schema: &'a Value,
    brackets: Brackets,
) -> Result<(Vec<String>, &'a Value), String> {
    let (mut steps, mut schema) = (Vec::new(), schema);
    let mut tokens = tokens(path).into_iter();
    while let Some(token) = tokens.next() {
        let name = match token {
            "." => tokens.next().ok_or(CUT_SHORT)?.to_owned(),
            "[" if brackets == Brackets::Refused => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let quoted = tokens.next().ok_or(CUT_SHORT)?;
                let name = unquoted(quoted)?;
                match tokens.next().ok_or(CUT_SHORT)? {
                    "]" => name,
                    other => return Err(format!("expected ] but got {other}")),
                }
            }
            other => return Err(format!("expected [ or . but got: {other}")),
        };
        schema = member(schema, &name).ok_or(NO_FIELD)?;
        steps.push(name);
    }
    Ok((steps, schema))
}

fn member<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    match schema["properties"].as_object() {
        Some(properties) => properties.get(name),
        None => schema.get("additionalProperties"),
    }
}

/// Splits a path at dots and brackets, which are tokens themselves; a quoted name is one token.
fn tokens(path: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), path);
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '.' | '[' | ']' => 1,
            '\'' => closing_quote(rest),
            _ => rest.find(['.', '[', ']']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn closing_quote(text: &str) -> usize {
    let bytes = text.as_bytes();
    (1..bytes.len()).find(|at| bytes[*at] == b'\'' && bytes[at - 1] != b'\\').map_or(text.len(), |at| at + 1)
}

fn unquoted(token: &str) -> Result<String, String> {
    let inner = token.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let inner = inner.ok_or_else(|| format!("expected single quoted string but got {token}"))?;
    let (mut name, mut letters) = (String::new(), inner.chars());
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            name.push(letter);
            continue;
        }
        name.push(match letters.next() {
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some(same @ ('\'' | '\\')) => same,
            Some(other) => return Err(format!("invalid string literal: invalid escape char \\{other}")),
            None => '\\',
        });
    }
    Ok(name)
}
