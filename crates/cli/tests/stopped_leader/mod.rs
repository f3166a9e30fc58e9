//! A leader that is stopped in the middle of its work and resumed after another has taken over.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use gantry_json::json;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, PostParams};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::deployed::{Replica, eventually, kubelet};
use crate::running::{Scratch, Server};
use crate::{deployment, is_complete};

/// A proxy that records the requests of one client.
struct RecordingProxy {
    requests: Arc<Mutex<Vec<String>>>,
    kubeconfig: PathBuf,
}

impl RecordingProxy {
    /// Starts a proxy to a server over plain HTTP, and writes a kubeconfig for it.
    async fn start(server: &str, kubeconfig: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        write_kubeconfig(&kubeconfig, &format!("http://{}", listener.local_addr().unwrap()));
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (server, log) = (server.to_owned(), Arc::clone(&requests));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(forward(client, server.clone(), Arc::clone(&log)));
            }
        });
        Self { requests, kubeconfig }
    }

    /// The requests after the first `count`, as `METHOD path`.
    fn requests_after(&self, count: usize) -> Vec<String> {
        self.requests.lock().unwrap()[count..].to_vec()
    }

    fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    fn writes_after(&self, count: usize) -> Vec<String> {
        let mut requests = self.requests_after(count);
        requests.retain(|request| !request.starts_with("GET "));
        requests
    }
}

async fn forward(client: TcpStream, server: String, log: Arc<Mutex<Vec<String>>>) {
    let Ok(server) = TcpStream::connect(server).await else { return };
    let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
        (client.into_split(), server.into_split());
    tokio::spawn(async move {
        let _ = tokio::io::copy(&mut from_server, &mut to_client).await;
    });
    let mut bytes = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from_client.read(&mut bytes).await {
        // A client sends the head of a request in one piece, and the next one only after the response.
        let text = String::from_utf8_lossy(&bytes[..length]);
        let mut words = text.lines().next().unwrap_or_default().split(' ');
        if let (Some(method), Some(path), Some("HTTP/1.1")) = (words.next(), words.next(), words.next()) {
            log.lock().unwrap().push(format!("{method} {path}"));
        }
        if to_server.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}

fn write_kubeconfig(file: &Path, server: &str) {
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": server}}],
        "users": [{"name": "it", "user": {}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    });
    std::fs::write(file, kubeconfig.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_was_stopped_writes_nothing_when_it_is_resumed() {
    let scratch = Scratch::new("stopped-leader");
    let server = Server::start("127.0.0.1:0", &scratch.join("admin"), &["--in-memory", "--plain-http"]);
    let client = server.client().await;
    let kubelet = tokio::spawn(kubelet(client.clone()));
    let one = RecordingProxy::start(server.address(), scratch.join("one.kubeconfig")).await;
    let other = RecordingProxy::start(server.address(), scratch.join("other.kubeconfig")).await;
    let leader = Replica::start(&one.kubeconfig, &scratch.join("one")).await;
    eventually("a leader", async || leader.leads().then_some(())).await;
    let waiting = Replica::start(&other.kubeconfig, &scratch.join("other")).await;

    // The leader is stopped while it has much work.
    let deployments: Api<Deployment> = Api::default_namespaced(client);
    let before = one.count();
    for number in 0..20 {
        deployments.create(&PostParams::default(), &deployment(&format!("web-{number}"))).await.unwrap();
    }
    eventually("work", async || (!one.writes_after(before).is_empty()).then_some(())).await;
    leader.stop();
    eventually("another leader", async || waiting.leads().then_some(())).await;
    let stopped_at = one.count();
    leader.resume();
    eventually("a candidate that reads the lease again", async || {
        let requests = one.requests_after(stopped_at);
        let looks = requests.iter().filter(|request| request.starts_with("GET /apis/coordination.k8s.io/"));
        (looks.count() > 1).then_some(())
    })
    .await;
    assert_eq!(one.writes_after(stopped_at), [""; 0], "{}", leader.logged());
    assert!(!leader.leads());
    for number in 0..20 {
        eventually("an end of the rollout", async || {
            deployments.get(&format!("web-{number}")).await.ok().filter(is_complete).map(drop)
        })
        .await;
    }
    assert_eq!(one.writes_after(stopped_at), [""; 0]);
    kubelet.abort();
}
