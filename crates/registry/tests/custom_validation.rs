//! Errors in objects of custom kinds, with Kubernetes' messages: tables of schemas, values and the errors in them.

use gantry_json::{Value, json};
use gantry_primitives::Refusal;
use gantry_registry::validation::custom_objects;
use gantry_schema::custom::{Scaling, StructuralSchema};

/// The schema of a kind whose `spec` has this schema.
fn with_spec(spec: &Value) -> StructuralSchema {
    StructuralSchema::read(&json!({"type": "object", "properties": {"spec": spec}}))
}

fn texts(errors: &[gantry_primitives::FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// Validates each value as the `spec.x` of an object, where `x` has the schema.
fn check(table: &[(Value, Value, &[&str])]) {
    for (schema, value, expected) in table {
        let structure = with_spec(&json!({"type": "object", "properties": {"x": schema}}));
        let errors = custom_objects::create(&structure, &json!({"spec": {"x": value}}), None);
        assert_eq!(texts(&errors), *expected, "{value} of {schema}");
    }
}

/// Appendix E: a value of the wrong type is refused, and the reason of the cause is FieldValueTypeInvalid.
#[test]
fn values_have_types() {
    check(&[
        (json!({"type": "integer"}), json!(1), &[]),
        (json!({"type": "integer"}), json!(1.0), &[]),
        (
            json!({"type": "integer"}),
            json!("a"),
            &["spec.x: Invalid value: \"string\": spec.x in body must be of type integer: \"string\""],
        ),
        (
            json!({"type": "integer"}),
            json!(1.5),
            &[
                "spec.x: Invalid value: \"number\": spec.x in body must be of type integer: \"number\"",
                "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.x",
            ],
        ),
        (
            json!({"type": "integer", "format": "int32"}),
            json!(3_000_000_000_i64),
            &[
                "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.x",
            ],
        ),
        (
            json!({"type": "integer", "format": "int32"}),
            json!(true),
            &["spec.x: Invalid value: \"\": spec.x in body must be of type int32: \"\""],
        ),
        (json!({"type": "number"}), json!(1), &[]),
        (json!({"type": "number", "format": "double"}), json!(1.5), &[]),
        (
            json!({"type": "string"}),
            json!(1),
            &["spec.x: Invalid value: \"integer\": spec.x in body must be of type string: \"integer\""],
        ),
        (
            json!({"type": "boolean"}),
            json!({}),
            &["spec.x: Invalid value: \"object\": spec.x in body must be of type boolean: \"object\""],
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!(["a", 1]),
            &["spec.x[1]: Invalid value: \"integer\": spec.x[1] in body must be of type string: \"integer\""],
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"a.b": []}),
            &["spec.x.a.b: Invalid value: \"array\": spec.x.a.b in body must be of type string: \"array\""],
        ),
        (
            json!({"type": "object"}),
            json!(null),
            &["spec.x: Invalid value: \"null\": spec.x in body must be of type object: \"null\""],
        ),
        (json!({"type": "object", "nullable": true}), json!(null), &[]),
        (json!({"x-kubernetes-preserve-unknown-fields": true}), json!([1, {"a": null}]), &[]),
    ]);
    let structure = with_spec(&json!({"type": "object", "properties": {"replicas": {"type": "integer"}}}));
    let errors = custom_objects::create(&structure, &json!({"spec": {"replicas": "three"}}), None);
    let status = Refusal::invalid("Crane", "example.com", "a", &errors).status();
    assert_eq!(
        status["details"]["causes"],
        json!([{
            "reason": "FieldValueTypeInvalid", "field": "spec.replicas",
            "message": "Invalid value: \"string\": spec.replicas in body must be of type integer: \"string\"",
        }])
    );
}

/// Appendix E: an integer or a string, as the percentages and ports of Kubernetes are.
#[test]
fn int_or_string_accepts_numbers_and_strings() {
    let port = json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}],
        "pattern": "^[0-9]+%$"});
    check(&[
        (port.clone(), json!(80), &[]),
        (port.clone(), json!("50%"), &[]),
        (
            port.clone(),
            json!("half"),
            &["spec.x: Invalid value: \"half\": spec.x in body should match '^[0-9]+%$'"],
        ),
        (
            port,
            json!(true),
            &[
                "spec.x: Invalid value: \"boolean\": spec.x in body must be of type integer,string: \"boolean\"",
                "<nil>: Invalid value: \"\": \"spec.x\" must validate at least one schema (anyOf)",
                "spec.x: Invalid value: \"boolean\": spec.x in body must be of type integer: \"boolean\"",
            ],
        ),
    ]);
}

