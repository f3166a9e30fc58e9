//! Properties of any sets of paths, any applied configurations and any invalid input.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeSet;
use std::sync::Arc;

use gantry_json::{Map, Value, json};
use gantry_managed_fields::apply::{Change, OnConflict, apply};
use gantry_managed_fields::ownership::{
    FieldSet, ManagedFields, PathElement, Scalar, Write, compare, compare_written, fields_of, track_update,
};
use gantry_schema::custom::Custom;
use gantry_schema::empties::{self, Form};
use gantry_schema::kinds::Nature;
use gantry_schema::schema::schema;
use proptest::prelude::*;

/// A set of paths in its simplest form.
type Naive = BTreeSet<Vec<String>>;

fn element() -> impl Strategy<Value = PathElement> {
    prop_oneof![
        "[a-c]".prop_map(|name| PathElement::field(&name)),
        (0..3i64).prop_map(|n| PathElement::key([
            ("n".into(), Scalar::Int(n)),
            ("a".into(), Scalar::Bool(n > 1))
        ])),
        ".{0,2}".prop_map(|text| PathElement::Value(Scalar::Text(text.into()))),
        (0..2u64).prop_map(PathElement::Index),
    ]
}

fn paths() -> impl Strategy<Value = Vec<Vec<PathElement>>> {
    prop::collection::vec(prop::collection::vec(element(), 1..4), 0..8)
}

fn set(paths: &[Vec<PathElement>]) -> FieldSet {
    let mut set = FieldSet::new();
    for path in paths {
        set.insert(path.iter().cloned());
    }
    set
}

fn naive(set: &FieldSet) -> Naive {
    set.paths().iter().map(|path| path.iter().map(|element| element.encode().to_string()).collect()).collect()
}

/// An applied configuration with part of a Pod.
fn statement() -> impl Strategy<Value = Value> {
    let port = (1..3u32, prop::option::of(prop_oneof![Just("TCP"), Just("UDP")]));
    let ports = prop::collection::btree_set(port, 0..3).prop_map(|ports| {
        let mut seen = BTreeSet::new();
        let distinct =
            ports.into_iter().filter(|(port, protocol)| seen.insert((*port, protocol.unwrap_or("TCP"))));
        let written = distinct.map(|(port, protocol)| match protocol {
            Some(protocol) => json!({"containerPort": port, "protocol": protocol}),
            None => json!({"containerPort": port}),
        });
        written.collect::<Value>()
    });
    let container = (prop::option::of("[xy]"), prop::option::of(ports), prop::option::of(nonsense(1)))
        .prop_map(
            |(image, ports, args)| json!({"image": image, "ports": ports, "args": args.map(|_| ["a"])}),
        );
    let containers = prop::collection::btree_map("[a-d]", container, 0..4).prop_map(|containers| {
        let named = containers.into_iter().map(|(name, mut container)| {
            container["name"] = json!(name);
            container.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            container
        });
        named.collect::<Vec<_>>()
    });
    let labels = prop::option::of(prop::collection::btree_map("[a-c]", "[xy]", 0..3));
    (containers.prop_shuffle(), labels, prop::option::of("[xy]")).prop_map(|(containers, labels, host)| {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}});
        pod["spec"]["containers"] = json!(containers);
        if let Some(labels) = labels {
            pod["metadata"]["labels"] = json!(labels);
        }
        if let Some(host) = host {
            pod["spec"]["hostname"] = json!(host);
        }
        pod
    })
}

/// Any JSON; some names have a meaning.
fn nonsense(depth: u32) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,3}".prop_map(Value::from),
    ];
    let name = prop_oneof![
        Just("metadata".to_owned()),
        Just("spec".to_owned()),
        Just("containers".to_owned()),
        Just("managedFields".to_owned()),
        Just("labels".to_owned()),
        Just("name".to_owned()),
        Just("ports".to_owned()),
        Just("f:spec".to_owned()),
        "[a-z]{1,3}",
    ];
    leaf.prop_recursive(depth, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map>())),
        ]
    })
}

fn pods() -> Nature {
    schema().find("core/v1.Pod").unwrap().into()
}

/// A custom kind with this schema.
fn custom(schema: &Value) -> Nature {
    Nature::Custom(Arc::new(Custom::read(&json!({}), &json!({"schema": {"openAPIV3Schema": schema}}))))
}

/// A custom kind without declarations, except for lists with the key `name`.
fn loose() -> Nature {
    let named = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    custom(&json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
        "spec": {"x-kubernetes-preserve-unknown-fields": true, "properties": {"containers": named}},
    }}))
}

