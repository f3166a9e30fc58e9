//! Changes single members of objects in JSON text, without decoding the others.

use std::ops::Range;

use crate::json_reader::JsonReader;

/// Returns an object in which the member at a path has another value, or is removed. A member that does not exist is added, as is
/// an object above it that does not exist or is null. `None` if the text is not as API servers write it, or if a value above
/// the member is not an object.
pub(crate) fn with_member(object: &[u8], path: &[&str], value: Option<&[u8]>) -> Option<Vec<u8>> {
    let (name, rest) = path.split_first()?;
    let present = find(object, name)?;
    let Some(changed) = changed_value(present.clone().map(|place| &object[place]), rest, value)? else {
        return without(object, name, present);
    };
    if let Some(place) = present {
        return Some([&object[..place.start], &changed, &object[place.end..]].concat());
    }
    let comma: &[u8] = if object == b"{}" { b"" } else { b"," };
    Some([&object[..object.len() - 1], comma, b"\"", name.as_bytes(), b"\":", &changed, b"}"].concat())
}

/// The value of a member after the change at the rest of the path; the inner `None` if the member is removed.
#[expect(clippy::option_option, reason = "text that cannot be read differs from a removed member")]
fn changed_value(present: Option<&[u8]>, rest: &[&str], value: Option<&[u8]>) -> Option<Option<Vec<u8>>> {
    match (present, value) {
        (_, value) if rest.is_empty() => Some(value.map(<[u8]>::to_vec)),
        (None | Some(b"null"), None) => Some(present.map(<[u8]>::to_vec)),
        (None | Some(b"null"), value) => with_member(b"{}", rest, value).map(Some),
        (Some(object), value) => with_member(object, rest, value).map(Some),
    }
}

/// Removes a member whose value is at this place.
fn without(object: &[u8], name: &str, value: Option<Range<usize>>) -> Option<Vec<u8>> {
    let Some(value) = value else { return Some(object.to_vec()) };
    let start = value.start - name.len() - r#""":"#.len();
    let Range { start, end } = member_with_comma(object, start..value.end)?;
    Some([&object[..start], &object[end..]].concat())
}

/// A member with the comma that separates it from another one. `None` if the text ends with the member.
pub(crate) fn member_with_comma(object: &[u8], Range { start, end }: Range<usize>) -> Option<Range<usize>> {
    Some(match (object[start - 1], object.get(end)?) {
        (b',', _) => start - 1..end,
        (_, b',') => start..end + 1,
        _ => start..end,
    })
}

/// Finds the value of a member.
#[expect(clippy::option_option, reason = "text that cannot be read differs from an absent member")]
fn find(object: &[u8], wanted: &str) -> Option<Option<Range<usize>>> {
    let mut found = None;
    let mut reader = JsonReader::new(object);
    reader.object(|reader, name| {
        let place = reader.place()?;
        if name == wanted.as_bytes() {
            found = Some(place);
        }
        Some(())
    })?;
    reader.is_at_end().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(object: &str, path: &[&str], value: &str) -> Option<String> {
        let value = Some(value).filter(|value| *value != REMOVED).map(str::as_bytes);
        with_member(object.as_bytes(), path, value).map(|text| String::from_utf8(text).unwrap())
    }

    const REMOVED: &str = "";

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
    fn a_member_is_removed_with_one_comma() {
        let table = [
            (r#"{"a":1,"b":{"c":2}}"#, &["a"][..], r#"{"b":{"c":2}}"#),
            (r#"{"a":1,"b":{"c":2}}"#, &["b"], r#"{"a":1}"#),
            (r#"{"a":1,"b":{"c":2}}"#, &["b", "c"], r#"{"a":1,"b":{}}"#),
            (r#"{"a":1,"b":null}"#, &["b", "c"], r#"{"a":1,"b":null}"#),
            (r#"{"a":1}"#, &["b", "c"], r#"{"a":1}"#),
            (r#"{"a":1}"#, &["b"], r#"{"a":1}"#),
        ];
        for (object, path, expected) in table {
            assert_eq!(changed(object, path, REMOVED).as_deref(), Some(expected), "{object} {path:?}");
        }
    }

    #[test]
    fn members_of_the_same_name_elsewhere_and_text_in_strings_stay() {
        let object = r#"{"x":{"a":{"b":0}},"s":"\"a\":{\"b\":1}}","a":{"x":{"b":2},"b":3}}"#;
        let expected = r#"{"x":{"a":{"b":0}},"s":"\"a\":{\"b\":1}}","a":{"x":{"b":2},"b":7}}"#;
        assert_eq!(changed(object, &["a", "b"], "7").as_deref(), Some(expected));
    }

    #[test]
    fn text_of_another_form_is_not_changed() {
        let table = [
            (r#"{ "a":1}"#, &["a"][..]),
            ("[]", &["a"]),
            ("{\"a\":1}\n", &["b"]),
            (r#"{"a":1}x"#, &["b"]),
            (r#"{"a": {"b":1}}"#, &["a", "c"]),
            (r#"{"a":3}"#, &["a", "b"]),
            (r#"{"a":[1]}"#, &["a", "b"]),
        ];
        for (object, path) in table {
            assert_eq!(changed(object, path, "2"), None, "{object}");
        }
    }
}
