//! Stories of names: a query in, the records of the response out.

mod hostile;
mod names;

use gantry_json::{Value, json};
use gantry_model::EndpointSlice;
use k8s_openapi::api::core::v1 as core;

use crate::answer::{Answer, answer};
use crate::message::{Query, RecordType, Response};
use crate::zone::Zone;

fn service(name: &str, spec: &Value) -> core::Service {
    let object = json!({"metadata": {"name": name, "namespace": "shop"}, "spec": spec});
    gantry_json::from_value(object).unwrap()
}

fn slice(endpoints: &Value) -> EndpointSlice {
    let object = json!({
        "metadata": {"name": "s-1", "namespace": "shop", "uid": "s1"},
        "addressType": "IPv4",
        "ports": [{"name": "sql", "port": 5432, "protocol": "TCP"}],
        "endpoints": endpoints,
    });
    EndpointSlice::parse(gantry_json::from_value(object).unwrap()).unwrap()
}

/// A cluster with a Service, a headless one with two pods, and aliases.
fn zone() -> Zone {
    let web = json!({"clusterIP": "10.96.0.7", "clusterIPs": ["10.96.0.7", "fd00::7"], "ports": [{"name": "http", "port": 80}]});
    let database =
        json!({"clusterIP": "None", "clusterIPs": ["None"], "ports": [{"name": "sql", "port": 5432}]});
    let endpoints = slice(&json!([
        {"addresses": ["10.1.0.1"], "hostname": "db-0", "conditions": {"ready": true}},
        {"addresses": ["10.1.0.2"], "conditions": {"ready": true}},
        {"addresses": ["10.1.0.3"], "conditions": {"ready": false}},
    ]));
    let services = [
        (service("web", &web), vec![]),
        (service("db", &database), vec![&endpoints]),
        (service("docs", &json!({"type": "ExternalName", "externalName": "Docs.Example.com."})), vec![]),
        (
            service("inner", &json!({"type": "ExternalName", "externalName": "web.shop.svc.cluster.local"})),
            vec![],
        ),
        (
            service("loop", &json!({"type": "ExternalName", "externalName": "loop.shop.svc.cluster.local"})),
            vec![],
        ),
    ];
    let all = services.iter().map(|(service, slices)| (service, slices.clone()));
    Zone::compute("cluster.local", "10.96.0.10".parse().unwrap(), all)
}

/// A query as it is sent.
fn query(name: &str, kind: RecordType) -> Vec<u8> {
    let mut message = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        message.push(u8::try_from(label.len()).unwrap());
        message.extend(label.as_bytes());
    }
    message.push(0);
    message.extend(kind.0.to_be_bytes());
    message.extend([0, 1]);
    message
}

fn look_up(name: &str, kind: RecordType) -> Answer {
    answer(&Query::parse(&query(name, kind)).unwrap(), &zone())
}

fn known(name: &str, kind: RecordType) -> Response {
    match look_up(name, kind) {
        Answer::Known(response) => response,
        other => panic!("{name}: {other:?}"),
    }
}
