//! Random patches: compared with simple implementations of the rules, undone again, and with arbitrary input.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;

use gantry_json::{Map, Value, json};
use gantry_patch::{self as patch, PatchKind};
use gantry_primitives::Refusal;
use gantry_schema::schema::schema;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};

fn apply(kind: PatchKind, message: &str, current: &Value, body: &Value) -> Result<Value, Refusal> {
    patch::apply(kind, current, &schema().find(message).unwrap().into(), body)
}

/// Names with a meaning: fields, keys, directives, steps of paths, members of operations.
fn name() -> impl Strategy<Value = String> {
    let names = [
        "name",
        "containers",
        "volumes",
        "env",
        "nodeSelector",
        "args",
        "tolerations",
        "hostname",
        "a",
        "b/c",
        "~",
        "$patch",
        "$retainKeys",
        "$setElementOrder/containers",
        "$setElementOrder/args",
        "$setElementOrder",
        "$deleteFromPrimitiveList/args",
        "$deleteFromPrimitiveList",
        "op",
        "path",
        "from",
        "value",
        "",
    ];
    select(names.to_vec()).prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    let texts = [
        "a",
        "b",
        "replace",
        "delete",
        "merge",
        "add",
        "remove",
        "test",
        "move",
        "copy",
        "/a",
        "/containers/0/name",
        "/containers/-",
        "/~01/-1",
        "/",
        "",
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0..3).prop_map(Value::from),
        select(texts.to_vec()).prop_map(Value::from),
    ]
}

fn anything() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 60, 5, |inner| {
        prop_oneof![vec(inner.clone(), 0..5).prop_map(Value::from), object_of(inner)]
    })
}

fn object_of(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    vec((name(), values), 0..6).prop_map(|members| members.into_iter().collect::<Map>().into())
}

fn any_object() -> impl Strategy<Value = Value> {
    object_of(anything())
}

/// The algorithm of RFC 7386, section 2.
fn merged_naively(target: Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut members = if let Value::Object(members) = target { members } else { Map::new() };
    for (name, value) in patch {
        let before = members.remove(name);
        if !value.is_null() {
            members.insert(name.clone(), merged_naively(before.unwrap_or(Value::Null), value));
        }
    }
    members.into()
}

/// Collects the path of every member and element of a document.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    let mut step = |key: &str, inner: &Value| {
        let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
        found.push(path.clone());
        places(inner, &path, found);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, inner)| step(name, inner)),
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(index, inner)| step(&index.to_string(), inner));
        }
        _ => {}
    }
}

/// An edit of a document at an existing path or a new one, and the operation that undoes it.
fn edit(document: &Value, at: Index, what: u8, value: &Value, new: &str) -> (Value, Value) {
    let mut found = Vec::new();
    places(document, "", &mut found);
    let before = |path: &str| document.pointer(path).unwrap();
    if found.is_empty() || what == 0 {
        return (json!({"op": "add", "path": new, "value": value}), json!({"op": "remove", "path": new}));
    }
    let path = at.get(&found);
    match what {
        1 => {
            (json!({"op": "remove", "path": path}), json!({"op": "add", "path": path, "value": before(path)}))
        }
        2 => (
            json!({"op": "replace", "path": path, "value": value}),
            json!({"op": "replace", "path": path, "value": before(path)}),
        ),
        3 => (
            json!({"op": "move", "from": path, "path": new}),
            json!({"op": "move", "from": new, "path": path}),
        ),
        _ => (json!({"op": "copy", "from": path, "path": new}), json!({"op": "remove", "path": new})),
    }
}

/// Containers with unique names, each with environment variables.
fn containers() -> impl Strategy<Value = Value> {
    let names = || subsequence(vec!["a", "b", "c", "d", "e", "f"], 0..=6).prop_shuffle();
    let variables = names().prop_flat_map(|names| {
        let values = vec(0..3u8, names.len());
        (Just(names), values)
    });
    let variables = variables.prop_map(|(names, values)| {
        names
            .into_iter()
            .zip(values)
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect::<Value>()
    });
    let container = (variables, vec(select(vec!["x", "y"]), 0..3));
    names().prop_flat_map(move |names| (Just(names.clone()), vec(container.clone(), names.len()))).prop_map(
        |(names, containers)| {
            let both = names.into_iter().zip(containers);
            both.map(|(name, (env, args))| json!({"name": name, "env": env, "args": args})).collect()
        },
    )
}

fn pod_spec() -> impl Strategy<Value = Value> {
    let labels = proptest::collection::btree_map("[a-c]", "[x-z]", 0..3);
    (containers(), labels)
        .prop_map(|(containers, labels)| json!({"containers": containers, "nodeSelector": labels}))
}

