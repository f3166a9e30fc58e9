//! A cluster of simulated nodes and a scheduler over an API server in the same process.

use std::time::Duration;

use gantry_json::{Value, json};
use gantry_nodes::Options;
use gantry_nodes::behaviour::Profile;
use gantry_runtime::{Switch, shutdown};
use gantry_test_cluster::TestServer;
use tokio::task::JoinHandle;

pub(crate) struct Cluster {
    pub(crate) server: TestServer,
    running: Option<(Switch, JoinHandle<()>)>,
    pub(crate) nodes: usize,
}

impl Cluster {
    /// Starts a cluster of that many nodes and a scheduler.
    pub(crate) async fn start(nodes: usize) -> Self {
        Self::start_on(TestServer::start().await, nodes)
    }

    pub(crate) fn start_on(server: TestServer, nodes: usize) -> Self {
        let mut cluster = Self { server, running: None, nodes };
        cluster.resume();
        cluster
    }

    pub(crate) fn resume(&mut self) {
        let (switch, signal) = shutdown();
        let mut scheduling = gantry_scheduler::Options::new(self.server.metrics.clone());
        scheduling.clock = self.server.clock.clone();
        let mut options = Options::new(self.nodes, self.server.metrics.clone());
        options.clock = self.server.clock.clone();
        let steps = "default: {pull-seconds: 1, start-seconds: 1, terminate-seconds: 2}";
        options.profile = Profile::read(steps).unwrap();
        let scheduler = gantry_scheduler::run(self.server.transport.clone(), scheduling, signal.clone());
        let nodes = gantry_nodes::run(self.server.transport.clone(), options, signal);
        let both = async move { tokio::join!(scheduler, nodes).1.unwrap() };
        self.running = Some((switch, tokio::spawn(both)));
    }

    pub(crate) async fn stop(&mut self) {
        if let Some((switch, running)) = self.running.take() {
            switch.turn();
            running.await.unwrap();
        }
    }

    pub(crate) async fn pod(&self, name: &str, image: &str, annotations: &Value) {
        let annotations: gantry_json::Map = annotations
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (format!("sim.gantry.dev/{name}"), value.clone()))
            .collect();
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": annotations},
            "spec": {"containers": [{"name": "app", "image": image}]},
        });
        self.server.create("pods", &pod).await;
    }

    pub(crate) async fn version(&self, plural: &str, name: &str) -> String {
        let object = self.server.get(plural, name).await.unwrap();
        object["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn condition(&self, plural: &str, name: &str, condition: &str) -> Value {
        let object = self.server.get(plural, name).await.unwrap();
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.into_iter().find(|known| known["type"] == condition).unwrap_or_default()
    }
}

pub(crate) async fn seconds(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}