/// Appendix E: required fields, allowed values, formats, and limits of length and number.
#[test]
fn required_values_and_limits_are_validated() {
    let text = json!({"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^[a-z]*$"});
    let list = json!({"type": "array", "minItems": 1, "maxItems": 1, "items": {"type": "integer"}});
    let map = json!({"type": "object", "minProperties": 1, "maxProperties": 2, "additionalProperties": true});
    check(&[
        (
            json!({"type": "object", "required": ["a", "b"], "properties": {"a": {}, "b": {}}}),
            json!({"b": null}),
            &["spec.x.a: Required value"],
        ),
        (
            json!({"type": "string", "enum": ["a", "b\"c"]}),
            json!("d"),
            &["spec.x: Unsupported value: \"d\": supported values: \"a\", \"b\\\"c\""],
        ),
        (json!({"enum": [1, 2.5]}), json!(1), &[]),
        (
            json!({"enum": [1, 2.5]}),
            json!(3),
            &["spec.x: Unsupported value: 3: supported values: \"1\", \"2.5\""],
        ),
        (
            json!({"type": "string", "nullable": true, "enum": ["a", null]}),
            json!(null),
            &["spec.x: Unsupported value: null: supported values: \"a\", \"null\""],
        ),
        (
            text.clone(),
            json!("äöü"),
            &["spec.x: Invalid value: \"äöü\": spec.x in body should match '^[a-z]*$'"],
        ),
        (text.clone(), json!("abcd"), &["spec.x: Too long: may not be more than 3 bytes"]),
        (text, json!("a"), &["spec.x: Invalid value: \"a\": spec.x in body should be at least 2 chars long"]),
        (list.clone(), json!([]), &["spec.x: Invalid value: 0: spec.x in body should have at least 1 items"]),
        (list, json!([1, 2]), &["spec.x: Too many: 2: must have at most 1 item"]),
        (
            map.clone(),
            json!({}),
            &["spec.x: Invalid value: 0: spec.x in body should have at least 1 properties"],
        ),
        (map, json!({"a": 1, "b": 1, "c": 1}), &["spec.x: Too many: 3: must have at most 2 items"]),
        (
            json!({"type": "array", "uniqueItems": true}),
            json!([1, 1]),
            &["spec.x: Invalid value: \"\": spec.x in body shouldn't contain duplicates"],
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!("now"),
            &["spec.x: Invalid value: \"now\": spec.x in body must be of type date-time: \"now\""],
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!(5),
            &["spec.x: Invalid value: \"int64\": spec.x in body must be of type date-time: \"int64\""],
        ),
        (json!({"type": "string", "format": "colour"}), json!("blue"), &[]),
    ]);
}

/// Appendix E: errors about the object itself have no path, and those about its fields have the field.
#[test]
fn the_root_has_no_name() {
    let structure =
        StructuralSchema::read(&json!({"type": "object", "required": ["spec"], "minProperties": 1,
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}));
    assert_eq!(
        texts(&custom_objects::create(&structure, &json!({}), None)),
        [
            "<nil>: Invalid value: \"\": \"\" must validate one and only one schema (oneOf). Found none valid",
            "a: Required value",
            "<nil>: Invalid value: 0:  in body should have at least 1 properties",
            "spec: Required value",
        ]
    );
}

/// Appendix E: ranges of numbers; integers are compared as integers.
#[test]
fn numbers_are_in_range() {
    let range = json!({"type": "integer", "minimum": 1, "maximum": 10});
    let open = json!({"type": "number", "minimum": 0.5, "exclusiveMinimum": true, "maximum": 2_000_000,
        "exclusiveMaximum": true});
    check(&[
        (range.clone(), json!(1), &[]),
        (
            range.clone(),
            json!(0),
            &["spec.x: Invalid value: 0: spec.x in body should be greater than or equal to 1"],
        ),
        (range, json!(11), &["spec.x: Invalid value: 11: spec.x in body should be less than or equal to 10"]),
        (open.clone(), json!(0.75), &[]),
        (
            open.clone(),
            json!(0.5),
            &["spec.x: Invalid value: 0.5: spec.x in body should be greater than 0.5"],
        ),
        (
            open,
            json!(2_000_000.0),
            &["spec.x: Invalid value: 2e+06: spec.x in body should be less than 2e+06"],
        ),
        (
            json!({"type": "integer", "maximum": 2.5}),
            json!(3),
            &[
                "<nil>: Invalid value: \"\": Maximum boundary value must be of type integer (default format) in spec.x",
                "spec.x: Invalid value: 3: spec.x in body should be less than or equal to 2.5",
            ],
        ),
        (json!({"type": "integer", "multipleOf": 5}), json!(15), &[]),
        (
            json!({"type": "integer", "multipleOf": 5}),
            json!(7),
            &["spec.x: Invalid value: 7: spec.x in body should be a multiple of 5"],
        ),
        (json!({"type": "number", "multipleOf": 0.1}), json!(0.3), &[]),
        (
            json!({"type": "number", "multipleOf": 0.1}),
            json!(0.25),
            &["spec.x: Invalid value: 0.25: spec.x in body should be a multiple of 0.1"],
        ),
    ]);
}

