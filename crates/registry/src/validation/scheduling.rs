//! Validates affinity, topology spread constraints, tolerations and scheduling gates.

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::{Value, json};

use super::error_list::{ErrorList, Path, list, number, text};
use super::names::{label, label_value, qualified_name, subdomain};
use super::selector;

const OPERATORS: [&str; 6] = ["DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"];
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Validates tolerations.
pub(crate) fn tolerations(errors: &mut ErrorList, at: &Path<'_>, tolerations: &[Value]) {
    for (index, one) in tolerations.iter().enumerate() {
        toleration(errors, &at.index(index), one);
    }
}

/// Validates a toleration.
pub(crate) fn toleration(errors: &mut ErrorList, at: &Path<'_>, toleration: &Value) {
    let (key, operator) = (text(toleration, "key"), text(toleration, "operator"));
    if !key.is_empty() {
        errors.invalid_text(&at.child("key"), key, qualified_name(key));
    } else if operator != "Exists" {
        let why =
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        errors.invalid(&at.child("operator"), &json!(operator), why);
    }
    let effect = text(toleration, "effect");
    if !toleration["tolerationSeconds"].is_null() && effect != "NoExecute" {
        let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.invalid(&at.child("effect"), &json!(effect), why);
    }
    tolerated_value(errors, &at.child("operator"), toleration);
    errors.one_of_if_set(&at.child("effect"), &toleration["effect"], &EFFECTS);
}

/// Validates scheduling and readiness gates.
pub(crate) fn gates(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    for (index, gate) in list(spec, "readinessGates").iter().enumerate() {
        let (at, condition) = (at.child("readinessGates"), text(gate, "conditionType"));
        errors.invalid_text(&at.index(index).child("conditionType"), condition, qualified_name(condition));
    }
    let mut seen = BTreeSet::new();
    for (index, gate) in list(spec, "schedulingGates").iter().enumerate() {
        let (at, name) = (at.child("schedulingGates"), text(gate, "name"));
        errors.invalid_text(&at.index(index), name, qualified_name(name));
        if !seen.insert(name) {
            errors.duplicate(&at.index(index), &json!(name));
        }
    }
}

/// Validates topology spread constraints.
pub(crate) fn spread(errors: &mut ErrorList, at: &Path<'_>, constraints: &[Value]) {
    let pair = |constraint| (text(constraint, "topologyKey"), text(constraint, "whenUnsatisfiable"));
    let last: BTreeMap<_, _> =
        constraints.iter().enumerate().map(|(index, constraint)| (pair(constraint), index)).collect();
    for (index, constraint) in constraints.iter().enumerate() {
        let at = at.index(index);
        if number(constraint, "maxSkew").unwrap_or(0) <= 0 {
            let skew = number(constraint, "maxSkew").unwrap_or(0);
            errors.invalid(&at.child("maxSkew"), &json!(skew), "must be greater than zero");
        }
        if text(constraint, "topologyKey").is_empty() {
            errors.required(&at.child("topologyKey"), "can not be empty");
        }
        if !matches!(text(constraint, "whenUnsatisfiable"), "DoNotSchedule" | "ScheduleAnyway") {
            let actions = ["DoNotSchedule", "ScheduleAnyway"];
            errors.unsupported(&at.child("whenUnsatisfiable"), &constraint["whenUnsatisfiable"], &actions);
        }
        let (key, action) = pair(constraint);
        if last.get(&(key, action)).is_some_and(|last| *last > index) {
            let at = at.child("{topologyKey, whenUnsatisfiable}");
            errors.duplicate(&at, &json!(format!("{{{key}, {action}}}")));
        }
        spread_options(errors, &at, constraint);
        label_keys(errors, &at, constraint);
        selector::terms(errors, &at.child("labelSelector"), &constraint["labelSelector"]);
    }
}

