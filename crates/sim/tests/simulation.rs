//! The shipped cluster in virtual time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::time::Duration;

use gantry_json::{Value, json};
use gantry_sim::{ControllerProcesses, SimCluster, SimOptions, simulate};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const WEB: &str = "/apis/apps/v1/namespaces/default/deployments/web";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn deployment(replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}},
    })
}

async fn roll_out(cluster: &SimCluster, replicas: u32) {
    cluster.send("POST", DEPLOYMENTS, deployment(replicas)).await;
    cluster.advance(Duration::from_secs(30)).await;
    let image = json!([{"name": "c", "image": "nginx:2"}]);
    cluster.send("PATCH", WEB, json!({"spec": {"template": {"spec": {"containers": image}}}})).await;
    cluster.advance(Duration::from_secs(60)).await;
}

#[test]
fn a_rollout_of_the_shipped_cluster_completes_in_virtual_time() {
    let options = SimOptions::default();
    let start = options.start;
    simulate(options, async |cluster| {
        roll_out(cluster, 4).await;
        assert!(cluster.now().since(start) >= Duration::from_secs(90));
        let web = cluster.get(WEB).await;
        assert_eq!(
            (&web["status"]["updatedReplicas"], &web["status"]["availableReplicas"]),
            (&json!(4), &json!(4))
        );
        let pods = cluster.get(PODS).await;
        let images =
            pods["items"].as_array().unwrap().iter().map(|pod| &pod["spec"]["containers"][0]["image"]);
        assert_eq!(images.collect::<Vec<_>>(), [&json!("nginx:2"); 4]);
    });
}

#[test]
fn a_killed_replica_of_the_controllers_is_replaced_by_another_when_its_lease_expires() {
    let options = SimOptions { controllers: ControllerProcesses::Separate(2), ..SimOptions::default() };
    simulate(options, async |cluster| {
        cluster.kill_controllers(0).await;
        cluster.advance(Duration::from_secs(100)).await;
        roll_out(cluster, 2).await;
        assert_eq!(cluster.get(WEB).await["status"]["updatedReplicas"], json!(2));
    });
}

/// The traffic of a simulation with two replicas of the controllers, one of which crashes.
fn trace(seed: u64) -> String {
    let controllers = ControllerProcesses::Separate(2);
    simulate(SimOptions { seed, trace: true, controllers, ..SimOptions::default() }, async |cluster| {
        cluster.send("POST", DEPLOYMENTS, deployment(3)).await;
        cluster.advance(Duration::from_millis(700)).await;
        cluster.kill_controllers(0).await;
        cluster.advance(Duration::from_secs(5)).await;
        cluster.start_controllers(0);
        cluster.advance(Duration::from_mins(10)).await;
        cluster.trace()
    })
}

/// The environment variable with the path of the file for the trace of a process.
const TRACE_FILE: &str = "GANTRY_TRACE_FILE";

/// Simulations in one process share what is equal for all of them, such as the store of a cluster that has just
/// started.
#[test]
fn the_same_seed_gives_the_same_traffic_alone_and_among_others() {
    if let Some(file) = std::env::var_os(TRACE_FILE) {
        std::fs::write(file, trace(7)).unwrap();
        return;
    }
    let another = trace(8);
    let beside = std::thread::spawn(|| trace(8));
    let here = trace(7);
    assert_eq!(
        beside.join().unwrap(),
        another,
        "the trace does not depend on an earlier or concurrent simulation"
    );
    assert_ne!(here, another, "another seed gives another trace");
    let file = std::env::temp_dir().join(format!("gantry-trace-{}", std::process::id()));
    let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
    let name = "the_same_seed_gives_the_same_traffic_alone_and_among_others";
    let status = alone.args(["--exact", name, "--quiet"]).env(TRACE_FILE, &file).status().unwrap();
    let there = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(status.success());
    let difference = here.lines().zip(there.lines()).find(|(a, b)| a != b);
    assert_eq!(difference, None, "the first line that differs");
    assert_eq!(here.len(), there.len());
    assert!(here.lines().count() > 500, "{} lines", here.lines().count());
}
