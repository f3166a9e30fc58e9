//! Stories of simulated nodes and the scheduler over an API server in the same process, on tokio's paused clock.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod cluster;
mod dependencies;
mod faulty;
mod reporting;

use cluster::{Cluster, seconds};
use faulty::{Faults, Faulty};
use gantry_json::json;
use gantry_nodes::Options;
use gantry_runtime::{ApiTransport, shutdown};
use gantry_test_cluster::TestServer;

/// A8.5, A§2.6: nodes register, lose the taint of new nodes, renew their leases and report their conditions.
#[tokio::test(start_paused = true)]
async fn nodes_register_and_send_heartbeats() {
    let mut cluster = Cluster::start(3).await;
    seconds(1).await;
    let node = cluster.server.get("nodes", "node-2").await.unwrap();
    assert_eq!(node["spec"].get("taints"), None);
    assert_eq!(node["metadata"]["labels"]["kubernetes.io/hostname"], "node-2");
    assert_eq!(node["spec"]["podCIDR"], "10.128.16.0/20");
    assert_eq!(node["status"]["addresses"][0], json!({"type": "InternalIP", "address": "172.18.0.3"}));
    assert_eq!(cluster.condition("nodes", "node-2", "Ready").await["status"], "True");
    seconds(60).await;
    let lease = cluster.server.get("leases", "node-3").await.unwrap();
    assert_eq!(lease["spec"]["leaseDurationSeconds"], 40);
    let renewed = lease["spec"]["renewTime"].as_str().unwrap().to_owned();
    let (node, lease) = (cluster.version("nodes", "node-3").await, cluster.version("leases", "node-3").await);
    seconds(10).await;
    assert_eq!(cluster.version("nodes", "node-3").await, node, "a healthy node writes only its lease");
    assert_ne!(cluster.version("leases", "node-3").await, lease);
    let again = cluster.server.get("leases", "node-3").await.unwrap()["spec"]["renewTime"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(again > renewed);
    let before = cluster.condition("nodes", "node-3", "Ready").await;
    seconds(300).await;
    let after = cluster.condition("nodes", "node-3", "Ready").await;
    assert_ne!(before["lastHeartbeatTime"], after["lastHeartbeatTime"]);
    assert_eq!(before["lastTransitionTime"], after["lastTransitionTime"]);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pod_becomes_ready_and_is_not_written_again() {
    let mut cluster = Cluster::start(1).await;
    seconds(1).await;
    cluster.pod("web", "nginx:1", &json!({})).await;
    seconds(5).await;
    let pod = cluster.server.get("pods", "web").await.unwrap();
    let status = &pod["status"];
    assert_eq!(
        (&status["phase"], &status["hostIP"], &status["podIP"]),
        (&json!("Running"), &json!("172.18.0.2"), &json!("10.128.0.2"))
    );
    assert_eq!(status["podIPs"], json!([{"ip": "10.128.0.2"}]));
    assert_eq!(status["containerStatuses"][0]["ready"], true);
    assert_eq!(status["qosClass"], "BestEffort");
    let ready = cluster.condition("pods", "web", "Ready").await;
    assert_eq!(ready["status"], "True");
    assert_eq!((ready.get("reason"), ready.get("message")), (None, None), "earlier reasons are removed");
    assert_eq!(
        cluster.server.events("web").await,
        [
            "Scheduled Successfully assigned default/web to node-1",
            "Pulling Pulling image \"nginx:1\"",
            "Pulled Successfully pulled image \"nginx:1\" in 1s (1s including waiting). Image size: 55606757 bytes.",
            "Created Container created",
            "Started Container started",
        ]
    );
    let version = cluster.version("pods", "web").await;
    seconds(3600).await;
    assert_eq!(cluster.version("pods", "web").await, version);
    cluster.stop().await;
}

/// A8.6, A§8.3: a deleted pod gets its grace period, and then its node removes it.
#[tokio::test(start_paused = true)]
async fn a_deleted_pod_is_stopped_and_removed() {
    let mut cluster = Cluster::start(1).await;
    cluster.pod("web", "nginx:1", &json!({})).await;
    cluster.pod("slow", "nginx:1", &json!({"terminate-seconds": "60"})).await;
    cluster.pod("stuck", "nginx:broken", &json!({})).await;
    seconds(5).await;
    for name in ["web", "slow", "stuck"] {
        cluster.server.delete("pods", name).await;
    }
    seconds(1).await;
    assert!(cluster.server.get("pods", "web").await.is_some());
    assert!(cluster.server.get("pods", "stuck").await.is_none(), "no container had started");
    seconds(2).await;
    assert!(cluster.server.get("pods", "web").await.is_none());
    assert!(cluster.server.events("web").await.contains(&"Killing Stopping container app".to_owned()));
    seconds(25).await;
    assert!(cluster.server.get("pods", "slow").await.is_some());
    seconds(5).await;
    assert!(cluster.server.get("pods", "slow").await.is_none(), "the grace period is over");
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stopped_pod_with_a_finalizer_is_kept() {
    let mut cluster = Cluster::start(1).await;
    cluster.pod("web", "nginx:1", &json!({})).await;
    cluster.server.patch("pods", "web", None, &json!({"metadata": {"finalizers": ["shop.io/wait"]}})).await;
    seconds(5).await;
    cluster.server.delete("pods", "web").await;
    seconds(60).await;
    let pod = cluster.server.get("pods", "web").await.unwrap();
    assert_eq!(
        (&pod["status"]["phase"], &pod["metadata"]["deletionGracePeriodSeconds"]),
        (&json!("Succeeded"), &json!(0))
    );
    let version = cluster.version("pods", "web").await;
    seconds(600).await;
    assert_eq!(cluster.version("pods", "web").await, version, "it is not deleted repeatedly");
    let none = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["shop.io/wait"]}});
    cluster.server.patch("pods", "web", None, &none).await;
    assert!(cluster.server.get("pods", "web").await.is_none());
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_another_client_set_to_failed_stays_failed() {
    let mut cluster = Cluster::start(1).await;
    cluster.pod("web", "nginx:1", &json!({"flap-seconds": "10"})).await;
    seconds(5).await;
    let evicted = json!({"status": {"phase": "Failed", "reason": "Evicted"}});
    cluster.server.patch("pods", "web", Some("status"), &evicted).await;
    seconds(60).await;
    let pod = cluster.server.get("pods", "web").await.unwrap();
    assert_eq!((&pod["status"]["phase"], &pod["status"]["reason"]), (&json!("Failed"), &json!("Evicted")));
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_failing_pull_is_reported() {
    let mut cluster = Cluster::start(1).await;
    cluster.pod("web", "nginx:404", &json!({})).await;
    seconds(5).await;
    let pod = cluster.server.get("pods", "web").await.unwrap();
    let waiting = &pod["status"]["containerStatuses"][0]["state"]["waiting"];
    assert_eq!(
        (&pod["status"]["phase"], &waiting["reason"]),
        (&json!("Pending"), &json!("ImagePullBackOff"))
    );
    let events = cluster.server.events("web").await;
    for event in [
        "BackOff Back-off pulling image \"nginx:404\"",
        "Failed Error: ErrImagePull",
        "Failed Error: ImagePullBackOff",
    ] {
        assert!(events.contains(&event.to_owned()), "{events:?}");
    }
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_all_pods_continue() {
    let mut cluster = Cluster::start(2).await;
    cluster.pod("web", "nginx:1", &json!({})).await;
    cluster.pod("crash", "nginx:1", &json!({"crash-after": "100", "exit-code": "3"})).await;
    seconds(10).await;
    cluster.pod("leaving", "nginx:1", &json!({})).await;
    seconds(5).await;
    cluster.stop().await;
    cluster.server.delete("pods", "leaving").await;
    let (web, node) =
        (cluster.version("pods", "web").await, cluster.server.get("nodes", "node-1").await.unwrap());
    seconds(20).await;
    cluster.resume();
    seconds(5).await;
    assert_eq!(cluster.version("pods", "web").await, web, "the pod is unchanged");
    assert!(cluster.server.get("pods", "leaving").await.is_none());
    assert_eq!(
        cluster.server.get("nodes", "node-1").await.unwrap()["metadata"]["uid"],
        node["metadata"]["uid"]
    );
    cluster.pod("new", "nginx:1", &json!({})).await;
    seconds(100).await;
    let crash = cluster.server.get("pods", "crash").await.unwrap();
    let status = &crash["status"]["containerStatuses"][0];
    assert_eq!(
        (&status["restartCount"], &status["lastState"]["terminated"]["exitCode"]),
        (&json!(1), &json!(3))
    );
    let mut addresses: Vec<_> = cluster
        .server
        .list("pods")
        .await
        .iter()
        .map(|pod| pod["status"]["podIP"].as_str().unwrap().to_owned())
        .collect();
    addresses.sort();
    addresses.dedup();
    assert_eq!(addresses.len(), 3, "addresses are distinct");
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_node_is_not_registered_again_before_the_next_start() {
    let mut cluster = Cluster::start(2).await;
    seconds(15).await;
    cluster.server.delete("nodes", "node-1").await;
    seconds(60).await;
    assert!(cluster.server.get("nodes", "node-1").await.is_none());
    cluster.pod("web", "nginx:1", &json!({})).await;
    seconds(5).await;
    assert_eq!(cluster.server.get("pods", "web").await.unwrap()["spec"]["nodeName"], "node-2");
    cluster.stop().await;
    cluster.resume();
    seconds(15).await;
    assert_eq!(cluster.condition("nodes", "node-1", "Ready").await["status"], "True");
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn nodes_beyond_the_configured_number_are_deleted() {
    let mut cluster = Cluster::start(3).await;
    let foreign = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-9"}});
    cluster.server.create("nodes", &foreign).await;
    seconds(5).await;
    cluster.stop().await;
    cluster.nodes = 1;
    cluster.resume();
    seconds(5).await;
    let nodes = cluster.server.list("nodes").await;
    let names: Vec<_> = nodes.iter().map(|node| node["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["node-1", "node-9"], "nodes of other simulations are kept");
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn many_pods_on_many_nodes_all_become_ready() {
    let mut cluster = Cluster::start(10).await;
    // Pods that are created before the last node registers would be on the first ones.
    seconds(1).await;
    for n in 0..200 {
        cluster.pod(&format!("web-{n}"), "nginx:1", &json!({})).await;
    }
    seconds(10).await;
    let pods = cluster.server.list("pods").await;
    let running = pods.iter().filter(|pod| pod["status"]["phase"] == "Running").count();
    assert_eq!(running, 200);
    for n in 1..=10 {
        let here = pods.iter().filter(|pod| pod["spec"]["nodeName"] == format!("node-{n}")).count();
        assert_eq!(here, 20, "node-{n}");
    }
    cluster.stop().await;
}

/// Despite failing requests, each pod starts once, is removed when deleted, and then nothing is written any more.
#[tokio::test(start_paused = true)]
async fn failing_requests_do_not_change_the_final_state() {
    let faults = Faults::default();
    faults.set(4);
    let connect = |service| ApiTransport::in_process(Faulty::new(service, faults.clone()));
    let mut cluster = Cluster::start_on(TestServer::start_with(connect).await, 3);
    for n in 0..30 {
        cluster.pod(&format!("web-{n}"), "nginx:1", &json!({})).await;
    }
    seconds(120).await;
    let pods = cluster.server.list("pods").await;
    for pod in &pods {
        let web = &pod["status"]["containerStatuses"][0];
        assert_eq!((&web["ready"], &web["restartCount"]), (&json!(true), &json!(0)), "{pod}");
    }
    cluster.stop().await;
    cluster.resume();
    for pod in &pods[..20] {
        cluster.server.delete("pods", pod["metadata"]["name"].as_str().unwrap()).await;
    }
    seconds(120).await;
    assert_eq!(cluster.server.list("pods").await.len(), 10);
    faults.set(0);
    seconds(60).await;
    let (pods, events) = (cluster.server.list("pods").await, cluster.server.list("events").await);
    seconds(60).await;
    assert_eq!(cluster.server.list("pods").await, pods, "a settled cluster writes nothing");
    assert_eq!(cluster.server.list("events").await.len(), events.len());
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn invalid_options_are_rejected_with_an_explanation() {
    let server = TestServer::start().await;
    let refused = async |change: fn(&mut Options)| {
        let mut options = Options::new(1, server.metrics.clone());
        change(&mut options);
        gantry_nodes::run(server.transport.clone(), options, shutdown().1).await.unwrap_err().to_string()
    };
    assert_eq!(
        refused(|options| options.nodes = 7000).await,
        "7000 nodes are too many; there are addresses for the pods of 6144"
    );
    let pods = refused(|options| options.capacity.pods = 5000).await;
    assert_eq!(pods, "5000 pods on a node are too many; there are addresses for 4093");
    let cpu = refused(|options| options.capacity.cpu = "many".to_owned()).await;
    assert_eq!(cpu, "\"many\" is not a valid quantity of cpu; use for example 4, 500m or 16Gi");
}
