//! Literals: numbers, strings and bytes.

use std::str::Chars;

use super::Literal;

/// Parses the number at the start of a text; returns it and its length.
pub(super) fn number(text: &str) -> Result<(Literal, usize), String> {
    let bad = |number: &str| format!("invalid literal: {number}");
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = hex.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(hex.len());
        let (digits, after) = hex.split_at(end);
        return whole(digits, 16, after, 2 + end).ok_or_else(|| bad(&text[..2 + end]));
    }
    let digits = |from: usize| {
        text[from..].find(|letter: char| !letter.is_ascii_digit()).map_or(text.len(), |end| from + end)
    };
    let integer = digits(0);
    let mut end = integer;
    if text[end..].starts_with('.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    if end == integer {
        return whole(&text[..end], 10, &text[end..], end).ok_or_else(|| bad(&text[..end]));
    }
    let read: f64 = text[..end].parse().map_err(|_| bad(&text[..end]))?;
    if read.is_finite() { Ok((Literal::Double(read), end)) } else { Err(bad(&text[..end])) }
}

fn whole(digits: &str, radix: u32, after: &str, length: usize) -> Option<(Literal, usize)> {
    if after.starts_with(['u', 'U']) {
        return Some((Literal::Uint(u64::from_str_radix(digits, radix).ok()?), length + 1));
    }
    // The smallest integer, whose absolute value does not fit.
    match u64::from_str_radix(digits, radix).ok()? {
        number if number == 1 << 63 => Some((Literal::Int(i64::MIN), length)),
        number => Some((Literal::Int(i64::try_from(number).ok()?), length)),
    }
}

/// Parses the quoted string at the start of a text; returns it and its length with the quotes. `None` if there is none.
pub(super) fn text(text: &str) -> Result<Option<(Literal, usize)>, String> {
    let (mut raw, mut bytes) = (false, false);
    let mut rest = text;
    for _ in 0..2 {
        match rest.as_bytes().first() {
            Some(b'r' | b'R') if !raw => raw = true,
            Some(b'b' | b'B') if !bytes => bytes = true,
            _ => break,
        }
        rest = &rest[1..];
    }
    let quotes = ["\"\"\"", "'''", "\"", "'"];
    let Some(quote) = quotes.into_iter().find(|quote| rest.starts_with(quote)) else { return Ok(None) };
    let inner = &rest[quote.len()..];
    let end = closing(inner, quote, raw).ok_or("Syntax error: a text has no end")?;
    let (body, length) = (&inner[..end], text.len() - rest.len() + 2 * quote.len() + end);
    let literal = match (bytes, raw) {
        (false, true) => Literal::Text(body.to_owned()),
        (true, true) => Literal::Bytes(body.as_bytes().to_vec()),
        (false, false) => Literal::Text(unescaped_text(body)?),
        (true, false) => Literal::Bytes(unescaped_bytes(body)?),
    };
    Ok(Some((literal, length)))
}

/// The position of the closing quote; a single-quoted string ends with its line.
fn closing(text: &str, quote: &str, raw: bool) -> Option<usize> {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        if text[at..].starts_with(quote) {
            return Some(at);
        }
        match letter {
            '\\' if !raw => _ = letters.next(),
            '\n' | '\r' if quote.len() == 1 => return None,
            _ => {}
        }
    }
    None
}

fn unescaped_text(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    each(text, |part| {
        out.push(match part {
            Part::Letter(letter) => letter,
            Part::Code(code) => char::from_u32(code)?,
        });
        Some(())
    })?;
    Ok(out)
}

fn unescaped_bytes(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    each(text, |part| {
        match part {
            Part::Letter(letter) => out.extend(letter.encode_utf8(&mut [0; 4]).bytes()),
            Part::Code(code) => out.push(u8::try_from(code).ok()?),
        }
        Some(())
    })?;
    Ok(out)
}

enum Part {
    Letter(char),
    /// A character of a string, or a byte, by its code.
    Code(u32),
}

fn each(text: &str, mut take: impl FnMut(Part) -> Option<()>) -> Result<(), String> {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let part = if letter == '\\' { escape(&mut letters) } else { Some(Part::Letter(letter)) };
        part.and_then(&mut take).ok_or_else(|| format!("invalid escape in {text:?}"))?;
    }
    Ok(())
}

fn escape(letters: &mut Chars<'_>) -> Option<Part> {
    let kind = letters.next()?;
    let (first, digits, radix) = match kind {
        'x' | 'X' => (None, 2, 16),
        'u' => (None, 4, 16),
        'U' => (None, 8, 16),
        '0'..='3' => (Some(kind), 3, 8),
        _ => return plain(kind).map(Part::Letter),
    };
    let mut code = 0_u32;
    for place in 0..digits {
        let digit = if place == 0 && first.is_some() { first } else { letters.next() };
        code = code.checked_mul(radix)?.checked_add(digit?.to_digit(radix)?)?;
    }
    Some(Part::Code(code))
}

fn plain(kind: char) -> Option<char> {
    Some(match kind {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '?' | '"' | '\'' | '`' => kind,
        _ => return None,
    })
}
