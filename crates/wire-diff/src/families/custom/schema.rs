//! Random structural schemas, and random changes to definitions.

use gantry_json::{Value, json};

use gantry_rng::Rng;

/// Returns the schema of an object with a few random fields. At the top level it always has the fields `name`, `count`
/// and `color`, for columns, scale and selectors.
pub(super) fn structural(rng: &mut Rng, depth: usize) -> Value {
    let mut properties = json!({});
    if depth == 0 {
        properties["name"] = text(rng);
        properties["count"] = integer(rng);
        properties["color"] = json!({"type": "string", "enum": ["red", "green", ""]});
    }
    for name in ["list", "map", "nested", "any", "flag", "port", "when", "ratio"] {
        if rng.percent(if depth == 0 { 45 } else { 20 }) {
            properties[name] = field(rng, name, depth);
        }
    }
    let mut schema = json!({"type": "object", "properties": properties});
    let names: Vec<String> =
        properties.as_object().into_iter().flatten().map(|(name, _)| name.to_string()).collect();
    if rng.percent(35) {
        let count = rng.between(0, 2);
        let mut required = rng.sample(&names, count);
        required.sort();
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
    }
    if rng.percent(15) {
        schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
    }
    if rng.percent(10) {
        schema["x-kubernetes-map-type"] = json!(rng.pick(&["atomic", "granular"]));
    }
    if rng.percent(15) {
        schema["minProperties"] = json!(rng.index(3));
    }
    if depth == 0 && rng.percent(40) {
        schema["x-kubernetes-validations"] = json!([rule(rng)]);
    }
    if depth > 0 && rng.percent(20) {
        schema["default"] = json!({});
    }
    schema
}

fn field(rng: &mut Rng, name: &str, depth: usize) -> Value {
    let mut schema = match name {
        "list" => list(rng, depth),
        "map" => {
            json!({"type": "object", "additionalProperties": if rng.percent(70) { text(rng) } else { integer(rng) }})
        }
        "nested" if depth < 2 => structural(rng, depth + 1),
        "any" => rng.pick(&[
            json!({"x-kubernetes-preserve-unknown-fields": true}),
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        ]),
        "flag" => json!({"type": "boolean"}),
        "port" => json!({"x-kubernetes-int-or-string": true}),
        "when" => {
            json!({"type": "string", "format": rng.pick(&["date-time", "date", "duration", "byte", "email", "uuid", "ipv4", "uri", "int32"])})
        }
        "ratio" => {
            json!({"type": "number", "minimum": 0.5, "exclusiveMinimum": rng.percent(50), "multipleOf": 0.5})
        }
        _ => text(rng),
    };
    if rng.percent(20) {
        schema["nullable"] = json!(true);
    }
    if name == "flag" && rng.percent(40) {
        schema["default"] = json!(true);
    }
    schema
}

fn text(rng: &mut Rng) -> Value {
    let mut schema = json!({"type": "string"});
    match rng.index(9) {
        0 => schema["pattern"] = json!(rng.pick(&["^[a-z]+$", "x", "^(web|a)$"])),
        1 => schema["minLength"] = json!(2),
        2 => schema["maxLength"] = json!(2),
        3 => schema["default"] = json!("web"),
        4 => schema["nullable"] = json!(true),
        5 => schema["x-kubernetes-validations"] = json!([{"rule": "self.size() < 4", "message": "too long"}]),
        _ => {}
    }
    schema
}

fn integer(rng: &mut Rng) -> Value {
    let mut schema = json!({"type": "integer"});
    match rng.index(8) {
        0 => schema["minimum"] = json!(1),
        1 => schema["maximum"] = json!(80),
        2 => schema["multipleOf"] = json!(2),
        3 => schema["default"] = json!(1),
        4 => schema["format"] = json!(rng.pick(&["int32", "int64"])),
        5 => schema["enum"] = json!([1, 2]),
        6 => schema["x-kubernetes-validations"] = json!([{"rule": "self >= 0"}]),
        _ => {}
    }
    schema
}

