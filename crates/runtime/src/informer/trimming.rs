//! Removes the managed fields from objects before they are decoded.
//!
//! Components do not use them, and they are a large part of an object and of the work to decode it.
//! kube-controller-manager drops them from its caches, too.

use std::borrow::Cow;
use std::ops::Range;

use crate::json_reader::JsonReader;
use crate::json_text::member_with_comma;

/// Removes `metadata.managedFields` from the JSON of an object; anything unexpected is left to the decoder.
pub(crate) fn without_managed_fields(object: &[u8]) -> Cow<'_, [u8]> {
    match managed_fields(object) {
        Some(member) => [&object[..member.start], &object[member.end..]].concat().into(),
        None => object.into(),
    }
}

/// Finds the member `metadata.managedFields`, with the comma that separates it from another member. The rest is not
/// read.
fn managed_fields(object: &[u8]) -> Option<Range<usize>> {
    let mut found = None;
    let _stopped = JsonReader::new(object).object(|reader, name| match name {
        b"metadata" => {
            reader.object(|reader, name| match name {
                b"managedFields" => {
                    let start = reader.position() - name.len() - r#""":"#.len();
                    reader.skip()?;
                    found = Some(start..reader.position());
                    None
                }
                _ => reader.skip(),
            })?;
            None
        }
        _ => reader.skip(),
    });
    member_with_comma(object, found?)
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
    fn text_that_cannot_be_parsed_is_not_changed() {
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
