//! Percent-encoding of paths and queries.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// All bytes but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The bytes that Go encodes in a path that was decoded before.
const NOT_IN_DECODED_PATH: &AsciiSet = &RESERVED
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

/// The bytes that Go encodes in the path of a URL.
const NOT_IN_PATH: &AsciiSet = &NOT_IN_DECODED_PATH
    .remove(b'!')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'%')
    .remove(b'[')
    .remove(b']');

/// Encodes a text for a path segment or a query.
pub fn encode(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, RESERVED).into()
}

/// Encodes the path of a URL as Go's `EscapedPath` does: existing escapes and separators stay.
pub fn encode_path(path: &str) -> Cow<'_, str> {
    utf8_percent_encode(path, NOT_IN_PATH).into()
}

/// Encodes a decoded path, as Go does: separators stay.
pub fn encode_decoded_path(path: &str) -> Cow<'_, str> {
    utf8_percent_encode(path, NOT_IN_DECODED_PATH).into()
}

/// Decodes a path, in which `+` is literal. Malformed escapes stay unchanged.
pub fn decode_path(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
}

/// Decodes a query parameter, in which `+` is a space. Malformed escapes stay unchanged.
pub fn decode_query(text: &str) -> Cow<'_, str> {
    if !text.contains('+') {
        return decode_path(text);
    }
    Cow::Owned(decode_path(&text.replace('+', " ")).into_owned())
}

/// Decodes the parameters of a query, in their order.
pub fn query_parameters(query: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| decode_query(text).into_owned();
    let parameters = query.split('&').filter(|pair| !pair.is_empty());
    parameters
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_characters_are_encoded() {
        assert_eq!(encode("a-._~Z9"), "a-._~Z9");
        assert_eq!(encode("x in (a, b)"), "x%20in%20%28a%2C%20b%29");
        assert_eq!(encode("é/%"), "%C3%A9%2F%25");
        assert_eq!(encode_decoded_path("/a b/100%;x=@!"), "/a%20b/100%25;x=@%21");
        assert_eq!(encode_path("/a b/%20;x=[1]?#\""), "/a%20b/%20;x=[1]%3F%23%22");
    }

    #[test]
    fn a_plus_is_a_space_in_queries_only() {
        assert_eq!(decode_query("b+in+%281%29%2B"), "b in (1)+");
        assert_eq!(decode_path("/api/v1/a+b%2Bc%20d"), "/api/v1/a+b+c d");
    }

    #[test]
    fn malformed_escapes_stay() {
        for text in ["100%", "%zz%4", "%", "%+4"] {
            assert_eq!(decode_path(text), text);
        }
        assert_eq!(decode_path("%ff"), "\u{fffd}");
    }
}
