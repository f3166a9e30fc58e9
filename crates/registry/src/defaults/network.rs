//! Defaults of services, endpoints and network policies.

use serde_json::{Value, json};

use super::setting::{Object, child, default, default_text, each, ensure, is_empty, is_unset, text};

/// How long a client sticks to one pod when it is told to stick: three hours.
const STICKY_SECONDS: i64 = 10800;

/// A Service.
pub(crate) fn service(service: &mut Object) {
    let Some(spec) = ensure(service, "spec") else { return };
    default_text(spec, "sessionAffinity", "None");
    default_text(spec, "type", "ClusterIP");
    affinity(spec);
    for port in each(spec, "ports") {
        default_text(port, "protocol", "TCP");
        let unset = matches!(port.get("targetPort"), None | Some(Value::Null))
            || port["targetPort"] == json!(0)
            || port["targetPort"] == json!("");
        if unset {
            let number = port.get("port").cloned().unwrap_or(json!(0));
            port.insert("targetPort".to_owned(), number);
        }
    }
    policies(spec);
}

/// Endpoints.
pub(crate) fn endpoints(endpoints: &mut Object) {
    for subset in each(endpoints, "subsets") {
        for port in each(subset, "ports") {
            default_text(port, "protocol", "TCP");
        }
    }
}

/// An EndpointSlice.
pub(crate) fn endpoint_slice(slice: &mut Object) {
    for port in each(slice, "ports") {
        default(port, "name", "");
        default(port, "protocol", "TCP");
    }
}

/// A NetworkPolicy: it is about what comes in, and about what goes out if it says so.
pub(crate) fn policy(policy: &mut Object) {
    let Some(spec) = ensure(policy, "spec") else { return };
    for direction in ["ingress", "egress"] {
        for rule in each(spec, direction) {
            for port in each(rule, "ports") {
                default(port, "protocol", "TCP");
            }
        }
    }
    if is_empty(spec, "policyTypes") {
        let types = if is_empty(spec, "egress") { json!(["Ingress"]) } else { json!(["Ingress", "Egress"]) };
        spec.insert("policyTypes".to_owned(), types);
    }
}

fn affinity(spec: &mut Object) {
    match text(spec, "sessionAffinity") {
        "None" => {
            spec.remove("sessionAffinityConfig");
        }
        "ClientIP" => {
            let config = ensure(spec, "sessionAffinityConfig").and_then(|config| ensure(config, "clientIP"));
            if let Some(client) = config {
                default(client, "timeoutSeconds", STICKY_SECONDS);
            }
        }
        _ => {}
    }
}

fn policies(spec: &mut Object) {
    let balanced = text(spec, "type") == "LoadBalancer";
    let outside = balanced
        || text(spec, "type") == "NodePort"
        || text(spec, "type") == "ClusterIP" && !is_empty(spec, "externalIPs");
    let inside = matches!(text(spec, "type"), "ClusterIP" | "NodePort" | "LoadBalancer");
    if outside {
        default_text(spec, "externalTrafficPolicy", "Cluster");
    }
    if inside {
        default(spec, "internalTrafficPolicy", "Cluster");
    }
    if balanced && is_unset(spec, "allocateLoadBalancerNodePorts") {
        default(spec, "allocateLoadBalancerNodePorts", true);
    }
    if let Some(health) = child(spec, "loadBalancerStatus") {
        each(health, "ingress").for_each(|ingress| default(ingress, "ipMode", "VIP"));
    }
}
