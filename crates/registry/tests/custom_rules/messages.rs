//! The messages of broken rules, and when rules are evaluated.

use gantry_json::{Value, json};
use gantry_registry::validation::custom_objects;
use gantry_schema::custom::StructuralSchema;

use super::{changed, created, texts, with_spec};

fn ruled(rule: &Value) -> Value {
    json!({"type": "object", "properties": {
        "a": {"type": "integer"}, "b": {"type": "integer"}, "names": {"type": "array", "items": {"type": "string"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    }, "x-kubernetes-validations": [rule]})
}

/// Appendix E: a broken rule is reported with its message or its expression, and with its `reason` and `fieldPath`.
#[test]
fn a_violated_rule_has_its_message() {
    let rule = "self.a <= self.b";
    let table = [
        (json!({"rule": rule}), "spec: Invalid value: failed rule: self.a <= self.b"),
        (json!({"rule": format!("  {rule}\n"), "message": " a above b "}), "spec: Invalid value: a above b"),
        (
            json!({"rule": rule, "messageExpression": "'a is %d, b is %d'.format([self.a, self.b])"}),
            "spec: Invalid value: a is 2, b is 1",
        ),
        (
            json!({"rule": rule, "message": "plain", "messageExpression": "' ' + string(self.a) + ' '"}),
            "spec: Invalid value: 2",
        ),
        // A message that is empty, has line breaks or cannot be evaluated is ignored.
        (json!({"rule": rule, "message": "plain", "messageExpression": "''"}), "spec: Invalid value: plain"),
        (
            json!({"rule": rule, "message": "plain", "messageExpression": "'a\\nb'"}),
            "spec: Invalid value: plain",
        ),
        (
            json!({"rule": rule, "message": "plain", "messageExpression": "self.names[0]"}),
            "spec: Invalid value: plain",
        ),
        (json!({"rule": rule, "message": "no", "reason": "FieldValueForbidden"}), "spec: Forbidden: no"),
        (json!({"rule": rule, "message": "no", "reason": "FieldValueRequired"}), "spec: Required value: no"),
        (json!({"rule": rule, "message": "no", "reason": "FieldValueInvalid"}), "spec: Invalid value: no"),
        (json!({"rule": rule, "message": "no", "reason": "FieldValueDuplicate"}), "spec: Duplicate value"),
        (json!({"rule": rule, "message": "no", "fieldPath": ".a"}), "spec.a: Invalid value: no"),
        (
            json!({"rule": rule, "message": "no", "fieldPath": ".labels['k.l']"}),
            "spec.labels[k.l]: Invalid value: no",
        ),
    ];
    for (rule, expected) in table {
        let structure = with_spec(&ruled(&rule));
        assert_eq!(created(&structure, &json!({"a": 2, "b": 1})), [expected], "{rule}");
        assert!(created(&structure, &json!({"a": 1, "b": 1})).is_empty(), "{rule}");
    }
}

/// Appendix E: an error in a scalar shows its value; one in a list or an object has only the path.
#[test]
fn rules_are_evaluated_at_any_depth() {
    let positive = json!([{"rule": "self > 0", "message": "must be positive"}]);
    let structure = with_spec(&json!({"type": "object",
    "x-kubernetes-validations": [{"rule": "size(self.list) < 3", "message": "too many"}],
    "properties": {
        "list": {"type": "array", "items": {"type": "integer", "x-kubernetes-validations": positive}},
        "map": {"type": "object", "additionalProperties": {"type": "integer", "x-kubernetes-validations": positive}},
        "text": {"type": "string", "x-kubernetes-validations": [{"rule": "self.startsWith('a')"}]},
        "all": {"type": "integer", "allOf": [{"x-kubernetes-validations": positive}]},
        "null": {"type": "integer", "nullable": true, "x-kubernetes-validations": positive},
    }}));
    let spec = json!({"list": [1, -1, 0], "map": {"k": 0, "l": 1}, "text": "b", "all": -2, "null": null});
    assert_eq!(
        created(&structure, &spec),
        [
            "spec: Invalid value: too many",
            "spec.all: Invalid value: -2: must be positive",
            "spec.list[1]: Invalid value: -1: must be positive",
            "spec.list[2]: Invalid value: 0: must be positive",
            "spec.map[k]: Invalid value: 0: must be positive",
            "spec.text: Invalid value: \"b\": failed rule: self.startsWith('a')",
        ]
    );
}

/// Appendix E: a rule at the root can use the name of the object, which the schema does not declare.
#[test]
fn rules_can_read_metadata_name() {
    let structure = StructuralSchema::read(&json!({"type": "object",
        "x-kubernetes-validations": [{"rule": "self.metadata.name.startsWith('web')", "message": "needs another name"}]}));
    let errors = |name: &str| {
        texts(&custom_objects::create(&structure, &json!({"kind": "A", "metadata": {"name": name}}), None))
    };
    assert_eq!(errors("one"), ["<nil>: Invalid value: needs another name"]);
    assert!(errors("web-1").is_empty());
}

/// Appendix E: a rule that cannot be evaluated is an error too.
#[test]
fn errors_while_evaluating_are_reported() {
    let table = [
        ("self.missing == 'x'", "spec: Invalid value: \"object\": no such key: missing evaluating rule: "),
        ("self.a / 0 == 1", "spec: Invalid value: \"object\": division by zero evaluating rule: "),
        (
            "self.port < 5",
            "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, \
             function or macro signature for rule: ",
        ),
        (
            "self.a >",
            "spec: Invalid value: \"object\": rule compile error: compilation failed: ERROR: <input>:1:9: ",
        ),
    ];
    for (rule, expected) in table {
        let structure = with_spec(&json!({"type": "object", "properties": {"missing": {"type": "string"},
            "a": {"type": "integer"}, "port": {"x-kubernetes-int-or-string": true}},
            "x-kubernetes-validations": [{"rule": rule}]}));
        let errors = created(&structure, &json!({"a": 1, "port": "http"}));
        assert!(matches!(errors.as_slice(), [only] if only.starts_with(expected)), "{errors:?}");
    }
}

/// Appendix E: a rule with `oldSelf` is evaluated only where there is an old value to compare with.
#[test]
fn transition_rules_require_an_old_value() {
    let immutable = json!([{"rule": "self == oldSelf", "message": "must not change"}]);
    let part = json!({"type": "string", "x-kubernetes-validations": immutable});
    let element = json!({"type": "object", "properties": {"name": {"type": "string"}, "value": part}});
    let structure = with_spec(&json!({"type": "object", "properties": {
        "fixed": part,
        "map": {"type": "object", "additionalProperties": part},
        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": element},
        "listed": {"type": "array", "items": element},
    }}));
    let old = json!({"fixed": "a", "map": {"k": "a"}, "keyed": [{"name": "x", "value": "1"}, {"name": "y", "value": "2"}],
        "listed": [{"name": "x", "value": "1"}]});
    assert!(created(&structure, &old).is_empty());
    assert!(changed(&structure, &old, &old).is_empty());
    let new = json!({"fixed": "b", "map": {"k": "b", "l": "c"}, "keyed": [{"name": "y", "value": "3"}, {"name": "z", "value": "4"}],
        "listed": [{"name": "x", "value": "2"}]});
    assert_eq!(
        changed(&structure, &old, &new),
        [
            "spec.fixed: Invalid value: \"b\": must not change",
            "spec.keyed[0].value: Invalid value: \"3\": must not change",
            "spec.map[k]: Invalid value: \"b\": must not change",
        ]
    );
    assert!(changed(&structure, &json!({}), &new).is_empty());
}

/// Appendix E: with `optionalOldSelf` a rule is evaluated on new objects as well.
#[test]
fn old_self_may_be_optional() {
    let rule = json!({"rule": "oldSelf.hasValue() || self == 'first'", "message": "starts with first",
        "optionalOldSelf": true});
    let kept = json!({"rule": "oldSelf.optMap(o, self != o).orValue(true)", "message": "must change",
        "optionalOldSelf": true});
    let structure = with_spec(&json!({"type": "object", "properties": {
        "phase": {"type": "string", "x-kubernetes-validations": [rule, kept]}}}));
    assert_eq!(
        created(&structure, &json!({"phase": "x"})),
        ["spec.phase: Invalid value: \"x\": starts with first"]
    );
    assert!(created(&structure, &json!({"phase": "first"})).is_empty());
    let phase = |phase: &str| json!({"phase": phase});
    assert!(changed(&structure, &phase("a"), &phase("b")).is_empty());
    assert_eq!(
        changed(&structure, &phase("a"), &phase("a")),
        ["spec.phase: Invalid value: \"a\": must change"]
    );
}

/// Appendix E: an unchanged value that broke a rule before is ratcheted, unless the rule uses `oldSelf`.
#[test]
fn unchanged_values_are_ratcheted() {
    let even = json!([{"rule": "self % 2 == 0", "message": "must be even"}]);
    let structure = with_spec(&json!({"type": "object", "properties": {
        "n": {"type": "integer", "x-kubernetes-validations": even},
        "m": {"type": "integer"},
        "list": {"type": "array", "items": {"type": "integer", "x-kubernetes-validations": even}},
        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": {"name": {"type": "string"}, "v": {"type": "integer"}},
                "x-kubernetes-validations": [{"rule": "self.v % 2 == 0", "message": "must be even"}]}},
    }}));
    let table: [(Value, Value, &[&str]); 6] = [
        (json!({"n": 1}), json!({"n": 1, "m": 2}), &[]),
        (json!({"n": 1}), json!({"n": 3}), &["spec.n: Invalid value: 3: must be even"]),
        (json!({}), json!({"n": 3}), &["spec.n: Invalid value: 3: must be even"]),
        (json!({"list": [1]}), json!({"list": [1], "m": 1}), &[]),
        (json!({"list": [1]}), json!({"list": [1, 2]}), &["spec.list[0]: Invalid value: 1: must be even"]),
        (
            json!({"keyed": [{"name": "a", "v": 1}, {"name": "b", "v": 1}]}),
            json!({"keyed": [{"name": "b", "v": 1}, {"name": "a", "v": 3}]}),
            &["spec.keyed[1]: Invalid value: must be even"],
        ),
    ];
    for (old, new, expected) in table {
        assert_eq!(changed(&structure, &old, &new), expected, "{old} to {new}");
    }
}

