//! The status of a pod.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use gantry_json::{Value, json};

use crate::validation::error_list::{ErrorList, Path, list, number, text};
use crate::validation::names::{qualified_name, subdomain};

/// Validates a write to the status of a pod.
pub(crate) fn pod(errors: &mut ErrorList, at: &Path<'_>, old: &Value, new: &Value) {
    let (before, now) = (&old["status"], &new["status"]);
    pod_conditions(errors, &at.child("conditions"), list(now, "conditions"));
    let nominated = text(now, "nominatedNodeName");
    if !nominated.is_empty() && nominated != text(before, "nominatedNodeName") {
        errors.invalid_text(&at.child("nominatedNodeName"), nominated, subdomain(nominated));
    }
    let class = text(before, "qosClass");
    if !class.is_empty() && text(now, "qosClass") != class {
        errors.immutable(&at.child("qosClass"), false, &json!(text(now, "qosClass")));
    }
    for field in ["containerStatuses", "initContainerStatuses"] {
        stays_terminated(errors, &at.child(field), list(before, field), list(now, field), &old["spec"]);
    }
    let known: BTreeSet<_> = list(before, "podIPs").iter().map(Value::to_string).collect();
    for (index, address) in list(now, "podIPs").iter().enumerate() {
        let ip = text(address, "ip");
        if ip.parse::<IpAddr>().is_err() && !known.contains(&address.to_string()) {
            let at = at.child("podIPs");
            let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            errors.invalid(&at.index(index), &json!(ip), why);
        }
    }
    pod_address_families(errors, &at.child("podIPs"), list(now, "podIPs"));
}

/// Validates that types of custom conditions are qualified names. The name of the field in the path is upstream's.
fn pod_conditions(errors: &mut ErrorList, at: &Path<'_>, conditions: &[Value]) {
    for (index, condition) in conditions.iter().enumerate() {
        let kind = text(condition, "type");
        if !["PodScheduled", "Ready", "Initialized"].contains(&kind) {
            errors.invalid_text(&at.index(index).child("Type"), kind, qualified_name(kind));
        }
    }
}

/// Validates that a pod has at most one address per family.
fn pod_address_families(errors: &mut ErrorList, at: &Path<'_>, addresses: &[Value]) {
    let parsed: Vec<IpAddr> =
        addresses.iter().filter_map(|address| text(address, "ip").parse().ok()).collect();
    let is_pair = matches!(parsed[..], [one, other] if one.is_ipv4() != other.is_ipv4());
    if addresses.len() < 2 || parsed.len() < addresses.len() || is_pair {
        return;
    }
    let shown: Vec<Value> = addresses.iter().map(|address| json!({"IP": text(address, "ip")})).collect();
    errors.invalid(at, &Value::Array(shown), "may specify no more than one IP for each IP family");
    let mut seen = BTreeSet::new();
    for (index, address) in addresses.iter().enumerate() {
        if !seen.insert(address.to_string()) {
            errors.duplicate(&at.index(index), &json!({"IP": text(address, "ip")}));
        }
    }
}

/// Validates that terminated containers that are not restarted stay terminated.
fn stays_terminated(errors: &mut ErrorList, at: &Path<'_>, old: &[Value], new: &[Value], spec: &Value) {
    let policy = text(spec, "restartPolicy");
    if policy == "Always" {
        return;
    }
    let mut running: BTreeMap<_, usize> = BTreeMap::new();
    for now in new.iter().filter(|now| now["state"]["terminated"].is_null()) {
        *running.entry(text(now, "name")).or_default() += 1;
    }
    for (index, before) in old.iter().enumerate() {
        let end = &before["state"]["terminated"];
        let may_restart = policy == "OnFailure" && number(end, "exitCode").unwrap_or(0) != 0;
        if end.is_null() || may_restart {
            continue;
        }
        for _ in 0..running.get(text(before, "name")).copied().unwrap_or(0) {
            let why = "may not be transitioned to non-terminated state";
            errors.forbidden(&at.index(index).child("state"), why);
        }
    }
}
