//! Services: unique addresses and ports.

use std::collections::BTreeSet;
use std::sync::Arc;

use gantry_apiserver::{ApiServer, Settings};
use gantry_json::{Value, json};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use http::Method;

use super::harness::{Noon, call};
use super::{created, get, patched, post, refused, server};

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn service(name: &str, spec: Value) -> Value {
    let mut service = json!({"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}});
    let Value::Object(spec) = spec else { panic!("a spec has fields") };
    for (field, value) in spec {
        service["spec"][field] = value;
    }
    service
}

/// A§2.6 service IP: a service gets an address of the range, and its family; a headless service gets none.
#[tokio::test]
async fn a_service_is_allocated_an_address() {
    let server = server().await;
    let web = created(&server, SERVICES, service("web", json!({}))).await;
    let spec = &web["spec"];
    let address: std::net::Ipv4Addr = spec["clusterIP"].as_str().unwrap().parse().unwrap();
    assert_eq!((address.octets()[0], address.octets()[1] & 0xf0), (10, 96), "{address}");
    assert_eq!(spec["clusterIPs"], json!([spec["clusterIP"]]));
    assert_eq!((&spec["ipFamilies"], &spec["ipFamilyPolicy"]), (&json!(["IPv4"]), &json!("SingleStack")));
    assert!(!web["metadata"]["managedFields"].to_string().contains("clusterIP"), "A3.15: it has no owner");
    let none = service("none", json!({"clusterIP": "None", "selector": {"a": "b"}}));
    assert_eq!(created(&server, SERVICES, none).await["spec"]["clusterIPs"], json!(["None"]));
    let anywhere = created(&server, SERVICES, service("anywhere", json!({"clusterIP": "None"}))).await;
    assert_eq!(anywhere["spec"]["ipFamilies"], json!(["IPv4", "IPv6"]), "the service selects no pods");
    let alias = service("alias", json!({"type": "ExternalName", "externalName": "example.com"}));
    assert_eq!(created(&server, SERVICES, alias).await["spec"].get("clusterIP"), None);
    let dry = created(&server, &format!("{SERVICES}?dryRun=All"), service("dry", json!({}))).await;
    assert!(dry["spec"]["clusterIP"].is_string(), "a dry run returns an address, too");
}

/// A§2.6 service IP: a requested address is allocated, unless it is in use or outside of the range.
#[tokio::test]
async fn an_address_can_be_requested_once() {
    let server = server().await;
    let at = |name: &str, address: &str| service(name, json!({"clusterIP": address}));
    assert_eq!(created(&server, SERVICES, at("a", "10.96.0.10")).await["spec"]["clusterIP"], "10.96.0.10");
    assert_eq!(
        refused(&server, SERVICES, at("b", "10.96.0.10"), 422).await,
        "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.10\"]: failed to allocate IP 10.96.0.10: \
         provided IP is already allocated"
    );
    assert!(
        refused(&server, SERVICES, at("b", "10.96.0.1"), 422)
            .await
            .ends_with("provided IP is already allocated"),
        "the address of the server's own service"
    );
    assert!(
        refused(&server, SERVICES, at("b", "1.2.3.4"), 422)
            .await
            .ends_with("the provided network does not match the current range")
    );
    call(&server, Method::DELETE, &format!("{SERVICES}/a"), Value::Null).await;
    created(&server, SERVICES, at("b", "10.96.0.10")).await;
}

/// A§2.6 service IP: node ports are allocated and requested like addresses.
#[tokio::test]
async fn node_ports_are_allocated_once() {
    let server = server().await;
    let open = |name: &str, port: Value| service(name, json!({"type": "NodePort", "ports": [port]}));
    let web = created(&server, SERVICES, open("web", json!({"port": 80}))).await;
    let given = web["spec"]["ports"][0]["nodePort"].as_u64().unwrap();
    assert!((30_000..=32_767).contains(&given), "{given}");
    assert_eq!(
        refused(&server, SERVICES, open("other", json!({"port": 80, "nodePort": given})), 422).await,
        format!(
            "Service \"other\" is invalid: spec.ports[0].nodePort: Invalid value: {given}: provided port is already allocated"
        )
    );
    assert!(
        refused(&server, SERVICES, open("other", json!({"port": 80, "nodePort": 80})), 422)
            .await
            .ends_with("provided port is not in the valid range. The range of valid ports is 30000-32767")
    );
    let both = json!([{"name": "a", "port": 53, "protocol": "UDP"}, {"name": "b", "port": 53}]);
    let both = created(&server, SERVICES, service("dns", json!({"type": "NodePort", "ports": both}))).await;
    let ports = &both["spec"]["ports"];
    assert_eq!(ports[0]["nodePort"], ports[1]["nodePort"], "one port, two protocols");
}

/// A§2.6 service IP: an allocation error precedes other validation errors.
#[tokio::test]
async fn allocation_errors_precede_validation_errors() {
    let server = server().await;
    let holder =
        json!({"type": "NodePort", "clusterIP": "10.96.0.30", "ports": [{"port": 80, "nodePort": 31000}]});
    created(&server, SERVICES, service("holder", holder)).await;
    let wrong = |port: u16| json!({"port": 80, "nodePort": port, "protocol": "x"});
    let open = |ports: Value| service("other", json!({"type": "NodePort", "ports": ports}));
    for (port, why) in [
        (31_000, "provided port is already allocated"),
        (5, "provided port is not in the valid range. The range of valid ports is 30000-32767"),
    ] {
        assert_eq!(
            refused(&server, SERVICES, open(json!([wrong(port)])), 422).await,
            format!("Service \"other\" is invalid: spec.ports[0].nodePort: Invalid value: {port}: {why}")
        );
    }
    let at = service("other", json!({"clusterIP": "10.96.0.30", "ports": [wrong(0)]}));
    assert!(refused(&server, SERVICES, at, 422).await.ends_with("provided IP is already allocated"));
    let several =
        json!([{"name": "a", "port": 80, "nodePort": 31000}, {"name": "b", "port": 81, "nodePort": 5}]);
    assert!(
        refused(&server, SERVICES, open(several), 422).await.contains("ports[0].nodePort"),
        "errors are in the order of the ports"
    );
    let twice =
        json!([{"name": "a", "port": 80, "nodePort": 31001}, {"name": "b", "port": 81, "nodePort": 31001}]);
    assert!(
        refused(&server, SERVICES, open(twice), 422).await.ends_with("provided port is already allocated")
    );
    let families = json!({"ipFamilies": ["IPv6"], "ports": [wrong(0)], "clusterIP": ""});
    assert!(
        refused(&server, SERVICES, service("other", families), 422).await.contains("spec.ipFamilies[0]"),
        "errors of families precede"
    );
    let checked =
        json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 31000});
    assert_eq!(
        refused(&server, SERVICES, service("other", checked), 500).await,
        "Internal error occurred: failed to allocate requested HealthCheck NodePort 31000: provided port is already \
         allocated"
    );
    created(&server, SERVICES, service("web", json!({}))).await;
    let to_node_port = json!({"spec": {"type": "NodePort", "ports": [wrong(31_000)]}});
    let (status, refusal) = patched(&server, &format!("{SERVICES}/web"), to_node_port).await;
    assert_eq!(status, 422);
    assert!(
        refusal["message"].as_str().unwrap().ends_with("provided port is already allocated"),
        "{refusal}"
    );
}