fn names_of(pod_spec: &Value) -> Vec<String> {
    let containers = pod_spec["containers"].as_array().unwrap();
    containers.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

/// A3.9 by names: merges two lists; the head of the other elements comes first only if it was before the named one.
fn ordered_naively(original: &[String], patch: &[String]) -> Vec<String> {
    let mut others: Vec<_> = original.iter().filter(|name| !patch.contains(name)).cloned().collect();
    let mut named = patch.to_vec();
    let mut ordered = Vec::new();
    let place = |name: &String| original.iter().position(|other| other == name);
    while !others.is_empty() && !named.is_empty() {
        let first =
            matches!((place(&others[0]), place(&named[0])), (Some(other), Some(named)) if other < named);
        ordered.push(if first { others.remove(0) } else { named.remove(0) });
    }
    ordered.extend(others);
    ordered.extend(named);
    ordered
}

proptest! {
    /// A3.6: a merge patch has the result of the RFC's algorithm.
    #[test]
    fn merge_patches_follow_the_rfc(current in any_object(), patch in any_object()) {
        let wanted = merged_naively(current.clone(), &patch);
        prop_assert_eq!(apply(PatchKind::Merge, "core/v1.PodSpec", &current, &patch), Ok(wanted));
    }

    /// A3.5: a JSON patch is undone by the opposite operations in reverse order.
    #[test]
    fn json_patches_can_be_undone(
        start in any_object(),
        edits in vec((any::<Index>(), 0..5u8, anything()), 0..12),
    ) {
        let mut document = start.clone();
        let (mut operations, mut undoing) = (Vec::new(), Vec::new());
        for (at, what, value) in edits {
            let new = format!("/new{}", operations.len());
            let (operation, opposite) = edit(&document, at, what, &value, &new);
            document = apply(PatchKind::Json, "core/v1.PodSpec", &document, &json!([operation])).unwrap();
            operations.push(operation);
            undoing.insert(0, opposite);
        }
        let at_once = apply(PatchKind::Json, "core/v1.PodSpec", &start, &operations.into()).unwrap();
        prop_assert_eq!(&at_once, &document);
        let undone = apply(PatchKind::Json, "core/v1.PodSpec", &document, &undoing.into()).unwrap();
        prop_assert_eq!(undone, start);
    }

    /// A3.8, A3.9: an object patched with itself does not change.
    #[test]
    fn an_object_merged_with_itself_is_itself(current in pod_spec()) {
        prop_assert_eq!(apply(PatchKind::Strategic, "core/v1.PodSpec", &current, &current), Ok(current.clone()));
    }

    /// A3.8, A3.9: lists have all elements of both, in the order of the rule; the same patch again changes nothing.
    #[test]
    fn lists_merge_in_order(current in pod_spec(), patch in pod_spec()) {
        let merged = apply(PatchKind::Strategic, "core/v1.PodSpec", &current, &patch).unwrap();
        prop_assert_eq!(names_of(&merged), ordered_naively(&names_of(&current), &names_of(&patch)));
        let again = apply(PatchKind::Strategic, "core/v1.PodSpec", &merged, &patch).unwrap();
        prop_assert_eq!(again, merged);
    }

    /// A3.9, A3.10: with `$setElementOrder`, named elements have its order and no element is lost.
    #[test]
    fn lists_merge_in_the_requested_order(current in pod_spec(), order in containers()) {
        let order: Vec<Value> = order.as_array().unwrap().iter().map(|one| json!({"name": one["name"]})).collect();
        let patch = json!({"$setElementOrder/containers": order});
        let merged = names_of(&apply(PatchKind::Strategic, "core/v1.PodSpec", &current, &patch).unwrap());
        let before = names_of(&current);
        let wanted = order.iter().map(|one| one["name"].as_str().unwrap().to_owned());
        let wanted: Vec<_> = wanted.filter(|name| before.contains(name)).collect();
        prop_assert_eq!(&merged, &ordered_naively(&before, &wanted));
        prop_assert_eq!(merged.iter().collect::<BTreeSet<_>>(), before.iter().collect());
    }

    /// A3.11: any input has a deterministic result: an object, or a refusal with one of the known codes.
    #[test]
    fn anything_is_patched_or_refused(current in any_object(), body in anything()) {
        for kind in [PatchKind::Json, PatchKind::Merge, PatchKind::Strategic] {
            let outcome = apply(kind, "core/v1.PodSpec", &current, &body);
            prop_assert_eq!(&outcome, &apply(kind, "core/v1.PodSpec", &current, &body));
            match outcome {
                Ok(patched) => prop_assert!(patched.is_object()),
                Err(refusal) => prop_assert!([400, 422, 500].contains(&refusal.reason.code()), "{refusal}"),
            }
            prop_assert!(patch::undecodable(kind, &body, &current, "why").message.ends_with("\": why"));
            patch::findings(kind, &body, Vec::new());
        }
    }

    /// A3.5: any operations are executed or refused.
    #[test]
    fn any_operations_are_carried_out_or_refused(
        current in any_object(),
        operations in vec((scalar(), scalar(), scalar(), anything()), 0..6),
    ) {
        let operation = |(op, path, from, value)| json!({"op": op, "path": path, "from": from, "value": value});
        let operations: Value = operations.into_iter().map(operation).collect();
        let outcome = apply(PatchKind::Json, "core/v1.PodSpec", &current, &operations);
        prop_assert!(outcome.map_or_else(|refusal| [400, 422].contains(&refusal.reason.code()), |patched| patched.is_object()));
    }

    /// A3.7: directives without a value to apply to are dropped.
    #[test]
    fn directives_never_end_up_in_an_object(patch in any_object()) {
        if let Ok(patched) = apply(PatchKind::Strategic, "core/v1.PodSpec", &json!({}), &patch) {
            let text = patched.to_string();
            prop_assert!(!text.contains("\"$"), "{text}");
        }
    }
}
