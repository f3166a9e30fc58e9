//! Validates Endpoints and EndpointSlices.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::validation::addresses::{canonical_ip, endpoint_ip, ip, ip_warning, parse_ip};
use crate::validation::error_list::{ErrorList, Path, is_set, list, members, number, text};
use crate::validation::metadata::labels;
use crate::validation::names::{NameValidator, label, label_value, port_number, qualified_name, subdomain};
use crate::validation::semantically_equal;

const ADDRESS_TYPES: [&str; 3] = ["FQDN", "IPv4", "IPv6"];
const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
/// The controllers that write EndpointSlices.
const MANAGERS: [&str; 2] = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];
const MOST_ENDPOINTS: usize = 1000;
const MOST_ADDRESSES: usize = 100;
const MOST_PORTS: usize = 20_000;
const MOST_TOPOLOGY_LABELS: usize = 16;
const MOST_HINTS: usize = 8;

/// Validates an EndpointSlice.
pub(crate) fn slice(errors: &mut ErrorList, old: Option<&Value>, slice: &Value) {
    let at = Path::new("ports");
    let ports = list(slice, "ports");
    if ports.len() > MOST_PORTS {
        errors.too_many(&at, ports.len(), MOST_PORTS);
    } else {
        slice_ports(errors, &at, ports);
    }
    // Unchanged endpoints, which an older version may have stored, stay valid.
    let is_same = |old: &Value| {
        semantically_equal("discovery/v1.EndpointSlice", &only_endpoints(old), &only_endpoints(slice))
    };
    let is_kept = old.is_some_and(is_same);
    if !is_kept {
        endpoints_of_slice(errors, slice);
    }
    let (at, kind) = (Path::new("addressType"), text(slice, "addressType"));
    if kind.is_empty() {
        errors.required(&at, "");
    } else if !ADDRESS_TYPES.contains(&kind) {
        errors.unsupported(&at, &json!(kind), &ADDRESS_TYPES);
    }
    if let Some(old) = old {
        errors.unchanged(&at, text(old, "addressType") == kind);
    }
    if !is_kept {
        counts(errors, list(slice, "endpoints"));
    }
}

/// Validates Endpoints.
pub(crate) fn endpoints(errors: &mut ErrorList, old: Option<&Value>, object: &Value) {
    let is_kept = |old: &Value| {
        let subsets = |object: &Value| json!({"subsets": object["subsets"]});
        semantically_equal("core/v1.Endpoints", &subsets(old), &subsets(object))
    };
    if old.is_some_and(is_kept) {
        return;
    }
    let at = Path::new("subsets");
    for (index, subset) in list(object, "subsets").iter().enumerate() {
        one_subset(errors, &at.index(index), subset);
    }
}

/// Warns about a new EndpointSlice.
pub(crate) fn slice_warnings(warnings: &mut Vec<String>, slice: &Value) {
    if text(slice, "addressType") == "FQDN" {
        warnings.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
    }
    warnings.extend(slice_change_warnings(slice));
}

/// Returns the warnings about a changed EndpointSlice; none for those of controllers.
pub(crate) fn slice_change_warnings(slice: &Value) -> Vec<String> {
    let manager = text(&slice["metadata"]["labels"], "endpointslice.kubernetes.io/managed-by");
    let mut warnings = Vec::new();
    if MANAGERS.contains(&manager) {
        return warnings;
    }
    let at = Path::new("endpoints");
    for (index, endpoint) in list(slice, "endpoints").iter().enumerate() {
        let at = at.index(index);
        let at = at.child("addresses");
        for (index, address) in list(endpoint, "addresses").iter().filter_map(Value::as_str).enumerate() {
            warnings.extend(ip_warning(&at.index(index), address));
        }
    }
    warnings
}

