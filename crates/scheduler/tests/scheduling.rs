//! Stories of the scheduler over an API server in the same process, on tokio's paused clock.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::time::Duration;

use gantry_json::{Value, json};
use gantry_runtime::{Switch, shutdown};
use gantry_scheduler::Options;
use gantry_test_cluster::TestServer;
use tokio::task::JoinHandle;

struct Cluster {
    server: TestServer,
    scheduler: Option<(Switch, JoinHandle<()>)>,
}

impl Cluster {
    async fn start() -> Self {
        let mut cluster = Self { server: TestServer::start().await, scheduler: None };
        cluster.start_scheduler();
        cluster
    }

    fn start_scheduler(&mut self) {
        let (switch, signal) = shutdown();
        let mut options = Options::new(self.server.metrics.clone());
        options.clock = self.server.clock.clone();
        let running = gantry_scheduler::run(self.server.transport.clone(), options, signal);
        self.scheduler = Some((switch, tokio::spawn(running)));
    }

    async fn stop_scheduler(&mut self) {
        if let Some((switch, running)) = self.scheduler.take() {
            switch.turn();
            running.await.unwrap();
        }
    }

    /// Adds a ready node with so many cores.
    async fn node(&self, name: &str, cpu: &str) {
        let status = json!({
            "capacity": {"cpu": cpu, "memory": "8Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        });
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status});
        self.server.create("nodes", &node).await;
        self.server.patch("nodes", name, None, &json!({"spec": {"taints": null}})).await;
    }

    async fn pod(&self, name: &str, cpu: &str) {
        let requests = json!({"cpu": cpu});
        let containers = json!([{"name": "app", "image": "nginx:1", "resources": {"requests": requests}}]);
        self.server.create("pods", &pod(name, &json!({"containers": containers}))).await;
    }

    async fn node_of(&self, name: &str) -> Option<String> {
        let pod = self.server.get("pods", name).await.unwrap();
        pod["spec"]["nodeName"].as_str().map(str::to_owned)
    }

    async fn condition(&self, name: &str) -> Value {
        let pod = self.server.get("pods", name).await.unwrap();
        let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.into_iter().find(|condition| condition["type"] == "PodScheduled").unwrap_or_default()
    }
}

fn pod(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
}

async fn seconds(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// A8.1: a binding names the pod by uid, and sets the `PodScheduled` condition.
#[tokio::test(start_paused = true)]
async fn a_pod_is_bound_and_its_condition_set() {
    let mut cluster = Cluster::start().await;
    cluster.node("a", "4").await;
    cluster.pod("web", "1").await;
    seconds(1).await;
    assert_eq!(cluster.node_of("web").await.as_deref(), Some("a"));
    assert_eq!(cluster.condition("web").await["status"], "True");
    assert_eq!(cluster.server.events("web").await, ["Scheduled Successfully assigned default/web to a"]);
    cluster.stop_scheduler().await;
}

/// A8.3: the condition of an unschedulable pod has the reason, and the pod is bound once a node fits.
#[tokio::test(start_paused = true)]
async fn an_unschedulable_pod_has_a_condition_and_waits() {
    let mut cluster = Cluster::start().await;
    cluster.pod("web", "2").await;
    seconds(1).await;
    assert_eq!(cluster.condition("web").await["message"], "no nodes available to schedule pods");
    cluster.node("small", "1").await;
    seconds(15).await;
    let message = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: \
                1 Preemption is not helpful for scheduling.";
    let condition = cluster.condition("web").await;
    assert_eq!((&condition["reason"], &condition["message"]), (&json!("Unschedulable"), &json!(message)));
    assert_eq!(
        condition["lastTransitionTime"], "2026-01-01T12:00:00Z",
        "the transition time is that of the first failure"
    );
    let events = cluster.server.events("web").await;
    assert!(events.contains(&format!("FailedScheduling {message}")), "{events:?}");
    let version = cluster.server.get("pods", "web").await.unwrap()["metadata"]["resourceVersion"].clone();
    seconds(3600).await;
    let later = cluster.server.get("pods", "web").await.unwrap()["metadata"]["resourceVersion"].clone();
    assert_eq!(version, later, "nothing changes, so nothing is written");
    cluster.node("large", "4").await;
    seconds(11).await;
    assert_eq!(cluster.node_of("web").await.as_deref(), Some("large"));
    cluster.stop_scheduler().await;
}

#[tokio::test(start_paused = true)]
async fn resources_that_become_free_are_used() {
    let mut cluster = Cluster::start().await;
    cluster.node("a", "4").await;
    cluster.pod("first", "3").await;
    seconds(1).await;
    cluster.pod("second", "3").await;
    seconds(1).await;
    assert_eq!(cluster.node_of("second").await, None);
    let over = json!({"status": {"phase": "Succeeded"}});
    cluster.server.patch("pods", "first", Some("status"), &over).await;
    seconds(11).await;
    assert_eq!(cluster.node_of("second").await.as_deref(), Some("a"));
    cluster.stop_scheduler().await;
}

/// The pods of a burst are counted before an informer shows their nodes.
#[tokio::test(start_paused = true)]
async fn a_burst_fills_the_nodes_without_overcommitting_one() {
    let mut cluster = Cluster::start().await;
    for name in ["a", "b", "c"] {
        cluster.node(name, "4").await;
    }
    for n in 0..60 {
        cluster.pod(&format!("web-{n}"), "250m").await;
    }
    seconds(5).await;
    let pods = cluster.server.list("pods").await;
    for node in ["a", "b", "c"] {
        let here = pods.iter().filter(|pod| pod["spec"]["nodeName"] == node).count();
        assert_eq!(here, 16, "{node}");
    }
    assert_eq!(pods.iter().filter(|pod| pod["spec"]["nodeName"].is_null()).count(), 12);
    cluster.stop_scheduler().await;
}

/// A§2.6: gated pods and pods of other schedulers are left alone.
#[tokio::test(start_paused = true)]
async fn gated_pods_and_pods_of_other_schedulers_are_left_alone() {
    let mut cluster = Cluster::start().await;
    cluster.node("a", "4").await;
    let containers = json!([{"name": "app", "image": "nginx:1"}]);
    let gated = json!({"containers": containers, "schedulingGates": [{"name": "wait"}]});
    cluster.server.create("pods", &pod("gated", &gated)).await;
    let theirs = json!({"containers": containers, "schedulerName": "other"});
    cluster.server.create("pods", &pod("theirs", &theirs)).await;
    seconds(60).await;
    assert_eq!((cluster.node_of("gated").await, cluster.node_of("theirs").await), (None, None));
    cluster
        .server
        .patch(
            "pods",
            "gated",
            None,
            &json!({"spec": {"schedulingGates": [{"$patch": "delete", "name": "wait"}]}}),
        )
        .await;
    seconds(1).await;
    assert_eq!(cluster.node_of("gated").await.as_deref(), Some("a"));
    cluster.stop_scheduler().await;
}

/// A pod waits for its claim, and is bound when the claim exists and is bound.
#[tokio::test(start_paused = true)]
async fn a_pod_waits_for_its_claim_and_for_the_volume() {
    let mut cluster = Cluster::start().await;
    cluster.node("a", "4").await;
    let spec = json!({
        "containers": [{"name": "app", "image": "nginx:1"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
    });
    cluster.server.create("pods", &pod("web", &spec)).await;
    seconds(1).await;
    let message = cluster.condition("web").await["message"].clone();
    assert_eq!(message, "0/1 nodes are available: persistentvolumeclaim \"data\" not found. not found");
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "", "volumeName": "disk",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    });
    cluster.server.create("persistentvolumeclaims", &claim).await;
    seconds(11).await;
    let message = cluster.condition("web").await["message"].clone();
    assert_eq!(
        message,
        "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
    );
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/disk"},
        },
    });
    cluster.server.create("persistentvolumes", &volume).await;
    let bound = json!({"status": {"phase": "Bound"}});
    cluster.server.patch("persistentvolumeclaims", "data", Some("status"), &bound).await;
    seconds(11).await;
    assert_eq!(cluster.node_of("web").await.as_deref(), Some("a"));
    cluster.stop_scheduler().await;
}

#[tokio::test(start_paused = true)]
async fn a_restarted_scheduler_continues() {
    let mut cluster = Cluster::start().await;
    cluster.node("a", "4").await;
    cluster.pod("first", "3").await;
    seconds(1).await;
    cluster.stop_scheduler().await;
    cluster.pod("second", "3").await;
    cluster.pod("third", "1").await;
    cluster.start_scheduler();
    seconds(2).await;
    assert_eq!(cluster.node_of("second").await, None, "the first pod uses the resources");
    assert_eq!(cluster.node_of("third").await.as_deref(), Some("a"));
    cluster.server.delete("nodes", "a").await;
    cluster.pod("fourth", "1").await;
    seconds(2).await;
    assert_eq!(cluster.condition("fourth").await["message"], "no nodes available to schedule pods");
    cluster.stop_scheduler().await;
}
