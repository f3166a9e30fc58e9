//! Values behave like those of `serde_json`, under any sequence of operations.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use gantry_json::{Map, SmolStr, Value, from_value, json, to_value};
use proptest::collection::{btree_map, vec};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

fn values() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".{0,40}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Into::into),
            btree_map(".{0,30}", inner, 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn text_is_read_and_written_as_by_serde_json(theirs in values()) {
        let text = theirs.to_string();
        let ours: Value = gantry_json::from_str(&text).unwrap();
        assert_eq!(ours.to_string(), theirs.to_string());
        assert_eq!(format!("{ours:#}"), format!("{theirs:#}"));
        assert_eq!(Value::from(theirs.clone()), ours);
        assert_eq!(to_value(&theirs), ours);
        assert_eq!(serde_json::Value::from(ours.clone()), theirs);
        assert_eq!(from_value::<serde_json::Value>(ours).unwrap(), theirs);
    }

    #[test]
    fn a_value_that_shares_with_another_is_the_same_value(one in values(), other in values()) {
        for (one, other) in [(&one, &other), (&one, &one)] {
            let (expected, other) = (Value::from(one.clone()), Value::from(other.clone()));
            let mut shared = Value::from(one.clone());
            assert_eq!(shared.share_with(&other), expected == other);
            assert_eq!(shared, expected);
        }
    }

    /// Each step sets or removes a member of both maps; a clone that was made before the step does not change.
    #[test]
    fn a_map_is_a_sorted_map_and_clones_are_independent(steps in vec(("[a-j]{1,2}", any::<Option<i64>>()), 0..300)) {
        let (mut ours, mut model) = (Map::new(), std::collections::BTreeMap::new());
        for (name, value) in steps {
            let (before, unchanged) = (ours.clone(), ours.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
            let replaced = match value {
                Some(number) => (ours.insert(name.as_str(), number.into()), model.insert(name.clone(), number)),
                None => (ours.remove(&name), model.remove(&name)),
            };
            assert_eq!(replaced.0, replaced.1.map(Value::from));
            assert_eq!(ours.get(&name), model.get(&name).map(|number| Value::from(*number)).as_ref());
            assert_eq!(before.keys().cloned().collect::<Vec<_>>(), unchanged);
            let members: Vec<_> = ours.iter().map(|(name, value)| (name.to_string(), value.as_i64().unwrap())).collect();
            assert_eq!(members, model.clone().into_iter().collect::<Vec<_>>());
            assert_eq!(ours, model.iter().map(|(name, number)| (name.as_str(), Value::from(*number))).collect::<Map>());
        }
    }
}

#[test]
fn equal_objects_are_shared_at_any_depth() {
    let stored = json!({"spec": {"a": {"b": 1}, "list": [{"c": 2}, {"d": 3}]}, "status": {"n": 1}});
    let mut put: Value = gantry_json::from_str(&stored.to_string()).unwrap();
    put["status"]["n"] = json!(2);
    put["spec"]["list"][1]["d"] = json!(4);
    assert!(!put.share_with(&stored));
    assert!(put["spec"]["a"].is_clone_of(&stored["spec"]["a"]));
    assert!(put["spec"]["list"][0].is_clone_of(&stored["spec"]["list"][0]));
    assert!(!put["spec"]["list"][1].is_clone_of(&stored["spec"]["list"][1]));
    assert_eq!((&put["status"]["n"], &put["spec"]["list"][1]["d"]), (&json!(2), &json!(4)));
}

#[test]
fn the_macro_takes_expressions_in_the_place_of_values() {
    let (name, labels) = ("web".to_owned(), vec!["a", "b"]);
    let value = json!({
        "name": name, (format!("{name}-x")): [1, null, {"deep": [[]]}, labels.len()], "labels": labels,
        "none": None::<&str>, "empty": {}, "sum": 1 + 2, "negative": -1.5,
    });
    let text = r#"{"empty":{},"labels":["a","b"],"name":"web","negative":-1.5,"none":null,"sum":3,"web-x":[1,null,{"deep":[[]]},2]}"#;
    assert_eq!(value.to_string(), text);
    assert_eq!(name, "web", "expressions are borrowed");
}

#[test]
fn of_members_with_the_same_name_the_last_one_counts() {
    let value: Value = gantry_json::from_str(r#"{"b":1,"a":2,"b":3,"a":4}"#).unwrap();
    assert_eq!(value, json!({"a": 4, "b": 3}));
    let members = [("b", 1), ("a", 2), ("b", 3)].map(|(name, number)| (name, Value::from(number)));
    assert_eq!(Value::Object(members.into_iter().collect()), json!({"a": 2, "b": 3}));
}

#[test]
fn a_change_of_a_clone_does_not_change_the_original() {
    let original = json!({"spec": {"replicas": 1, "template": {"labels": {"app": "web"}}}});
    let mut changed = original.clone();
    changed["spec"]["replicas"] = json!(2);
    changed.pointer_mut("/spec/template/labels").unwrap()["app"] = json!("other");
    assert_eq!(original, json!({"spec": {"replicas": 1, "template": {"labels": {"app": "web"}}}}));
    assert_eq!(changed, json!({"spec": {"replicas": 2, "template": {"labels": {"app": "other"}}}}));
}

#[test]
fn an_object_is_a_clone_until_it_changes() {
    let original = json!({"spec": {"replicas": 1}, "status": {"replicas": 0}});
    let mut changed = original.clone();
    assert!(changed.is_clone_of(&original));
    changed["status"]["replicas"] = json!(1);
    assert!(!changed.is_clone_of(&original) && !changed["status"].is_clone_of(&original["status"]));
    assert!(changed["spec"].is_clone_of(&original["spec"]));
    assert!(!json!({"replicas": 1}).is_clone_of(&original["spec"]), "equal, but created separately");
}

#[test]
fn pointers_are_those_of_serde_json() {
    let text = r#"{"a":{"b/c":[10,{"~":1}]},"":5}"#;
    let (ours, theirs): (Value, serde_json::Value) =
        (gantry_json::from_str(text).unwrap(), serde_json::from_str(text).unwrap());
    for pointer in
        ["", "/", "/a", "/a/b~1c/0", "/a/b~1c/1/~0", "/a/b~1c/01", "/a/b~1c/+1", "a", "/a/b~1c/2", "//"]
    {
        let (ours, theirs) = (ours.pointer(pointer), theirs.pointer(pointer));
        assert_eq!(ours.map(ToString::to_string), theirs.map(ToString::to_string), "{pointer}");
    }
}

#[test]
fn entries_insert_and_modify() {
    let mut map = Map::new();
    map.entry("a").or_insert(json!(1));
    *map.entry("a").and_modify(|value| *value = json!(2)).or_insert(json!(9)) = json!(3);
    map.entry(SmolStr::from("b")).or_insert_with(|| json!([]));
    assert_eq!(Value::Object(map), json!({"a": 3, "b": []}));
}

/// An error in a body that is not UTF-8 has its position.
#[test]
fn text_that_is_not_utf8_is_refused() {
    let error = gantry_json::from_slice::<std::collections::BTreeMap<String, String>>(b"{\"a\":\"\xff\"}")
        .unwrap_err();
    assert_eq!(error.to_string(), "invalid unicode code point at line 1 column 7");
    assert!(gantry_json::from_slice::<Value>(b"\xff").is_err());
    assert_eq!(gantry_json::from_slice::<&str>("\"ä\"".as_bytes()).unwrap(), "ä");
}