/// A§2.6 service IP: a dry run checks ports in use and the range of addresses, and sets placeholders.
#[tokio::test]
async fn a_dry_run_allocates_placeholders() {
    let server = server().await;
    let holder =
        json!({"type": "NodePort", "clusterIP": "10.96.0.30", "ports": [{"port": 80, "nodePort": 31000}]});
    created(&server, SERVICES, service("holder", holder)).await;
    let dry = format!("{SERVICES}?dryRun=All");
    let ports = json!([{"name": "a", "port": 80}, {"name": "b", "port": 81}]);
    let local = json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": ports});
    let spec = created(&server, &dry, service("other", local)).await["spec"].clone();
    assert_eq!(spec["clusterIP"], "10.96.0.0");
    assert_eq!([&spec["ports"][0]["nodePort"], &spec["ports"][1]["nodePort"]], [32_769, 32_770]);
    assert_eq!(spec["healthCheckNodePort"], 32_771);
    created(&server, &dry, service("other", json!({"clusterIP": "10.96.0.30"}))).await;
    let outside = refused(&server, &dry, service("other", json!({"clusterIP": "1.2.3.4"})), 422).await;
    assert!(outside.ends_with(
        "the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is 10.96.0.0/12"
    ));
    let open = |port: u16| json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]});
    created(&server, &dry, service("other", open(5))).await;
    let allocated = refused(&server, &dry, service("other", open(31_000)), 422).await;
    assert!(allocated.ends_with("provided port is already allocated"));
    created(&server, SERVICES, service("web", json!({}))).await;
    let patch = json!({"spec": {"type": "NodePort"}});
    let (_, tried) = patched(&server, &format!("{SERVICES}/web?dryRun=All"), patch).await;
    assert_eq!(tried["spec"]["ports"][0]["nodePort"], 32_769);
}

