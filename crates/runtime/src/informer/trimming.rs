//! Removes the managed fields from objects before they are decoded.
//!
//! Components do not look at them, and they are a large part of an object and of the work to decode it.
//! kube-controller-manager drops them from its caches, too.

use std::borrow::Cow;
use std::ops::Range;

/// Removes `metadata.managedFields` from the JSON of an object; anything unexpected is left to the decoder.
pub(crate) fn without_managed_fields(object: &[u8]) -> Cow<'_, [u8]> {
    let found = find_member(object, 0, b"metadata")
        .and_then(|metadata| find_member(object, metadata.value, b"managedFields"));
    match found {
        Some(Member { whole, .. }) => [&object[..whole.start], &object[whole.end..]].concat().into(),
        None => object.into(),
    }
}

/// A member of an object.
struct Member {
    /// With the comma that separates it from another member.
    whole: Range<usize>,
    /// Where its value begins.
    value: usize,
}

/// Finds a member of the object that begins at this position.
fn find_member(json: &[u8], object: usize, name: &[u8]) -> Option<Member> {
    let mut at = object + 1;
    if json.get(object) != Some(&b'{') {
        return None;
    }
    loop {
        let key_end = string_end(json, at)?;
        if json.get(key_end) != Some(&b':') {
            return None;
        }
        let end = value_end(json, key_end + 1)?;
        if json[at + 1..key_end - 1] == *name {
            let whole = match (json[at - 1], json.get(end)?) {
                (b',', _) => at - 1..end,
                (_, b',') => at..end + 1,
                _ => at..end,
            };
            return Some(Member { whole, value: key_end + 1 });
        }
        if json.get(end) != Some(&b',') {
            return None;
        }
        at = end + 1;
    }
}

/// The position after the string that begins at this one.
fn string_end(json: &[u8], start: usize) -> Option<usize> {
    if json.get(start) != Some(&b'"') {
        return None;
    }
    let mut at = start + 1;
    loop {
        match json.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The position after the value that begins at this one.
fn value_end(json: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let mut depth = 0_usize;
    loop {
        match json.get(at)? {
            b'"' => at = string_end(json, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            // The end of a number or literal.
            b',' | b'}' | b']' if depth == 0 => return Some(at),
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed(object: &str) -> String {
        String::from_utf8(without_managed_fields(object.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn managed_fields_are_removed_wherever_they_are_in_the_metadata() {
        let entries = r#"[{"manager":"a]}\"","fieldsV1":{"f:metadata":{"f:labels":{}}}},{}]"#;
        let table = [
            (
                format!(r#"{{"metadata":{{"name":"a","managedFields":{entries}}}}}"#),
                r#"{"metadata":{"name":"a"}}"#,
            ),
            (
                format!(r#"{{"metadata":{{"managedFields":{entries},"name":"a"}}}}"#),
                r#"{"metadata":{"name":"a"}}"#,
            ),
            (
                format!(r#"{{"metadata":{{"managedFields":{entries}}},"spec":1}}"#),
                r#"{"metadata":{},"spec":1}"#,
            ),
            (
                r#"{"kind":"A","n":[1,-2.5e3,true,null],"metadata":{"x":1,"managedFields":null,"y":2}}"#
                    .to_owned(),
                r#"{"kind":"A","n":[1,-2.5e3,true,null],"metadata":{"x":1,"y":2}}"#,
            ),
        ];
        for (object, expected) in table {
            assert_eq!(trimmed(&object), expected);
        }
    }

    /// The metadata of a pod template is part of the template.
    #[test]
    fn other_members_of_that_name_stay() {
        let table = [
            r#"{"metadata":{"name":"a"},"spec":{"template":{"metadata":{"managedFields":[]}}}}"#,
            r#"{"metadata":{"annotations":{"managedFields":"x"}}}"#,
            r#"{"metadata":{"annotations":{"a":",\"managedFields\":[]"}}}"#,
            r#"{"managedFields":[]}"#,
        ];
        for object in table {
            assert_eq!(trimmed(object), object);
        }
    }

    #[test]
    fn what_is_not_understood_is_not_changed() {
        let table = [
            "",
            "{",
            "{}",
            "[]",
            r#"{"metadata":"#,
            r#"{"metadata":{"managedFields":[}"#,
            r#"{ "metadata": {} }"#,
            r#"{"a"#,
        ];
        for object in table {
            assert_eq!(trimmed(object), object);
        }
    }
}
