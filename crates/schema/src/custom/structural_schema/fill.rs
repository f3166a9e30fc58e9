//! What is left out of an object and has a default.

use serde_json::Value;

use super::{Structure, Values};

/// What becomes of `null` where it may not stand and there is no default for it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nulls {
    Removed,
    Kept,
}

impl Structure {
    /// Fills in defaults, and removes `null` where it may not stand. Doing it again changes nothing.
    ///
    /// The objects that defaults are made of have defaults themselves. A list keeps its `null`s, unless there is
    /// a default for them: its elements have places.
    pub fn fill(&self, object: &mut Value) {
        self.fill_with(object, Nulls::Removed);
    }

    /// Fills in defaults, and leaves every other `null`: what is applied says what it means, and is judged by it.
    pub fn fill_applied(&self, object: &mut Value) {
        self.fill_with(object, Nulls::Kept);
    }

    fn fill_with(&self, object: &mut Value, nulls: Nulls) {
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
                        declared.fill_one(member, nulls);
                    }
                }
            }
            Value::Array(elements) => {
                if let Some(items) = &self.items {
                    for element in elements {
                        items.fill_one(element, nulls);
                    }
                }
            }
            _ => {}
        }
    }

    /// What is declared of a member.
    pub fn member(&self, name: &str) -> Option<&Self> {
        match (self.properties.get(name), &self.values) {
            (Some(declared), _) => Some(declared),
            (None, Values::Like(declared)) => Some(declared),
            (None, Values::None | Values::Any) => None,
        }
    }

    fn fill_one(&self, value: &mut Value, nulls: Nulls) {
        if let (Value::Null, false, Some(default)) = (&*value, self.nullable, &self.default) {
            value.clone_from(default);
        }
        self.fill_with(value, nulls);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Appendix E: defaults come from the schema, those within defaults too; an object that is not there is not
    /// made up. Whatever was filled stays as it is.
    #[test]
    fn what_is_left_out_is_filled_in() {
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
            let structure = Structure::read(&json!({"type": "object", "properties": properties}));
            let mut filled = object.clone();
            structure.fill(&mut filled);
            assert_eq!(filled, expected, "{object} of {properties}");
            structure.fill(&mut filled);
            assert_eq!(filled, expected, "{object} of {properties}, again");
        }
    }

    /// Appendix E: `null` where it may not stand is as good as nothing, but elements of lists have their places.
    #[test]
    fn null_is_removed_where_it_may_not_stand() {
        let structure = Structure::read(&json!({"type": "object", "properties": {
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
        structure.fill(&mut object);
        assert_eq!(
            object,
            json!({"yes": null, "map": {"b": "c"}, "list": [null, "a"], "defaulted": ["x"], "free": {"a": null}})
        );
    }
}
