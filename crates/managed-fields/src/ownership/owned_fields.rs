//! The paths of one manager, decoded when they are needed.

use std::ops::Deref;
use std::sync::OnceLock;

use gantry_json::Value;

use super::{FieldSet, PathElement};

/// The paths of one manager. Those of a stored object stay encoded until they are needed: most writes concern one
/// manager of several.
#[derive(Clone, Debug, Default)]
pub struct OwnedFields {
    decoded: OnceLock<FieldSet>,
    /// As `fieldsV1`, until they change.
    encoded: Option<Value>,
}

impl OwnedFields {
    /// The paths in the `fieldsV1` of a stored object, which was checked when it was written.
    pub(super) fn stored(encoded: Value) -> Self {
        Self { decoded: OnceLock::new(), encoded: Some(encoded) }
    }

    /// The paths as `fieldsV1`.
    pub(super) fn encode(&self) -> Value {
        self.encoded.clone().unwrap_or_else(|| FieldSet::encode(self))
    }

    /// Adds paths. Encoded ones stay encoded: a manager usually writes the same fields again.
    pub(super) fn absorb(&mut self, paths: FieldSet) {
        match &mut self.encoded {
            Some(Value::Object(encoded)) => {
                paths.absorb_into(encoded);
                self.decoded = OnceLock::new();
            }
            _ => self.change(|owned| owned.absorb(paths)),
        }
    }

    /// Removes paths.
    pub(super) fn subtract(&mut self, paths: &FieldSet) {
        if self.may_overlap(paths) {
            self.change(|fields| fields.subtract(paths));
        }
    }

    /// Changes the paths.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut FieldSet)) {
        // Decodes them.
        let _: &FieldSet = self;
        let mut fields = self.decoded.take().unwrap_or_default();
        change(&mut fields);
        *self = fields.into();
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        match &self.encoded {
            Some(Value::Object(encoded)) if encoded.keys().any(|key| key.starts_with("f:")) => false,
            _ => FieldSet::is_empty(self),
        }
    }

    /// Whether a path may be in both sets: their first elements are compared.
    fn may_overlap(&self, paths: &FieldSet) -> bool {
        let Some(Value::Object(encoded)) = &self.encoded else { return true };
        let is_first = |name: &str| {
            let is_field = |element: &PathElement| match element {
                PathElement::Field(field) => field == name,
                _ => true,
            };
            paths.nodes().any(|(element, _)| is_field(element))
        };
        encoded.keys().any(|key| key.strip_prefix("f:").is_none_or(is_first))
    }
}

impl Deref for OwnedFields {
    type Target = FieldSet;

    fn deref(&self) -> &FieldSet {
        let encoded = self.encoded.as_ref().unwrap_or(&Value::Null);
        self.decoded.get_or_init(|| FieldSet::decode(encoded).unwrap_or_default())
    }
}

impl From<FieldSet> for OwnedFields {
    fn from(fields: FieldSet) -> Self {
        Self { decoded: fields.into(), encoded: None }
    }
}

impl PartialEq for OwnedFields {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for OwnedFields {}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    #[test]
    fn unrelated_fields_of_a_manager_are_not_decoded() {
        let mut spec = OwnedFields::stored(json!({"f:spec": {"f:replicas": {}}}));
        spec.subtract(&FieldSet::of_fields(&["status", "status.replicas"]));
        assert!(spec.decoded.get().is_none());
        spec.subtract(&FieldSet::of_fields(&["spec.replicas"]));
        assert!(spec.is_empty());
    }

    #[test]
    fn paths_are_added_to_encoded_ones_as_to_decoded_ones() {
        let sets = [
            json!({"f:a": {}}),
            json!({"f:a": {".": {}, "f:b": {}}}),
            json!({"f:a": {"f:b": {}, "k:{\"x\":1}": {}}}),
            json!({"f:a": {"k:{\"x\":1}": {".": {}, "f:c": {}}}, "f:d": {}}),
            json!({"f:d": {"v:1": {}, "i:2": {}}}),
            json!({}),
        ];
        let decoded = |set: &Value| FieldSet::decode(set).unwrap();
        for (one, other) in sets.iter().flat_map(|one| sets.iter().map(move |other| (one, other))) {
            let mut owned = OwnedFields::stored(one.clone());
            owned.absorb(decoded(other));
            let union = decoded(one).union(&decoded(other));
            assert_eq!((owned.encode(), &*owned), (union.encode(), &union), "{one} and {other}");
        }
    }

    #[test]
    fn paths_are_the_same_encoded_and_decoded() {
        let fields = FieldSet::of_fields(&["metadata.labels", "metadata.labels.a", "spec"]);
        let stored = OwnedFields::stored(fields.encode());
        assert_eq!(stored, OwnedFields::from(fields.clone()));
        assert_eq!((stored.encode(), stored.len()), (fields.encode(), fields.len()));
    }
}
