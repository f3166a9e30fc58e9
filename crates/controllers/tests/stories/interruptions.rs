//! Faults of all kinds: afterwards the state is right, there was never a pod too many, and no writes follow.

use std::time::Duration;

use gantry_json::json;
use gantry_rng::Rng;
use tokio::task::JoinHandle;

use crate::cluster::Cluster;
use crate::wire::Fault;

/// The most pods that [`rolls_out_despite`] ever requests: 6, and a quarter of 6 more.
const MOST: usize = 8;

/// Closes all watches periodically, until it is aborted.
fn cut_watches_periodically(cluster: &Cluster, every: Duration) -> JoinHandle<()> {
    let wire = cluster.wire.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(every).await;
            wire.cut_watches();
        }
    })
}

/// Asserts that nothing is written for ten minutes.
pub(crate) async fn assert_quiet(cluster: &Cluster) {
    cluster.settle().await;
    let before = cluster.wire.writes();
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(cluster.wire.written_since(before), [""; 0]);
}

/// Rolls out and scales under injected faults, then stops the faults and checks.
async fn rolls_out_despite(cluster: &Cluster) {
    cluster.deploy("web", 4, |_| {}).await;
    for (image, replicas) in [("nginx:2", 4), ("nginx:3", 6), ("nginx:4", 3)] {
        cluster.set_image("web", image).await;
        cluster.patch_deployment("web", json!({"spec": {"replicas": replicas}})).await;
        for _ in 0..20 {
            tokio::time::sleep(Duration::from_millis(700)).await;
            cluster.make_pods_ready().await;
        }
    }
    cluster.wire.stop_faults();
    for _ in 0..40 {
        tokio::time::sleep(Duration::from_secs(5)).await;
        cluster.make_pods_ready().await;
    }
    let sets = cluster.sets().await;
    let active: Vec<_> = sets.iter().filter(|(_, size)| *size > 0).collect();
    assert_eq!(active, [&("nginx:4".to_owned(), 3)], "{sets:?}");
    assert_eq!(cluster.pods().await.len(), 3);
    assert_eq!(cluster.deployment("web").await["status"]["availableReplicas"], 3);
}

#[tokio::test(start_paused = true)]
async fn an_idle_cluster_makes_no_writes() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 3, |_| {}).await;
    cluster.roll_out().await;
    assert_quiet(&cluster).await;
}

/// R2.5, R2.8: a stale pod cache never leads to one pod too many, or one too few.
#[tokio::test(start_paused = true)]
async fn a_slow_watch_never_creates_a_pod_twice() {
    let mut cluster = Cluster::without_controllers().await;
    cluster.wire.slow_down("/api/v1/pods", Duration::from_secs(3));
    cluster.start();
    tokio::time::sleep(Duration::from_secs(60)).await;
    cluster.deploy("web", 5, |_| {}).await;
    for _ in 0..20 {
        // In each of these syncs the cache does not have the pods yet.
        tokio::time::sleep(Duration::from_millis(500)).await;
        cluster.touch_sets().await;
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(cluster.pods().await.len(), 5);
    assert_eq!(cluster.wire.most_pods(), 5);
    cluster.patch_deployment("web", json!({"spec": {"replicas": 2}})).await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(cluster.pods().await.len(), 2, "no pod too many was deleted");
    let deleted = cluster
        .wire
        .written_since(0)
        .into_iter()
        .filter(|write| write.starts_with("DELETE /api/v1/namespaces/default/pods"));
    assert_eq!(deleted.count(), 3);
}

/// 409, 429 and 500 at random, on every kind of request. No set ever has more pods than its largest size, and the
/// sizes of all sets never exceed N + S.
#[tokio::test(start_paused = true)]
async fn random_refusals_only_delay_a_rollout() {
    for seed in 1..=5 {
        let cluster = Cluster::new().await;
        let mut rng = Rng::new(seed);
        cluster.wire.inject_faults(move |_, _| {
            [409, 429, 500].into_iter().find(|_| rng.one_in(15)).map(Fault::Refused)
        });
        rolls_out_despite(&cluster).await;
        assert_eq!(cluster.wire.too_many(), [""; 0], "seed {seed}");
        assert!(cluster.wire.most_requested() <= MOST, "seed {seed}: {}", cluster.wire.most_requested());
        assert_quiet(&cluster).await;
    }
}

/// Requests without a response time out, and do not block others.
#[tokio::test(start_paused = true)]
async fn requests_without_a_response_only_delay_a_rollout() {
    for seed in 1..=3 {
        let cluster = Cluster::new().await;
        let mut rng = Rng::new(seed);
        cluster.wire.inject_faults(move |_, _| rng.one_in(12).then_some(Fault::NoResponse));
        let cutting = cut_watches_periodically(&cluster, Duration::from_secs(5));
        rolls_out_despite(&cluster).await;
        cutting.abort();
        assert_eq!(cluster.wire.too_many(), [""; 0], "seed {seed}");
        assert!(cluster.wire.most_requested() <= MOST, "seed {seed}: {}", cluster.wire.most_requested());
        assert_quiet(&cluster).await;
    }
}

/// R5.8, D10.1: pods whose deletion is refused stay, and the sizes still never exceed N + S. Once deletions are
/// allowed, they are deleted.
#[tokio::test(start_paused = true)]
async fn refused_deletions_do_not_exceed_max_surge() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 4, |_| {}).await;
    cluster.roll_out().await;
    cluster.wire.inject_faults(|method, path| {
        (method == "DELETE" && path.contains("/pods/")).then_some(Fault::Refused(500))
    });
    cluster.set_image("web", "nginx:2").await;
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cluster.make_pods_ready().await;
    }
    assert_eq!(cluster.wire.most_requested(), 5);
    assert_eq!(cluster.wire.too_many(), [""; 0]);
    assert_eq!(cluster.condition("web", "ReplicaFailure").await, "True FailedDelete");
    let events = cluster.get("/api/v1/namespaces/default/events").await;
    let event = crate::cluster::items(&events).find(|event| event["reason"] == "FailedDelete").unwrap();
    assert_eq!(event["message"], "Error deleting: injected fault 500");
    cluster.wire.stop_faults();
    tokio::time::sleep(Duration::from_secs(90)).await;
    cluster.roll_out().await;
    assert_eq!(cluster.pods().await.len(), 4);
    assert_eq!(cluster.condition("web", "ReplicaFailure").await, "");
    assert_quiet(&cluster).await;
}

