//! JSON patches: the effect of each operation, and which patches are refused.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use gantry_json::{Value, json};
use gantry_patch::{self as patch, PatchKind};
use gantry_primitives::Refusal;
use gantry_schema::schema::schema;

fn apply(current: &Value, body: &Value) -> Result<Value, Refusal> {
    patch::apply(PatchKind::Json, current, &schema().find("core/v1.ConfigMap").unwrap().into(), body)
}

#[track_caller]
fn becomes(current: &Value, operations: &Value, wanted: &Value) {
    assert_eq!(apply(current, operations).as_ref(), Ok(wanted), "{current} after {operations}");
}

/// Asserts that a well-formed patch does not apply to the object.
#[track_caller]
fn does_not_apply(current: &Value, operations: &Value) {
    let refusal = apply(current, operations).unwrap_err();
    let message = "the server rejected our request due to an error in our request";
    assert_eq!(
        (refusal.reason.code(), refusal.message.as_str()),
        (422, message),
        "{current} after {operations}"
    );
    assert_eq!(refusal.status()["details"], json!({}));
}

#[track_caller]
fn is_malformed(body: &Value, message: &str) {
    let refusal = apply(&json!({}), body).unwrap_err();
    assert_eq!(
        (refusal.reason.code(), refusal.reason.name(), refusal.message.as_str()),
        (400, "BadRequest", message),
        "{body}"
    );
}

/// A3.5: `replace` of a missing member adds it; its parent must exist.
#[test]
fn replace_adds_a_member_that_is_not_there() {
    let replace = |path: &str| json!([{"op": "replace", "path": path, "value": {"a": "b"}}]);
    becomes(
        &json!({"metadata": {}}),
        &replace("/metadata/annotations"),
        &json!({"metadata": {"annotations": {"a": "b"}}}),
    );
    does_not_apply(&json!({}), &replace("/metadata/annotations"));
    does_not_apply(&json!({"l": [1]}), &replace("/l/1"));
    does_not_apply(&json!({"l": [1]}), &replace("/l/-"));
}

/// A3.5: `~1` is a slash and `~0` a tilde, and the result is not unescaped again.
#[test]
fn slashes_and_tildes_in_names_are_escaped() {
    for (path, name) in
        [("/a~1b", "a/b"), ("/a~0b", "a~b"), ("/~01", "~1"), ("/~0~1", "~/"), ("/~", "~"), ("/", "")]
    {
        becomes(&json!({}), &json!([{"op": "add", "path": path, "value": 1}]), &json!({name: 1}));
    }
}

/// A3.5: `-` is after the last element, and only valid to add there.
#[test]
fn elements_are_added_at_an_index_or_behind_the_last() {
    let add = |path: &str| json!([{"op": "add", "path": path, "value": "n"}]);
    let list = json!({"l": ["a", "b"]});
    becomes(&list, &add("/l/0"), &json!({"l": ["n", "a", "b"]}));
    becomes(&list, &add("/l/2"), &json!({"l": ["a", "b", "n"]}));
    becomes(&list, &add("/l/-"), &json!({"l": ["a", "b", "n"]}));
    for outside in ["/l/3", "/l/x", "/l/", "/l/-4", "/l/9223372036854775808", "/l/-9223372036854775808"] {
        does_not_apply(&list, &add(outside));
    }
    for operation in ["remove", "replace", "test"] {
        does_not_apply(&list, &json!([{"op": operation, "path": "/l/-"}]));
    }
}

/// A3.5: negative indices count from the end; for `add`, -1 is after the last element.
#[test]
fn negative_indices_count_from_the_end() {
    let list = json!({"l": ["a", "b"]});
    becomes(&list, &json!([{"op": "remove", "path": "/l/-1"}]), &json!({"l": ["a"]}));
    becomes(&list, &json!([{"op": "replace", "path": "/l/-2", "value": "n"}]), &json!({"l": ["n", "b"]}));
    becomes(&list, &json!([{"op": "add", "path": "/l/-1", "value": "n"}]), &json!({"l": ["a", "b", "n"]}));
    becomes(
        &json!({"l": [{}]}),
        &json!([{"op": "add", "path": "/l/-1/x", "value": 1}]),
        &json!({"l": [{"x": 1}]}),
    );
    does_not_apply(&list, &json!([{"op": "remove", "path": "/l/-3"}]));
}

