//! Lists that are sets or maps: no element may be a duplicate.

use std::collections::BTreeMap;

use gantry_json::{Map, Value};

use super::outcome::Outcome;
use super::{AdditionalProperties, ListType, StructuralSchema};
use gantry_primitives::{FieldError, Path};

/// Returns the duplicates in an object as errors.
pub(super) fn validate(structure: &StructuralSchema, object: &Value) -> Vec<FieldError> {
    let mut outcome = Outcome::default();
    structure.validate_uniqueness(&mut outcome, &Path::root(), object);
    outcome.errors
}

/// The elements of a list by the values of their keys; of duplicates the first.
pub(super) fn by_keys<'a>(elements: &'a [Value], keys: &[String]) -> BTreeMap<String, &'a Value> {
    elements.iter().rev().map(|element| (keys_of(element, keys).to_string(), element)).collect()
}

/// The key of an element: its key properties with their values.
pub(super) fn keys_of(element: &Value, keys: &[String]) -> Value {
    let known = keys.iter().filter_map(|key| Some((key.clone(), element.get(key)?.clone())));
    Value::Object(known.collect::<Map>())
}

impl StructuralSchema {
    fn validate_uniqueness(&self, outcome: &mut Outcome, at: &Path<'_>, value: &Value) {
        if outcome.is_full() {
            return;
        }
        match value {
            Value::Array(elements) => {
                match &self.lists {
                    ListType::Atomic => {}
                    ListType::Set => validate_set(outcome, at, elements),
                    ListType::Map(keys) => validate_map(outcome, at, elements, keys),
                }
                if let Some(items) = &self.items {
                    for (index, element) in elements.iter().enumerate() {
                        items.validate_uniqueness(outcome, &at.index(index), element);
                    }
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    if let Some(declared) = self.properties.get(name.as_str()) {
                        declared.validate_uniqueness(outcome, &at.child(name), member);
                    } else if let AdditionalProperties::Schema(values) = &self.values {
                        values.validate_uniqueness(outcome, &at.key(name), member);
                    }
                }
            }
            _ => {}
        }
    }
}

fn validate_set(outcome: &mut Outcome, at: &Path<'_>, elements: &[Value]) {
    for index in repeated(elements.iter().map(Value::to_string)) {
        if outcome.is_full() {
            return;
        }
        outcome.add(FieldError::duplicate(at.index(index).to_string(), &elements[index]));
    }
}

fn validate_map(outcome: &mut Outcome, at: &Path<'_>, elements: &[Value], keys: &[String]) {
    let no_object = elements.iter().position(|element| !element.is_object() && !element.is_null());
    if let Some(index) = no_object {
        let why = "must be an object for an array of list-type map";
        return outcome.add(FieldError::invalid(at.index(index).to_string(), &elements[index], why));
    }
    for index in repeated(elements.iter().map(|element| keys_of(element, keys).to_string())) {
        if outcome.is_full() {
            return;
        }
        outcome.add(FieldError::duplicate(at.index(index).to_string(), &keys_of(&elements[index], keys)));
    }
}

/// The index of the second occurrence of each value that occurs more than once.
fn repeated(values: impl Iterator<Item = String>) -> Vec<usize> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut places = Vec::new();
    for (index, value) in values.enumerate() {
        let times = seen.entry(value).or_default();
        *times += 1;
        if *times == 2 {
            places.push(index);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    /// Appendix E: values of a set and keys of a map are unique; the second occurrence is reported.
    #[test]
    fn sets_and_maps_have_no_duplicates() {
        let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {}});
        let map = |keys: &[&str]| {
            json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys,
                "items": {"type": "object"}})
        };
        let table: [(Value, Value, &[&str]); 9] = [
            (set.clone(), json!(["a", "b"]), &[]),
            (set.clone(), json!(["a", "b", "a", "a"]), &["x[2]: Duplicate value: \"a\""]),
            (set.clone(), json!([1, "1", {"a": 1}, {"a": 1}]), &["x[3]: Duplicate value: {\"a\":1}"]),
            (map(&["name"]), json!([{"name": "a"}, {"name": "b"}]), &[]),
            (
                map(&["name"]),
                json!([{"name": "a", "x": 1}, {"name": "a"}]),
                &["x[1]: Duplicate value: {\"name\":\"a\"}"],
            ),
            (map(&["name"]), json!([{}, {}]), &["x[1]: Duplicate value: {}"]),
            (
                map(&["port", "protocol"]),
                json!([{"port": 1, "protocol": "TCP"}, {"port": 1, "protocol": "UDP"}, {"port": 1, "protocol": "TCP"}]),
                &["x[2]: Duplicate value: {\"port\":1,\"protocol\":\"TCP\"}"],
            ),
            (
                map(&["name"]),
                json!(["a"]),
                &["x[0]: Invalid value: \"a\": must be an object for an array of list-type map"],
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "array", "items": set}}),
                json!({"m": [["a", "a"]]}),
                &["x[m][0][1]: Duplicate value: \"a\""],
            ),
        ];
        for (schema, value, expected) in table {
            let structure = StructuralSchema::read(&json!({"type": "object", "properties": {"x": schema}}));
            let errors = validate(&structure, &json!({"x": value}));
            let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(texts, expected, "{value} of {schema}");
        }
    }

    /// Errors contain the path of their value, so only a few are reported below a long key.
    #[test]
    fn errors_below_a_long_key_are_truncated() {
        let strings = json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"});
        let structure = StructuralSchema::read(&json!({"type": "object", "additionalProperties": strings}));
        let object =
            json!({("k".repeat(1 << 20)): (0..200_000).map(|number| number / 2).collect::<Vec<_>>()});
        for errors in [structure.validate_values(&object), structure.validate_lists(&object)] {
            assert!(!errors.is_empty() && errors.len() < 20, "{}", errors.len());
        }
    }
}
