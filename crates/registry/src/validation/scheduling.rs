//! Where a pod may run: affinity, spreading, tolerations, gates.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::found::{Found, Path, list, number, text};
use super::names::{label_value, qualified_name};
use super::selector;

const OPERATORS: [&str; 6] = ["DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"];
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// What a pod tolerates.
pub(super) fn tolerations(found: &mut Found, at: &Path<'_>, tolerations: &[Value]) {
    for (index, toleration) in tolerations.iter().enumerate() {
        let at = at.index(index);
        let (key, operator) = (text(toleration, "key"), text(toleration, "operator"));
        if !key.is_empty() {
            found.invalid_text(&at.child("key"), key, qualified_name(key));
        } else if operator != "Exists" {
            let why =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            found.invalid(&at.child("operator"), &json!(operator), why);
        }
        let effect = text(toleration, "effect");
        if !toleration["tolerationSeconds"].is_null() && effect != "NoExecute" {
            let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            found.invalid(&at.child("effect"), &json!(effect), why);
        }
        tolerated_value(found, &at.child("operator"), toleration);
        found.one_of_if_set(&at.child("effect"), &toleration["effect"], &EFFECTS);
    }
}

/// Gates and conditions a pod waits for.
pub(super) fn gates(found: &mut Found, at: &Path<'_>, spec: &Value) {
    for (index, gate) in list(spec, "readinessGates").iter().enumerate() {
        let (at, condition) = (at.child("readinessGates"), text(gate, "conditionType"));
        found.invalid_text(&at.index(index).child("conditionType"), condition, qualified_name(condition));
    }
    let mut seen = BTreeSet::new();
    for (index, gate) in list(spec, "schedulingGates").iter().enumerate() {
        let (at, name) = (at.child("schedulingGates"), text(gate, "name"));
        found.invalid_text(&at.index(index), name, qualified_name(name));
        if !seen.insert(name) {
            found.duplicate(&at.index(index), &json!(name));
        }
    }
}

/// How pods are spread.
pub(super) fn spread(found: &mut Found, at: &Path<'_>, constraints: &[Value]) {
    for (index, constraint) in constraints.iter().enumerate() {
        let at = at.index(index);
        if number(constraint, "maxSkew").unwrap_or(0) <= 0 {
            let skew = number(constraint, "maxSkew").unwrap_or(0);
            found.invalid(&at.child("maxSkew"), &json!(skew), "must be greater than zero");
        }
        if text(constraint, "topologyKey").is_empty() {
            found.required(&at.child("topologyKey"), "can not be empty");
        }
        if !matches!(text(constraint, "whenUnsatisfiable"), "DoNotSchedule" | "ScheduleAnyway") {
            let actions = ["DoNotSchedule", "ScheduleAnyway"];
            found.unsupported(&at.child("whenUnsatisfiable"), &constraint["whenUnsatisfiable"], &actions);
        }
        let pair = |constraint: &Value| {
            (text(constraint, "topologyKey").to_owned(), text(constraint, "whenUnsatisfiable").to_owned())
        };
        if constraints[..index].iter().any(|earlier| pair(earlier) == pair(constraint)) {
            let (key, action) = pair(constraint);
            let at = at.child("{topologyKey, whenUnsatisfiable}");
            found.duplicate(&at, &json!(format!("{{{key}, {action}}}")));
        }
        selector::terms(found, &at.child("labelSelector"), &constraint["labelSelector"]);
    }
}

/// What a pod wants near it, or far from it.
pub(super) fn affinity(found: &mut Found, at: &Path<'_>, affinity: &Value) {
    node_affinity(found, &at.child("nodeAffinity"), &affinity["nodeAffinity"]);
    for field in ["podAffinity", "podAntiAffinity"] {
        let (at, terms) = (at.child(field), &affinity[field]);
        for (index, term) in list(terms, REQUIRED).iter().enumerate() {
            pod_term(found, &at.child(REQUIRED).index(index), term);
        }
        for (index, weighted) in list(terms, PREFERRED).iter().enumerate() {
            let at = at.child(PREFERRED);
            let at = at.index(index);
            weight(found, &at, weighted);
            pod_term(found, &at.child("podAffinityTerm"), &weighted["podAffinityTerm"]);
        }
    }
}

fn tolerated_value(found: &mut Found, at: &Path<'_>, toleration: &Value) {
    let value = text(toleration, "value");
    match text(toleration, "operator") {
        "" | "Equal" => {
            let wrong = label_value(value);
            if !wrong.is_empty() {
                found.invalid(at, &json!(value), wrong.join(";"));
            }
        }
        "Exists" => {
            if !value.is_empty() {
                found.invalid(at, toleration, "value must be empty when `operator` is 'Exists'");
            }
        }
        _ => found.unsupported(at, &toleration["operator"], &["Equal", "Exists"]),
    }
}

fn node_affinity(found: &mut Found, at: &Path<'_>, affinity: &Value) {
    if !affinity[REQUIRED].is_null() {
        let at = at.child(REQUIRED);
        let (at, terms) = (at.child("nodeSelectorTerms"), list(&affinity[REQUIRED], "nodeSelectorTerms"));
        if terms.is_empty() {
            found.required(&at, "must have at least one node selector term");
        }
        for (index, term) in terms.iter().enumerate() {
            node_term(found, &at.index(index), term);
        }
    }
    for (index, preferred) in list(affinity, PREFERRED).iter().enumerate() {
        let at = at.child(PREFERRED);
        let at = at.index(index);
        weight(found, &at, preferred);
        node_term(found, &at.child("preference"), &preferred["preference"]);
    }
}

fn node_term(found: &mut Found, at: &Path<'_>, term: &Value) {
    for (index, expression) in list(term, "matchExpressions").iter().enumerate() {
        let at = at.child("matchExpressions");
        let at = at.index(index);
        let values = list(expression, "values");
        match text(expression, "operator") {
            "In" | "NotIn" if values.is_empty() => {
                found.required(&at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "In" | "NotIn" => {}
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                found.forbidden(&at.child("values"), why);
            }
            "Gt" | "Lt" if values.len() != 1 => {
                found.required(
                    &at.child("values"),
                    "must be specified single value when `operator` is 'Lt' or 'Gt'",
                );
            }
            operator if OPERATORS.contains(&operator) => {}
            operator => {
                found.invalid(&at.child("operator"), &json!(operator), "not a valid selector operator");
            }
        }
        let key = text(expression, "key");
        found.invalid_text(&at.child("key"), key, qualified_name(key));
    }
}

fn pod_term(found: &mut Found, at: &Path<'_>, term: &Value) {
    selector::terms(found, &at.child("labelSelector"), &term["labelSelector"]);
    selector::terms(found, &at.child("namespaceSelector"), &term["namespaceSelector"]);
    let key = text(term, "topologyKey");
    if key.is_empty() {
        found.required(&at.child("topologyKey"), "can not be empty");
    } else {
        found.invalid_text(&at.child("topologyKey"), key, qualified_name(key));
    }
}

fn weight(found: &mut Found, at: &Path<'_>, weighted: &Value) {
    let weight = number(weighted, "weight").unwrap_or(0);
    if !(1..=100).contains(&weight) {
        found.invalid(&at.child("weight"), &json!(weight), "must be in the range 1-100");
    }
}
