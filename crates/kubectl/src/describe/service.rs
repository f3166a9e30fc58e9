//! A Service, with the endpoints behind each of its ports.

use gantry_json::Value;

use super::endpoints::reachable;
use super::{heading, or_none};
use crate::field::{at, list, number, pairs, shown, text};

/// A Service; `slices` are the EndpointSlices that are labelled with its name.
pub(crate) fn service(service: &Value, slices: &[Value]) -> String {
    let mut out = heading(service);
    out += &format!("Selector:\t{}\n", or_none(&pairs(service, "/spec/selector")));
    out += &format!("Type:\t{}\n", text(service, "/spec/type"));
    out += &addresses(service);
    for port in list(service, "/spec/ports") {
        out += &described_port(port, slices);
    }
    out + &traffic(service)
}

fn joined(service: &Value, pointer: &str) -> String {
    list(service, pointer).iter().map(shown).collect::<Vec<_>>().join(",")
}

fn addresses(service: &Value) -> String {
    let mut out = String::new();
    if let Some(policy) = service.pointer("/spec/ipFamilyPolicy") {
        out += &format!("IP Family Policy:\t{}\n", shown(policy));
    }
    out += &format!("IP Families:\t{}\n", or_none(&joined(service, "/spec/ipFamilies")));
    out += &format!("IP:\t{}\n", text(service, "/spec/clusterIP"));
    out += &format!("IPs:\t{}\n", or_none(&joined(service, "/spec/clusterIPs")));
    let ingress: Vec<String> = list(service, "/status/loadBalancer/ingress").iter().map(ingress).collect();
    let optional = [
        ("External IPs", joined(service, "/spec/externalIPs")),
        ("Desired LoadBalancer IP", text(service, "/spec/loadBalancerIP").to_owned()),
        ("External Name", text(service, "/spec/externalName").to_owned()),
        ("LoadBalancer Ingress", ingress.join(", ")),
    ];
    let given = optional.into_iter().filter(|(_, value)| !value.is_empty());
    out.extend(given.map(|(title, value)| format!("{title}:\t{value}\n")));
    out
}

/// `192.0.2.1 (VIP)`, or a host name.
fn ingress(ingress: &Value) -> String {
    let mode = text(ingress, "/ipMode");
    let mode = if mode.is_empty() { String::new() } else { format!(" ({mode})") };
    match text(ingress, "/ip") {
        "" => text(ingress, "/hostname").to_owned(),
        ip => format!("{ip}{mode}"),
    }
}

fn described_port(port: &Value, slices: &[Value]) -> String {
    let name = text(port, "/name");
    let shown_name = if name.is_empty() { "<unset>" } else { name };
    let protocol = text(port, "/protocol");
    let mut out = format!("Port:\t{shown_name}\t{}/{protocol}\n", number(port, "/port"));
    out += &format!("TargetPort:\t{}/{protocol}\n", shown(at(port, "/targetPort")));
    if let Some(application) = port.get("appProtocol") {
        out += &format!("AppProtocol:\t{}\n", shown(application));
    }
    if number(port, "/nodePort") != 0 {
        out += &format!("NodePort:\t{shown_name}\t{}/{protocol}\n", number(port, "/nodePort"));
    }
    out + &format!("Endpoints:\t{}\n", reachable(slices, name))
}

fn traffic(service: &Value) -> String {
    let mut out = format!("Session Affinity:\t{}\n", text(service, "/spec/sessionAffinity"));
    let health = match number(service, "/spec/healthCheckNodePort") {
        0 => String::new(),
        port => port.to_string(),
    };
    let optional = [
        ("External Traffic Policy", text(service, "/spec/externalTrafficPolicy").to_owned()),
        ("Internal Traffic Policy", text(service, "/spec/internalTrafficPolicy").to_owned()),
        ("HealthCheck NodePort", health),
        ("LoadBalancer Source Ranges", joined(service, "/spec/loadBalancerSourceRanges")),
        ("Traffic Distribution", text(service, "/spec/trafficDistribution").to_owned()),
    ];
    let given = optional.into_iter().filter(|(_, value)| !value.is_empty());
    out.extend(given.map(|(title, value)| format!("{title}:\t{value}\n")));
    out
}
