//! Names of fields as identifiers: names that are not identifiers in CEL are escaped.

use super::syntax::RESERVED;

/// Literals that look like identifiers.
const VALUES: [&str; 3] = ["true", "false", "null"];
const SIGNS: [(&str, &str); 4] =
    [("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__")];

/// Escapes the name of a field; `None` if it cannot be escaped.
pub(crate) fn escape(field: &str) -> Option<String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "_.-/".contains(letter);
    if field.is_empty() || field.starts_with(|first: char| first.is_ascii_digit()) || !field.chars().all(fits)
    {
        return None;
    }
    if is_word(field) {
        return Some(format!("__{field}__"));
    }
    let (mut out, mut rest) = (String::with_capacity(field.len()), field);
    while let Some(first) = rest.chars().next() {
        if let Some((sign, written)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            out.push_str(written);
            rest = &rest[sign.len()..];
        } else {
            out.push(first);
            rest = &rest[1..];
        }
    }
    Some(out)
}

/// Unescapes an identifier: the inverse of [`escape`].
pub(super) fn unescape(name: &str) -> Option<String> {
    let word = name.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"));
    if let Some(word) = word.filter(|word| is_word(word)) {
        return Some(word.to_owned());
    }
    let (mut out, mut rest) = (String::with_capacity(name.len()), name);
    while let Some(first) = rest.chars().next() {
        if let Some((sign, written)) = SIGNS.iter().find(|(_, written)| rest.starts_with(written)) {
            out.push_str(sign);
            rest = &rest[written.len()..];
        } else if rest.starts_with("__") {
            return None;
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    Some(out)
}

/// Whether a name is reserved.
fn is_word(text: &str) -> bool {
    RESERVED.contains(&text) || VALUES.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appendix E: names of fields that are not identifiers are escaped.
    #[test]
    fn field_names_are_escaped_as_identifiers() {
        let table = [
            ("replicas", Some("replicas")),
            ("namespace", Some("__namespace__")),
            ("x-prop", Some("x__dash__prop")),
            ("redact__d", Some("redact__underscores__d")),
            ("a.b/c", Some("a__dot__b__slash__c")),
            ("$ref", None),
            ("1st", None),
            ("", None),
        ];
        for (field, expected) in table {
            assert_eq!(escape(field).as_deref(), expected, "{field}");
            if let Some(name) = expected {
                assert_eq!(unescape(name).as_deref(), Some(field), "{name}");
            }
        }
    }
}
