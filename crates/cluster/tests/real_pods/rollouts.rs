//! Rolling updates under load lose no request, as docs/real-pods.md promises: with a pause before containers are
//! stopped, regardless of how the server handles the signal; and without a pause if the server finishes its requests.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::Command;

use gantry_client::{ApiTransport, ClientConfig};
use gantry_cluster::{AgentOptions, Cluster, Endpoint, EvictionThresholds, OnStop, Options, Storage};
use gantry_json::{Value, json};
use gantry_runtime::{Metrics, Switch};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Node, Pod, Service};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use tokio::task::JoinHandle;

use crate::containerd::{Containerd, IMAGE};
use crate::eventually;
use crate::load::Load;

const REPLICAS: i32 = 10;
/// The requests that have to succeed before and after each part of a test.
const REQUESTS: usize = 200;

/// How a pod ends when it is deleted.
#[derive(Clone, Copy)]
enum End {
    /// It pauses before the signal, which ends its server at once.
    AfterPause,
    /// On the signal, its server finishes its current requests.
    AfterRequests,
}

fn deployment(version: &str, end: End) -> Value {
    // Connections that are established or about to be.
    let has_requests =
        "/bin/busybox cat /proc/net/tcp /proc/net/tcp6 | /bin/busybox grep -q ':1F90 [^ ]* 0[138]'";
    let (on_signal, lifecycle) = match end {
        End::AfterPause => ("exit 0".to_owned(), json!({"preStop": {"sleep": {"seconds": 2}}})),
        End::AfterRequests => {
            (format!("while {has_requests}; do /bin/busybox sleep 0.05; done; exit 0"), json!({}))
        }
    };
    let script = format!(
        "trap \"{on_signal}\" TERM; /bin/busybox mkdir /tmp/www; echo {version} end > /tmp/www/index.html; \
         /bin/busybox httpd -f -p 8080 -h /tmp/www & wait"
    );
    let readiness = json!({"httpGet": {"path": "/index.html", "port": 8080}, "periodSeconds": 1});
    let container = json!({
        "name": "web", "image": IMAGE, "imagePullPolicy": "Never",
        "command": ["/bin/busybox", "sh", "-c", script],
        "readinessProbe": readiness, "lifecycle": lifecycle,
    });
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web", "version": version}},
                "spec": {"containers": [container], "terminationGracePeriodSeconds": 60},
            },
        },
    })
}

/// A user of a cluster.
struct User {
    deployments: Api<Deployment>,
    pods: Api<Pod>,
    services: Api<Service>,
}

impl User {
    fn of(cluster: &Cluster) -> Self {
        let client = kube::Client::new(cluster.service(), "default");
        Self {
            deployments: Api::default_namespaced(client.clone()),
            pods: Api::default_namespaced(client.clone()),
            services: Api::default_namespaced(client),
        }
    }

    /// Creates the Service; returns its address.
    async fn create_service(&self) -> SocketAddr {
        let service = json!({
            "metadata": {"name": "web"},
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
        });
        let service = gantry_json::from_value(service).unwrap();
        let created = self.services.create(&PostParams::default(), &service).await.unwrap();
        let address = created.spec.unwrap().cluster_ip.unwrap();
        SocketAddr::new(address.parse().unwrap(), 80)
    }

    /// Looks up a name in a pod, and expects this address.
    async fn resolves(&self, name: &str, address: &str) {
        let script = format!("/bin/busybox nslookup {name} | /bin/busybox grep -F 'Address: {address}'");
        let pod = json!({
            "metadata": {"name": "resolver"},
            "spec": {"restartPolicy": "OnFailure", "containers": [{
                "name": "resolver", "image": IMAGE, "imagePullPolicy": "Never",
                "command": ["/bin/busybox", "sh", "-c", script],
            }]},
        });
        self.pods.create(&PostParams::default(), &gantry_json::from_value(pod).unwrap()).await.unwrap();
        eventually("the name's address", || async {
            let status = self.pods.get("resolver").await.unwrap().status?;
            (status.phase.as_deref() == Some("Succeeded")).then_some(())
        })
        .await;
        self.pods.delete("resolver", &DeleteParams::default()).await.unwrap();
    }