/// Warns about Endpoints, unless the controller wrote them.
pub(crate) fn warnings(warnings: &mut Vec<String>, object: &Value) {
    if text(&object["metadata"]["labels"], "endpoints.kubernetes.io/managed-by") == "endpoint-controller" {
        return;
    }
    let at = Path::new("subsets");
    for (index, subset) in list(object, "subsets").iter().enumerate() {
        let at = at.index(index);
        for field in ["addresses", "notReadyAddresses"] {
            let at = at.child(field);
            for (index, address) in list(subset, field).iter().enumerate() {
                warnings.extend(ip_warning(&at.index(index).child("ip"), text(address, "ip")));
            }
        }
    }
}

fn only_endpoints(slice: &Value) -> Value {
    json!({"endpoints": slice["endpoints"]})
}

fn slice_ports(errors: &mut ErrorList, at: &Path<'_>, ports: &[Value]) {
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = at.index(index);
        let name = text(port, "name");
        errors.optional_text(&at.child("name"), name, label);
        if !names.insert(name) {
            errors.duplicate(&at.child("name"), &json!(name));
        }
        let protocol = text(port, "protocol");
        if !PROTOCOLS.contains(&protocol) {
            errors.unsupported(&at.child("protocol"), &json!(protocol), &PROTOCOLS);
        }
        app_protocol(errors, &at, port);
    }
}

fn app_protocol(errors: &mut ErrorList, at: &Path<'_>, port: &Value) {
    if let Some(name) = port["appProtocol"].as_str() {
        errors.invalid_text(&at.child("appProtocol"), name, qualified_name(name));
    }
}

fn endpoints_of_slice(errors: &mut ErrorList, slice: &Value) {
    let (at, endpoints) = (Path::new("endpoints"), list(slice, "endpoints"));
    if endpoints.len() > MOST_ENDPOINTS {
        return errors.too_many(&at, endpoints.len(), MOST_ENDPOINTS);
    }
    for (index, endpoint) in endpoints.iter().enumerate() {
        one_endpoint(errors, &at.index(index), endpoint, text(slice, "addressType"));
    }
}

/// Reports endpoints with no address or too many, after all other errors, as Kubernetes.
fn counts(errors: &mut ErrorList, endpoints: &[Value]) {
    let at = Path::new("endpoints");
    for (index, endpoint) in endpoints.iter().enumerate() {
        let at = at.index(index);
        let (at, count) = (at.child("addresses"), list(endpoint, "addresses").len());
        if count == 0 {
            errors.required(&at, "");
        } else if count > MOST_ADDRESSES {
            errors.too_many(&at, count, MOST_ADDRESSES);
        }
    }
}

fn one_endpoint(errors: &mut ErrorList, at: &Path<'_>, endpoint: &Value, kind: &str) {
    let addresses_at = at.child("addresses");
    for (index, address) in list(endpoint, "addresses").iter().filter_map(Value::as_str).enumerate() {
        one_address(errors, &addresses_at, index, address, kind);
    }
    if let Some(name) = endpoint["nodeName"].as_str() {
        errors.invalid_text(&at.child("nodeName"), name, subdomain(name));
    }
    let topology_at = at.child("deprecatedTopology");
    let count = members(endpoint, "deprecatedTopology").count();
    if count > MOST_TOPOLOGY_LABELS {
        errors.too_many(&topology_at, count, MOST_TOPOLOGY_LABELS);
    }
    labels(errors, &topology_at, endpoint, "deprecatedTopology");
    if let Some(name) = endpoint["hostname"].as_str() {
        errors.invalid_text(&at.child("hostname"), name, label(name));
    }
    if is_set(endpoint, "hints") {
        hints(errors, &at.child("hints"), &endpoint["hints"]);
    }
}

