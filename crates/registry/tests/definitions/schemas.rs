//! Schemas that are refused.

use gantry_json::{Value, json};

use crate::fixture::{refused, version, widgets, with};

const ROOT: &str = "spec.validation.openAPIV3Schema";

/// Returns the errors in a schema, with paths that start at its root.
fn schema_errors(schema: &Value) -> Vec<String> {
    let refused = refused(&with(widgets(), "/spec/versions", json!([version("v1", schema)])));
    refused.into_iter().map(|text| text.strip_prefix(ROOT).unwrap_or(&text).to_owned()).collect()
}

/// Returns the errors in the schema of one member, with paths that start there.
fn member(schema: &Value) -> Vec<String> {
    let errors = schema_errors(&json!({"type": "object", "properties": {"a": schema}}));
    errors.into_iter().map(|text| text.strip_prefix(".properties[a]").unwrap_or(&text).to_owned()).collect()
}

/// Appendix E: every declared value has a type, and the root is an object.
#[test]
fn every_schema_has_a_type() {
    assert_eq!(schema_errors(&json!({})), [".type: Required value: must not be empty at the root"]);
    assert_eq!(
        schema_errors(&json!({"type": "string"})),
        [".type: Invalid value: \"string\": must be object at the root"]
    );
    assert_eq!(member(&json!({})), [".type: Required value: must not be empty for specified object fields"]);
    assert_eq!(
        member(&json!({"type": "array", "items": {}})),
        [".items.type: Required value: must not be empty for specified array items"]
    );
    assert_eq!(member(&json!({"type": "array"})), [".items: Required value: must be specified"]);
    assert_eq!(
        member(&json!({"type": "any"})),
        [concat!(
            ".type: Unsupported value: \"any\": supported values: \"array\", \"boolean\", \"integer\", \"number\", ",
            "\"object\", \"string\""
        )]
    );
    for untyped in [
        json!({"x-kubernetes-preserve-unknown-fields": true}),
        json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
        json!({"x-kubernetes-int-or-string": true,
               "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"pattern": "x"}]}),
    ] {
        assert_eq!(member(&untyped), Vec::<String>::new(), "{untyped}");
    }
}

/// Appendix E: unsupported fields of OpenAPI are refused with their paths.
#[test]
fn some_of_openapi_is_not_supported() {
    for field in ["id", "$ref"] {
        assert_eq!(
            member(&json!({"type": "string", field: "x"})),
            [format!(".{field}: Forbidden: {field} is not supported")]
        );
    }
    for field in ["patternProperties", "definitions", "dependencies"] {
        assert_eq!(
            member(&json!({"type": "object", field: {"x": {"type": "string"}}})),
            [format!(".{field}: Forbidden: {field} is not supported")]
        );
    }
    assert_eq!(
        member(&json!({"type": "array", "items": [{"type": "string"}]})),
        [".items: Forbidden: items must be a schema object and not an array"]
    );
    assert_eq!(
        member(&json!({"type": "string", "$schema": "x"})),
        [": Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"]
    );
    assert_eq!(
        member(&json!({"type": "array", "uniqueItems": true, "items": {"type": "string"}})),
        [
            ".uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        ]
    );
    assert_eq!(
        member(&json!({"type": "object", "properties": {"b": {"type": "string"}},
                       "additionalProperties": {"type": "string"}})),
        [".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"]
    );
    assert_eq!(
        member(&json!({"type": "object", "x-kubernetes-preserve-unknown-fields": false})),
        [".x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined"]
    );
}

/// Appendix E: schemas under a junctor only restrict fields that are declared elsewhere.
#[test]
fn schemas_under_junctors_only_restrict() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"properties": {"b": {"minLength": 1}}}],
        "not": {"properties": {"a": {"type": "string", "description": "x", "nullable": true}, "metadata": {}}}});
    assert_eq!(
        schema_errors(&schema),
        [
            ".not.properties[a].description: Forbidden: must be empty to be structural".to_owned(),
            ".not.properties[a].nullable: Forbidden: must be false to be structural".to_owned(),
            ".not.properties[a].type: Forbidden: must be empty to be structural".to_owned(),
            ".not.properties[metadata]: Forbidden: must not be specified in a nested context".to_owned(),
            format!(".properties[b]: Required value: because it is defined in {ROOT}.anyOf[1].properties[b]"),
            format!(
                ".properties[metadata]: Required value: because it is defined in {ROOT}.not.properties[metadata]"
            ),
        ]
    );
}

