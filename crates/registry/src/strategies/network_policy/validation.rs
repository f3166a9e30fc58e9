//! Validates NetworkPolicies.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::validation::addresses::{cidr, cidr_warning, parse_cidr};
use crate::validation::error_list::{ErrorList, Path, is_set, list, number, text};
use crate::validation::names::port_number;
use crate::validation::ports::port;
use crate::validation::selector;

/// The directions of traffic, each with the field that lists its peers.
const DIRECTIONS: [(&str, &str); 2] = [("ingress", "from"), ("egress", "to")];
const PROTOCOLS: [&str; 3] = ["TCP", "UDP", "SCTP"];
const TYPES: [&str; 2] = ["Ingress", "Egress"];

/// Validates the spec of a NetworkPolicy.
pub(crate) fn policy(errors: &mut ErrorList, old: Option<&Value>, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    selector::terms(errors, &at.child("podSelector"), &spec["podSelector"]);
    let stored = old.map(blocks).unwrap_or_default();
    for (direction, peers) in DIRECTIONS {
        for (index, rule) in list(spec, direction).iter().enumerate() {
            let at = at.child(direction);
            let at = at.index(index);
            for (index, one) in list(rule, "ports").iter().enumerate() {
                policy_port(errors, &at.child("ports").index(index), one);
            }
            for (index, one) in list(rule, peers).iter().enumerate() {
                peer(errors, &at.child(peers).index(index), one, &stored);
            }
        }
    }
    policy_types(errors, &at.child("policyTypes"), spec);
    // Kubernetes reports required fields last.
    each_block(spec, |at, block| {
        if text(block, "cidr").is_empty() {
            errors.required(&at.child("cidr"), "");
        }
    });
}

/// Warns about CIDR blocks.
pub(crate) fn warnings(warnings: &mut Vec<String>, object: &Value) {
    each_block(&object["spec"], |at, block| {
        warnings.extend(cidr_warning(&at.child("cidr"), text(block, "cidr")));
        for (index, except) in list(block, "except").iter().filter_map(Value::as_str).enumerate() {
            warnings.extend(cidr_warning(&at.child("except").index(index), except));
        }
    });
}

fn policy_types(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let types = list(spec, "policyTypes");
    if types.len() > TYPES.len() {
        return errors.invalid(at, &spec["policyTypes"], "may not specify more than two policyTypes");
    }
    for (index, kind) in types.iter().enumerate() {
        if !kind.as_str().is_some_and(|kind| TYPES.contains(&kind)) {
            errors.unsupported(&at.index(index), kind, &TYPES);
        }
    }
}

/// Visits all CIDR blocks in the spec of a policy.
fn each_block<'a>(spec: &'a Value, mut visit: impl FnMut(&Path<'_>, &'a Value)) {
    let at = Path::new("spec");
    for (direction, peers) in DIRECTIONS {
        for (index, rule) in list(spec, direction).iter().enumerate() {
            let at = at.child(direction);
            let at = at.index(index);
            for (index, one) in list(rule, peers).iter().enumerate().filter(|(_, one)| is_set(one, "ipBlock"))
            {
                let at = at.child(peers);
                visit(&at.index(index).child("ipBlock"), &one["ipBlock"]);
            }
        }
    }
}

/// Returns all CIDR blocks of a policy. Stored ones are accepted in any form.
fn blocks(object: &Value) -> BTreeSet<&str> {
    let mut all = BTreeSet::new();
    each_block(&object["spec"], |_, block| {
        all.extend(block["cidr"].as_str());
        all.extend(list(block, "except").iter().filter_map(Value::as_str));
    });
    all
}

fn policy_port(errors: &mut ErrorList, at: &Path<'_>, one: &Value) {
    if let Some(protocol) = one["protocol"].as_str()
        && !PROTOCOLS.contains(&protocol)
    {
        errors.unsupported(&at.child("protocol"), &one["protocol"], &PROTOCOLS);
    }
    let end_at = at.child("endPort");
    let end = number(one, "endPort");
    match (&one["port"], end) {
        (Value::Null, Some(end)) => {
            errors.invalid(&end_at, &json!(end), "may not be specified when `port` is not specified");
        }
        (Value::String(_), Some(end)) => {
            errors.invalid(&end_at, &json!(end), "may not be specified when `port` is non-numeric");
        }
        _ => {}
    }
    if is_set(one, "port") {
        port(errors, &at.child("port"), &one["port"]);
    }
    if let (Some(first), Some(end)) = (number(one, "port"), end) {
        if end < first {
            errors.invalid(&end_at, &json!(end), "must be greater than or equal to `port`");
        }
        for why in port_number(end) {
            errors.invalid(&end_at, &json!(end), why);
        }
    }
}

fn peer(errors: &mut ErrorList, at: &Path<'_>, peer: &Value, stored: &BTreeSet<&str>) {
    let mut selects = false;
    for field in ["podSelector", "namespaceSelector"].into_iter().filter(|field| is_set(peer, field)) {
        selects = true;
        selector::terms(errors, &at.child(field), &peer[field]);
    }
    let has_block = is_set(peer, "ipBlock");
    if has_block {
        block(errors, &at.child("ipBlock"), &peer["ipBlock"], stored);
    }
    match (selects, has_block) {
        (false, false) => errors.required(at, "must specify a peer"),
        (true, true) => errors.forbidden(at, "may not specify both ipBlock and another peer"),
        _ => {}
    }
}

fn block(errors: &mut ErrorList, at: &Path<'_>, block: &Value, stored: &BTreeSet<&str>) {
    let whole = text(block, "cidr");
    if !whole.is_empty() && !stored.contains(whole) {
        cidr(errors, &at.child("cidr"), whole);
    }
    let Some(parsed) = parse_cidr(whole) else { return };
    for (index, except) in list(block, "except").iter().filter_map(Value::as_str).enumerate() {
        let at = at.child("except");
        let at = at.index(index);
        if !stored.contains(except) {
            cidr(errors, &at, except);
        }
        if parse_cidr(except).is_some_and(|except| !parsed.strictly_contains(except)) {
            errors.invalid(&at, &json!(except), "must be a strict subset of `cidr`");
        }
    }
}
