//! The published schema of a custom kind.
//!
//! OpenAPI 3 can express all of it. OpenAPI 2 cannot: its clients reject undeclared properties, `null`, and lists
//! without items. Parts that they would misread are omitted for them, down to an empty schema (Appendix E).

use gantry_json::{Map, Value, json};

use super::Dialect;
use gantry_schema::kinds::Nature;

/// The properties of every object: `apiVersion`, `kind` and `metadata`.
pub(super) type Head = Map;

/// Publishes a schema.
struct Publishing<'h> {
    dialect: Dialect,
    head: &'h Head,
}

const PRESERVES: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

/// The schema of a whole object.
pub(super) fn object(schema: &Value, dialect: Dialect, head: &Head) -> Value {
    // Clients of OpenAPI 2 would reject all undeclared properties.
    if !schema.is_object() || (dialect == Dialect::V2 && is(schema, PRESERVES)) {
        return json!({"type": "object"});
    }
    let publishing = Publishing { dialect, head };
    let mut published = publishing.schema(schema);
    publishing.add_head(&mut published);
    Value::Object(published)
}

/// Adds the selectable fields of a kind or its list, if its definition names any.
pub(super) fn name_selectable(schema: &mut Value, nature: &Nature) {
    let Nature::Custom(custom) = nature else { return };
    if !custom.selectable.is_empty() {
        let fields = custom.selectable.iter().map(|field| json!({"fieldPath": field.label()}));
        schema["x-kubernetes-selectable-fields"] = fields.collect();
    }
}

impl Publishing<'_> {
    fn schema(&self, schema: &Value) -> Map {
        let members = schema.as_object().into_iter().flatten();
        let effective = members.filter(|(key, value)| has_effect(key, value));
        let mut published: Map = effective
            .filter_map(|(key, value)| Some((key.clone(), self.member(schema, key, value)?)))
            .collect();
        if self.dialect == Dialect::V3 && is(schema, INT_OR_STRING) {
            unfold(&mut published);
        }
        if is(schema, EMBEDDED) && (self.dialect == Dialect::V3 || !is(schema, PRESERVES)) {
            self.add_head(&mut published);
            require(&mut published, ["kind", "apiVersion"]);
        }
        published
    }

    /// The published form of a keyword, if it is published.
    fn member(&self, schema: &Value, key: &str, value: &Value) -> Option<Value> {
        let inner = |schema: &Value| Value::Object(self.schema(schema));
        match key {
            "properties" | "items" | "required" | "type" if self.dialect == Dialect::V2 => {
                self.simplified(schema, key, value)
            }
            "allOf" | "anyOf" | "oneOf" | "not" | "nullable" | "default" if self.dialect == Dialect::V2 => {
                None
            }
            "properties" => Some(self.properties(value)),
            "items" => Some(inner(value)),
            "additionalProperties" if value.is_object() => Some(inner(value)),
            _ => Some(value.clone()),
        }
    }

    /// The same for keywords that OpenAPI 2 cannot always express.
    fn simplified(&self, schema: &Value, key: &str, value: &Value) -> Option<Value> {
        let (nullable, preserves) = (is(schema, "nullable"), is(schema, PRESERVES));
        match key {
            "properties" | "items" if nullable || preserves => None,
            "properties" => Some(self.properties(value)),
            "items" => Some(Value::Object(self.schema(value))),
            "required" if is(&schema["additionalProperties"], "nullable") => None,
            "required" if nullable || preserves => Some(value.clone()),
            "required" => {
                let names = value.as_array().into_iter().flatten();
                let never_null = |name: &&Value| {
                    !name.as_str().is_some_and(|name| is(&schema["properties"][name], "nullable"))
                };
                let left: Vec<_> = names.filter(never_null).cloned().collect();
                (!left.is_empty()).then_some(Value::Array(left))
            }
            "type" => {
                let misread = match value.as_str() {
                    Some("array") => preserves || schema.get("items").is_none(),
                    Some("object") => preserves,
                    _ => false,
                };
                (!nullable && !misread).then(|| value.clone())
            }
            _ => Some(value.clone()),
        }
    }

    fn properties(&self, properties: &Value) -> Value {
        let each = properties.as_object().into_iter().flatten();
        each.map(|(name, schema)| (name.clone(), Value::Object(self.schema(schema)))).collect()
    }

    /// Adds the properties of every object, which replace declared ones.
    fn add_head(&self, published: &mut Map) {
        let properties = published.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            properties.extend(self.head.iter().map(|(name, schema)| (name.clone(), schema.clone())));
        }
    }
}

fn is(schema: &Value, key: &str) -> bool {
    schema[key] == true
}

/// Whether a keyword has an effect; others are omitted.
fn has_effect(key: &str, value: &Value) -> bool {
    match (key, value) {
        ("default" | "example" | "items" | "additionalProperties", _) => true,
        (_, Value::Null | Value::Bool(false)) => false,
        (_, Value::String(text)) => !text.is_empty(),
        (_, Value::Array(elements)) => !elements.is_empty(),
        (_, Value::Object(members)) => !members.is_empty(),
        _ => true,
    }
}

/// Adds the alternatives of an int-or-string, unless the definition has them.
fn unfold(published: &mut Map) {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let in_all = published.get("allOf").is_some_and(|all| all[0]["anyOf"] == either);
    match published.get("anyOf") {
        None if !in_all => {
            published.insert("anyOf", either);
        }
        Some(any) if *any != either && !in_all => {
            let all = published.entry("allOf").or_insert_with(|| json!([]));
            if let Value::Array(all) = all {
                all.insert(0, json!({"anyOf": either}));
            }
        }
        _ => {}
    }
}

fn require(published: &mut Map, names: [&str; 2]) {
    if let Value::Array(required) = published.entry("required").or_insert_with(|| json!([])) {
        for name in names.map(Value::from) {
            if !required.contains(&name) {
                required.push(name);
            }
        }
    }
}
