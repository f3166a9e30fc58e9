//! Merges an applied configuration into an object: objects by field, lists by key, anything else is replaced.

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::{Map, Value};

use crate::ownership::PathElement;
use crate::ownership::shape::{Parts, Shape, as_list, as_object, is_empty};
use gantry_schema::kinds::Nature;

/// Merges an applied configuration into an object of this kind.
pub(super) fn merge(nature: &Nature, live: &Value, stated: &Value) -> Value {
    merge_members(Shape::root(nature), live.as_object(), stated.as_object())
}

fn merge_value(shape: Shape<'_>, live: Option<&Value>, stated: &Value) -> Value {
    match shape.parts() {
        Parts::None => stated.clone(),
        // If both are empty, the applied form is kept: `null` or empty.
        _ if is_empty(live) && is_empty(Some(stated)) => stated.clone(),
        Parts::Elements => merge_elements(shape, as_list(live), as_list(Some(stated))),
        Parts::Members => merge_members(shape, as_object(live), as_object(Some(stated))),
        Parts::Deduced => match (as_object(live), stated) {
            // `null` does not change an object; anything else replaces it.
            (Some(_), Value::Null) | (_, Value::Object(_)) => {
                merge_members(shape, as_object(live), as_object(Some(stated)))
            }
            _ => stated.clone(),
        },
    }
}

fn merge_members(shape: Shape<'_>, live: Option<&Map>, stated: Option<&Map>) -> Value {
    let mut merged = Map::new();
    for (name, value) in live.into_iter().flatten() {
        if stated.is_none_or(|stated| !stated.contains_key(name)) {
            merged.insert(name.clone(), value.clone());
        }
    }
    for (name, value) in stated.into_iter().flatten() {
        let before = live.and_then(|live| live.get(name));
        let value =
            shape.member(name).map_or_else(|| value.clone(), |inner| merge_value(inner, before, value));
        merged.insert(name.clone(), value);
    }
    Value::Object(merged)
}

/// Merges lists: applied elements have the applied order; others stay before the element that followed them.
fn merge_elements(shape: Shape<'_>, live: &[Value], stated: &[Value]) -> Value {
    let live: Vec<_> = shape.named(live).collect();
    let stated: Vec<_> = shape.named(stated).collect();
    let live_by_name: BTreeMap<&PathElement, &Value> =
        live.iter().rev().map(|(name, value)| (name, *value)).collect();
    let stated_names: BTreeSet<&PathElement> = stated.iter().map(|(name, _)| name).collect();

    let mut merged = Vec::with_capacity(live.len() + stated.len());
    let mut wanted = stated.iter().peekable();
    let take = |(name, value): &(PathElement, &Value)| {
        merge_value(shape.element(), live_by_name.get(name).copied(), value)
    };
    for (name, value) in &live {
        if !stated_names.contains(name) {
            merged.push((*value).clone());
            continue;
        }
        while let Some(new) = wanted.next_if(|(name, _)| !live_by_name.contains_key(name)) {
            merged.push(take(new));
        }
        if let Some(same) = wanted.next_if(|(next, _)| next == name) {
            merged.push(take(same));
        }
    }
    merged.extend(wanted.map(take));
    Value::Array(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;
    use gantry_schema::schema::schema;

    fn order(live: &[&str], stated: &[&str]) -> Vec<String> {
        let pod = |names: &[&str]| {
            let containers: Vec<_> = names.iter().map(|name| json!({"name": name})).collect();
            json!({"spec": {"containers": containers}})
        };
        let merged = merge(&schema().find("core/v1.Pod").unwrap().into(), &pod(live), &pod(stated));
        let containers = merged["spec"]["containers"].as_array().unwrap();
        containers.iter().map(|container| container["name"].as_str().unwrap().to_owned()).collect()
    }

    /// A3.22: the order of merged lists, by example.
    #[test]
    fn applied_elements_are_in_applied_order_and_others_keep_their_positions() {
        let table: [(&[&str], &[&str], &[&str]); 8] = [
            (&["a", "b", "c"], &["c", "d", "a"], &["b", "c", "d", "a"]),
            (&["a", "b", "c"], &["d"], &["a", "b", "c", "d"]),
            (&["a", "b", "c"], &["d", "b"], &["a", "d", "b", "c"]),
            (&["b", "c", "d", "a"], &["e", "b"], &["e", "b", "c", "d", "a"]),
            (&["a", "b"], &["b", "a"], &["b", "a"]),
            (&["a", "b"], &[], &["a", "b"]),
            (&[], &["b", "a"], &["b", "a"]),
            (&["a", "b", "c"], &["c", "a"], &["b", "c", "a"]),
        ];
        for (live, stated, expected) in table {
            assert_eq!(order(live, stated), expected, "{live:?} and {stated:?}");
        }
    }

    /// A3.22: the protocol is part of the key of a port; it defaults to TCP.
    #[test]
    fn a_port_without_protocol_merges_into_the_tcp_port() {
        let kind = schema().find("core/v1.Pod").unwrap().into();
        let pod = |ports: Value| json!({"spec": {"containers": [{"name": "c", "ports": ports}]}});
        let live =
            pod(json!([{"containerPort": 53, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}]));
        let merged = merge(&kind, &live, &pod(json!([{"containerPort": 53, "name": "dns"}])));
        let expected = json!([{"containerPort": 53, "protocol": "TCP", "name": "dns"}, {"containerPort": 53, "protocol": "UDP"}]);
        assert_eq!(merged["spec"]["containers"][0]["ports"], expected);
    }

    #[test]
    fn null_replaces_a_value_but_leaves_a_map_alone() {
        let kind = schema().find("apps/v1.Deployment").unwrap().into();
        let live = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"replicas": 3}});
        let merged = merge(&kind, &live, &json!({"metadata": {"labels": null}, "spec": {"replicas": null}}));
        assert_eq!(merged, json!({"metadata": {"labels": {"a": "b"}}, "spec": {"replicas": null}}));
    }
}