/// Validates affinity and anti-affinity.
pub(crate) fn affinity(errors: &mut ErrorList, at: &Path<'_>, affinity: &Value) {
    node_affinity(errors, &at.child("nodeAffinity"), &affinity["nodeAffinity"]);
    for field in ["podAffinity", "podAntiAffinity"] {
        let (at, terms) = (at.child(field), &affinity[field]);
        for (index, term) in list(terms, REQUIRED).iter().enumerate() {
            pod_term(errors, &at.child(REQUIRED).index(index), term);
        }
        for (index, weighted) in list(terms, PREFERRED).iter().enumerate() {
            let at = at.child(PREFERRED);
            let at = at.index(index);
            weight(errors, &at, weighted);
            pod_term(errors, &at.child("podAffinityTerm"), &weighted["podAffinityTerm"]);
        }
    }
}

fn spread_options(errors: &mut ErrorList, at: &Path<'_>, constraint: &Value) {
    if let Some(domains) = number(constraint, "minDomains") {
        let (at, action) = (at.child("minDomains"), text(constraint, "whenUnsatisfiable"));
        if domains <= 0 {
            errors.invalid(&at, &json!(domains), "must be greater than zero");
        }
        if action != "DoNotSchedule" {
            let why = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
            errors.invalid(&at, &json!(domains), why);
        }
    }
    for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
        errors.one_of_if_set(&at.child(field), &constraint[field], &["Honor", "Ignore"]);
    }
}

/// Validates label keys whose values come from the pod, beside a selector.
fn label_keys(errors: &mut ErrorList, at: &Path<'_>, term: &Value) {
    let (selector, keys) = (&term["labelSelector"], list(term, "matchLabelKeys"));
    let others = list(term, "mismatchLabelKeys");
    for (field, keys) in [("matchLabelKeys", keys), ("mismatchLabelKeys", others)] {
        let at = at.child(field);
        if !keys.is_empty() && selector.is_null() {
            errors.forbidden(&at, "must not be specified when labelSelector is not set");
            continue;
        }
        for (index, key) in keys.iter().filter_map(Value::as_str).enumerate() {
            errors.invalid_text(&at.index(index), key, qualified_name(key));
        }
    }
    let expressions: BTreeSet<_> = list(selector, "matchExpressions")
        .iter()
        .filter_map(|expression| expression["key"].as_str())
        .collect();
    let is_selected = |key: &Value| {
        let is_in_both = |key| !selector["matchLabels"][key].is_null() && expressions.contains(key);
        key.as_str().is_some_and(is_in_both)
    };
    for (index, key) in keys.iter().enumerate() {
        if is_selected(key) {
            // The path names the term, as in Kubernetes.
            errors.invalid(&at.index(index), key, "exists in both matchLabelKeys and labelSelector");
        }
    }
    let others: BTreeSet<_> = others.iter().filter_map(Value::as_str).collect();
    let is_mismatched = |key: &Value| key.as_str().is_some_and(|key| others.contains(key));
    for (index, key) in keys.iter().enumerate().filter(|(_, key)| is_mismatched(key)) {
        let at = at.child("matchLabelKeys");
        errors.invalid(&at.index(index), key, "exists in both matchLabelKeys and mismatchLabelKeys");
    }
}

fn tolerated_value(errors: &mut ErrorList, at: &Path<'_>, toleration: &Value) {
    let value = text(toleration, "value");
    match text(toleration, "operator") {
        "" | "Equal" => {
            let wrong = label_value(value);
            if !wrong.is_empty() {
                errors.invalid(at, &json!(value), wrong.join(";"));
            }
        }
        "Exists" => {
            if !value.is_empty() {
                errors.invalid(at, &json!(value), "value must be empty when `operator` is 'Exists'");
            }
        }
        // Operators of a feature that is disabled.
        "Lt" | "Gt" => errors.unsupported(at, &toleration["operator"], &["Equal", "Exists", "Lt", "Gt"]),
        _ => errors.unsupported(at, &toleration["operator"], &["Equal", "Exists"]),
    }
}

