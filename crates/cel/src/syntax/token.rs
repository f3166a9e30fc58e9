//! The tokens of an expression.

use super::literal;
use super::{Literal, SourceError};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'t> {
    Name(&'t str),
    Literal(Literal),
    Sign(&'static str),
    End,
}

/// The operators, longest first, so that none is split.
const SIGNS: [&str; 24] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",", "(", ")",
    "[", "]", "{", "}",
];

/// Splits a text into tokens with their offsets; the last token is the end.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token<'_>, usize)>, SourceError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at += blank(&text[at..]);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            tokens.push((Token::End, at));
            return Ok(tokens);
        };
        let (token, length) = next(rest, first).map_err(|why| SourceError::new(at, why))?;
        tokens.push((token, at));
        at += length;
    }
}

fn next(rest: &str, first: char) -> Result<(Token<'_>, usize), String> {
    let is_number = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
    if let Some((literal, length)) = literal::text(rest)? {
        return Ok((Token::Literal(literal), length));
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let name = &rest[..end.unwrap_or(rest.len())];
        let token = match name {
            "true" => Token::Literal(Literal::Bool(true)),
            "false" => Token::Literal(Literal::Bool(false)),
            "null" => Token::Literal(Literal::Null),
            _ => Token::Name(name),
        };
        return Ok((token, name.len()));
    }
    if is_number(rest) || (first == '.' && is_number(&rest[1..])) {
        let (literal, length) = literal::number(rest)?;
        return Ok((Token::Literal(literal), length));
    }
    let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
    let sign = sign.ok_or_else(|| format!("Syntax error: token recognition error at: '{first}'"))?;
    Ok((Token::Sign(sign), sign.len()))
}

/// The length of leading white space and comments.
fn blank(text: &str) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
        match rest.strip_prefix("//") {
            Some(comment) => rest = &comment[comment.find('\n').unwrap_or(comment.len())..],
            None => return text.len() - rest.len(),
        }
    }
}