/// Appendix E: the root does not redefine metadata; an embedded resource is an object with declared fields.
#[test]
fn metadata_is_not_redefined() {
    let only =
        "must not specify anything other than name and generateName, but metadata is implicitly specified";
    let root = |properties: Value| schema_errors(&json!({"type": "object", "properties": properties}));
    assert_eq!(
        root(
            json!({"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}}})
        ),
        Vec::<String>::new()
    );
    assert_eq!(
        root(json!({"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}})),
        [format!(".properties[metadata]: Forbidden: {only}")]
    );
    assert_eq!(
        root(json!({"kind": {"type": "integer"}, "metadata": {"type": "string", "default": "x"}})),
        [
            ".properties[kind].type: Invalid value: \"integer\": must be string",
            ".properties[metadata].type: Invalid value: \"string\": must be object",
            ".properties[metadata].default: Forbidden: must not be set in top-level metadata",
        ]
    );
    assert_eq!(
        member(&json!({"x-kubernetes-embedded-resource": true})),
        [
            concat!(
                ".properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without ",
                "x-kubernetes-preserve-unknown-fields"
            ),
            ".type: Required value: must be object if x-kubernetes-embedded-resource is true",
        ]
    );
    assert_eq!(
        schema_errors(
            &json!({"type": "object", "additionalProperties": {"type": "string"}, "nullable": true})
        ),
        [
            ".nullable: Forbidden: nullable cannot be true at the root",
            ".additionalProperties: Forbidden: must not be used at the root",
        ]
    );
}

/// Appendix E: list and map types fit the type of the value; keys of elements are required or have defaults.
#[test]
fn list_types_fit_the_type_of_the_value() {
    let list = |list: &str, keys: Value, items: Value| {
        member(&json!({"type": "array", "x-kubernetes-list-type": list, "x-kubernetes-list-map-keys": keys,
                       "items": items}))
    };
    let named = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    assert_eq!(
        list("map", json!(["name"]), named.clone()),
        [concat!(
            ".items.properties[name].default: Required value: this property is in x-kubernetes-list-map-keys, so it ",
            "must have a default or be a required property"
        )]
    );
    let required = with(named.clone(), "/required", json!(["name"]));
    assert_eq!(list("map", json!(["name"]), required.clone()), Vec::<String>::new());
    let keys = ".x-kubernetes-list-map-keys";
    assert_eq!(
        list("map", json!([]), required.clone()),
        [format!("{keys}: Required value: must not be empty if x-kubernetes-list-type is map")]
    );
    assert_eq!(
        list("map", json!(["name", "name", "x"]), required.clone()),
        [
            format!("{keys}: Invalid value: [\"name\",\"name\",\"x\"]: must not contain duplicate entries"),
            format!(
                "{keys}: Invalid value: [\"name\",\"name\",\"x\"]: entries must all be names of item properties"
            ),
        ]
    );
    assert_eq!(
        list("set", json!(["name"]), named),
        [
            concat!(
                ".items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with ",
                "x-kubernetes-list-type=set"
            ),
            concat!(
                ".x-kubernetes-list-type: Invalid value: \"set\": must be map if x-kubernetes-list-map-keys is ",
                "non-empty"
            ),
        ]
    );
    assert_eq!(
        list("bag", json!([]), json!({"type": "string"})),
        [
            ".x-kubernetes-list-type: Unsupported value: \"bag\": supported values: \"atomic\", \"set\", \"map\""
        ]
    );
    assert_eq!(
        member(&json!({"type": "string", "x-kubernetes-map-type": "x", "x-kubernetes-list-type": "atomic"})),
        [
            ".type: Invalid value: \"string\": must be object if x-kubernetes-map-type is specified",
            ".x-kubernetes-map-type: Unsupported value: \"x\": supported values: \"atomic\", \"granular\"",
            ".type: Invalid value: \"string\": must be array if x-kubernetes-list-type is specified",
        ]
    );
}

/// Appendix E: a default has declared fields only, and is valid by the schema and its rules.
#[test]
fn defaults_are_valid_by_the_schema() {
    assert_eq!(
        member(
            &json!({"type": "object", "default": {"b": 1, "c": 2}, "properties": {"b": {"type": "string"}}})
        ),
        [
            ".default: Invalid value: {\"b\":1,\"c\":2}: must not have unknown fields",
            ".default.b: Invalid value: \"integer\": b in body must be of type string: \"integer\"",
        ]
    );
    assert_eq!(
        member(&json!({"type": "integer", "default": "x"})),
        [".default: Invalid value: \"string\":  in body must be of type integer: \"string\""]
    );
    assert_eq!(
        member(&json!({"type": "array", "items": {"type": "string", "enum": ["a"], "default": "b"}})),
        [".items.default: Unsupported value: \"b\": supported values: \"a\""]
    );
    assert_eq!(member(&json!({"type": "string", "default": "a", "pattern": "^a$"})), Vec::<String>::new());
    let ruled = |schema: Value, rules: Value| member(&with(schema, "/x-kubernetes-validations", rules));
    assert_eq!(
        ruled(
            json!({"type": "integer", "default": 1, "x-kubernetes-validations": []}),
            json!([{"rule": "self > 5"}, {"rule": "self > oldSelf", "message": "grow"}])
        ),
        [".default: Invalid value: 1: failed rule: self > 5", ".default: Invalid value: 1: grow"]
    );
    assert_eq!(
        ruled(
            json!({"type": "object", "default": {"b": 1}, "x-kubernetes-validations": [],
                   "properties": {"b": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 5"}]}}}),
            json!([{"rule": "self.b > 7", "fieldPath": ".b"}])
        ),
        [
            ".default.b: Invalid value: failed rule: self.b > 7",
            ".default.b: Invalid value: 1: failed rule: self > 5"
        ]
    );
    assert_eq!(
        ruled(
            json!({"type": "integer", "default": 1, "x-kubernetes-validations": []}),
            json!([{"rule": "self.nope > 5"}])
        ),
        [concat!(
            ".default: Invalid value: \"integer\": rule compile error: compilation failed: ERROR: <input>:1:5: ",
            "type 'int' does not support field selection\n | self.nope > 5\n | ....^"
        )]
    );
    let errors = member(&json!({"type": "string", "pattern": "a("}));
    assert!(
        errors[0]
            .starts_with(".pattern: Invalid value: \"a(\": must be a valid regular expression, but isn't: ")
    );
}

/// Appendix E: a rule is not empty, and its message, reason and path are valid.
#[test]
fn rules_are_not_empty() {
    let rule = |rule: Value| {
        let schema = json!({"type": "object", "properties": {"b": {"type": "string"}},
            "x-kubernetes-validations": [rule]});
        member(&schema)
    };
    let at = ".x-kubernetes-validations[0]";
    assert_eq!(
        rule(
            json!({"rule": "self.b != ''", "message": "b is needed", "reason": "FieldValueRequired", "fieldPath": ".b"})
        ),
        Vec::<String>::new()
    );
    assert_eq!(rule(json!({"rule": " "})), [format!("{at}.rule: Required value: rule is not specified")]);
    assert_eq!(
        rule(json!({"rule": "a\nb"})),
        [format!("{at}.message: Required value: message must be specified if rule contains line breaks")]
    );
    assert_eq!(
        rule(json!({"rule": "true", "message": "a\nb", "reason": "Because", "fieldPath": ".nope"})),
        [
            format!("{at}.message: Invalid value: \"a\\nb\": must not contain line breaks"),
            format!(
                "{at}.reason: Unsupported value: \"Because\": supported values: \"FieldValueDuplicate\", \
                 \"FieldValueForbidden\", \"FieldValueInvalid\", \"FieldValueRequired\""
            ),
            format!("{at}.fieldPath: Invalid value: \".nope\": must be a valid path"),
        ]
    );
}

/// Appendix E: a rule compiles with the declared fields and evaluates to a boolean.
#[test]
fn rules_compile_to_a_boolean() {
    let rule = |rule: Value| {
        let schema = json!({"type": "object", "properties": {"b": {"type": "string"}, "any": {
            "x-kubernetes-preserve-unknown-fields": true}}, "x-kubernetes-validations": [rule]});
        member(&schema)
    };
    let at = ".x-kubernetes-validations[0]";
    let shown = |rule: &str, message: &str| {
        format!(
            "{{\"Rule\":\"{rule}\",\"Message\":\"\",\"MessageExpression\":\"{message}\",\"Reason\":null,\"FieldPath\":\"\",\
             \"OptionalOldSelf\":null}}"
        )
    };
    let failed = |text: &str, why: &str| {
        format!("{at}.rule: Invalid value: {}: compilation failed: ERROR: <input>:{why}", shown(text, ""))
    };
    assert_eq!(
        rule(json!({"rule": "self.b =="})),
        [failed(
            "self.b ==",
            "1:10: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', \
             NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | self.b ==\n | .........^"
        )]
    );
    assert_eq!(
        rule(json!({"rule": "self.no == 1"})),
        [failed("self.no == 1", "1:5: undefined field 'no'\n | self.no == 1\n | ....^")]
    );
    assert_eq!(
        rule(json!({"rule": "self.any == 1"})),
        [failed("self.any == 1", "1:5: undefined field 'any'\n | self.any == 1\n | ....^")]
    );
    assert_eq!(
        rule(json!({"rule": "self.b"})),
        [format!(
            "{at}.rule: Invalid value: {}: cel expression must evaluate to a bool",
            shown("self.b", "")
        )]
    );
    assert_eq!(
        rule(json!({"rule": "true", "messageExpression": "1"})),
        [format!(
            "{at}.messageExpression: Invalid value: {}: messageExpression must evaluate to a string",
            shown("true", "1")
        )]
    );
    assert_eq!(
        rule(json!({"rule": "true", "optionalOldSelf": true})),
        [format!("{at}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule")]
    );
    assert_eq!(
        rule(json!({"rule": "oldSelf.hasValue() || self.b == oldSelf.b.value()", "optionalOldSelf": true})),
        Vec::<String>::new()
    );
}

/// Appendix E: `oldSelf` requires elements with keys, and a rule requires a schema with a type.
#[test]
fn old_self_requires_correlatable_elements() {
    let element = |rule: &str| {
        json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}},
            "x-kubernetes-validations": [{"rule": rule}]})
    };
    let unchanged = "self == oldSelf";
    assert_eq!(
        member(&json!({"type": "array", "items": element(unchanged)})),
        [format!(
            ".items.x-kubernetes-validations[0].rule: Invalid value: \"{unchanged}\": oldSelf cannot be used on the \
             uncorrelatable portion of the schema within {ROOT}.properties[a]"
        )]
    );
    assert_eq!(
        member(
            &json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": element(unchanged)})
        ),
        Vec::<String>::new()
    );
    assert_eq!(
        member(
            &json!({"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{"rule": "true"}]})
        ),
        [
            ".x-kubernetes-validations: Internal error: internal error: failed to retrieve type information for \
          x-kubernetes-validations"
        ]
    );
}

/// Appendix E: with the status as a subresource, only some fields are allowed at the root.
#[test]
fn a_root_schema_with_a_status_has_few_keywords() {
    let mut version = version("v1", &json!({"type": "object", "maxProperties": 3}));
    version["subresources"] = json!({"status": {}});
    let errors = refused(&with(widgets(), "/spec/versions", json!([version])));
    assert_eq!(errors.len(), 1);
    let shown =
        r#"{"ID":"","Schema":"","Ref":null,"Description":"","Type":"object","Nullable":false,"Format":"","#;
    assert!(errors[0].starts_with(&format!("{ROOT}: Invalid value: {shown}")), "{errors:?}");
    let why = "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength \
               MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs \
               Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the \
               status subresource is enabled";
    assert!(errors[0].contains(r#""MaxProperties":3,"#) && errors[0].ends_with(why), "{errors:?}");
}

/// Appendix E: if versions have different schemas, errors have the path of the version.
#[test]
fn errors_in_schemas_of_versions_have_their_path() {
    let other = with(version("v2", &json!({})), "/storage", json!(false));
    let versions = json!([version("v1", &json!({"type": "object"})), other]);
    assert_eq!(
        refused(&with(widgets(), "/spec/versions", versions)),
        ["spec.versions[1].schema.openAPIV3Schema.type: Required value: must not be empty at the root"]
    );
}
