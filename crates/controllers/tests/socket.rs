//! The controllers against a cluster behind a socket: TLS and a client certificate.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::sync::Arc;
use std::time::Duration;

use gantry_apiserver::{Access, ApiServer, Settings};
use gantry_client::{ApiTransport, ClientConfig, ClientIdentity, ServerTrust};
use gantry_controllers::{Options, run};
use gantry_json::{Value, json};
use gantry_runtime::{Api, Metrics, ResourcePath};
use gantry_serving::{ConnectionLimits, Listener, Pki, ServerNames, Stopper, SystemEnvironment, Transport};
use gantry_store::memory::{HistoryLimits, MemoryStore};

fn transport(url: &str, pki: &Pki) -> ApiTransport {
    let identity = ClientIdentity {
        certificate: pki.admin.certificate.clone().into(),
        key: pki.admin.key.clone().into(),
    };
    let config = ClientConfig {
        trust: ServerTrust::CertificateAuthorities(pki.authority.clone()),
        identity: Some(identity),
        ..ClientConfig::new(url.parse().unwrap())
    };
    ApiTransport::connect(&config).unwrap()
}

/// With RBAC on and service accounts required, as in a real cluster: the account is created first, then the pods, and a
/// client that reconnects reads them.
#[tokio::test]
async fn a_deployment_is_rolled_out_over_tls() {
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let settings = Settings { access: Access::rbac(), ..Settings::default() };
    let server = ApiServer::new(store, Arc::new(SystemEnvironment), settings);
    server.prepare().await.unwrap();
    let pki = Pki::in_memory(&ServerNames::default()).unwrap();
    let listener = Listener::on("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let transport = transport(&format!("https://{}", listener.address()), &pki);
    let (stopper, stop) = Stopper::new();
    let serving = tokio::spawn(listener.serve(
        server,
        Transport::tls(&pki).unwrap(),
        ConnectionLimits::default(),
        stop,
    ));

    let (switch, signal) = gantry_runtime::shutdown();
    let options = Options { root_ca: Some("PEM".to_owned()), ..Options::default() };
    let controllers = tokio::spawn(run(transport.clone(), options, signal));
    let api = Api::new(transport, "test", Metrics::new());
    let deployments = ResourcePath::path("/apis/apps/v1/namespaces/default/deployments");
    let web = json!({"metadata": {"name": "web"}, "spec": {
        "replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}}});
    api.create::<Value>(&deployments, &web).await.unwrap();
    let is_reported = async {
        loop {
            let web = api
                .get::<Value>(&ResourcePath::path("/apis/apps/v1/namespaces/default/deployments/web"))
                .await
                .unwrap();
            if web["status"]["replicas"] == 3 && web["status"]["observedGeneration"] == 1 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), is_reported).await.unwrap();
    switch.turn();
    controllers.await.unwrap().unwrap();
    stopper.stop();
    serving.await.unwrap();
}
