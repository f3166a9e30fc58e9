//! The schemas of objects, from a server's OpenAPI documents or a given schema, and random values for them.

use std::collections::BTreeMap;

use gantry_json::{Map, SmolStr, Value, json};

use crate::cache::Cache;
use crate::server::Server;
use gantry_rng::Rng;

/// Fields that the server sets or that identify the object; random changes do not affect them.
const KEPT: [&str; 6] =
    ["kind", "apiVersion", "status", "managedFields", "creationTimestamp", "generateName"];
const DEEPEST: usize = 6;

/// The schemas of all definitions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schemas {
    definitions: BTreeMap<String, Value>,
}

impl Schemas {
    /// Reads the definitions of these groups and versions, from the cache if it has them.
    pub(crate) async fn read(server: &Server, cache: &Cache, versions: &[&str]) -> Result<Self, String> {
        let mut definitions = BTreeMap::new();
        for version in versions {
            let path = if *version == "v1" { "api/v1".to_owned() } else { format!("apis/{version}") };
            let name = format!("openapi-{}", path.replace('/', "-"));
            let document = match cache.document(&name) {
                Some(document) => document,
                None => server.document(&format!("/openapi/v3/{path}")).await?,
            };
            cache.keep_document(&name, &document)?;
            if let Some(schemas) = document.pointer("/components/schemas").and_then(Value::as_object) {
                definitions.extend(schemas.iter().map(|(name, schema)| (name.to_string(), schema.clone())));
            }
        }
        Ok(Self { definitions })
    }

    /// Returns the schema of a kind; one without fields if there is none.
    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> &Value {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let wanted = json!({"group": group, "version": version, "kind": kind});
        let is_wanted = |schema: &&Value| {
            schema["x-kubernetes-group-version-kind"].as_array().is_some_and(|kinds| kinds.contains(&wanted))
        };
        self.definitions.values().find(is_wanted).unwrap_or(&Value::Null)
    }

    /// Follows references to the schema that they name.
    fn resolved<'a>(&'a self, mut schema: &'a Value) -> &'a Value {
        loop {
            let only = schema["allOf"].as_array().filter(|all| all.len() == 1);
            if let Some(reference) = schema["$ref"].as_str() {
                let name = reference.rsplit('/').next().unwrap_or_default();
                schema = self.definitions.get(name).unwrap_or(&Value::Null);
            } else if let Some(only) = only {
                schema = &only[0];
            } else {
                return schema;
            }
        }
    }

    /// Returns a value that the schema allows, occasionally one that it does not.
    pub(crate) fn value(&self, rng: &mut Rng, schema: &Value, depth: usize) -> Value {
        let reference = schema.to_string();
        let schema = self.resolved(schema);
        if rng.percent(4) {
            return rng.pick(&[Value::Null, json!("odd"), json!(7), json!([]), json!({}), json!(true)]);
        }
        if let Some(choices) = schema["enum"].as_array().filter(|choices| !choices.is_empty())
            && rng.percent(85)
        {
            return rng.pick(choices);
        }
        if reference.contains("resource.Quantity") {
            return quantity(rng);
        }
        if reference.contains("IntOrString") || schema["x-kubernetes-int-or-string"] == true {
            return rng.pick(&[json!(1), json!("50%"), json!("http"), json!(0), json!("x%"), json!(-1)]);
        }
        match schema["type"].as_str() {
            Some("object") => self.object(rng, schema, depth),
            Some("array") => {
                let items =
                    if schema["items"].is_object() { &schema["items"] } else { &json!({"type": "string"}) };
                (0..rng.pick(&[0, 1, 1, 2])).map(|_| self.value(rng, items, depth + 1)).collect()
            }
            Some("boolean") => json!(rng.percent(50)),
            Some("integer" | "number") => number(rng),
            Some("string") => text(rng, schema["format"].as_str().unwrap_or_default()),
            _ if schema["properties"].is_object() => self.object(rng, schema, depth),
            _ => rng.pick(&[json!("free"), json!(3), json!({"free": "form"})]),
        }
    }

