//! The parts of a text that the next text of the same object can copy.
//!
//! Most writes change little of an object: its status, or one entry of its managed fields. The other parts of the new
//! object are clones of the stored ones, and their text is in the stored bytes.

use gantry_json::Value;

use crate::schema::MessageId;

/// Smaller parts are encoded again, which is as fast as looking for them.
const PART_BYTES_MIN: usize = 128;

/// The larger objects within an object that was written, and their positions in its text. They are clones, so each
/// costs only a reference count.
#[derive(Clone, Debug, Default)]
pub struct TextParts {
    /// In the order of their ends: nested parts are before the part that contains them.
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    object: Value,
    kind: PartKind,
    start: usize,
    end: usize,
}

/// The type of an object, which determines how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    Message(MessageId),
    Anything,
}

/// The text of an object, and the positions of its parts.
#[derive(Clone, Copy, Debug)]
pub struct PreviousText<'a> {
    /// The text.
    pub text: &'a [u8],
    /// Its parts.
    pub parts: &'a TextParts,
}

/// The output, and the previous text of the object.
pub(super) struct Writer<'a> {
    pub(super) bytes: &'a mut Vec<u8>,
    pub(super) previous: Option<PreviousText<'a>>,
    /// `None` if they are not needed.
    pub(super) parts: Option<TextParts>,
}

impl TextParts {
    /// Whether the object is an unchanged clone of one of the parts.
    pub fn contains(&self, object: &Value) -> bool {
        self.parts.iter().any(|part| object.is_clone_of(&part.object))
    }

    fn find(&self, object: &Value, kind: PartKind) -> Option<usize> {
        self.parts.iter().position(|part| object.is_clone_of(&part.object) && part.kind == kind)
    }
}

impl<'a> Writer<'a> {
    /// Writes without a previous text.
    pub(super) fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, previous: None, parts: None }
    }

    /// Writes an object, or copies it from the previous text.
    pub(super) fn part(&mut self, object: &Value, kind: PartKind, write: impl FnOnce(&mut Self)) {
        if let Some(previous) = self.previous
            && let Some(found) = previous.parts.find(object, kind)
        {
            return self.copy(previous, found);
        }
        let start = self.bytes.len();
        write(self);
        let end = self.bytes.len();
        if let Some(TextParts { parts }) = &mut self.parts
            && end - start >= PART_BYTES_MIN
        {
            parts.push(Part { object: object.clone(), kind, start, end });
        }
    }

    /// Copies a part, with the parts that are within it.
    fn copy(&mut self, previous: PreviousText<'_>, found: usize) {
        let known = &previous.parts.parts;
        let (start, end) = (known[found].start, known[found].end);
        let within = known[..found].iter().rev().take_while(|part| part.start >= start).count();
        let to = self.bytes.len();
        self.bytes.extend_from_slice(&previous.text[start..end]);
        if let Some(TextParts { parts }) = &mut self.parts {
            let moved = |part: &Part| Part {
                start: part.start - start + to,
                end: part.end - start + to,
                ..part.clone()
            };
            parts.extend(known[found - within..=found].iter().map(moved));
        }
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::{Value, json};

    use super::*;
    use crate::encode::{TypeMeta, object_into, object_with_parts};
    use crate::kinds::Nature;
    use crate::schema::schema;

    fn written(value: &Value, previous: Option<PreviousText<'_>>) -> (Vec<u8>, TextParts) {
        let mut bytes = Vec::new();
        let parts = object_with_parts(value, &pods(), previous, &mut bytes);
        let mut expected = Vec::new();
        object_into(value, &pods(), TypeMeta::Written, &mut expected);
        assert_eq!(String::from_utf8(bytes.clone()).unwrap(), String::from_utf8(expected).unwrap());
        (bytes, parts)
    }

    fn pods() -> Nature {
        schema().find("core/v1.Pod").unwrap().into()
    }

    #[test]
    fn parts_that_stay_are_copied_wherever_they_move_to() {
        let long = "x".repeat(PART_BYTES_MIN);
        let mut pod = json!({
            "metadata": {"name": "p", "annotations": {"long": long}},
            "spec": {"containers": [{"name": "a", "image": long}, {"name": "b", "image": long}]},
            "status": {"message": long},
        });
        let (mut text, mut parts) = written(&pod, None);
        let changes: [fn(&mut Value); 4] = [
            |pod| pod["metadata"]["labels"] = json!({"app": "web"}),
            |pod| pod["status"]["phase"] = json!("Running"),
            |pod| pod["spec"]["containers"][1]["image"] = json!("i"),
            |pod| pod["spec"]["nodeName"] = json!("n"),
        ];
        for change in changes {
            change(&mut pod);
            assert!(parts.parts.iter().any(|part| has_clone(&pod, &part.object)), "something is copied");
            (text, parts) = written(&pod, Some(PreviousText { text: &text, parts: &parts }));
        }
    }

    /// Whether an unchanged clone of an object is somewhere in a value.
    fn has_clone(value: &Value, object: &Value) -> bool {
        value.is_clone_of(object)
            || match value {
                Value::Object(members) => members.values().any(|member| has_clone(member, object)),
                Value::Array(items) => items.iter().any(|item| has_clone(item, object)),
                _ => false,
            }
    }
}
