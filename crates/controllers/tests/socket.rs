//! The controllers against a cluster behind a socket: TLS and a client certificate.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gantry_apiserver::{Access, ApiServer, Settings};
use gantry_client::{
    ApiClient, ApiRequest, ApiTransport, ClientConfig, ClientIdentity, ServerTrust, WriteFence,
};
use gantry_controllers::{Options, run};
use gantry_json::{Value, json};
use gantry_runtime::{Api, Metrics, ResourcePath};
use gantry_serving::{ConnectionLimits, Listener, Pki, ServerNames, Stopper, SystemEnvironment, Transport};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

fn config(address: SocketAddr, pki: &Pki) -> ClientConfig {
    let identity = ClientIdentity {
        certificate: pki.admin.certificate.clone().into(),
        key: pki.admin.key.clone().into(),
    };
    ClientConfig {
        trust: ServerTrust::CertificateAuthorities(pki.authority.clone()),
        identity: Some(identity),
        ..ClientConfig::new(format!("https://{address}").parse().unwrap())
    }
}

/// A server behind a socket, with RBAC on and service accounts required, as in a real cluster.
struct Served {
    pki: Pki,
    address: SocketAddr,
    stopper: Stopper,
    serving: JoinHandle<()>,
}

impl Served {
    async fn start() -> Self {
        let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
        let settings = Settings { access: Access::rbac(), ..Settings::default() };
        let server = ApiServer::new(store, Arc::new(SystemEnvironment), settings);
        server.prepare().await.unwrap();
        let pki = Pki::in_memory(&ServerNames::default()).unwrap();
        let listener = Listener::on("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.address();
        let (stopper, stop) = Stopper::new();
        let transport = Transport::tls(&pki).unwrap();
        let serving = tokio::spawn(listener.serve(server, transport, ConnectionLimits::default(), stop));
        Self { pki, address, stopper, serving }
    }

    async fn stop(self) {
        self.stopper.stop();
        self.serving.await.unwrap();
    }
}

/// Passes connections on to an address, and counts them.
async fn counting_proxy(to: SocketAddr) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counter = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut server = TcpStream::connect(to).await.unwrap();
                // Either side may end it at any time.
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (address, count)
}

/// Connections are kept: a watch that waits does not hold up requests, and requests need no further handshakes.
#[tokio::test]
async fn requests_share_a_connection_and_watches_have_their_own() {
    let served = Served::start().await;
    let (address, connections) = counting_proxy(served.address).await;
    let transport = ApiTransport::connect(&config(address, &served.pki)).unwrap();
    let client = ApiClient::new(transport);
    let list = ApiRequest::get("/api/v1/namespaces");
    client.send(&list).await.unwrap();
    let mut requests = JoinSet::new();
    for _ in 0..50 {
        let (client, list) = (client.clone(), list.clone());
        requests.spawn(async move { client.send(&list).await.map(|response| response.code) });
    }
    for code in requests.join_all().await {
        assert_eq!(code.unwrap(), 200);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    let watch = ApiRequest::raw("/api/v1/namespaces?watch=true&resourceVersion=0");
    let _watches = (client.watch(&watch).await.unwrap(), client.watch(&watch).await.unwrap());
    client.send(&list).await.unwrap();
    assert_eq!(connections.load(Ordering::SeqCst), 3);
    served.stop().await;
}

/// The fence is checked for each write on the shared connection, too, and a new one is opened after it.
#[tokio::test]
async fn nothing_is_sent_on_the_shared_connection_while_the_fence_is_closed() {
    let served = Served::start().await;
    let fence = WriteFence::new(|| Duration::from_secs(100));
    let transport = ApiTransport::connect_fenced(&config(served.address, &served.pki), &fence);
    let client = ApiClient::new(transport.unwrap());
    let list = ApiRequest::get("/api/v1/namespaces");
    client.send(&list).await.unwrap();
    fence.close();
    for _ in 0..2 {
        client.send(&list).await.unwrap_err();
    }
    fence.open();
    client.send(&list).await.unwrap();
    served.stop().await;
}

/// The service account is created first, then the pods, and a client that reconnects reads them.
#[tokio::test]
async fn a_deployment_is_rolled_out_over_tls() {
    let served = Served::start().await;
    let transport = ApiTransport::connect(&config(served.address, &served.pki)).unwrap();
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
    served.stop().await;
}
