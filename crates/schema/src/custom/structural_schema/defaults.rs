//! Defaults of the schema.

use gantry_json::Value;

use super::{AdditionalProperties, StructuralSchema};

/// What happens to a `null` that is not allowed and has no default.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nulls {
    Removed,
    Kept,
}

impl StructuralSchema {
    /// Sets defaults, and removes `null` where it is not allowed. It is idempotent.
    ///
    /// Objects inside defaults get defaults, too. Elements of a list that are `null` are kept unless they have a
    /// default, because removing them would change the indices.
    pub fn set_defaults(&self, object: &mut Value) {
        self.set_defaults_with(object, Nulls::Removed);
    }

    /// Sets defaults, and keeps every other `null`, so that an applied configuration is validated as it was sent.
    pub fn set_applied_defaults(&self, object: &mut Value) {
        self.set_defaults_with(object, Nulls::Kept);
    }

    fn set_defaults_with(&self, object: &mut Value, nulls: Nulls) {
        match object {
            Value::Object(members) => {
                members.retain(|name, member| {
                    let declared = self.member(name);
                    nulls == Nulls::Kept
                        || !member.is_null()
                        || declared.is_none_or(|declared| declared.nullable || declared.default.is_some())
                });
                for (name, declared) in &self.properties {
                    let Some(default) = &declared.default else { continue };
                    let is_there =
                        members.get(name).is_some_and(|member| !member.is_null() || declared.nullable);
                    if !is_there {
                        members.insert(name.clone(), default.clone());
                    }
                }
                for (name, member) in members {
                    if let Some(declared) = self.member(name) {
                        declared.set_default(member, nulls);
                    }
                }
            }
            Value::Array(elements) => {
                if let Some(items) = &self.items {
                    for element in elements {
                        items.set_default(element, nulls);
                    }
                }
            }
            _ => {}
        }
    }

    /// The schema of a property, declared or additional.
    pub fn member(&self, name: &str) -> Option<&Self> {
        match (self.properties.get(name), &self.values) {
            (Some(declared), _) => Some(declared),
            (None, AdditionalProperties::Schema(declared)) => Some(declared),
            (None, AdditionalProperties::None | AdditionalProperties::Any) => None,
        }
    }

    fn set_default(&self, value: &mut Value, nulls: Nulls) {
        if let (Value::Null, false, Some(default)) = (&*value, self.nullable, &self.default) {
            value.clone_from(default);
        }
        self.set_defaults_with(value, nulls);
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    /// Appendix E: defaults come from the schema, also those inside defaults; absent objects are not created for them.
    /// Setting defaults again changes nothing.
    #[test]
    fn absent_values_get_defaults() {
        let mode = json!({"type": "object", "properties": {"mode": {"type": "string", "default": "auto"}}});
        let mut with_default = mode.clone();
        with_default["default"] = json!({});
        let keeps_null = json!({"type": "string", "nullable": true, "default": "x"});
        let table = [
            (json!({"a": {"type": "integer", "default": 3}}), json!({}), json!({"a": 3})),
            (json!({"a": {"type": "integer", "default": 3}}), json!({"a": 0}), json!({"a": 0})),
            (json!({"a": {"type": "integer", "default": 3}}), json!({"a": null}), json!({"a": 3})),
            (json!({"a": mode}), json!({}), json!({})),
            (json!({"a": mode}), json!({"a": {}}), json!({"a": {"mode": "auto"}})),
            (json!({"a": with_default}), json!({}), json!({"a": {"mode": "auto"}})),
            (
                json!({"a": {"type": "array", "items": mode}}),
                json!({"a": [{}, {"mode": "b"}]}),
                json!({"a": [{"mode": "auto"}, {"mode": "b"}]}),
            ),
            (
                json!({"a": {"type": "object", "additionalProperties": with_default}}),
                json!({"a": {"x": null, "y": {}}}),
                json!({"a": {"x": {"mode": "auto"}, "y": {"mode": "auto"}}}),
            ),
            (json!({"a": keeps_null}), json!({"a": null}), json!({"a": null})),
            (json!({"a": {"type": "string", "default": null}}), json!({}), json!({})),
        ];
        for (properties, object, expected) in table {
            let structure = StructuralSchema::read(&json!({"type": "object", "properties": properties}));
            let mut filled = object.clone();
            structure.set_defaults(&mut filled);
            assert_eq!(filled, expected, "{object} of {properties}");
            structure.set_defaults(&mut filled);
            assert_eq!(filled, expected, "{object} of {properties}, again");
        }
    }

    /// Appendix E: a `null` that is not allowed is removed, except from lists.
    #[test]
    fn null_is_removed_from_fields_that_are_not_nullable() {
        let structure = StructuralSchema::read(&json!({"type": "object", "properties": {
            "no": {"type": "string"}, "yes": {"type": "string", "nullable": true},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "list": {"type": "array", "items": {"type": "string"}},
            "defaulted": {"type": "array", "items": {"type": "string", "default": "x"}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        }}));
        let mut object = json!({
            "no": null, "yes": null, "map": {"a": null, "b": "c"}, "list": [null, "a"], "defaulted": [null],
            "free": {"a": null},
        });
        structure.set_defaults(&mut object);
        assert_eq!(
            object,
            json!({"yes": null, "map": {"b": "c"}, "list": [null, "a"], "defaulted": ["x"], "free": {"a": null}})
        );
    }
}
