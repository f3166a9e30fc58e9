//! Pruning: removing undeclared properties.

use gantry_json::{Map, Value};

use super::{AdditionalProperties, StructuralSchema};
use gantry_primitives::Path;

/// The properties of every resource, declared or not.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// What happens to undeclared properties.
#[derive(Clone, Copy, PartialEq)]
enum Unknown {
    Removed,
    Kept,
}

impl StructuralSchema {
    /// Removes undeclared properties and returns their paths in alphabetical order: `spec.list[0].colour`.
    ///
    /// `apiVersion`, `kind` and `metadata` of the object and of embedded resources are kept.
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        let mut removed = Vec::new();
        let root = Path::root();
        match object {
            Value::Object(members) => self.prune_members(members, &root, self.unknown(), true, &mut removed),
            other => self.prune_value(other, &root, &mut removed),
        }
        removed.sort();
        removed
    }

    /// Whether everything in a part of an object is declared.
    pub fn declares(&self, value: &Value) -> bool {
        let mut removed = Vec::new();
        self.prune_value(&mut value.clone(), &Path::root(), &mut removed);
        removed.is_empty()
    }

    fn unknown(&self) -> Unknown {
        if self.preserves_unknown { Unknown::Kept } else { Unknown::Removed }
    }

    fn prune_value(&self, value: &mut Value, at: &Path<'_>, removed: &mut Vec<String>) {
        self.prune_as(value, at, self.unknown(), removed);
    }

    fn prune_as(&self, value: &mut Value, at: &Path<'_>, unknown: Unknown, removed: &mut Vec<String>) {
        match value {
            Value::Object(members) => self.prune_members(members, at, unknown, self.embedded, removed),
            Value::Array(elements) => {
                for (index, element) in elements.iter_mut().enumerate() {
                    let at = at.index(index);
                    match (&self.items, unknown) {
                        // A list that preserves unknown fields preserves them in its elements.
                        (Some(items), Unknown::Kept) => items.prune_as(element, &at, Unknown::Kept, removed),
                        (Some(items), Unknown::Removed) => items.prune_value(element, &at, removed),
                        (None, Unknown::Kept) => {}
                        (None, Unknown::Removed) => empty(element, &at, removed),
                    }
                }
            }
            _ => {}
        }
    }

    fn prune_members(
        &self,
        members: &mut Map,
        at: &Path<'_>,
        unknown: Unknown,
        has_meta: bool,
        removed: &mut Vec<String>,
    ) {
        members.retain(|name, member| {
            if has_meta && META.contains(&name.as_str()) {
                return true;
            }
            let at = at.child(name);
            match (self.properties.get(name.as_str()), &self.values) {
                (Some(declared), _) => declared.prune_value(member, &at, removed),
                (None, AdditionalProperties::Schema(declared)) => declared.prune_value(member, &at, removed),
                (None, AdditionalProperties::Any) => empty(member, &at, removed),
                (None, AdditionalProperties::None) if unknown == Unknown::Kept => {}
                (None, AdditionalProperties::None) => {
                    removed.push(at.to_string());
                    return false;
                }
            }
            true
        });
    }
}

/// Removes all properties of a value without a declaration.
fn empty(value: &mut Value, at: &Path<'_>, removed: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            removed.extend(members.keys().map(|name| at.child(name).to_string()));
            members.clear();
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter_mut().enumerate() {
                empty(element, &at.index(index), removed);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    fn pruned(schema: &Value, mut object: Value) -> (Value, Vec<String>) {
        let removed = StructuralSchema::read(schema).prune(&mut object);
        (object, removed)
    }

    /// Appendix E: undeclared fields are removed and returned at any depth; version, kind and metadata are kept.
    #[test]
    fn undeclared_fields_are_pruned_and_returned() {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "size": {"type": "integer"},
            "list": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "limits": {"type": "object", "additionalProperties": {"type": "object", "properties": {"cpu": {}}}},
        }}}});
        let object = json!({
            "apiVersion": "example.com/v1", "kind": "Crane", "metadata": {"name": "a", "colour": "red"},
            "status": {},
            "spec": {
                "size": 1, "foo": {"bar": 1},
                "list": [{"name": "a"}, {"name": "b", "bar": 1}],
                "limits": {"x": {"cpu": 1, "gpu": 2}, "apiVersion": {"kind": 1}},
            },
        });
        let (object, removed) = pruned(&schema, object);
        assert_eq!(
            removed,
            ["spec.foo", "spec.limits.apiVersion.kind", "spec.limits.x.gpu", "spec.list[1].bar", "status"]
        );
        assert_eq!(
            object,
            json!({
                "apiVersion": "example.com/v1", "kind": "Crane", "metadata": {"name": "a", "colour": "red"},
                "spec": {
                    "size": 1, "list": [{"name": "a"}, {"name": "b"}],
                    "limits": {"x": {"cpu": 1}, "apiVersion": {}},
                },
            })
        );
    }

    /// Appendix E: an object that preserves unknown fields keeps them at its own level; a declared field is pruned by
    /// its declaration, unless that preserves unknown fields, too.
    #[test]
    fn unknown_members_may_be_kept() {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "spec": {"type": "object", "properties": {
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    "properties": {"strict": {"type": "object", "properties": {"a": {}}}}},
                "raw": {"type": "array", "x-kubernetes-preserve-unknown-fields": true,
                    "items": {"type": "object", "properties": {"a": {"type": "object"}}}},
            }},
        }});
        let object = json!({
            "more": {"deep": 1},
            "spec": {"b": 1, "free": {"c": {"d": 1}, "strict": {"a": 1, "e": 1}}, "raw": [{"f": 1, "a": {"g": 1}}]},
        });
        let (object, removed) = pruned(&schema, object);
        assert_eq!(removed, ["spec.b", "spec.free.strict.e", "spec.raw[0].a.g"]);
        assert_eq!(
            object,
            json!({"more": {"deep": 1}, "spec": {"free": {"c": {"d": 1}, "strict": {"a": 1}}, "raw": [{"f": 1, "a": {}}]}})
        );
    }

    /// Appendix E: an embedded object keeps version, kind and metadata without declaring them.
    #[test]
    fn embedded_objects_keep_api_version_kind_and_metadata() {
        let schema = json!({"type": "object", "properties": {"template": {
            "type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}},
        }}});
        let template =
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"a": 1}, "data": 1, "spec": {"b": 1}});
        let (object, removed) = pruned(&schema, json!({"template": template}));
        assert_eq!(removed, ["template.data", "template.spec.b"]);
        assert_eq!(
            object["template"],
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"a": 1}, "spec": {}})
        );
    }

    /// Appendix E: with `additionalProperties: true` or without `items`, nothing is declared in the nested objects.
    #[test]
    fn additional_properties_keep_one_level_of_unknown_fields() {
        let schema = json!({"type": "object", "properties": {
            "any": {"type": "object", "additionalProperties": true}, "list": {"type": "array"},
        }});
        let (object, removed) =
            pruned(&schema, json!({"any": {"a": 1, "b": {"c": 1}}, "list": [1, [{"d": 1}]]}));
        assert_eq!(removed, ["any.b.c", "list[1][0].d"]);
        assert_eq!(object, json!({"any": {"a": 1, "b": {}}, "list": [1, [{}]]}));
    }
}
