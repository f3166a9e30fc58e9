//! Services: their ports, types and addresses, and which addresses may change.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::{Value, json};

use super::found::{Found, Path, is_set, list, number, text};
use super::metadata::labels;
use super::names::{label, port, port_number, qualified_name, subdomain};

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const FAMILY_POLICIES: [&str; 3] = ["SingleStack", "PreferDualStack", "RequireDualStack"];
const NO_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/// The spec of a Service.
pub(super) fn service(found: &mut Found, object: &Value) {
    let (at, spec) = (Path::new("spec"), &object["spec"]);
    let external = text(spec, "type") == "ExternalName";
    let headless = text(spec, "clusterIP") == "None";
    if list(spec, "ports").is_empty() && !headless && !external {
        found.required(&at.child("ports"), "");
    }
    if external {
        external_name(found, &at, spec);
    } else {
        addresses(found, &at, spec);
    }
    ports(found, &at.child("ports"), spec);
    labels(found, &at.child("selector"), spec, "selector");
    found.one_of(&at.child("sessionAffinity"), &spec["sessionAffinity"], &["ClientIP", "None"]);
    let seconds = &spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"];
    if seconds.as_i64().is_some_and(|seconds| !(1..=86400).contains(&seconds)) {
        let config = at.child("sessionAffinityConfig");
        let client = config.child("clientIP");
        found.invalid(&client.child("timeoutSeconds"), seconds, "must be greater than 0 and less than 86400");
    }
    found.one_of(&at.child("type"), &spec["type"], &TYPES);
    balancer(found, &at, spec);
    policies(found, &at, spec);
}

/// An address, once given, stays, unless the service becomes another sort of service.
pub(super) fn service_changes(found: &mut Found, old: &Value, new: &Value) {
    let (old, new) = (&old["spec"], &new["spec"]);
    let external = |spec: &Value| text(spec, "type") == "ExternalName";
    if external(old) || external(new) {
        return;
    }
    let before = text(old, "clusterIP");
    if !before.is_empty() && before != text(new, "clusterIP") {
        let at = Path::new("spec");
        let addresses = match &new["clusterIPs"] {
            Value::Null => json!([text(new, "clusterIP")]),
            addresses => addresses.clone(),
        };
        found.invalid(&at.child("clusterIPs").index(0), &addresses, "may not change once set");
    }
}

fn external_name(found: &mut Found, at: &Path<'_>, spec: &Value) {
    if !list(spec, "clusterIPs").is_empty() || !text(spec, "clusterIP").is_empty() {
        found.forbidden(&at.child("clusterIPs"), "may not be set for ExternalName services");
    }
    let name = text(spec, "externalName");
    if name.is_empty() {
        found.required(&at.child("externalName"), "");
    } else {
        let plain = name.strip_suffix('.').unwrap_or(name);
        found.invalid_text(&at.child("externalName"), name, subdomain(plain));
    }
}

/// Addresses inside the cluster and outside of it, and their families.
fn addresses(found: &mut Found, at: &Path<'_>, spec: &Value) {
    let (first, all) = (text(spec, "clusterIP"), list(spec, "clusterIPs"));
    let addresses = at.child("clusterIPs");
    match all.first().and_then(Value::as_str) {
        Some(_) if first.is_empty() => {
            found.invalid(&addresses, &spec["clusterIPs"], "must be empty when `clusterIP` is not specified");
        }
        Some(other) if other != first => {
            found.invalid(&addresses, &spec["clusterIPs"], "first value must match `clusterIP`");
        }
        _ => {}
    }
    for (index, address) in all.iter().enumerate() {
        match address.as_str().unwrap_or("") {
            "None" if text(spec, "type") != "ClusterIP" => {
                let why = format!("may not be set to 'None' for {} services", text(spec, "type"));
                found.invalid(&addresses.index(index), address, why);
            }
            "None" => {}
            word => be_address(found, &addresses.index(index), word),
        }
    }
    for (index, family) in list(spec, "ipFamilies").iter().enumerate() {
        found.one_of(&at.child("ipFamilies").index(index), family, &FAMILIES);
    }
    found.one_of_if_set(&at.child("ipFamilyPolicy"), &spec["ipFamilyPolicy"], &FAMILY_POLICIES);
    for (index, address) in list(spec, "externalIPs").iter().enumerate() {
        reachable(found, &at.child("externalIPs").index(index), address.as_str().unwrap_or(""));
    }
}

fn be_address(found: &mut Found, at: &Path<'_>, word: &str) {
    if word.parse::<IpAddr>().is_err() {
        found.invalid(at, &json!(word), NO_ADDRESS);
    }
}