/// A lost response to a creation is the one case in which there may temporarily be a pod too many; it is deleted.
#[tokio::test(start_paused = true)]
async fn a_surplus_pod_after_a_lost_response_is_deleted() {
    for seed in 1..=3 {
        let cluster = Cluster::new().await;
        let mut rng = Rng::new(seed);
        cluster.wire.inject_faults(move |method, _| {
            (method != "GET" && rng.one_in(10)).then_some(Fault::ResponseLost)
        });
        rolls_out_despite(&cluster).await;
        assert_quiet(&cluster).await;
    }
}

/// A4.17, A4.20: closed watches are resumed, and nothing is missed or done twice.
#[tokio::test(start_paused = true)]
async fn closed_watches_are_resumed() {
    let cluster = Cluster::new().await;
    let cutting = cut_watches_periodically(&cluster, Duration::from_millis(333));
    rolls_out_despite(&cluster).await;
    cutting.abort();
    assert!(cluster.wire.most_pods() <= MOST, "{} pods", cluster.wire.most_pods());
    assert_eq!(cluster.wire.too_many(), [""; 0]);
    assert_quiet(&cluster).await;
}

/// The server is unreachable for a while, and all watches end; then it is reachable again.
#[tokio::test(start_paused = true)]
async fn controllers_continue_when_the_server_is_reachable_again() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 3, |_| {}).await;
    cluster.roll_out().await;
    cluster.wire.inject_faults(|_, _| Some(Fault::Refused(503)));
    cluster.wire.cut_watches();
    cluster.set_image("web", "nginx:2").await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    cluster.wire.stop_faults();
    tokio::time::sleep(Duration::from_secs(90)).await;
    cluster.roll_out().await;
    assert_eq!(cluster.sets().await, [("nginx:1".to_owned(), 0), ("nginx:2".to_owned(), 3)]);
    assert!(cluster.wire.most_pods() <= 4);
    assert_quiet(&cluster).await;
}

/// R2.8: controllers that are killed between any two writes continue: no pod is created twice.
#[tokio::test(start_paused = true)]
async fn controllers_killed_between_any_two_writes_continue() {
    for writes in 1..=24 {
        let mut cluster = Cluster::new().await;
        let mut remaining = writes;
        // From the n-th write on no request succeeds, which looks to the server as if the controllers had been killed.
        cluster.wire.inject_faults(move |method, _| {
            remaining -= i32::from(method != "GET");
            (method != "GET" && remaining < 0).then_some(Fault::Refused(503))
        });
        cluster.deploy("web", 3, |_| {}).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        cluster.kill().await;
        cluster.wire.stop_faults();
        cluster.start();
        cluster.roll_out().await;
        assert_eq!(cluster.sets().await, [("nginx:1".to_owned(), 3)], "killed after {writes} writes");
        assert_eq!(cluster.wire.most_pods(), 3, "killed after {writes} writes");
        assert_eq!(cluster.deployment("web").await["status"]["availableReplicas"], 3);
        cluster.stop().await;
    }
}

/// D9.4, D10: the same in the middle of a rollout that is scaled at the same time.
#[tokio::test(start_paused = true)]
async fn controllers_killed_during_a_rollout_continue() {
    for writes in 1..=24 {
        let mut cluster = Cluster::new().await;
        cluster.deploy("web", 3, |_| {}).await;
        cluster.roll_out().await;
        let mut remaining = writes;
        cluster.wire.inject_faults(move |method, _| {
            remaining -= i32::from(method != "GET");
            (method != "GET" && remaining < 0).then_some(Fault::Refused(503))
        });
        cluster.set_image("web", "nginx:2").await;
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            cluster.make_pods_ready().await;
        }
        cluster.patch_deployment("web", json!({"spec": {"replicas": 5}})).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        cluster.kill().await;
        cluster.wire.stop_faults();
        cluster.start();
        cluster.roll_out().await;
        let sets = [("nginx:1".to_owned(), 0), ("nginx:2".to_owned(), 5)];
        assert_eq!(cluster.sets().await, sets, "killed after {writes} writes");
        assert!(cluster.wire.most_requested() <= 7, "{} after {writes}", cluster.wire.most_requested());
        assert_eq!(cluster.wire.too_many(), [""; 0], "killed after {writes} writes");
        assert_eq!(cluster.deployment("web").await["status"]["availableReplicas"], 5);
        cluster.stop().await;
    }
}
