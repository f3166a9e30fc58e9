//! Ingresses and NetworkPolicies: who is let in, and where to.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, list, number, text};
use super::names::{label, port, port_name, port_number, subdomain};
use super::selector;

const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];
const NOT_IN_PATHS: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
const NOT_AT_THE_END: [&str; 2] = ["/..", "/."];

/// The spec of an Ingress.
pub(super) fn ingress(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    let (rules, backend_of_rest) = (list(spec, "rules"), &spec["defaultBackend"]);
    if rules.is_empty() && backend_of_rest.is_null() {
        let why = "either `defaultBackend` or `rules` must be specified";
        found.invalid(&at, spec.get("rules").unwrap_or(&Value::Null), why);
    }
    if !backend_of_rest.is_null() {
        backend(found, &at.child("defaultBackend"), backend_of_rest);
    }
    for (index, rule) in rules.iter().enumerate() {
        let at = at.child("rules");
        one_rule(found, &at.index(index), rule);
    }
    let class = text(spec, "ingressClassName");
    if is_set(spec, "ingressClassName") {
        found.invalid_text(&at.child("ingressClassName"), class, subdomain(class));
    }
}

/// The spec of a NetworkPolicy.
pub(super) fn policy(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    selector::terms(found, &at.child("podSelector"), &spec["podSelector"]);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (index, rule) in list(spec, direction).iter().enumerate() {
            let at = at.child(direction);
            let at = at.index(index);
            for (index, one) in list(rule, "ports").iter().enumerate() {
                policy_port(found, &at.child("ports").index(index), one);
            }
            for (index, one) in list(rule, peers).iter().enumerate() {
                peer(found, &at.child(peers).index(index), one);
            }
        }
    }
    let (types_at, types) = (at.child("policyTypes"), list(spec, "policyTypes"));
    if types.len() > 2 {
        return found.invalid(&types_at, &spec["policyTypes"], "may not specify more than two policyTypes");
    }
    for (index, kind) in types.iter().enumerate() {
        if !matches!(kind.as_str(), Some("Ingress" | "Egress")) {
            found.unsupported(&types_at.index(index), kind, &["Ingress", "Egress"]);
        }
    }
}

fn one_rule(found: &mut Found, at: &Path<'_>, rule: &Value) {
    let host = text(rule, "host");
    let host_at = at.child("host");
    if host.parse::<IpAddr>().is_ok() {
        found.invalid(&host_at, &json!(host), "must be a DNS name, not an IP address");
    }
    // A star stands for one name in front of the others.
    let named = host.strip_prefix("*.").unwrap_or(host);
    if !host.is_empty() {
        found.invalid_text(&host_at, host, subdomain(named));
    }
    let http = &rule["http"];
    if http.is_null() {
        return;
    }
    let paths_at = at.child("http");
    let paths_at = paths_at.child("paths");
    if list(http, "paths").is_empty() {
        found.required(&paths_at, "");
    }
    for (index, path) in list(http, "paths").iter().enumerate() {
        one_path(found, &paths_at.index(index), path);
    }
}

fn one_path(found: &mut Found, at: &Path<'_>, rule: &Value) {
    let (path_at, path) = (at.child("path"), text(rule, "path"));
    if !is_set(rule, "pathType") {
        return found.required(&at.child("pathType"), "pathType must be specified");
    }
    match text(rule, "pathType") {
        "Exact" | "Prefix" => {
            if !path.starts_with('/') {
                found.invalid(&path_at, &json!(path), "must be an absolute path");
            }
            for part in NOT_IN_PATHS.into_iter().filter(|part| path.contains(part)) {
                found.invalid(&path_at, &json!(path), format!("must not contain '{part}'"));
            }
            for end in NOT_AT_THE_END.into_iter().filter(|end| path.ends_with(end)) {
                found.invalid(&path_at, &json!(path), format!("cannot end with '{end}'"));
            }
        }
        "ImplementationSpecific" => {
            if !path.is_empty() && !path.starts_with('/') {
                found.invalid(&path_at, &json!(path), "must be an absolute path");
            }
        }
        _ => found.unsupported(&at.child("pathType"), &rule["pathType"], &PATH_TYPES),
    }
    backend(found, &at.child("backend"), &rule["backend"]);
}

fn backend(found: &mut Found, at: &Path<'_>, backend: &Value) {
    match (is_set(backend, "resource"), is_set(backend, "service")) {
        (true, true) => found.invalid(at, &json!(""), "cannot set both resource and service backends"),
        (false, false) => found.invalid(at, &json!(""), "resource or service backend is required"),
        (true, false) => {}
        (false, true) => {
            let (service_at, service) = (at.child("service"), &backend["service"]);
            let name = text(service, "name");
            if name.is_empty() {
                found.required(&service_at.child("name"), "");
            } else {
                found.invalid_text(&service_at.child("name"), name, label(name));
            }
            backend_port(found, at, &service_at.child("port"), &service["port"]);
        }
    }
}

fn backend_port(found: &mut Found, backend_at: &Path<'_>, at: &Path<'_>, port: &Value) {
    let (name, number) = (text(port, "name"), number(port, "number").unwrap_or(0));
    match (name.is_empty(), number == 0) {
        (false, false) => found.invalid(backend_at, &json!(""), "cannot set both port name & port number"),
        (false, true) => found.invalid_text(&at.child("name"), name, port_name(name)),
        (true, false) => {
            for why in port_number(number) {
                found.invalid(&at.child("number"), &json!(number), why);
            }
        }
        (true, true) => found.required(backend_at, "port name or number is required"),
    }
}

fn policy_port(found: &mut Found, at: &Path<'_>, one: &Value) {
    if !matches!(text(one, "protocol"), "" | "TCP" | "UDP" | "SCTP") {
        found.unsupported(&at.child("protocol"), &one["protocol"], &["TCP", "UDP", "SCTP"]);
    }
    if is_set(one, "port") {
        port(found, &at.child("port"), &one["port"]);
    }
    let Some(end) = number(one, "endPort") else { return };
    let at = at.child("endPort");
    match &one["port"] {
        Value::Null => found.invalid(&at, &json!(end), "may not be specified when `port` is not specified"),
        Value::Number(first) => {
            if first.as_i64().is_some_and(|first| end < first) {
                found.invalid(&at, &json!(end), "must be greater than or equal to `port`");
            }
            for why in port_number(end) {
                found.invalid(&at, &json!(end), why);
            }
        }
        _ => found.invalid(&at, &json!(end), "may not be specified when `port` is non-numeric"),
    }
}

fn peer(found: &mut Found, at: &Path<'_>, peer: &Value) {
    let selectors = ["podSelector", "namespaceSelector"].into_iter().filter(|field| is_set(peer, field));
    let mut selects = false;
    for field in selectors {
        selects = true;
        selector::terms(found, &at.child(field), &peer[field]);
    }
    let has_block = is_set(peer, "ipBlock");
    if has_block && text(&peer["ipBlock"], "cidr").is_empty() {
        found.required(&at.child("ipBlock").child("cidr"), "");
    }
    match (selects, has_block) {
        (false, false) => found.required(at, "must specify a peer"),
        (true, true) => found.forbidden(at, "may not specify both ipBlock and another peer"),
        _ => {}
    }
}