/// An address at which others can be reached.
fn reachable(found: &mut Found, at: &Path<'_>, word: &str) {
    let Ok(address) = word.parse::<IpAddr>() else { return be_address(found, at, word) };
    let why = if address.is_unspecified() {
        format!("may not be unspecified ({word})")
    } else if address.is_loopback() {
        "may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned()
    } else if is_link_local(address) {
        "may not be in the link-local range (169.254.0.0/16, fe80::/10)".to_owned()
    } else if is_link_local_multicast(address) {
        "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".to_owned()
    } else {
        return;
    };
    found.invalid(at, &json!(word), why);
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
}

fn ports(found: &mut Found, at: &Path<'_>, spec: &Value) {
    let (ports, headless) = (list(spec, "ports"), text(spec, "clusterIP") == "None");
    let mut of_nodes = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut taken = BTreeSet::new();
    for (index, one) in ports.iter().enumerate() {
        let at = at.index(index);
        let name = text(one, "name");
        if name.is_empty() && ports.len() > 1 {
            found.required(&at.child("name"), "");
        } else if !name.is_empty() {
            found.invalid_text(&at.child("name"), name, label(name));
            if !names.insert(name) {
                found.duplicate(&at.child("name"), &json!(name));
            }
        }
        let number_of_port = number(one, "port").unwrap_or(0);
        for why in port_number(number_of_port) {
            found.invalid(&at.child("port"), &json!(number_of_port), why);
        }
        found.one_of(&at.child("protocol"), &one["protocol"], &["SCTP", "TCP", "UDP"]);
        port(found, &at.child("targetPort"), &one["targetPort"]);
        let of_node = number(one, "nodePort").unwrap_or(0);
        if of_node != 0 {
            if headless {
                found.forbidden(&at.child("nodePort"), "may not be set for headless services");
            } else if text(spec, "type") == "ClusterIP" {
                found.forbidden(&at.child("nodePort"), "may not be used when `type` is 'ClusterIP'");
            }
            if !of_nodes.insert((of_node, text(one, "protocol"))) {
                found.duplicate(&at.child("nodePort"), &json!(of_node));
            }
        }
        let place = (text(one, "protocol"), number_of_port);
        if !taken.insert(place) {
            found.duplicate_shown(&at, port_by_go_names(place));
        }
    }
}

/// A port of which nothing but this is known, as Go shows it.
fn port_by_go_names((protocol, port): (&str, i64)) -> String {
    let protocol = json!(protocol);
    format!(
        r#"{{"Name":"","Protocol":{protocol},"AppProtocol":null,"Port":{port},"TargetPort":0,"NodePort":0}}"#
    )
}

/// What only a balancer of load can have.
fn balancer(found: &mut Found, at: &Path<'_>, spec: &Value) {
    let (is_balancer, why) =
        (text(spec, "type") == "LoadBalancer", "may only be used when `type` is 'LoadBalancer'");
    // The name of the field begins with a capital letter, as in Kubernetes.
    let (ranges_at, ranges) = (at.child("LoadBalancerSourceRanges"), list(spec, "loadBalancerSourceRanges"));
    if !ranges.is_empty() && !is_balancer {
        found.forbidden(&ranges_at, why);
    }
    for (index, range) in ranges.iter().enumerate() {
        let range = range.as_str().unwrap_or("").trim();
        if !is_range(range) {
            let why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
            found.invalid(&ranges_at.index(index), &json!(range), why);
        }
    }
    for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
        if is_set(spec, field) && !is_balancer {
            found.forbidden(&at.child(field), why);
        }
    }
    if is_balancer && is_set(spec, "loadBalancerClass") {
        let class = text(spec, "loadBalancerClass");
        found.invalid_text(&at.child("loadBalancerClass"), class, qualified_name(class));
    }
}

fn is_range(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let most = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    bits.parse::<u8>().is_ok_and(|bits| bits <= most)
}

fn policies(found: &mut Found, at: &Path<'_>, spec: &Value) {
    let policies = ["Cluster", "Local"];
    let outside =
        matches!(text(spec, "type"), "LoadBalancer" | "NodePort") || !list(spec, "externalIPs").is_empty();
    if !text(spec, "externalTrafficPolicy").is_empty() && !outside {
        let why = "may only be set for externally-accessible services";
        found.invalid(&at.child("externalTrafficPolicy"), &spec["externalTrafficPolicy"], why);
    }
    found.one_of_if_set(&at.child("externalTrafficPolicy"), &spec["externalTrafficPolicy"], &policies);
    found.one_of_if_set(&at.child("internalTrafficPolicy"), &spec["internalTrafficPolicy"], &policies);
}