/// Appendix E: of several schemas any, one, all or none must match; the errors of the closest one are included.
#[test]
fn schemas_combine() {
    let is = |word: &str| json!({"properties": {"kind": {"enum": [word]}}, "required": [word]});
    let one_of =
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "oneOf": [is("a"), is("b")]});
    let any_of = json!({"type": "string", "anyOf": [{"maxLength": 1}, {"pattern": "^x"}]});
    let all_of = json!({"type": "string", "allOf": [{"minLength": 2}, {"pattern": "^x"}]});
    check(&[
        (one_of.clone(), json!({"kind": "b", "b": 1}), &[]),
        (
            one_of.clone(),
            json!({"kind": "b"}),
            &[
                "<nil>: Invalid value: \"\": \"spec.x\" must validate one and only one schema (oneOf). Found none valid",
                "spec.x.kind: Unsupported value: \"b\": supported values: \"a\"",
                "spec.x.a: Required value",
            ],
        ),
        (
            one_of,
            json!({"a": 1, "b": 1}),
            &[
                "<nil>: Invalid value: \"\": \"spec.x\" must validate one and only one schema (oneOf). Found 2 valid \
               alternatives",
            ],
        ),
        (any_of.clone(), json!("xyz"), &[]),
        (
            any_of,
            json!("yz"),
            &[
                "<nil>: Invalid value: \"\": \"spec.x\" must validate at least one schema (anyOf)",
                "spec.x: Too long: may not be more than 1 byte",
            ],
        ),
        (all_of.clone(), json!("xy"), &[]),
        (
            all_of.clone(),
            json!("x"),
            &[
                "spec.x: Invalid value: \"x\": spec.x in body should be at least 2 chars long",
                "<nil>: Invalid value: \"\": \"spec.x\" must validate all the schemas (allOf)",
            ],
        ),
        (
            all_of,
            json!("y"),
            &[
                "spec.x: Invalid value: \"y\": spec.x in body should be at least 2 chars long",
                "spec.x: Invalid value: \"y\": spec.x in body should match '^x'",
                "<nil>: Invalid value: \"\": \"spec.x\" must validate all the schemas (allOf). None validated",
            ],
        ),
        (json!({"type": "string", "not": {"enum": ["a"]}}), json!("b"), &[]),
        (
            json!({"type": "string", "not": {"enum": ["a"]}}),
            json!("a"),
            &["<nil>: Invalid value: \"\": \"spec.x\" must not validate the schema (not)"],
        ),
    ]);
}

