//! The system clock is changed, forwards and backwards, by seconds and by hours, during rollouts.
//!
//! Delays follow the monotonic clock; only times in objects are compared with the system clock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use gantry_json::{Value, json};
use gantry_runtime::{Timing, WriteFence};
use tokio::time::Instant;

use crate::cluster::{Cluster, holder, start_candidate};
use crate::interruptions::assert_quiet;

const HOUR: i64 = 3600;

fn seconds(count: u64) -> tokio::time::Sleep {
    tokio::time::sleep(Duration::from_secs(count))
}

/// A Deployment whose pods must be ready for 10 s, with a progress deadline of a minute.
fn careful(web: &mut Value) {
    web["spec"]["minReadySeconds"] = json!(10);
    web["spec"]["progressDeadlineSeconds"] = json!(60);
}

/// The last update time of the Progressing condition.
async fn last_update(cluster: &Cluster) -> String {
    let web = cluster.deployment("web").await;
    let conditions = web["status"]["conditions"].as_array().unwrap();
    let progressing = conditions.iter().find(|condition| condition["type"] == "Progressing").unwrap();
    progressing["lastUpdateTime"].as_str().unwrap().to_owned()
}

/// The number of syncs so far.
fn syncs(cluster: &Cluster) -> u64 {
    let text = gantry_runtime::render(&cluster.metrics.snapshot());
    let adds = text.lines().filter(|line| line.starts_with("workqueue_adds_total"));
    adds.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

/// R3.3, D16: rollouts complete, no set ever has a pod too many, and no writes follow.
#[tokio::test(start_paused = true)]
async fn rollouts_survive_clock_steps() {
    for by in [30, -30, 5 * HOUR, -5 * HOUR] {
        let cluster = Cluster::new().await;
        cluster.deploy("web", 4, careful).await;
        for (image, replicas) in [("nginx:2", 4), ("nginx:3", 6), ("nginx:4", 3)] {
            cluster.set_image("web", image).await;
            cluster.patch_deployment("web", json!({"spec": {"replicas": replicas}})).await;
            for round in 0..20 {
                seconds(2).await;
                cluster.make_pods_ready().await;
                // The clock is set once during every rollout, and set back during the next.
                if round == 10 {
                    cluster.set_clock_by(if image == "nginx:3" { -by } else { by });
                }
            }
        }
        cluster.set_clock_by(-by);
        for _ in 0..40 {
            seconds(5).await;
            cluster.make_pods_ready().await;
        }
        let sets = cluster.sets().await;
        let active: Vec<_> = sets.iter().filter(|(_, size)| *size > 0).collect();
        assert_eq!(active, [&("nginx:4".to_owned(), 3)], "set by {by} s: {sets:?}");
        assert_eq!(cluster.deployment("web").await["status"]["availableReplicas"], 3, "set by {by} s");
        assert_eq!(cluster.condition("web", "Progressing").await, "True NewReplicaSetAvailable");
        assert_eq!(cluster.wire.too_many(), [""; 0], "set by {by} s");
        assert_quiet(&cluster).await;
    }
}

/// R3.3: a pod with a readiness time in the future is available soon after the clock is corrected, not hours later.
#[tokio::test(start_paused = true)]
async fn pods_are_available_soon_after_the_clock_is_corrected() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 1, careful).await;
    cluster.settle().await;
    cluster.make_pods_ready().await;
    cluster.set_clock_by(-5 * HOUR);
    seconds(15).await;
    assert_eq!(
        cluster.deployment("web").await["status"]["availableReplicas"],
        json!(null),
        "available only by the corrected clock"
    );
    cluster.set_clock_by(5 * HOUR);
    seconds(12).await;
    assert_eq!(cluster.deployment("web").await["status"]["availableReplicas"], 1);
}

/// D16.3, D16.5: however far the clock was set back, a stuck rollout is reported within one more deadline.
#[tokio::test(start_paused = true)]
async fn a_clock_step_back_does_not_delay_the_deadline_by_hours() {
    for back in [10, 5 * HOUR] {
        let cluster = Cluster::new().await;
        cluster.deploy("web", 1, careful).await;
        seconds(30).await;
        cluster.set_clock_by(-back);
        seconds(20).await;
        assert!(
            cluster.condition("web", "Progressing").await.starts_with("True "),
            "the deadline has not passed"
        );
        let before = (syncs(&cluster), cluster.wire.writes());
        seconds(80).await;
        assert_eq!(cluster.condition("web", "Progressing").await, "False ProgressDeadlineExceeded", "{back}");
        let (syncs, writes) = (syncs(&cluster) - before.0, cluster.wire.writes() - before.1);
        assert!(syncs < 250 && writes < 5, "{syncs} syncs, {writes} writes after {back} s");
        assert_quiet(&cluster).await;
    }
}