/// A3.5: a test compares whole values; a missing member is `null`.
#[test]
fn a_test_compares_values() {
    let current = json!({"n": null, "one": 1, "object": {"a": [1, {}]}});
    let test = |path: &str, value: Value| json!([{"op": "test", "path": path, "value": value}]);
    for (path, value) in [
        ("/one", json!(1)),
        ("/object", json!({"a": [1, {}]})),
        ("/object/a/1", json!({})),
        ("/n", json!(null)),
        ("/absent", json!(null)),
    ] {
        becomes(&current, &test(path, value), &current);
    }
    for (path, value) in [
        ("/one", json!("1")),
        ("/one", json!(null)),
        ("/n", json!(0)),
        ("/absent", json!("x")),
        ("/object", json!({"a": [1, {}], "b": null})),
        ("/absent/x", json!(null)),
        ("/object/a/2", json!(null)),
        ("/one/x", json!(null)),
    ] {
        does_not_apply(&current, &test(path, value));
    }
    becomes(&current, &json!([{"op": "test", "path": "/absent"}]), &current);
}

/// A3.5: `move` removes and adds, `copy` only adds; a copy of a missing member is `null`, a move of one is refused.
#[test]
fn values_are_moved_and_copied() {
    let from = |op: &str, from: &str, path: &str| json!([{"op": op, "from": from, "path": path}]);
    let current = json!({"a": {"x": 1}, "l": [1, 2, 3]});
    becomes(&current, &from("move", "/a/x", "/b"), &json!({"a": {}, "b": 1, "l": [1, 2, 3]}));
    becomes(&current, &from("copy", "/a", "/b"), &json!({"a": {"x": 1}, "b": {"x": 1}, "l": [1, 2, 3]}));
    becomes(&current, &from("move", "/l/0", "/l/2"), &json!({"a": {"x": 1}, "l": [2, 3, 1]}));
    becomes(&current, &from("copy", "/none", "/l/-"), &json!({"a": {"x": 1}, "l": [1, 2, 3, null]}));
    for refused in [
        from("move", "/none", "/b"),
        from("move", "/a", "/a/b"),
        from("copy", "/l/3", "/b"),
        from("copy", "/a", "/none/b"),
        json!([{"op": "move", "path": "/b"}]),
    ] {
        does_not_apply(&current, &refused);
    }
}

/// A3.5: the document as a whole cannot be addressed, and the part before the first slash is ignored.
#[test]
fn a_path_begins_behind_its_first_slash() {
    does_not_apply(&json!({}), &json!([{"op": "replace", "path": "", "value": {}}]));
    does_not_apply(&json!({"a": 1}), &json!([{"op": "remove", "path": "a"}]));
    becomes(&json!({"a": 1}), &json!([{"op": "remove", "path": "x/a"}]), &json!({}));
}

/// A3.5: an unknown operation, or one without a path, does not apply, and neither do the operations before it.
#[test]
fn one_operation_that_does_not_apply_refuses_the_patch() {
    let current = json!({"a": 1});
    for refused in [
        json!({}),
        json!({"op": "add"}),
        json!({"path": "/a"}),
        json!({"op": "Add", "path": "/a"}),
        json!(null),
    ] {
        does_not_apply(&current, &json!([{"op": "remove", "path": "/a"}, refused]));
    }
    becomes(&current, &json!([]), &current);
    becomes(&current, &json!(null), &current);
}

