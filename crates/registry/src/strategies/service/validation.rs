//! Validates Services.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::strategies::ingress;
use crate::validation::addresses;
use crate::validation::error_list::{ErrorList, Path, is_set, list, number, text};
use crate::validation::metadata::labels;
use crate::validation::names::{label, port_number, qualified_name, subdomain};
use crate::validation::ports::port;

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const DISTRIBUTIONS: [&str; 3] = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const EXTERNAL_IPS: &str = "spec.externalIPs is deprecated and may no longer be implemented in some clusters";

/// Validates the spec of a Service, except for cluster IPs and families.
pub(crate) fn service(errors: &mut ErrorList, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    if list(spec, "ports").is_empty() && !is_headless(spec) && text(spec, "type") != "ExternalName" {
        errors.required(&at.child("ports"), "");
    }
    for_its_type(errors, &at, spec);
    ports(errors, &at.child("ports"), spec);
    labels(errors, &at.child("selector"), spec, "selector");
    affinity(errors, &at, spec);
    for (index, address) in list(spec, "externalIPs").iter().enumerate() {
        reachable(errors, &at.child("externalIPs").index(index), address.as_str().unwrap_or(""));
    }
    errors.one_of(&at.child("type"), &spec["type"], &TYPES);
    shared_ports(errors, &at.child("ports"), spec);
    balancer(errors, &at, spec);
    policies(errors, &at, spec);
}

/// Returns warnings about a Service.
pub(crate) fn warnings(spec: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    if !list(spec, "externalIPs").is_empty() {
        warnings.push(EXTERNAL_IPS.to_owned());
    }
    if text(spec, "type") != "ExternalName" && !text(spec, "externalName").is_empty() {
        warnings.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".to_owned());
    }
    warnings
}

/// Validates that the cluster IP does not change, unless the type does.
pub(crate) fn service_changes(errors: &mut ErrorList, old: &Value, new: &Value) {
    let (old, new) = (&old["spec"], &new["spec"]);
    let has_address = |spec: &Value| matches!(text(spec, "type"), "ClusterIP" | "NodePort" | "LoadBalancer");
    let before = text(old, "clusterIP");
    if has_address(old) && has_address(new) && !before.is_empty() && before != text(new, "clusterIP") {
        let at = Path::new("spec");
        let addresses = match &new["clusterIPs"] {
            Value::Null => json!([text(new, "clusterIP")]),
            addresses => addresses.clone(),
        };
        errors.invalid(&at.child("clusterIPs").index(0), &addresses, "may not change once set");
    }
}

/// Validates the status of a Service: only the type `LoadBalancer` has addresses.
pub(crate) fn status(errors: &mut ErrorList, old: &Value, new: &Value) {
    let at = Path::new("status");
    let at = at.child("loadBalancer");
    if text(&new["spec"], "type") == "LoadBalancer" {
        ingress::validation::balancer_addresses(errors, old, new);
    } else if !list(&new["status"]["loadBalancer"], "ingress").is_empty() {
        errors.forbidden(&at.child("ingress"), "may only be used when `spec.type` is 'LoadBalancer'");
    }
}

pub(crate) fn is_headless(spec: &Value) -> bool {
    text(spec, "clusterIP") == "None"
}

/// Validates fields that depend on the type.
fn for_its_type(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let kind = text(spec, "type");
    match kind {
        "LoadBalancer" | "NodePort" if is_headless(spec) => {
            let why = format!("may not be set to 'None' for {kind} services");
            errors.invalid(&at.child("clusterIPs").index(0), &json!("None"), why);
        }
        "ExternalName" => external_name(errors, at, spec),
        _ => {}
    }
}

fn external_name(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let has_addresses = !list(spec, "clusterIPs").is_empty() || !text(spec, "clusterIP").is_empty();
    let set = [
        ("clusterIPs", has_addresses),
        ("ipFamilies", !list(spec, "ipFamilies").is_empty()),
        ("ipFamilyPolicy", is_set(spec, "ipFamilyPolicy")),
    ];
    for (field, _) in set.into_iter().filter(|(_, is_set)| *is_set) {
        errors.forbidden(&at.child(field), "may not be set for ExternalName services");
    }
    let name = text(spec, "externalName");
    if name.is_empty() {
        errors.required(&at.child("externalName"), "");
    } else {
        let plain = name.strip_suffix('.').unwrap_or(name);
        errors.invalid_text(&at.child("externalName"), name, subdomain(plain));
    }
}

fn affinity(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    errors.one_of(&at.child("sessionAffinity"), &spec["sessionAffinity"], &["ClientIP", "None"]);
    let seconds = &spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"];
    if text(spec, "sessionAffinity") == "ClientIP"
        && seconds.as_i64().is_some_and(|seconds| !(1..=86400).contains(&seconds))
    {
        let config = at.child("sessionAffinityConfig");
        let client = config.child("clientIP");
        errors.invalid(
            &client.child("timeoutSeconds"),
            seconds,
            "must be greater than 0 and less than 86400",
        );
    }
}