/// D16.5: a clock that is set forward delays nothing either, and times follow the new clock.
#[tokio::test(start_paused = true)]
async fn a_deadline_is_reported_in_time_when_the_clock_is_set_forward() {
    let cluster = Cluster::new().await;
    cluster.deploy("web", 1, careful).await;
    seconds(30).await;
    cluster.set_clock_by(5 * HOUR);
    seconds(33).await;
    assert_eq!(cluster.condition("web", "Progressing").await, "False ProgressDeadlineExceeded");
    let updated = last_update(&cluster).await;
    assert!(updated.starts_with("2026-01-01T17:0"), "reported at {updated}");
    cluster.make_pods_ready().await;
    seconds(12).await;
    assert_eq!(cluster.condition("web", "Progressing").await, "True NewReplicaSetAvailable");
    assert_quiet(&cluster).await;
}

/// R2.2: skipped hours do not count as waiting: a set whose cache has not shown its deletions still does not act.
#[tokio::test(start_paused = true)]
async fn skipped_hours_do_not_end_expectations() {
    let mut cluster = Cluster::without_controllers().await;
    cluster.wire.slow_down("/api/v1/pods", Duration::from_secs(3));
    cluster.start();
    seconds(60).await;
    cluster.deploy("web", 5, |_| {}).await;
    seconds(60).await;
    cluster.patch_deployment("web", json!({"spec": {"replicas": 2}})).await;
    for hours in 1..=8 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        cluster.set_clock_by(hours * HOUR);
        // In each of these syncs the cache still has all pods of the set.
        cluster.touch_sets().await;
    }
    seconds(120).await;
    let written = cluster.wire.written_since(0);
    let deleted = written.iter().filter(|write| write.starts_with("DELETE /api/v1/namespaces/default/pods"));
    assert_eq!(deleted.count(), 3, "each surplus pod is deleted once");
    assert_eq!(cluster.pods().await.len(), 2);
}

/// The holder keeps its lease, however the clock is set; a holder that ended is replaced in time.
#[tokio::test(start_paused = true)]
async fn a_clock_step_does_not_lose_the_lease() {
    let cluster = Cluster::without_controllers().await;
    let start = |identity| start_candidate(&cluster, identity);
    let (first, first_runs) = start("first");
    seconds(1).await;
    let (second, second_runs) = start("second");
    for by in [20, -20, 5 * HOUR, -5 * HOUR, -5 * HOUR, 5 * HOUR] {
        cluster.set_clock_by(by);
        seconds(17).await;
        assert_eq!(holder(&cluster).await, "first", "after {by} s");
    }
    cluster.set_clock_by(-5 * HOUR);
    first_runs.abort();
    drop(first);
    seconds(12).await;
    assert_eq!(holder(&cluster).await, "first", "the lease has not expired");
    seconds(8).await;
    assert_eq!(holder(&cluster).await, "second");
    cluster.deploy("web", 2, |_| {}).await;
    seconds(5).await;
    assert_eq!(cluster.pods().await.len(), 2, "the new holder creates the pods");
    second.turn();
    second_runs.await.unwrap().unwrap();
}

/// A leader that is stopped for any time and resumed writes nothing before it has renewed its lease, however the system
/// clock is set meanwhile.
#[tokio::test(start_paused = true)]
async fn a_leader_that_was_stopped_writes_nothing_without_its_lease() {
    let lease = Timing::default().lease;
    for stop in [1, 9, 10, 11, 14, 15, 16, 30, 600, 86_400].map(Duration::from_secs) {
        for by in [0, 5 * HOUR, -5 * HOUR] {
            let cluster = Cluster::without_controllers().await;
            let late = Arc::new(Mutex::new(Vec::new()));
            let mut renewed = None;
            cluster.wire.inject_faults({
                let late = Arc::clone(&late);
                move |method, path| {
                    if path.contains("/leases") {
                        renewed = if method == "GET" { renewed } else { Some(Instant::now()) };
                    } else if method != "GET" && renewed.is_none_or(|renewed| renewed.elapsed() >= lease) {
                        late.lock().unwrap().push(format!("{method} {path}"));
                    }
                    None
                }
            });
            let started = Instant::now();
            cluster.wire.put_behind(WriteFence::new(move || started.elapsed()));
            let (switch, running) = start_candidate(&cluster, "one");
            cluster.deploy("web", 3, |_| {}).await;
            seconds(5).await;
            cluster.make_pods_ready().await;
            seconds(5).await;
            // When it is resumed, some work has begun, and some has not.
            cluster.set_image("web", "nginx:2").await;
            cluster.deploy("late", 3, |_| {}).await;
            tokio::task::yield_now().await;
            tokio::time::advance(stop).await;
            cluster.set_clock_by(by);
            for _ in 0..20 {
                seconds(5).await;
                cluster.make_pods_ready().await;
            }
            assert_eq!(*late.lock().unwrap(), [""; 0], "stopped for {stop:?}, clock set by {by} s");
            assert_eq!(cluster.deployment("web").await["status"]["updatedReplicas"], 3);
            assert_eq!(cluster.deployment("late").await["status"]["availableReplicas"], 3);
            switch.turn();
            running.await.unwrap().unwrap();
        }
    }
}