/// A2.20: a headless service of any family cannot get an address or a selector.
#[tokio::test]
async fn a_headless_service_of_any_family_stays_headless() {
    let server = server().await;
    created(&server, SERVICES, service("anywhere", json!({"clusterIP": "None"}))).await;
    let patch = json!({"spec": {"selector": {"app": "web"}}});
    let (status, refusal) = patched(&server, &format!("{SERVICES}/anywhere"), patch).await;
    assert_eq!(status, 422);
    assert_eq!(
        refusal["message"],
        "Service \"anywhere\" is invalid: [spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is \
         not configured for dual-stack services, spec.ipFamilies[1]: Invalid value: \"IPv6\": not configured on this \
         cluster]"
    );
}

/// A§2.6 service IP, A2.20: a service keeps its addresses and ports until its type changes.
#[tokio::test]
async fn a_changed_service_type_changes_the_allocations() {
    let server = server().await;
    let path = format!("{SERVICES}/web");
    let web = created(&server, SERVICES, service("web", json!({"clusterIP": "10.96.0.20"}))).await;
    let mut silent = web.clone();
    silent["spec"].as_object_mut().unwrap().retain(|field, _| field == "ports");
    let (status, same) = call(&server, Method::PUT, &path, silent).await;
    assert_eq!((status, &same["spec"]), (200, &web["spec"]), "omitted fields stay");
    let (_, open) = patched(&server, &path, json!({"spec": {"type": "NodePort"}})).await;
    let port = open["spec"]["ports"][0]["nodePort"].clone();
    assert!(port.is_u64(), "{open}");
    let (_, renamed) =
        patched(&server, &path, json!({"spec": {"ports": [{"port": 80, "name": "http"}]}})).await;
    assert_eq!(renamed["spec"]["ports"][0]["nodePort"], port, "the same port keeps its port");
    let (_, closed) = patched(&server, &path, json!({"spec": {"type": "ClusterIP"}})).await;
    assert_eq!(closed["spec"]["ports"][0].get("nodePort"), None, "{closed}");
    assert_eq!(closed["spec"].get("externalTrafficPolicy"), None);
    let alias = json!({"spec": {"type": "ExternalName", "externalName": "x.example.com"}});
    let (status, alias) = patched(&server, &path, alias).await;
    assert_eq!((status, alias["spec"].get("clusterIP")), (200, None), "{alias}");
    let heir = service(
        "heir",
        json!({"type": "NodePort", "clusterIP": "10.96.0.20", "ports": [{"port": 1, "nodePort": port}]}),
    );
    created(&server, SERVICES, heir).await;
    let (_, back) = patched(&server, &path, json!({"spec": {"type": "ClusterIP"}})).await;
    assert_ne!(back["spec"]["clusterIP"], "10.96.0.20", "the address now belongs to another service");
    let (status, refusal) =
        patched(&server, &path, json!({"spec": {"clusterIP": "10.96.0.21", "clusterIPs": ["10.96.0.21"]}}))
            .await;
    assert_eq!(status, 422, "{refusal}");
}

/// A§2.6 service IP: two servers on one store, one of them restarted, allocate every address exactly once.
#[tokio::test(flavor = "multi_thread")]
async fn two_servers_allocate_every_address_once() {
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let environment = Arc::new(Noon::default());
    let start = || async {
        let mut settings = Settings::default();
        settings.services.addresses = "10.0.0.0/28".parse().unwrap();
        let server = ApiServer::new(store.clone(), environment.clone(), settings);
        server.prepare().await.unwrap();
        server
    };
    let (one, two) = (start().await, start().await);
    let requests = (0..12).map(|n| {
        let server = if n % 2 == 0 { one.clone() } else { two.clone() };
        tokio::spawn(async move { post(&server, SERVICES, service(&format!("s{n}"), json!({}))).await })
    });
    for request in requests.collect::<Vec<_>>() {
        let (status, made) = request.await.unwrap();
        assert_eq!(status, 201, "{made}");
    }
    let again = start().await;
    let thirteenth = created(&again, SERVICES, service("s13", json!({}))).await;
    assert!(thirteenth["spec"]["clusterIP"].is_string());
    let all = get(&again, SERVICES).await;
    let addresses: BTreeSet<_> =
        all["items"].as_array().unwrap().iter().map(|one| one["spec"]["clusterIP"].to_string()).collect();
    assert_eq!(addresses.len(), 14, "thirteen and the server's own have different addresses");
    let message = refused(&again, SERVICES, service("s14", json!({})), 500).await;
    assert_eq!(message, "Internal error occurred: failed to allocate a serviceIP: range is full");
}