    async fn apply(&self, version: &str, end: End) {
        let wanted: serde_json::Value = serde_json::from_str(&deployment(version, end).to_string()).unwrap();
        let parameters = PatchParams::apply("test").force();
        self.deployments.patch("web", &parameters, &Patch::Apply(wanted)).await.unwrap();
    }

    /// Returns when this many pods of a version are ready.
    async fn until_ready(&self, version: &str, count: usize) {
        let of_version = ListParams::default().labels(&format!("version={version}"));
        eventually("new pods", || async {
            let pods = self.pods.list(&of_version).await.ok()?.items;
            (pods.iter().filter(|pod| is_ready(pod)).count() >= count).then_some(())
        })
        .await;
    }

    /// Returns when all pods are of this version.
    async fn until_complete(&self, version: &str) {
        self.until_ready(version, REPLICAS.unsigned_abs() as usize).await;
        let others = ListParams::default().labels(&format!("app=web,version!={version}"));
        eventually("the end of old pods", || async {
            self.pods.list(&others).await.ok()?.items.is_empty().then_some(())
        })
        .await;
    }
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.filter(|condition| condition.type_ == "Ready").any(|condition| condition.status == "True")
}

/// Whether this machine has a route to addresses of Services, and nftables.
fn can_route() -> Result<(), &'static str> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    socket.connect((Ipv4Addr::new(10, 231, 90, 1), 9)).map_err(|_| "there is no default route")?;
    let listed = Command::new("nft").args(["list", "tables"]).output();
    let can_list = listed.is_ok_and(|output| output.status.success());
    if can_list { Ok(()) } else { Err("nft cannot be used") }
}

/// Returns a containerd, if rollouts under load can be tested here.
fn containerd(number: u8) -> Option<Containerd> {
    let what = "rolling updates under load";
    if let Err(why) = can_route() {
        eprintln!("skipped: {what}, because {why}");
        return None;
    }
    crate::containerd(number, what)
}

fn agent(containerd: &Containerd) -> AgentOptions {
    AgentOptions {
        node_name: Some("here".to_owned()),
        root: containerd.directory.join("node"),
        logs: containerd.directory.join("logs"),
        record: Some(containerd.directory.join("record")),
        port: Some(0),
        // The disk of the machine that tests are run on may be nearly full.
        eviction_hard: EvictionThresholds::parse("").unwrap(),
        on_stop: OnStop::Keep,
        ..AgentOptions::new(containerd.socket(), Metrics::new())
    }
}

/// Waits until some more requests have succeeded.
async fn some_requests(load: &Load) {
    let wanted = load.succeeded() + REQUESTS;
    eventually("requests", || async { (load.succeeded() >= wanted).then_some(()) }).await;
}

