//! Changes single members of objects in JSON text, without decoding the others.

use std::ops::Range;

use crate::json_reader::JsonReader;

/// Returns an object in which the member at a path has another value. A member that does not exist is added, as is an object
/// above it that does not exist or is null. `None` if the text is not as API servers write it.
pub(crate) fn with_member(object: &[u8], path: &[&str], value: &[u8]) -> Option<Vec<u8>> {
    let (name, rest) = path.split_first()?;
    let present = find(object, name)?;
    let changed = match (&present, rest) {
        (_, []) => value.to_vec(),
        (Some(place), rest) if object[place.start] == b'{' => {
            with_member(&object[place.clone()], rest, value)?
        }
        (_, rest) => with_member(b"{}", rest, value)?,
    };
    if let Some(place) = present {
        return Some([&object[..place.start], &changed, &object[place.end..]].concat());
    }
    let comma: &[u8] = if object == b"{}" { b"" } else { b"," };
    Some([&object[..object.len() - 1], comma, b"\"", name.as_bytes(), b"\":", &changed, b"}"].concat())
}

/// Finds the value of a member.
#[expect(clippy::option_option, reason = "text that cannot be read differs from an absent member")]
fn find(object: &[u8], wanted: &str) -> Option<Option<Range<usize>>> {
    let mut found = None;
    JsonReader::new(object).object(|reader, name| {
        let place = reader.place()?;
        if name == wanted.as_bytes() {
            found = Some(place);
        }
        Some(())
    })?;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(object: &str, path: &[&str], value: &str) -> Option<String> {
        with_member(object.as_bytes(), path, value.as_bytes()).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn a_member_is_replaced_or_added_and_all_others_stay() {
        let object = r#"{"a":{"b":1,"c":[{"b":2}]},"d":null,"e":{}}"#;
        let table = [
            (&["a", "b"][..], "7", r#"{"a":{"b":7,"c":[{"b":2}]},"d":null,"e":{}}"#),
            (&["a", "c"], "{}", r#"{"a":{"b":1,"c":{}},"d":null,"e":{}}"#),
            (&["a", "x"], "7", r#"{"a":{"b":1,"c":[{"b":2}],"x":7},"d":null,"e":{}}"#),
            (&["d", "x"], "7", r#"{"a":{"b":1,"c":[{"b":2}]},"d":{"x":7},"e":{}}"#),
            (&["e", "x", "y"], "7", r#"{"a":{"b":1,"c":[{"b":2}]},"d":null,"e":{"x":{"y":7}}}"#),
            (&["f"], "7", r#"{"a":{"b":1,"c":[{"b":2}]},"d":null,"e":{},"f":7}"#),
        ];
        for (path, value, expected) in table {
            assert_eq!(changed(object, path, value).as_deref(), Some(expected), "{path:?}");
        }
    }

    #[test]
    fn text_with_whitespace_is_not_changed() {
        assert_eq!(changed(r#"{ "a":1}"#, &["a"], "2"), None);
        assert_eq!(changed("[]", &["a"], "2"), None);
    }
}