fn list(rng: &mut Rng, depth: usize) -> Value {
    let mut schema = match rng.index(4) {
        0 => {
            json!({"type": "array", "items": text(rng), "x-kubernetes-list-type": rng.pick(&["set", "atomic"])})
        }
        1 => json!({"type": "array", "items": integer(rng)}),
        2 if depth < 2 => json!({"type": "array", "items": structural(rng, depth + 1)}),
        _ => {
            let item = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "value": integer(rng)}});
            json!({"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]})
        }
    };
    match rng.index(6) {
        0 => schema["minItems"] = json!(1),
        1 => schema["maxItems"] = json!(1),
        2 => schema["default"] = json!([]),
        _ => {}
    }
    schema
}

/// A rule about the whole spec, which always has `name`, `count` and `color` in its schema.
fn rule(rng: &mut Rng) -> Value {
    let rules = [
        json!({"rule": "!has(self.count) || self.count < 100"}),
        json!({"rule": "!has(self.name) || self.name != 'a'", "message": "not a", "fieldPath": ".name"}),
        json!({"rule": "has(self.name)", "reason": "FieldValueRequired"}),
        json!({"rule": "!has(oldSelf.color) || (has(self.color) && self.color == oldSelf.color)", "message": "color is immutable", "reason": "FieldValueForbidden"}),
        json!({"rule": "has(self.count) == has(oldSelf.count)"}),
        json!({"rule": "!has(self.count) || !has(self.name) || size(self.name) <= self.count", "messageExpression": "'name is longer than ' + string(self.count)"}),
        json!({"rule": "!has(self.name) || self.name.matches('^[a-z]*$')"}),
        json!({"rule": "self.count > 0"}),
    ];
    rng.pick(&rules)
}

/// Makes one change to a definition, most of which are wrong.
pub(super) fn mutate_definition(rng: &mut Rng, definition: &mut Value) {
    let spec = &mut definition["spec"];
    match rng.index(16) {
        0 => spec["names"]["kind"] = json!(rng.pick(&["thing", "Thing2", "", "T_h"])),
        1 => spec["names"]["plural"] = json!(rng.pick(&["thingz", "Things", ""])),
        2 => {
            spec["names"]["shortNames"] =
                json!(rng.pick(&[json!(["A"]), json!(["a", "a"]), json!([]), json!([""])]));
        }
        3 => spec["names"]["categories"] = json!(rng.pick(&[json!(["all"]), json!(["A b"])])),
        4 => spec["scope"] = json!(rng.pick(&["Cluster", "namespaced", ""])),
        5 => {
            spec["conversion"] = rng.pick(&[
                json!({"strategy": "None"}),
                json!({"strategy": "Webhook"}),
                json!({"strategy": "x"}),
                json!({}),
            ]);
        }
        6 => spec["preserveUnknownFields"] = json!(rng.percent(50)),
        7 => spec["group"] = json!(rng.pick(&["example.com", "", "k8s.io"])),
        8 => spec["versions"] = rng.pick(&[json!([]), Value::Null]),
        9 => {
            definition["metadata"]["annotations"] =
                json!({"api-approved.kubernetes.io": rng.pick(&["unapproved", "https://x", ""])});
        }
        10 | 11 => {
            spec.pointer_mut("/versions/0").into_iter().for_each(|version| mutate_version(rng, version));
        }
        _ => {
            let schema = spec.pointer_mut("/versions/0/schema/openAPIV3Schema/properties/spec");
            if let Some(schema) = schema {
                mutate_schema(rng, schema);
            }
        }
    }
}

