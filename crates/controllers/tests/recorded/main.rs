//! Plays the scenarios recorded on Kubernetes 1.37 with the controllers over the API server, and compares the
//! snapshots step by step.
//!
//! The scenarios are those that the simulator plays with the rules alone. Here everything is real but the time:
//! server and controllers are in this process, on a stopped clock, and the test uses only the API.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]

mod player;
mod refusals;
mod snapshotter;

use std::sync::Mutex;
use std::thread;

use gantry_controllers::{Options, run};
use gantry_json::Value;
use gantry_runtime::{Switch, shutdown};
use gantry_sim::story::Command;
use gantry_test_cluster::{TestNamespace, TestServer};
use gantry_testkit::recorded::{self, Scenario};

use snapshotter::Snapshotter;

/// The recorded parts of a step.
const PARTS: [&str; 6] = ["deployments", "sets", "pods", "events", "left", "error"];

struct Cluster {
    stage: TestNamespace,
    /// The controllers run as long as this is held.
    _running: Switch,
}

impl Cluster {
    async fn new() -> Self {
        let server = TestServer::start().await;
        let (switch, signal) = shutdown();
        let options = Options {
            root_ca: Some("PEM".to_owned()),
            clock: server.clock.clone(),
            metrics: server.metrics.clone(),
            ..Options::default()
        };
        tokio::spawn(run(server.client.clone(), options, signal));
        let stage = TestNamespace::new(server.client, "played", server.clock).await;
        Self { stage, _running: switch }
    }
}

/// D20: every recorded scenario, each in a cluster of its own.
#[test]
fn the_controllers_do_what_kubernetes_did() {
    let all = recorded::scenarios();
    assert_eq!(all.len(), 49);
    let (next, differences) = (Mutex::new(all.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(scenario) = next.lock().unwrap().next() else { return };
                    let snapshots = on_a_stopped_clock(snapshots(scenario));
                    if let Some(one) = recorded::difference(&scenario.snapshots, &snapshots, &PARTS) {
                        differences.lock().unwrap().push(format!("{}: {one}", scenario.name));
                    }
                }
            });
        }
    });
    let differences = differences.into_inner().unwrap();
    assert!(differences.is_empty(), "{} of them:\n{}", differences.len(), differences.join("\n"));
}

/// D20: invalid requests, and their error messages.
#[tokio::test(start_paused = true)]
async fn the_api_refuses_what_kubernetes_refused() {
    let mut cluster = Cluster::new().await;
    let snapshots = refusals::snapshots(&mut cluster.stage).await;
    assert_eq!(recorded::difference(&recorded::snapshots("invalid_objects"), &snapshots, &PARTS), None);
}

fn on_a_stopped_clock<T>(played: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(played)
}

async fn snapshots(scenario: &Scenario) -> Vec<Value> {
    let Cluster { mut stage, _running } = Cluster::new().await;
    let (mut snapshotter, mut snapshots) = (Snapshotter::default(), Vec::new());
    for step in &scenario.steps {
        match Command::parse(&step.command).unwrap() {
            Command::Drain => {
                while stage.ready_one().await {
                    snapshots.push(snapshotter.snapshot(&mut stage).await);
                }
            }
            command => {
                player::act(&mut stage, &command).await;
                if step.has_snapshot {
                    stage.settle().await;
                    snapshots.push(snapshotter.snapshot(&mut stage).await);
                }
            }
        }
    }
    snapshots
}