fn node_affinity(errors: &mut ErrorList, at: &Path<'_>, affinity: &Value) {
    if !affinity[REQUIRED].is_null() {
        node_selector(errors, &at.child(REQUIRED), &affinity[REQUIRED]);
    }
    for (index, preferred) in list(affinity, PREFERRED).iter().enumerate() {
        let at = at.child(PREFERRED);
        let at = at.index(index);
        weight(errors, &at, preferred);
        node_term(errors, &at.child("preference"), &preferred["preference"], Values::Free);
    }
}

/// Validates a node selector.
pub(crate) fn node_selector(errors: &mut ErrorList, at: &Path<'_>, selector: &Value) {
    let (at, terms) = (at.child("nodeSelectorTerms"), list(selector, "nodeSelectorTerms"));
    if terms.is_empty() {
        errors.required(&at, "must have at least one node selector term");
    }
    for (index, term) in terms.iter().enumerate() {
        node_term(errors, &at.index(index), term, Values::Checked);
    }
}

/// Whether the values of an expression must be valid label values.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Values {
    Checked,
    Free,
}

fn node_term(errors: &mut ErrorList, at: &Path<'_>, term: &Value, checked: Values) {
    for (index, expression) in list(term, "matchExpressions").iter().enumerate() {
        let at = at.child("matchExpressions");
        let at = at.index(index);
        let values = list(expression, "values");
        match text(expression, "operator") {
            "In" | "NotIn" if values.is_empty() => {
                errors.required(&at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "In" | "NotIn" => {}
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden(&at.child("values"), why);
            }
            "Gt" | "Lt" if values.len() != 1 => {
                errors.required(
                    &at.child("values"),
                    "must be specified single value when `operator` is 'Lt' or 'Gt'",
                );
            }
            operator if OPERATORS.contains(&operator) => {}
            operator => {
                errors.invalid(&at.child("operator"), &json!(operator), "not a valid selector operator");
            }
        }
        let key = text(expression, "key");
        errors.invalid_text(&at.child("key"), key, qualified_name(key));
        let values = values.iter().filter(|_| checked == Values::Checked).filter_map(Value::as_str);
        for (index, value) in values.enumerate() {
            errors.invalid_text(&at.child("values").index(index), value, label_value(value));
        }
    }
    for (index, field) in list(term, "matchFields").iter().enumerate() {
        let at = at.child("matchFields");
        node_field(errors, &at.index(index), field);
    }
}

fn node_field(errors: &mut ErrorList, at: &Path<'_>, field: &Value) {
    let (operator, values) = (text(field, "operator"), list(field, "values"));
    if !matches!(operator, "In" | "NotIn") {
        errors.invalid(&at.child("operator"), &json!(operator), "not a valid selector operator");
    } else if values.len() != 1 {
        let why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
        errors.required(&at.child("values"), why);
    }
    let key = text(field, "key");
    if key != "metadata.name" {
        return errors.invalid(&at.child("key"), &json!(key), "not a valid field selector key");
    }
    for (index, name) in values.iter().filter_map(Value::as_str).enumerate() {
        errors.invalid_text(&at.child("values").index(index), name, subdomain(name));
    }
}

fn pod_term(errors: &mut ErrorList, at: &Path<'_>, term: &Value) {
    selector::terms(errors, &at.child("labelSelector"), &term["labelSelector"]);
    selector::terms(errors, &at.child("namespaceSelector"), &term["namespaceSelector"]);
    for name in list(term, "namespaces").iter().filter_map(Value::as_str) {
        errors.invalid_text(&at.child("namespace"), name, label(name));
    }
    label_keys(errors, at, term);
    let key = text(term, "topologyKey");
    if key.is_empty() {
        errors.required(&at.child("topologyKey"), "can not be empty");
    }
    errors.invalid_text(&at.child("topologyKey"), key, qualified_name(key));
}

fn weight(errors: &mut ErrorList, at: &Path<'_>, weighted: &Value) {
    let weight = number(weighted, "weight").unwrap_or(0);
    if !(1..=100).contains(&weight) {
        errors.invalid(&at.child("weight"), &json!(weight), "must be in the range 1-100");
    }
}