/// Appendix E: errors in unchanged values are ratcheted; elements of a list are correlated with old ones by their keys
/// only.
#[test]
fn errors_in_unchanged_values_are_ratcheted() {
    let structure = with_spec(&json!({"type": "object", "required": ["size"], "properties": {
        "size": {"type": "integer"}, "name": {"type": "string", "maxLength": 2},
        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {"k": {}, "v": {"type": "string", "maxLength": 2}}}},
        "plain": {"type": "array", "items": {"type": "string", "maxLength": 2}},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
    }}));
    let table: [(Value, Value, &[&str]); 7] = [
        (json!({"name": "long"}), json!({"name": "long"}), &[]),
        (json!({"name": "long"}), json!({"name": "long", "set": []}), &["spec.size: Required value"]),
        (json!({"size": 1, "name": "long"}), json!({"size": 2, "name": "long"}), &[]),
        (
            json!({"size": 1, "name": "long"}),
            json!({"size": 1, "name": "longer"}),
            &["spec.name: Too long: may not be more than 2 bytes"],
        ),
        (
            json!({"size": 1, "keyed": [{"k": "a", "v": "long"}, {"k": "b", "v": "long"}]}),
            json!({"size": 1, "keyed": [{"k": "b", "v": "long"}, {"k": "a", "v": "other"}]}),
            &["spec.keyed[1].v: Too long: may not be more than 2 bytes"],
        ),
        (
            json!({"size": 1, "plain": ["long"]}),
            json!({"size": 1, "plain": ["long", "a"]}),
            &["spec.plain[0]: Too long: may not be more than 2 bytes"],
        ),
        (json!({"size": 1, "set": ["a", "a"]}), json!({"size": 1, "set": ["b", "b"]}), &[]),
    ];
    for (old, new, expected) in table {
        let errors =
            custom_objects::update(&structure, &json!({"spec": old}), &json!({"spec": new}), None).errors;
        assert_eq!(texts(&errors), expected, "{old} to {new}");
    }
    let errors = custom_objects::update(
        &structure,
        &json!({"spec": {"size": 1}}),
        &json!({"spec": {"size": 1, "set": ["b", "b"]}}),
        None,
    );
    assert_eq!(texts(&errors.errors), ["spec.set[1]: Duplicate value: \"b\""]);
}

/// Appendix E: a write to the status is validated by the schema of the status, and messages start at the status.
#[test]
fn a_status_is_validated_by_its_own_schema() {
    let structure = StructuralSchema::read(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "required": ["size"]},
        "status": {"type": "object", "required": ["phase"], "properties": {"ready": {"type": "integer"}},
            "anyOf": [{"required": ["ready"]}]},
    }}));
    let errors = |new: Value| {
        texts(
            &custom_objects::update_status(
                &structure,
                &json!({"spec": {}}),
                &json!({"spec": {}, "status": new}),
                None,
            )
            .errors,
        )
    };
    assert_eq!(errors(json!({"phase": "a", "ready": 1})), Vec::<String>::new());
    assert_eq!(
        errors(json!({"ready": "a"})),
        [
            "status.ready: Invalid value: \"string\": ready in body must be of type integer: \"string\"",
            "status.phase: Required value",
        ]
    );
    assert_eq!(
        errors(json!({"phase": "a"})),
        [
            "status: Invalid value: \"\": \"\" must validate at least one schema (anyOf)",
            "status.ready: Required value",
        ]
    );
    assert!(custom_objects::update_status(&structure, &json!({}), &json!({}), None).errors.is_empty());
}

/// Appendix E: rules are not evaluated if the object has other errors, and an error reports that.
#[test]
fn rules_are_not_evaluated_if_there_are_other_errors() {
    let rule = json!([{"rule": "self > 1"}]);
    let with = with_spec(&json!({"type": "object", "properties": {"list": {"type": "array",
        "items": {"type": "integer", "x-kubernetes-validations": rule}}}}));
    assert!(with.has_rules);
    assert!(!with_spec(&json!({"type": "object"})).has_rules);
    assert_eq!(
        texts(&custom_objects::create(&with, &json!({"spec": {"list": 1}}), None)),
        [
            "spec.list: Invalid value: \"integer\": spec.list in body must be of type array: \"integer\"",
            "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct \
             the existing errors to complete validation",
        ]
    );
    assert_eq!(
        texts(&custom_objects::create(&with, &json!({"spec": {"list": [1]}}), None)),
        ["spec.list[0]: Invalid value: 1: failed rule: self > 1"]
    );
}

/// Appendix E: replicas are validated after the schema and before the rules, and the error about the rules is last.
#[test]
fn replicas_are_validated_between_schema_and_rules() {
    let count = json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}]});
    let structure = with_spec(&json!({"type": "object", "properties": {"count": count}}));
    let scale = json!({"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.count"});
    let scaling = Scaling::read(&json!({"subresources": {"scale": scale}})).unwrap();
    let wrong = json!({"spec": {"count": "7"}});
    let expected = [
        "spec.count: Invalid value: \"string\": spec.count in body must be of type integer: \"string\"",
        ".spec.count: Invalid value: 0: .spec.count accessor error: 7 is of the type string, expected int64",
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct \
         the existing errors to complete validation",
    ];
    assert_eq!(texts(&custom_objects::create(&structure, &wrong, Some(&scaling))), expected);
    let right = json!({"spec": {"count": 2}});
    assert_eq!(texts(&custom_objects::update(&structure, &right, &wrong, Some(&scaling)).errors), expected);
}
