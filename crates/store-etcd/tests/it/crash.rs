//! Recorded histories while etcd is killed and started again, judged by the checker.

use std::sync::Arc;
use std::time::Duration;

use gantry_store::checker::{HistoryRecorder, Load, Recorded};
use gantry_store::suite::{Rng, is_long_run, seeds};
use gantry_store::{Revision, Store};

use crate::etcd::Etcd;

/// The load both kinds of crashes happen under.
pub(crate) fn load(seed: u64) -> Load {
    let steps = if is_long_run() { 1000 } else { 150 };
    Load { seed, writers: 6, readers: 2, watchers: 3, steps }
}

/// Runs the load and, at random moments until it is over, the fault. Then the checker judges.
pub(crate) async fn judge(seed: u64, etcd: &mut Etcd, mut fault: impl AsyncFnMut(&mut Etcd, &mut Rng)) {
    let store = etcd.store().await;
    let start = store.bounds().await.unwrap().current;
    let recorder = HistoryRecorder::new();
    let subject: Arc<dyn Store> = Recorded::new(Arc::clone(&store), &recorder);
    let mut running = tokio::spawn(load(seed).run(subject, start));
    let mut rng = Rng::new(seed);
    let mut faults = 0;
    while !running.is_finished() {
        let pause = Duration::from_millis(200 + rng.below(600));
        if tokio::time::timeout(pause, &mut running).await.is_ok() {
            break;
        }
        fault(etcd, &mut rng).await;
        faults += 1;
    }
    assert!(recorder.len() > 300, "the load did something");
    println!("GANTRY_SEED={seed}: {} requests, {faults} faults", recorder.len());
    assert!(faults > 0, "and something happened to etcd meanwhile");
    let verdict = tokio::time::timeout(Duration::from_mins(1), recorder.verdict(&*store, start)).await;
    assert_eq!(verdict.expect("the log can be read"), Ok(()), "GANTRY_SEED={seed}");
    assert!(store.bounds().await.unwrap().current > Revision::EMPTY);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_is_lost_or_doubled_when_etcd_is_killed_and_restarted_under_load() {
    for seed in seeds(1, 20) {
        let mut etcd = Etcd::start(1, &[]);
        judge(seed, &mut etcd, async |etcd, rng| {
            etcd.kill(0);
            tokio::time::sleep(Duration::from_millis(rng.below(400))).await;
            etcd.launch(0);
            // Time to elect itself and to do something before the next crash.
            tokio::time::sleep(Duration::from_millis(1500)).await;
        })
        .await;
    }
}