fn mutate_version(rng: &mut Rng, version: &mut Value) {
    match rng.index(10) {
        0 => version["name"] = json!(rng.pick(&["V1", "", "v1-2", "1"])),
        1 => version["storage"] = json!(false),
        2 => version["served"] = json!(false),
        3 => version["deprecationWarning"] = json!(rng.pick(&["old", ""])),
        4 => version["schema"] = rng.pick(&[json!({}), Value::Null]),
        5 => version["subresources"] = rng.pick(&[json!({"scale": {}}), json!({"scale": {"specReplicasPath": "spec.x", "statusReplicasPath": ".status.replicas"}}), json!({"scale": {"specReplicasPath": ".spec.count", "statusReplicasPath": ".spec.x"}}), json!({"scale": {"specReplicasPath": ".spec.list[0]", "statusReplicasPath": ".status.x", "labelSelectorPath": ".x"}})]),
        6 => version["additionalPrinterColumns"] = rng.pick(&[json!([{"name": "", "type": "string", "jsonPath": ".x"}]), json!([{"name": "X", "type": "x", "jsonPath": ".x"}]), json!([{"name": "X", "type": "string", "jsonPath": "x["}]), json!([{"name": "X", "type": "integer", "format": "x", "jsonPath": ".x"}])]),
        7 => version["selectableFields"] = rng.pick(&[json!([{"jsonPath": ".spec.color"}]), json!([{"jsonPath": ".spec.nope"}]), json!([{"jsonPath": ".spec.name"}, {"jsonPath": ".spec.name"}]), json!([{"jsonPath": "spec"}]), json!([{"jsonPath": ".metadata.name"}]), json!([{"jsonPath": ".spec.map"}])]),
        8 => version["deprecated"] = json!(true),
        _ => version["name"] = json!("v3"),
    }
}

fn mutate_schema(rng: &mut Rng, schema: &mut Value) {
    let changes: [(&str, Value); 34] = [
        ("type", json!("array")),
        ("type", json!("")),
        ("type", json!("weird")),
        ("nullable", json!(true)),
        ("default", json!({"count": 1})),
        ("default", json!({"count": "x"})),
        ("default", json!("x")),
        ("default", json!({"unknown": 1})),
        ("enum", json!([{"count": 1}])),
        ("enum", json!([])),
        ("uniqueItems", json!(true)),
        ("pattern", json!("[")),
        ("minimum", json!(1)),
        ("maxLength", json!(-1)),
        ("additionalProperties", json!(true)),
        ("additionalProperties", json!({"type": "string"})),
        ("x-kubernetes-preserve-unknown-fields", json!(false)),
        ("x-kubernetes-embedded-resource", json!(true)),
        ("x-kubernetes-int-or-string", json!(true)),
        ("x-kubernetes-list-type", json!("map")),
        ("x-kubernetes-list-map-keys", json!(["name"])),
        ("x-kubernetes-map-type", json!("odd")),
        ("x-kubernetes-validations", json!([{"rule": ""}])),
        ("x-kubernetes-validations", json!([{"rule": "self.nope > 1"}])),
        ("x-kubernetes-validations", json!([{"rule": "self.count +"}])),
        ("x-kubernetes-validations", json!([{"rule": "self.count"}])),
        ("x-kubernetes-validations", json!([{"rule": "has(self.count)", "message": "a\nb"}])),
        ("x-kubernetes-validations", json!([{"rule": "has(self.count)", "messageExpression": "1"}])),
        (
            "x-kubernetes-validations",
            json!([{"rule": "has(self.count)", "reason": "Odd"}, {"rule": "true", "fieldPath": ".nope"}]),
        ),
        ("allOf", json!([{"properties": {"count": {"minimum": 3}}}])),
        ("anyOf", json!([{"required": ["name"]}, {"required": ["count"]}])),
        ("not", json!({"type": "object"})),
        ("$ref", json!("#/x")),
        ("required", json!(["nope", "name", "name"])),
    ];
    let at = match rng.index(4) {
        0 => &mut schema["properties"]["name"],
        1 => &mut schema["properties"]["count"],
        2 if schema["properties"]["list"].is_object() => &mut schema["properties"]["list"],
        _ => schema,
    };
    let (key, value) = rng.pick(&changes);
    at[key] = value;
}