fn write<R>(manager: &str, body: impl FnOnce(&Write<'_>) -> R) -> R {
    write_to(&pods(), manager, body)
}

fn write_to<R>(nature: &Nature, manager: &str, body: impl FnOnce(&Write<'_>) -> R) -> R {
    let reset = FieldSet::of_fields(&["status"]);
    let now = "2026-01-01T00:00:00Z";
    body(&Write { kind: "Pod", nature, api_version: "v1", subresource: "", manager, reset: &reset, now })
}

/// Applies a configuration; `None` if there is a conflict.
fn applied(live: Option<&Value>, stated: &Value, manager: &str) -> Option<(Value, Change)> {
    let result = write(manager, |write| apply(live, stated, write, OnConflict::Refuse));
    result.ok().map(|applied| (applied.object, applied.change))
}

proptest! {
    /// A3.14: an encoded set decodes to itself.
    #[test]
    fn field_sets_survive_encoding(paths in paths()) {
        let set = set(&paths);
        let text = set.encode().to_string();
        prop_assert_eq!(FieldSet::decode(&gantry_json::from_str(&text).unwrap()), Ok(set));
    }

    /// A3.15: operations on sets of paths have the results of operations on plain sets.
    #[test]
    fn field_sets_obey_set_algebra(one in paths(), other in paths()) {
        let (a, b) = (set(&one), set(&other));
        let (x, y) = (naive(&a), naive(&b));
        prop_assert_eq!(a.len(), x.len());
        prop_assert_eq!(naive(&a.union(&b)), &x | &y);
        prop_assert_eq!(naive(&a.intersection(&b)), &x & &y);
        prop_assert_eq!(naive(&a.difference(&b)), &x - &y);
        prop_assert_eq!(a.is_subset(&b), x.is_subset(&y));
        prop_assert_eq!(a == b, x == y);
        for path in one.iter().chain(&other) {
            let encoded: Vec<_> = path.iter().map(|element| element.encode().to_string()).collect();
            prop_assert_eq!(a.contains(path), x.contains(&encoded));
        }
        let above = |path: &Vec<String>, set: &Naive| set.iter().any(|p| path.starts_with(p));
        let mut rest = a.clone();
        rest.subtract_below(&b);
        prop_assert_eq!(naive(&rest), x.iter().filter(|path| !above(path, &y)).cloned().collect::<Naive>());
        let leaf = |path: &&Vec<String>| !x.iter().any(|p| p != *path && p.starts_with(path));
        prop_assert_eq!(naive(&a.leaves()), x.iter().filter(leaf).cloned().collect::<Naive>());
    }

    /// A3.22: applying the same configuration again changes nothing.
    #[test]
    fn applying_twice_changes_nothing(before in statement(), stated in statement()) {
        let (live, _) = applied(None, &before, "m1").unwrap();
        if let Some((object, _)) = applied(Some(&live), &stated, "m2") {
            let (again, change) = applied(Some(&object), &stated, "m2").unwrap();
            prop_assert_eq!(again, object);
            prop_assert_eq!(change, Change::Nothing);
        }
    }

    /// A3.22: applying only fields without other owners never conflicts, and takes no field from another manager.
    #[test]
    fn disjoint_apply_configurations_never_conflict(one in statement(), other in statement()) {
        let (live, _) = applied(None, &one, "m1").unwrap();
        let owned = fields_of(&pods(), &one);
        let mut other = other;
        let containers = one["spec"]["containers"].as_array().unwrap();
        let taken: Vec<_> = containers.iter().map(|container| container["name"].clone()).collect();
        other["spec"]["containers"].as_array_mut().unwrap().retain(|c| !taken.contains(&c["name"]));
        if one["spec"].get("hostname").is_some() {
            other["spec"].as_object_mut().unwrap().remove("hostname");
        }
        other["metadata"].as_object_mut().unwrap().remove("labels");
        let both = applied(Some(&live), &other, "m2");
        prop_assert!(both.is_some());
        let (object, _) = both.unwrap();
        let record = ManagedFields::of(&object);
        let kept = record.entries().find(|(identity, _)| identity.manager == "m1");
        let mine = kept.map(|(_, entry)| FieldSet::clone(&entry.fields)).unwrap_or_default();
        let never = gantry_managed_fields::ownership::never_tracked();
        prop_assert_eq!(mine, owned.difference(never));
    }

    /// A3.22: with force the object has the applied values.
    #[test]
    fn force_never_conflicts(one in statement(), other in statement()) {
        let (live, _) = applied(None, &one, "m1").unwrap();
        let forced = write("m2", |write| apply(Some(&live), &other, write, OnConflict::Force)).unwrap();
        let difference = compare(&pods(), &other, &forced.object);
        prop_assert!(difference.modified.is_empty(), "{:?}", difference);
        prop_assert!(difference.removed.is_empty(), "{:?}", difference);
    }

    /// A3.15: after any write, the writer owns the fields that differ from before.
    #[test]
    fn a_writer_owns_the_changed_fields(one in statement(), other in statement()) {
        // Stored objects have no empty lists and maps.
        let one = empties::in_form(Form::Stored, &pods(), &one);
        let (old, _) = applied(None, &one, "m1").unwrap();
        let mut new = other;
        write("u1", |write| track_update(Some(&old), &mut new, write));
        let gained = compare_written(&pods(), &old, &new).gained();
        let owned = ManagedFields::of(&new);
        let tracked = !ManagedFields::of(&old).is_empty();
        let mine = owned.entries().find(|(identity, _)| identity.manager == "u1");
        let mine = mine.map(|(_, entry)| FieldSet::clone(&entry.fields)).unwrap_or_default();
        prop_assert_eq!(mine, if tracked { gained } else { FieldSet::new() });
        let there = compare(&pods(), &json!({}), &new).added;
        for (identity, entry) in owned.entries() {
            prop_assert!(entry.fields.is_subset(&there), "{:?} owns fields that do not exist", identity);
        }
    }

    /// Appendix E, A3.22: without declarations anything can be applied, and applying it again changes nothing.
    #[test]
    fn anything_can_be_applied_without_declarations(before in nonsense(4), stated in nonsense(4), other in nonsense(4)) {
        let nature = loose();
        // An empty list of containers owns nothing, and managers without fields have no entry, so all have a label.
        let dressed = |spec: &Value| {
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "b"}}, "spec": spec})
        };
        let applied = |live: Option<&Value>, manager: &str, spec: &Value| {
            let result = write_to(&nature, manager, |write| apply(live, &dressed(spec), write, OnConflict::Force));
            result.ok().map(|applied| (applied.object, applied.change))
        };
        // Containers without names or with the same names are refused.
        let Some((first, _)) = applied(None, "m1", &before) else { return Ok(()) };
        let Some((second, _)) = applied(Some(&first), "m2", &stated) else { return Ok(()) };
        let (again, change) = applied(Some(&second), "m2", &stated).unwrap();
        prop_assert_eq!(&again, &second);
        prop_assert_eq!(change, Change::Nothing);
        let difference = compare(&nature, &dressed(&stated), &second);
        prop_assert!(difference.modified.is_empty(), "{:?}", difference);
        let mut last = dressed(&other);
        write_to(&nature, "u1", |write| track_update(Some(&second), &mut last, write));
        let there = compare(&nature, &json!({}), &last).added;
        for (identity, entry) in ManagedFields::of(&last).entries() {
            prop_assert!(entry.fields.is_subset(&there), "{:?} owns fields that do not exist", identity);
        }
    }

    /// Appendix E: ownership panics for no schema and no object.
    #[test]
    fn invalid_schemas_never_panic(schema in nonsense(5), live in nonsense(5), stated in nonsense(5)) {
        for nature in [custom(&schema), custom(&json!({"type": "object", "properties": {"spec": schema}})), loose()] {
            let mut dressed = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": stated});
            let _ = write_to(&nature, "kubectl", |write| apply(Some(&live), &dressed, write, OnConflict::Refuse));
            write_to(&nature, "u1", |write| track_update(Some(&live), &mut dressed, write));
        }
    }

    /// Ownership and apply panic for no input.
    #[test]
    fn invalid_input_never_panics(live in nonsense(5), stated in nonsense(5), record in nonsense(4)) {
        let mut live = live;
        if let Some(metadata) = live.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("managedFields".to_owned(), record.clone());
        }
        let mut dressed = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": stated});
        for stated in [&stated, &dressed] {
            let _ = write("kubectl", |write| apply(Some(&live), stated, write, OnConflict::Refuse));
            let _ = write("m1", |write| apply(None, stated, write, OnConflict::Force));
        }
        write("u1", |write| track_update(Some(&live), &mut dressed, write));
        write("u1", |write| track_update(None, &mut live, write));
        let _ = (ManagedFields::decode(&record), FieldSet::decode(&record));
    }
}
