//! Indented JSON: two spaces per level.

/// Indents valid JSON; there is no newline at the end (A0.4).
pub fn pretty(json: &[u8]) -> Vec<u8> {
    pretty_within(json, usize::MAX).unwrap_or_default()
}

/// Indents valid JSON; `None` if the result exceeds this size by more than a line. Most of a deep value is indentation.
pub fn pretty_within(json: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(json.len() * 2);
    let (mut level, mut in_text, mut escaped) = (0_usize, false, false);
    let mut rest = json.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if bytes.len() > bytes_max {
            return None;
        }
        if in_text {
            bytes.push(byte);
            in_text = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {}
            b'{' | b'[' => {
                bytes.push(byte);
                while rest.next_if(u8::is_ascii_whitespace).is_some() {}
                if let Some(end) = rest.next_if(|next| matches!(next, b'}' | b']')) {
                    bytes.push(end);
                } else {
                    level += 1;
                    new_line(level, &mut bytes);
                }
            }
            b'}' | b']' => {
                level = level.saturating_sub(1);
                new_line(level, &mut bytes);
                bytes.push(byte);
            }
            b',' => {
                bytes.push(byte);
                new_line(level, &mut bytes);
            }
            b':' => bytes.extend_from_slice(b": "),
            _ => {
                in_text = byte == b'"';
                bytes.push(byte);
            }
        }
    }
    Some(bytes)
}

fn new_line(level: usize, bytes: &mut Vec<u8>) {
    bytes.push(b'\n');
    bytes.extend(std::iter::repeat_n(b' ', 2 * level));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A0.4: two spaces, `{}` for empty objects, no newline at the end.
    #[test]
    fn every_member_has_a_line_of_its_own() {
        let laid_out = pretty(b"{\"a\":[1,{\"b\":\"x, {\\\"y\\\\\"}],\"c\":{},\"d\":[ ]}\n");
        assert_eq!(
            String::from_utf8(laid_out).unwrap(),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x, {\\\"y\\\\\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}"
        );
    }

    /// Indentation is limited: a megabyte of zeros at a hundred levels would be a hundred megabytes.
    #[test]
    fn deep_values_are_not_indented_beyond_a_limit() {
        let json = format!("{}{}{}", "[".repeat(100), vec!["0"; 10_000].join(","), "]".repeat(100));
        assert_eq!(pretty_within(json.as_bytes(), 8 * json.len()), None);
        assert_eq!(pretty_within(b"[1]", 8), Some(b"[\n  1\n]".to_vec()));
    }
}