/// A3.5: a body of the wrong type is reported before any operation is executed.
#[test]
fn a_body_of_the_wrong_type_is_a_bad_request() {
    let cannot = |what: &str, target: &str| {
        format!("error decoding patch: json: cannot unmarshal {what} into Go {target}")
    };
    is_malformed(&json!({"op": "add"}), &cannot("object", "value of type []handlers.jsonPatchOp"));
    is_malformed(&json!("x"), &cannot("string", "value of type []handlers.jsonPatchOp"));
    is_malformed(&json!([1]), &cannot("number", "value of type handlers.jsonPatchOp"));
    is_malformed(
        &json!([{"op": "test", "path": "/x", "value": 1}, {"op": true}]),
        &cannot("bool", "struct field jsonPatchOp.op of type string"),
    );
    is_malformed(
        &json!([{"op": "add", "path": 1}]),
        &cannot("number", "struct field jsonPatchOp.path of type string"),
    );
    assert_eq!(patch::not_json().message, "invalid JSON patch");
}

/// A0.11: a patch may have ten thousand operations.
#[test]
fn too_many_operations_are_too_large() {
    let operation = json!({"op": "test", "path": "/a", "value": null});
    let most = vec![operation.clone(); 10_000];
    becomes(&json!({}), &json!(most), &json!({}));
    let refusal = apply(&json!({}), &json!(vec![operation; 10_001])).unwrap_err();
    let status = refusal.status();
    assert_eq!((&status["code"], &status["reason"]), (&json!(413), &json!("RequestEntityTooLarge")));
    assert_eq!(
        status["message"],
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    );
}

/// A0.11: copies of copies do not grow beyond the limit of a body.
#[test]
fn repeated_copies_are_limited_in_size() {
    let double = |index: u32| json!({"op": "copy", "from": "/a", "path": format!("/a/{index}")});
    let few: Vec<_> = (0..10).map(double).collect();
    assert!(apply(&json!({"a": {"x": "some text"}}), &json!(few)).is_ok());
    let many: Vec<_> = (0..60).map(double).collect();
    does_not_apply(&json!({"a": {"x": "some text"}}), &json!(many));
}

/// A0.11: repeated moves do not make an object deeper than the limit.
#[test]
fn repeated_moves_are_limited_in_depth() {
    let deeper = [
        json!({"op": "add", "path": "/b", "value": {"x": {"x": {"x": {}}}}}),
        json!({"op": "move", "from": "/a", "path": "/b/x/x/x/x"}),
        json!({"op": "move", "from": "/b", "path": "/a"}),
    ];
    let times = |times: usize| json!(deeper.iter().cycle().take(3 * times).collect::<Vec<_>>());
    assert!(apply(&json!({"a": {}}), &times(100)).is_ok());
    does_not_apply(&json!({"a": {}}), &times(3000));
}

/// A0.11: the largest patch of a long list does not move the list for every operation.
#[test]
fn thousands_of_inserts_at_the_head_of_a_long_list_are_fast() {
    let list: Vec<_> = (0..500_000).map(|number| json!(number)).collect();
    let current = json!({"list": list});
    let inserts: Vec<_> =
        (0..10_000).map(|number| json!({"op": "add", "path": "/list/0", "value": -number})).collect();
    let patched = apply(&current, &json!(inserts)).unwrap();
    assert_eq!(patched["list"].as_array().unwrap().len(), 510_000);
    assert_eq!((&patched["list"][0], &patched["list"][10_000]), (&json!(-9999), &json!(0)));
    let removals: Vec<_> = (0..10_000).map(|_| json!({"op": "remove", "path": "/list/0"})).collect();
    assert_eq!(apply(&patched, &json!(removals)).unwrap(), current);
}

/// A moved value is measured each time it gets deeper; a patch that does so with a large value too often is refused.
#[test]
fn large_values_are_not_moved_deeper_without_limit() {
    let large: Vec<_> = (0..100_000).map(|number| json!(number)).collect();
    let current = json!({"large": large, "below": {"it": {}}});
    let moves: Vec<_> = (0..5000)
        .flat_map(|_| {
            [
                json!({"op": "move", "from": "/large", "path": "/below/it/large"}),
                json!({"op": "move", "from": "/below/it/large", "path": "/large"}),
            ]
        })
        .collect();
    assert_eq!(apply(&current, &json!(moves)).unwrap_err().reason.code(), 422);
    assert_eq!(apply(&current, &json!(moves[..20])).unwrap(), current);
}