    fn object(&self, rng: &mut Rng, schema: &Value, depth: usize) -> Value {
        let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty())
        else {
            let values = if schema["additionalProperties"].is_object() {
                &schema["additionalProperties"]
            } else {
                &json!({"type": "string"})
            };
            return (0..rng.index(3))
                .map(|_| (word(rng), self.value(rng, values, depth + 1)))
                .collect::<Map>()
                .into();
        };
        let is_required = |name: &str| {
            schema["required"].as_array().is_some_and(|required| required.contains(&json!(name)))
        };
        let likely = if depth < 3 { 98 } else { 68 };
        let mut object = Map::new();
        for (name, below) in properties.iter().filter(|(name, _)| is_required(name)) {
            if rng.percent(likely) {
                object.insert(name.clone(), self.value(rng, below, depth + 1));
            }
        }
        let more: Vec<&SmolStr> = properties.keys().filter(|name| !object.contains_key(name)).collect();
        let count = rng.pick(&[0, 1, 1, 2]);
        for name in rng.sample(&more, count) {
            let value =
                if depth < DEEPEST { self.value(rng, &properties[name], depth + 1) } else { json!({}) };
            object.insert(name.clone(), value);
        }
        Value::Object(object)
    }

    /// Sets, changes or removes one field somewhere in the object. Lists are entered only if `in_lists`.
    pub(crate) fn mutate(&self, rng: &mut Rng, object: &mut Value, schema: &Value, in_lists: bool) {
        let mut at = object;
        let mut schema = self.resolved(schema);
        let mut is_metadata = false;
        for depth in 0..rng.between(1, DEEPEST) {
            let Some(properties) = schema["properties"].as_object() else { return };
            let names: Vec<&SmolStr> =
                properties.keys().filter(|name| !KEPT.contains(&name.as_str())).collect();
            let Some(fields) = at.as_object_mut().filter(|_| !names.is_empty()) else { return };
            let held: Vec<&SmolStr> =
                names.iter().copied().filter(|name| fields.contains_key(name)).collect();
            let name = if !held.is_empty() && rng.percent(60) { rng.pick(&held) } else { rng.pick(&names) };
            let below = self.resolved(&properties[name]);
            let is_entered = depth + 1 < DEEPEST
                && match fields.get(name) {
                    Some(Value::Object(_)) => below["properties"].is_object(),
                    Some(Value::Array(items)) => in_lists && items.first().is_some_and(Value::is_object),
                    _ => false,
                };
            if !is_entered {
                let is_name = is_metadata && name == "name";
                if rng.percent(12) && fields.contains_key(name) {
                    fields.remove(name);
                } else if name != "metadata" && !is_name {
                    fields.insert(name.clone(), self.value(rng, &properties[name], depth));
                }
                return;
            }
            is_metadata = depth == 0 && name == "metadata";
            at = match fields.get_mut(name) {
                Some(Value::Array(items)) => {
                    schema = self.resolved(&below["items"]);
                    let index = rng.index(items.len());
                    &mut items[index]
                }
                Some(field) => {
                    schema = below;
                    field
                }
                None => return,
            };
        }
        if let Some(fields) = at.as_object_mut().filter(|_| rng.percent(30)) {
            fields.insert("unknownField", json!(1));
        }
    }
}

fn quantity(rng: &mut Rng) -> Value {
    let texts = ["1", "100m", "1Gi", "0", "-1", "1.5", "x", "1e3", "0.0001", "999999999999999999999"];
    if rng.percent(10) { json!(2) } else { json!(rng.pick(&texts)) }
}

fn number(rng: &mut Rng) -> Value {
    let numbers = [0, 1, 2, -1, 80, 65_536, 2_147_483_647, 2_147_483_648_i64, 100];
    match rng.index(11) {
        0 => json!(1.5),
        1 => json!("7"),
        _ => json!(rng.pick(&numbers)),
    }
}

fn text(rng: &mut Rng, format: &str) -> Value {
    match format {
        "date-time" => {
            json!(rng.pick(&["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.000006Z", "yesterday"]))
        }
        "byte" => json!(rng.pick(&["YQ==", "", "%%"])),
        _ => json!(word(rng)),
    }
}

/// Returns a word that is a valid name, a value of some enum, or neither.
pub(crate) fn word(rng: &mut Rng) -> String {
    let words = [
        "a", "web", "x-1", "A_b", "", "a.b/c", "1", "http", "None", "Always", "../x", "é", "10.0.0.1", "/p",
        "*", "5s",
    ];
    if rng.percent(5) { "very-".repeat(14) + "long" } else { rng.pick(&words).to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schemas() -> Schemas {
        let pod = json!({
            "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}],
            "properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string"}}}, "spec": {"allOf": [{"$ref": "#/components/schemas/spec"}]}},
        });
        let spec = json!({"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}, "mode": {"type": "string", "enum": ["A"]}}});
        Schemas { definitions: [("pod".to_owned(), pod), ("spec".to_owned(), spec)].into() }
    }

    #[test]
    fn a_kind_is_found_and_its_references_are_followed() {
        let schemas = schemas();
        let spec = schemas.resolved(&schemas.kind("v1", "Pod")["properties"]["spec"]);
        assert_eq!(spec["required"], json!(["size"]));
        assert!(schemas.kind("v1", "Node").is_null());
    }

    #[test]
    fn a_seed_makes_the_same_change_again_and_seeds_make_different_ones() {
        let schemas = schemas();
        let changed = |seed| {
            let mut object = json!({"metadata": {"name": "p"}, "spec": {"size": 1}});
            schemas.mutate(&mut Rng::new(seed), &mut object, schemas.kind("v1", "Pod"), true);
            object
        };
        assert!((0..50).all(|seed| changed(seed) == changed(seed)));
        assert!((0..50).any(|seed| changed(seed)["spec"]["mode"] == "A"));
        assert!((0..50).all(|seed| changed(seed)["metadata"]["name"] == "p"
            || changed(seed)["metadata"].get("name").is_none()));
    }

    #[test]
    fn most_values_are_of_the_schema_and_some_are_not() {
        let schema = json!({"type": "boolean"});
        let mut rng = Rng::new(3);
        let wrong =
            (0..1000).filter(|_| !Schemas::default().value(&mut rng, &schema, 0).is_boolean()).count();
        assert!((10..100).contains(&wrong), "{wrong}");
    }
}