fn one_address(errors: &mut ErrorList, at: &Path<'_>, index: usize, address: &str, kind: &str) {
    let (one_at, before) = (at.index(index), errors.all.len());
    match kind {
        "IPv4" => ip(errors, &one_at, address),
        "IPv6" => canonical_ip(errors, &one_at, address),
        "FQDN" => return full_name(errors, &one_at, address),
        _ => return,
    }
    if errors.all.len() > before {
        return;
    }
    let is_four = parse_ip(address).is_some_and(|address| address.is_ipv4());
    if is_four != (kind == "IPv4") {
        errors.invalid(at, &json!(address), format!("must be an {kind} address"));
    }
    endpoint_ip(errors, &one_at, address);
}

/// Validates a domain name of at least two labels, which may end in a dot.
fn full_name(errors: &mut ErrorList, at: &Path<'_>, name: &str) {
    if name.is_empty() {
        return errors.required(at, "");
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let wrong = subdomain(name);
    if !wrong.is_empty() {
        return errors.invalid(at, &json!(name), wrong.join(","));
    }
    if !name.contains('.') {
        errors.invalid(at, &json!(name), "should be a domain with at least two segments separated by dots");
        return;
    }
    let wrong = name.split('.').map(|part| (part, label(part))).find(|(_, wrong)| !wrong.is_empty());
    if let Some((part, wrong)) = wrong {
        errors.invalid(at, &json!(part), wrong.join(","));
    }
}

fn hints(errors: &mut ErrorList, at: &Path<'_>, hints: &Value) {
    for (field, rule) in [("forZones", label_value as NameValidator), ("forNodes", subdomain)] {
        let (at, given) = (at.child(field), list(hints, field));
        if given.len() > MOST_HINTS {
            return errors.too_many(&at, given.len(), MOST_HINTS);
        }
        let mut names = BTreeSet::new();
        for (index, hint) in given.iter().enumerate() {
            let (at, name) = (at.index(index), text(hint, "name"));
            let at = at.child("name");
            if !names.insert(name) {
                errors.duplicate(&at, &json!(name));
            }
            errors.invalid_text(&at, name, rule(name));
        }
    }
}

fn one_subset(errors: &mut ErrorList, at: &Path<'_>, subset: &Value) {
    let (ready, rest) = (list(subset, "addresses"), list(subset, "notReadyAddresses"));
    if ready.is_empty() && rest.is_empty() {
        errors.required(at, "must specify `addresses` or `notReadyAddresses`");
    }
    for (field, addresses) in [("addresses", ready), ("notReadyAddresses", rest)] {
        for (index, address) in addresses.iter().enumerate() {
            subset_address(errors, &at.child(field).index(index), address);
        }
    }
    let ports = list(subset, "ports");
    for (index, port) in ports.iter().enumerate() {
        subset_port(errors, &at.child("ports").index(index), port, ports.len() > 1);
    }
}

fn subset_address(errors: &mut ErrorList, at: &Path<'_>, address: &Value) {
    let (ip_at, text_of_ip) = (at.child("ip"), text(address, "ip"));
    ip(errors, &ip_at, text_of_ip);
    let name = text(address, "hostname");
    errors.optional_text(&at.child("hostname"), name, label);
    if let Some(name) = address["nodeName"].as_str() {
        errors.invalid_text(&at.child("nodeName"), name, subdomain(name));
    }
    endpoint_ip(errors, &ip_at, text_of_ip);
}

fn subset_port(errors: &mut ErrorList, at: &Path<'_>, port: &Value, needs_name: bool) {
    let name = text(port, "name");
    if name.is_empty() && needs_name {
        errors.required(&at.child("name"), "");
    } else if !name.is_empty() {
        errors.invalid_text(&at.child("name"), name, label(name));
    }
    let value = number(port, "port").unwrap_or(0);
    for why in port_number(value) {
        errors.invalid(&at.child("port"), &json!(value), why);
    }
    let protocol = text(port, "protocol");
    if !PROTOCOLS.contains(&protocol) {
        errors.unsupported(&at.child("protocol"), &json!(protocol), &PROTOCOLS);
    }
    app_protocol(errors, at, port);
}
