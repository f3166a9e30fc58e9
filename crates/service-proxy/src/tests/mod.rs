//! Stories of Services and their endpoints: how a node routes connections to them.

mod health;
mod kernel;
mod routes;
mod transactions;
mod udp;

use gantry_json::{Value, json};
use gantry_model::EndpointSlice;

use crate::endpoints::ProxyNode;
use crate::port_spec::PortSpec;
use crate::ruleset::Ruleset;

/// The node of all stories.
fn here() -> ProxyNode {
    ProxyNode { name: "here".to_owned(), zone: Some("east".to_owned()), ..ProxyNode::default() }
}

/// A Service `web` at 10.96.0.7 with one port `http`, with these changes to its spec.
fn service(changes: &Value) -> Vec<PortSpec> {
    let mut spec = json!({
        "clusterIP": "10.96.0.7",
        "clusterIPs": ["10.96.0.7"],
        "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}],
    });
    for (name, value) in changes.as_object().unwrap() {
        spec[name.as_str()] = value.clone();
    }
    let object = json!({"metadata": {"name": "web", "namespace": "shop"}, "spec": spec});
    PortSpec::of(&gantry_json::from_value(object).unwrap())
}

/// A slice of `web` with these endpoints on port 8080.
fn slice(endpoints: &Value) -> EndpointSlice {
    let object = json!({
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "s1"},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        "endpoints": endpoints,
    });
    EndpointSlice::parse(gantry_json::from_value(object).unwrap()).unwrap()
}

fn ready(address: &str, node: &str) -> Value {
    json!({
        "addresses": [address], "nodeName": node,
        "conditions": {"ready": true, "serving": true, "terminating": false},
        "targetRef": {"kind": "Pod", "namespace": "shop", "name": address, "uid": format!("uid-{address}")},
    })
}

fn terminating(address: &str, node: &str) -> Value {
    json!({
        "addresses": [address], "nodeName": node,
        "conditions": {"ready": false, "serving": true, "terminating": true},
    })
}

fn rules(ports: Vec<PortSpec>, endpoints: &Value, node: &ProxyNode) -> Ruleset {
    let slice = slice(endpoints);
    Ruleset::compute(ports.into_iter().map(|port| (port, vec![&slice])), node)
}