/// Appendix E: ratcheted errors are returned separately, for warnings.
#[test]
fn ratcheted_errors_are_returned_as_warnings() {
    let structure = with_spec(
        &json!({"type": "object", "properties": {"m": {"type": "integer"}, "n": {"type": "integer",
        "x-kubernetes-validations": [{"rule": "self % 2 == 0", "message": "must be even"}]}}}),
    );
    let result = custom_objects::update(
        &structure,
        &json!({"spec": {"n": 1}}),
        &json!({"spec": {"n": 1, "m": 1}}),
        None,
    );
    assert_eq!(texts(&result.ratcheted), ["spec.n: Invalid value: 1: must be even"]);
    assert!(result.errors.is_empty());
}

/// Appendix E: a write to the status evaluates the rules of the status and of the object.
#[test]
fn status_writes_evaluate_rules() {
    let structure = StructuralSchema::read(&json!({"type": "object",
    "x-kubernetes-validations": [{"rule": "!has(self.status) || self.status.ready <= self.spec.replicas",
        "message": "more than wanted"}],
    "properties": {
        "spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
        "status": {"type": "object", "properties": {"ready": {"type": "integer",
            "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "never goes down"}]}}},
    }}));
    let object = |ready: i64| json!({"spec": {"replicas": 2}, "status": {"ready": ready}});
    assert!(custom_objects::update_status(&structure, &object(1), &object(2), None).errors.is_empty());
    assert_eq!(
        texts(&custom_objects::update_status(&structure, &object(2), &object(3), None).errors),
        ["<nil>: Invalid value: more than wanted"]
    );
    assert_eq!(
        texts(&custom_objects::update_status(&structure, &object(2), &object(1), None).errors),
        ["status.ready: Invalid value: 1: never goes down"]
    );
}

/// Appendix E: a rule that costs too much is aborted, and no more rules are evaluated.
#[test]
fn costs_are_bounded() {
    let list = json!({"type": "array", "items": {"type": "integer"}, "x-kubernetes-validations": [
        {"rule": "self.all(a, self.all(b, a != b || a == b))", "message": "slow"},
        {"rule": "false"},
    ]});
    let structure = with_spec(&json!({"type": "object", "properties": {"list": list}}));
    let numbers = |count: usize| json!({"list": (0..count).collect::<Vec<_>>()});
    assert_eq!(
        created(&structure, &numbers(1000)),
        [
            "spec.list: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further validation \
             rules will be run due to call cost exceeds limit for rule: slow"
        ]
    );
    assert_eq!(created(&structure, &numbers(10)), ["spec.list: Invalid value: failed rule: false"]);

    let items = json!({"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": "lists.range(100000).size() > self.n"}]}});
    let structure = with_spec(&json!({"type": "object", "properties": {"items": items}}));
    let errors =
        created(&structure, &json!({"items": (0..200).map(|n| json!({"n": n})).collect::<Vec<_>>()}));
    assert!(
        matches!(errors.as_slice(), [only] if only.ends_with(
            "\"object\": validation failed due to running out of cost budget, no further validation rules will be run")),
        "{errors:?}"
    );
}
