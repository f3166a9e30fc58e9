//! Strings and numbers in JSON, as Go writes them: HTML characters are escaped, too (A0.4).

use std::io::Write as _;

use gantry_json::Number;

const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";

/// The bytes that may have to be escaped; most strings have none of them.
const SUSPECT: [bool; 256] = {
    let mut suspect = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        suspect[byte] = true;
        byte += 1;
    }
    let others = [b'"', b'\\', b'<', b'>', b'&', 0xe2];
    let mut index = 0;
    while index < others.len() {
        suspect[others[index] as usize] = true;
        index += 1;
    }
    suspect
};

const STEP: usize = 16;

/// Whether one of these bytes may have to be escaped.
#[expect(clippy::needless_bitwise_bool, reason = "without branches all bytes are compared at once")]
fn has_suspect(bytes: &[u8; STEP]) -> bool {
    let is_suspect = |byte: u8| {
        (byte < 0x20)
            | (byte == b'"')
            | (byte == b'\\')
            | (byte == b'<')
            | (byte == b'>')
            | (byte == b'&')
            | (byte == 0xe2)
    };
    bytes.iter().fold(false, |found, byte| found | is_suspect(*byte))
}

/// Writes a number; floats, and integers too large for Go, in Go's format.
pub(super) fn number(number: &Number, bytes: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = match number.as_f64() {
        Some(real) if !number.is_i64() => bytes.write_all(float(real).as_bytes()),
        _ => write!(bytes, "{number}"),
    };
}

fn float(real: f64) -> String {
    if real == 0.0 || (1e-6..1e21).contains(&real.abs()) {
        return real.to_string();
    }
    let scientific = format!("{real:e}");
    match scientific.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => scientific,
    }
}

/// Writes a quoted string.
pub(super) fn string(text: &str, bytes: &mut Vec<u8>) {
    let raw = text.as_bytes();
    bytes.reserve(raw.len() + 2);
    bytes.push(b'"');
    let mut plain_from = 0;
    // Long strings are scanned in steps of a few instructions.
    let (steps, _) = raw.as_chunks();
    let plain = steps.iter().take_while(|step| !has_suspect(step)).count() * STEP;
    let rest = raw.iter().enumerate().skip(plain);
    for (at, byte) in rest.filter(|(_, byte)| SUSPECT[usize::from(**byte)]) {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0x08 => b"\\b",
            0x0c => b"\\f",
            b'<' | b'>' | b'&' | 0..0x20 => {
                let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
                &[b'\\', b'u', b'0', b'0', HEXADECIMAL[high], HEXADECIMAL[low]]
            }
            // U+2028 and U+2029 end lines in JavaScript.
            0xe2 if raw[at..].starts_with(&[0xe2, 0x80, 0xa8]) => b"\\u2028",
            0xe2 if raw[at..].starts_with(&[0xe2, 0x80, 0xa9]) => b"\\u2029",
            _ => continue,
        };
        bytes.extend_from_slice(&raw[plain_from..at]);
        bytes.extend_from_slice(escape);
        plain_from = at + if *byte == 0xe2 { 3 } else { 1 };
    }
    bytes.extend_from_slice(&raw[plain_from..]);
    bytes.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut bytes = Vec::new();
        string(text, &mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    /// A0.4: HTML characters are escaped.
    #[test]
    fn html_and_control_characters_are_escaped() {
        assert_eq!(written("a<b>&c"), r#""a\u003cb\u003e\u0026c""#);
        assert_eq!(written("\"\\\n\r\t\u{8}\u{c}\u{1}\u{7f}"), "\"\\\"\\\\\\n\\r\\t\\b\\f\\u0001\u{7f}\"");
        assert_eq!(written("é😀\u{2028}x\u{2029}"), "\"é😀\\u2028x\\u2029\"");
    }
}
