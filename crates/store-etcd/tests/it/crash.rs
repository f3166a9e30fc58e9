//! Recorded histories while etcd is killed and started again, checked afterwards.

use std::sync::Arc;
use std::time::Duration;

use gantry_store::checker::{HistoryRecorder, Load, Recorded};
use gantry_store::suite::{Rng, is_long_run, seeds};
use gantry_store::{Revision, Store};

use tokio::task::JoinHandle;

use crate::etcd::Etcd;

/// The load during both kinds of crashes.
fn load(seed: u64) -> Load {
    let steps = if is_long_run() { 1000 } else { 150 };
    Load { seed, writers: 6, readers: 2, watchers: 3, steps }
}

/// Runs the load and, after random numbers of writes until it is over, injects the fault. Then the history is checked.
pub(crate) async fn check_histories(
    seed: u64,
    etcd: &mut Etcd,
    mut fault: impl AsyncFnMut(&mut Etcd, &mut Rng, &RunningLoad),
) {
    let store = etcd.store().await;
    let start = store.bounds().await.unwrap().current;
    let recorder = HistoryRecorder::new();
    let subject: Arc<dyn Store> = Recorded::new(Arc::clone(&store), &recorder);
    let running = tokio::spawn(load(seed).run(subject, start));
    let load = RunningLoad { store: Arc::clone(&store), running };
    let mut rng = Rng::new(seed);
    let mut faults = 0;
    loop {
        load.wait_for_writes(30 + rng.below(150)).await;
        if load.running.is_finished() {
            break;
        }
        fault(etcd, &mut rng, &load).await;
        faults += 1;
    }
    load.running.await.unwrap();
    assert!(recorder.len() > 300, "the load sent requests");
    println!("GANTRY_SEED={seed}: {} requests, {faults} faults", recorder.len());
    assert!(faults > 0, "a fault was injected");
    let verdict = tokio::time::timeout(Duration::from_mins(1), recorder.verdict(&*store, start)).await;
    assert_eq!(verdict.expect("the log can be read"), Ok(()), "GANTRY_SEED={seed}");
    assert!(store.bounds().await.unwrap().current > Revision::EMPTY);
}

/// A running load.
pub(crate) struct RunningLoad {
    store: Arc<dyn Store>,
    running: JoinHandle<()>,
}

impl RunningLoad {
    /// Waits until etcd has carried out that many further writes, or the load is over.
    pub(crate) async fn wait_for_writes(&self, count: u64) {
        let mut enough = None;
        while !self.running.is_finished() {
            // Without etcd this returns an error, after a while.
            if let Ok(bounds) = self.store.bounds().await
                && bounds.current >= *enough.get_or_insert(bounds.current.advanced(count))
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_is_lost_or_doubled_when_etcd_is_killed_and_restarted_under_load() {
    for seed in seeds(1, 20) {
        let mut etcd = Etcd::start(1, &[]);
        check_histories(seed, &mut etcd, async |etcd, _, _| {
            etcd.kill(0);
            etcd.launch(0);
            etcd.becomes_healthy(0).await;
        })
        .await;
    }
}