async fn assert_nothing_lost(load: Load) {
    some_requests(&load).await;
    let (succeeded, failures) = load.stop().await;
    assert!(failures.is_empty(), "of {succeeded} requests, {} failed: {failures:#?}", failures.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rolling_updates_under_load_lose_no_request() {
    let Some(containerd) = containerd(1) else { return };
    let options = Options {
        nodes: 0,
        agent: Some(AgentOptions { on_stop: OnStop::Remove, ..agent(&containerd) }),
        services: "10.231.91.0/24".parse().unwrap(),
        ..Options::default()
    };
    let cluster = Cluster::start_with(options).await.unwrap();
    let user = User::of(&cluster);
    let server = user.create_service().await;
    user.apply("one", End::AfterPause).await;
    user.until_complete("one").await;
    user.resolves("web.default.svc.cluster.local", &server.ip().to_string()).await;
    let load = start_load(server, &containerd).await;
    user.apply("two", End::AfterRequests).await;
    user.until_complete("two").await;
    user.apply("three", End::AfterPause).await;
    user.until_complete("three").await;
    assert_nothing_lost(load).await;
    let owner = containerd.node_owner();
    assert_eq!(tables_of(&owner), 1);
    cluster.stop().await;
    assert_eq!(tables_of(&owner), 0, "the table is removed");
}

/// Returns the number of nftables tables of a node.
fn tables_of(owner: &str) -> usize {
    nft(&["list", "tables"]).lines().filter(|line| line.contains(owner)).count()
}

fn nft(arguments: &[&str]) -> String {
    let output = Command::new("nft").args(arguments).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Waits until the node routes connections to an address, and starts to send requests to it.
async fn start_load(server: SocketAddr, containerd: &Containerd) -> Load {
    let table = format!("gantry-proxy-{}", containerd.node_owner());
    eventually("routes to the Service", || async {
        let maps = nft(&["list", "map", "ip", &table, "service-ips"]);
        maps.contains(&server.ip().to_string()).then_some(())
    })
    .await;
    let load = Load::start(server);
    some_requests(&load).await;
    load
}

/// A server without a real node, and an agent that is its client over the network.
struct Parts {
    containerd: Containerd,
    port: u16,
}

impl Parts {
    async fn server(&self) -> Cluster {
        let options = Options {
            // With a simulated node, a scheduler runs. The node gets no pods.
            nodes: 1,
            storage: Storage::Directory(self.containerd.directory.join("data")),
            services: "10.231.92.0/24".parse().unwrap(),
            endpoint: Some(Endpoint {
                address: SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)),
                tls: None,
            }),
            ..Options::default()
        };
        let cluster = Cluster::start_with(options).await.unwrap();
        let nodes: Api<Node> = Api::all(kube::Client::new(cluster.service(), "default"));
        for node in nodes.list(&ListParams::default()).await.unwrap().items {
            let name = node.metadata.name.unwrap();
            if name != "here" {
                let cordon = Patch::Merge(serde_json::json!({"spec": {"unschedulable": true}}));
                nodes.patch(&name, &PatchParams::default(), &cordon).await.unwrap();
            }
        }
        cluster
    }

    fn agent(&self) -> (Switch, JoinHandle<Result<(), String>>) {
        let (switch, shutdown) = gantry_runtime::shutdown();
        let server = format!("http://127.0.0.1:{}", self.port).parse().unwrap();
        let transport = ApiTransport::connect(&ClientConfig::new(server)).unwrap();
        let agent = gantry_node_agent::run(transport, agent(&self.containerd), shutdown);
        (switch, tokio::spawn(agent))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rolling_updates_under_load_lose_no_request_while_the_agent_and_the_server_are_restarted() {
    let Some(containerd) = containerd(2) else { return };
    let free = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let parts = Parts { containerd, port: free.local_addr().unwrap().port() };
    drop(free);
    let server = parts.server().await;
    let (switch, running) = parts.agent();
    let user = User::of(&server);
    let address = user.create_service().await;
    user.apply("one", End::AfterRequests).await;
    user.until_complete("one").await;
    let load = start_load(address, &parts.containerd).await;

    user.apply("two", End::AfterRequests).await;
    user.until_ready("two", 2).await;
    switch.turn();
    running.await.unwrap().unwrap();
    some_requests(&load).await;
    let (switch, running) = parts.agent();
    user.until_ready("two", 5).await;
    // The agent crashes.
    running.abort();
    let _ = running.await;
    drop(switch);
    some_requests(&load).await;
    let (switch, running) = parts.agent();
    user.until_ready("two", 7).await;
    server.stop().await;
    some_requests(&load).await;
    let server = parts.server().await;
    let user = User::of(&server);
    user.until_complete("two").await;

    assert_nothing_lost(load).await;
    switch.turn();
    running.await.unwrap().unwrap();
    server.stop().await;
    let owner = parts.containerd.node_owner();
    assert_eq!(tables_of(&owner), 1, "Services are routed while no agent runs");
    gantry_node_agent::remove_recorded(&parts.containerd.directory.join("record")).await.unwrap();
    assert_eq!(tables_of(&owner), 0, "the table is removed");
}
