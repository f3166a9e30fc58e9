//! The default objects of a cluster (A6.1).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use std::sync::Arc;

use gantry_apiserver::{ApiServer, Settings};
use gantry_json::{Value, json};
use gantry_store::Store as _;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use http::Method;

use harness::{Noon, call};

async fn started(store: &Arc<MemoryStore>, settings: Settings) -> ApiServer {
    let server = ApiServer::new(store.clone(), Arc::new(Noon::default()), settings);
    server.prepare().await.unwrap();
    server
}

async fn get(server: &ApiServer, path: &str) -> Value {
    let (status, found) = call(server, Method::GET, path, Value::Null).await;
    assert_eq!(status, 200, "{path}: {found}");
    found
}

/// A6.1: namespaces, the server's own service, priority classes, the authentication ConfigMap, roles.
#[tokio::test]
async fn default_objects_are_created() {
    let settings = Settings { client_ca: Some("PEM".to_owned()), ..Settings::default() };
    let server = started(&Arc::default(), settings).await;
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        let namespace = get(&server, &format!("/api/v1/namespaces/{name}")).await;
        assert_eq!(namespace["status"]["phase"], "Active");
        assert_eq!(namespace["metadata"]["labels"]["kubernetes.io/metadata.name"], name);
        assert_eq!(namespace["spec"]["finalizers"], json!(["kubernetes"]));
    }
    let service = get(&server, "/api/v1/namespaces/default/services/kubernetes").await;
    assert_eq!(service["spec"]["clusterIP"], "10.96.0.1");
    assert_eq!(service["metadata"]["labels"], json!({"component": "apiserver", "provider": "kubernetes"}));
    let port = &service["spec"]["ports"][0];
    assert_eq!(
        (&port["port"], &port["targetPort"], &port["name"]),
        (&json!(443), &json!(6443), &json!("https"))
    );
    let endpoints = get(&server, "/api/v1/namespaces/default/endpoints/kubernetes").await;
    assert_eq!(endpoints["subsets"][0]["addresses"], json!([{"ip": "127.0.0.1"}]));
    let slice = get(&server, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes").await;
    assert_eq!(slice["metadata"]["labels"]["kubernetes.io/service-name"], "kubernetes");
    let map =
        get(&server, "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication").await;
    assert_eq!(map["data"]["client-ca-file"], "PEM");
    for (name, value) in [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)]
    {
        let class = get(&server, &format!("/apis/scheduling.k8s.io/v1/priorityclasses/{name}")).await;
        assert_eq!(
            (&class["value"], &class["preemptionPolicy"]),
            (&json!(value), &json!("PreemptLowerPriority"))
        );
    }
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    for role in ["cluster-admin", "system:discovery", "system:controller:deployment-controller"] {
        let role = get(&server, &format!("{rbac}/clusterroles/{role}")).await;
        assert!(!role["rules"].as_array().unwrap().is_empty());
        assert_eq!(role["metadata"]["labels"]["kubernetes.io/bootstrapping"], "rbac-defaults");
    }
    for role in ["admin", "edit", "view"] {
        let role = get(&server, &format!("{rbac}/clusterroles/{role}")).await;
        assert_eq!(role["rules"], Value::Null, "A7.9: a controller aggregates them");
        assert_eq!(role["metadata"]["managedFields"][0]["manager"], "kube-apiserver");
    }
    let masters = get(&server, &format!("{rbac}/clusterrolebindings/cluster-admin")).await;
    assert_eq!(masters["subjects"][0]["name"], "system:masters");
    let reader = "extension-apiserver-authentication-reader";
    get(&server, &format!("{rbac}/namespaces/kube-system/roles/{reader}")).await;
    get(&server, &format!("{rbac}/namespaces/kube-system/rolebindings/system::{reader}")).await;
}

/// A6.1: missing objects are created again, changed ones stay, and a start writes nothing if nothing is missing.
#[tokio::test]
async fn a_second_start_creates_missing_objects_only() {
    let store: Arc<MemoryStore> = Arc::default();
    let server = started(&store, Settings::default()).await;
    let revision = || async { store.bounds().await.unwrap().current };
    let before = revision().await;
    started(&store, Settings::default()).await;
    assert_eq!(revision().await, before, "nothing was missing");
    let view = "/apis/rbac.authorization.k8s.io/v1/clusterroles/view";
    let discovery = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery";
    let service = "/api/v1/namespaces/default/services/kubernetes";
    for path in [view, service] {
        assert_eq!(call(&server, Method::DELETE, path, Value::Null).await.0, 200);
    }
    let mut changed = get(&server, discovery).await;
    changed["rules"] = Value::Null;
    call(&server, Method::PUT, discovery, changed).await;
    let server = started(&store, Settings::default()).await;
    get(&server, view).await;
    assert_eq!(get(&server, service).await["spec"]["clusterIP"], "10.96.0.1");
    assert_eq!(get(&server, discovery).await["rules"], Value::Null, "changed objects are kept");
}

/// A6.1: a server that starts with another address updates its endpoints.
#[tokio::test]
async fn the_endpoints_of_the_server_have_its_advertised_address() {
    let store: Arc<MemoryStore> = Arc::default();
    started(&store, Settings::default()).await;
    let elsewhere = Settings { advertised: "192.0.2.7:8443".parse().unwrap(), ..Settings::default() };
    let server = started(&store, elsewhere).await;
    let endpoints = get(&server, "/api/v1/namespaces/default/endpoints/kubernetes").await;
    let subset = json!([{"addresses": [{"ip": "192.0.2.7"}], "ports": [{"name": "https", "port": 8443, "protocol": "TCP"}]}]);
    assert_eq!(endpoints["subsets"], subset);
    let service = get(&server, "/api/v1/namespaces/default/services/kubernetes").await;
    assert_eq!(
        (&service["spec"]["ports"][0]["targetPort"], &service["spec"]["clusterIP"]),
        (&json!(8443), &json!("10.96.0.1"))
    );
}

/// A6.1: two servers may start on one store at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn two_servers_can_start_at_once() {
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let starting = (0..4).map(|_| {
        let server = ApiServer::new(store.clone(), Arc::new(Noon::default()), Settings::default());
        tokio::spawn(async move { server.prepare().await })
    });
    for start in starting.collect::<Vec<_>>() {
        start.await.unwrap().unwrap();
    }
}