/// Validates an address that clients outside can use.
fn reachable(errors: &mut ErrorList, at: &Path<'_>, word: &str) {
    let before = errors.all.len();
    addresses::ip(errors, at, word);
    if errors.all.len() == before {
        addresses::endpoint_ip(errors, at, word);
    }
}

fn ports(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let ports = list(spec, "ports");
    let mut names = BTreeSet::new();
    for (index, one) in ports.iter().enumerate() {
        let at = at.index(index);
        let name = text(one, "name");
        if name.is_empty() && ports.len() > 1 {
            errors.required(&at.child("name"), "");
        } else if !name.is_empty() {
            errors.invalid_text(&at.child("name"), name, label(name));
            if !names.insert(name) {
                errors.duplicate(&at.child("name"), &json!(name));
            }
        }
        let number_of_port = number(one, "port").unwrap_or(0);
        for why in port_number(number_of_port) {
            errors.invalid(&at.child("port"), &json!(number_of_port), why);
        }
        errors.one_of(&at.child("protocol"), &one["protocol"], &["SCTP", "TCP", "UDP"]);
        port(errors, &at.child("targetPort"), &one["targetPort"]);
        if is_set(one, "appProtocol") {
            let protocol = text(one, "appProtocol");
            errors.invalid_text(&at.child("appProtocol"), protocol, qualified_name(protocol));
        }
    }
}

/// Reports node ports that the type does not allow, and duplicate ports.
fn shared_ports(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let ports = || list(spec, "ports").iter().enumerate();
    let of_nodes = || ports().filter(|(_, port)| number(port, "nodePort").is_some_and(|number| number != 0));
    if text(spec, "type") == "ClusterIP" {
        for (index, _) in of_nodes() {
            let why = "may not be used when `type` is 'ClusterIP'";
            errors.forbidden(&at.index(index).child("nodePort"), why);
        }
    }
    let mut seen = BTreeSet::new();
    for (index, port) in of_nodes() {
        if !seen.insert((text(port, "protocol"), number(port, "nodePort"))) {
            errors.duplicate(&at.index(index).child("nodePort"), &port["nodePort"]);
        }
    }
    let mut taken = BTreeSet::new();
    for (index, port) in ports() {
        let place = (text(port, "protocol"), number(port, "port").unwrap_or(0));
        if !taken.insert(place) {
            errors.duplicate_formatted(&at.index(index), port_by_go_names(place));
        }
    }
}

/// Formats a port with these fields, with Go names.
fn port_by_go_names((protocol, port): (&str, i64)) -> String {
    let protocol = json!(protocol);
    format!(
        r#"{{"Name":"","Protocol":{protocol},"AppProtocol":null,"Port":{port},"TargetPort":0,"NodePort":0}}"#
    )
}

/// Validates fields of the type `LoadBalancer`.
fn balancer(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let (is_balancer, why) =
        (text(spec, "type") == "LoadBalancer", "may only be used when `type` is 'LoadBalancer'");
    // The field is capitalized, as in Kubernetes.
    let (ranges_at, ranges) = (at.child("LoadBalancerSourceRanges"), list(spec, "loadBalancerSourceRanges"));
    if !ranges.is_empty() && !is_balancer {
        errors.forbidden(&ranges_at, why);
    }
    for (index, range) in ranges.iter().enumerate() {
        let range = range.as_str().unwrap_or("").trim();
        addresses::cidr(errors, &ranges_at.index(index), range);
    }
    for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
        if is_set(spec, field) && !is_balancer {
            errors.forbidden(&at.child(field), why);
        }
    }
    if is_balancer && is_set(spec, "loadBalancerClass") {
        let class = text(spec, "loadBalancerClass");
        errors.invalid_text(&at.child("loadBalancerClass"), class, qualified_name(class));
    }
}

fn policies(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let policies = ["Cluster", "Local"];
    let (outside_at, outside_policy) = (at.child("externalTrafficPolicy"), &spec["externalTrafficPolicy"]);
    let is_outside = match text(spec, "type") {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !list(spec, "externalIPs").is_empty(),
        _ => false,
    };
    if is_outside {
        errors.one_of(&outside_at, outside_policy, &policies);
    } else if !text(spec, "externalTrafficPolicy").is_empty() {
        errors.invalid(&outside_at, outside_policy, "may only be set for externally-accessible services");
    }
    health_check(errors, &at.child("healthCheckNodePort"), spec);
    errors.one_of_if_set(&at.child("internalTrafficPolicy"), &spec["internalTrafficPolicy"], &policies);
    if is_set(spec, "trafficDistribution") {
        let distribution = text(spec, "trafficDistribution");
        if !DISTRIBUTIONS.contains(&distribution) {
            errors.unsupported(&at.child("trafficDistribution"), &json!(distribution), &DISTRIBUTIONS);
        }
    }
}

/// Validates the health check node port.
fn health_check(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let port = number(spec, "healthCheckNodePort").unwrap_or(0);
    let is_needed = text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local";
    if port == 0 {
        return;
    }
    if is_needed {
        for why in port_number(port) {
            errors.invalid(at, &json!(port), why);
        }
    } else {
        let why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        errors.invalid(at, &json!(port), why);
    }
}
