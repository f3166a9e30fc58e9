//! Rows of everything that has to do with addresses.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::column::{AGE, Column, NAME, text as column, wide};
use super::field::{age, at, few, labels, list, name, number, plain, selector, text, text_or};
use crate::Timestamp;

/// How many addresses, ports or hosts are shown.
const MOST: usize = 3;

pub(crate) const SERVICE: &[Column] = &[
    NAME,
    column("Type"),
    column("Cluster-IP"),
    column("External-IP"),
    column("Port(s)"),
    AGE,
    wide("Selector"),
];
pub(crate) const ENDPOINTS: &[Column] = &[NAME, column("Endpoints"), AGE];
pub(crate) const ENDPOINT_SLICE: &[Column] =
    &[NAME, column("AddressType"), column("Ports"), column("Endpoints"), AGE];
pub(crate) const INGRESS: &[Column] =
    &[NAME, column("Class"), column("Hosts"), column("Address"), column("Ports"), AGE];
pub(crate) const NETWORK_POLICY: &[Column] = &[NAME, column("Pod-Selector"), AGE];

pub(crate) fn service(object: &Value, now: Timestamp) -> Vec<Value> {
    let first_ip = at(object, "spec.clusterIPs")[0].as_str();
    vec![
        json!(name(object)),
        json!(text(object, "spec.type")),
        json!(first_ip.unwrap_or(text_or(object, "spec.clusterIP", "<none>"))),
        json!(external_ip(object)),
        json!(or(ports(object), "<none>")),
        json!(age(object, now)),
        json!(labels(object, "spec.selector")),
    ]
}

pub(crate) fn endpoints(object: &Value, now: Timestamp) -> Vec<Value> {
    let mut all = Vec::new();
    for subset in list(object, "subsets") {
        let addresses = || list(subset, "addresses").iter().map(|address| text(address, "ip"));
        let ports = list(subset, "ports");
        if ports.is_empty() {
            all.extend(addresses().map(str::to_owned));
        }
        for port in ports {
            all.extend(addresses().map(|ip| host_port(ip, number(port, "port"))));
        }
    }
    vec![json!(name(object)), json!(or(few(&all, MOST, ","), "<none>")), json!(age(object, now))]
}

pub(crate) fn endpoint_slice(object: &Value, now: Timestamp) -> Vec<Value> {
    let port = |port: &Value| {
        plain(&port["port"]).or_else(|| plain(&port["name"])).unwrap_or_else(|| "*".to_owned())
    };
    let ports: Vec<_> = list(object, "ports").iter().map(port).collect();
    let addresses = list(object, "endpoints").iter().flat_map(|endpoint| list(endpoint, "addresses"));
    let addresses: Vec<_> = addresses.filter_map(plain).collect();
    vec![
        json!(name(object)),
        json!(text(object, "addressType")),
        json!(or(few(&ports, MOST, ","), "<unset>")),
        json!(or(few(&addresses, MOST, ","), "<unset>")),
        json!(age(object, now)),
    ]
}

pub(crate) fn ingress(object: &Value, now: Timestamp) -> Vec<Value> {
    let hosts = list(object, "spec.rules").iter().map(|rule| text(rule, "host"));
    let hosts: Vec<_> = hosts.filter(|host| !host.is_empty()).map(str::to_owned).collect();
    let ports = if list(object, "spec.tls").is_empty() { "80" } else { "80, 443" };
    vec![
        json!(name(object)),
        json!(text_or(object, "spec.ingressClassName", "<none>")),
        json!(or(few(&hosts, MOST, ","), "*")),
        json!(load_balancer(object)),
        json!(ports),
        json!(age(object, now)),
    ]
}

pub(crate) fn network_policy(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![json!(name(object)), json!(selector(object, "spec.podSelector")), json!(age(object, now))]
}

fn external_ip(service: &Value) -> String {
    let given: Vec<_> = list(service, "spec.externalIPs").iter().filter_map(Value::as_str).collect();
    let given = given.join(",");
    match text(service, "spec.type") {
        "ClusterIP" | "NodePort" => or(given, "<none>"),
        "LoadBalancer" => match (load_balancer(service), given) {
            (balanced, given) if balanced.is_empty() => or(given, "<pending>"),
            (balanced, given) if given.is_empty() => balanced,
            (balanced, given) => format!("{balanced},{given}"),
        },
        "ExternalName" => text(service, "spec.externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

fn load_balancer(object: &Value) -> String {
    let address = |ingress: &'_ Value| {
        let address = text_or(ingress, "ip", "");
        if address.is_empty() { text(ingress, "hostname") } else { address }.to_owned()
    };
    let addresses = list(object, "status.loadBalancer.ingress").iter().map(address);
    let addresses: BTreeSet<_> = addresses.filter(|address| !address.is_empty()).collect();
    addresses.into_iter().collect::<Vec<_>>().join(",")
}

fn ports(service: &Value) -> String {
    let port = |port: &Value| {
        let node_port = match number(port, "nodePort") {
            0 => String::new(),
            node_port => format!(":{node_port}"),
        };
        format!("{}{node_port}/{}", number(port, "port"), text(port, "protocol"))
    };
    list(service, "spec.ports").iter().map(port).collect::<Vec<_>>().join(",")
}

fn host_port(ip: &str, port: i64) -> String {
    if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") }
}

fn or(text: String, empty: &str) -> String {
    if text.is_empty() { empty.to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(0);

    /// Appendix C: a load balancer is pending until it has an address.
    #[test]
    fn a_load_balancer_may_be_pending() {
        let mut balancer = json!({"spec": {
            "type": "LoadBalancer", "clusterIP": "10.0.0.1",
            "ports": [{"port": 443, "nodePort": 30443, "protocol": "TCP"}],
        }});
        assert_eq!(service(&balancer, NOW)[2..5], ["10.0.0.1", "<pending>", "443:30443/TCP"]);
        balancer["spec"]["externalIPs"] = json!(["5.6.7.8"]);
        assert_eq!(external_ip(&balancer), "5.6.7.8");
        balancer["status"] =
            json!({"loadBalancer": {"ingress": [{"hostname": "lb.example.com"}, {"ip": "1.2.3.4"}]}});
        assert_eq!(external_ip(&balancer), "1.2.3.4,lb.example.com,5.6.7.8");
    }

    /// Appendix C: the first three endpoints, and how many more.
    #[test]
    fn of_many_endpoints_three_are_shown() {
        let addresses = json!([{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]);
        let subset = json!({"addresses": addresses, "ports": [{"port": 80}, {"port": 443}]});
        assert_eq!(
            endpoints(&json!({"subsets": [subset]}), NOW)[1],
            "10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 1 more..."
        );
        assert_eq!(endpoints(&json!({"subsets": [{"addresses": addresses}]}), NOW)[1], "10.0.0.1,fd00::1");
        assert_eq!(endpoints(&json!({}), NOW)[1], "<none>");
    }

    /// Appendix C: an ingress for every host.
    #[test]
    fn an_ingress_without_hosts_is_for_all() {
        let plain = json!({"spec": {"rules": [{}]}});
        assert_eq!(ingress(&plain, NOW)[1..5], ["<none>", "*", "", "80"]);
    }

    #[test]
    fn a_port_without_a_number_is_shown_by_its_name() {
        let table = [(json!({}), "*"), (json!({"name": "any"}), "any"), (json!({"name": ""}), "<unset>")];
        for (port, shown) in table {
            let slice = json!({"ports": [port], "addressType": "IPv4"});
            assert_eq!(endpoint_slice(&slice, NOW)[2], shown);
        }
    }
}
