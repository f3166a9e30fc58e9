//! Health checks of load balancers.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use gantry_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{here, ready, rules, service, terminating};
use crate::health_checks::{HealthCheck, HealthServers};

fn checks(policy: &str) -> BTreeMap<u16, HealthCheck> {
    let spec =
        json!({"type": "LoadBalancer", "externalTrafficPolicy": policy, "healthCheckNodePort": 32_100});
    let endpoints =
        json!([ready("10.1.0.1", "here"), terminating("10.1.0.2", "here"), ready("10.1.0.3", "there"),]);
    rules(service(&spec), &endpoints, &here()).health_checks
}

#[test]
fn the_ready_endpoints_of_the_node_count() {
    let local = checks("Local");
    let addresses: Vec<String> = local[&32_100].local.iter().map(ToString::to_string).collect();
    assert_eq!(addresses, ["10.1.0.1"]);
    assert_eq!(checks("Cluster"), BTreeMap::new());
}

async fn get(port: u16) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

#[tokio::test]
async fn a_node_without_endpoints_is_not_healthy() {
    let free = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let check = HealthCheck {
        namespace: "shop".to_owned(),
        service: "web".to_owned(),
        local: ["10.1.0.1".parse().unwrap()].into(),
    };
    let mut servers = HealthServers::default();
    servers.serve(&BTreeMap::from([(port, check.clone())])).await;
    let response = get(port).await;
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(response.contains("x-load-balancing-endpoint-weight: 1\r\n"), "{response}");
    let body =
        r#"{"localEndpoints":1,"service":{"name":"web","namespace":"shop"},"serviceProxyHealthy":true}"#;
    let sent = response.split("\r\n\r\n").nth(1).unwrap();
    let parse = |text: &str| gantry_json::from_str::<gantry_json::Value>(text).unwrap();
    assert_eq!(parse(sent), parse(body));
    servers.serve(&BTreeMap::from([(port, HealthCheck { local: [].into(), ..check })])).await;
    assert!(get(port).await.starts_with("HTTP/1.1 503 "));
    servers.serve(&BTreeMap::new()).await;
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err());
}
