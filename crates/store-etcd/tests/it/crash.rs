//! Recorded histories while etcd is killed and started again, judged by the checker.

use std::sync::Arc;
use std::time::Duration;

use gantry_store::checker::{HistoryRecorder, Load, Recorded};
use gantry_store::suite::{Rng, is_long_run, seeds};
use gantry_store::{Revision, Store};

use tokio::task::JoinHandle;

use crate::etcd::Etcd;

/// The load both kinds of crashes happen under.
pub(crate) fn load(seed: u64) -> Load {
    let steps = if is_long_run() { 1000 } else { 150 };
    Load { seed, writers: 6, readers: 2, watchers: 3, steps }
}

/// Runs the load and, after random numbers of requests until it is over, the fault. Then the checker judges.
///
/// The fault gets a [`Requests`] to wait for further requests.
pub(crate) async fn judge(
    seed: u64,
    etcd: &mut Etcd,
    mut fault: impl AsyncFnMut(&mut Etcd, &mut Rng, &mut Requests),
) {
    let store = etcd.store().await;
    let start = store.bounds().await.unwrap().current;
    let recorder = HistoryRecorder::new();
    let subject: Arc<dyn Store> = Recorded::new(Arc::clone(&store), &recorder);
    let running = tokio::spawn(load(seed).run(subject, start));
    let mut requests = Requests { recorder: Arc::clone(&recorder), running };
    let mut rng = Rng::new(seed);
    let mut faults = 0;
    loop {
        requests.wait_for(50 + rng.index(200)).await;
        if requests.running.is_finished() {
            break;
        }
        fault(etcd, &mut rng, &mut requests).await;
        faults += 1;
    }
    requests.running.await.unwrap();
    assert!(recorder.len() > 300, "the load did something");
    println!("GANTRY_SEED={seed}: {} requests, {faults} faults", recorder.len());
    assert!(faults > 0, "and something happened to etcd meanwhile");
    let verdict = tokio::time::timeout(Duration::from_mins(1), recorder.verdict(&*store, start)).await;
    assert_eq!(verdict.expect("the log can be read"), Ok(()), "GANTRY_SEED={seed}");
    assert!(store.bounds().await.unwrap().current > Revision::EMPTY);
}

/// The requests of a running load.
pub(crate) struct Requests {
    recorder: Arc<HistoryRecorder>,
    running: JoinHandle<()>,
}

impl Requests {
    /// Waits until the load has had that many further responses or errors, or is over.
    pub(crate) async fn wait_for(&mut self, count: usize) {
        let enough = self.recorder.len() + count;
        while self.recorder.len() < enough && !self.running.is_finished() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_is_lost_or_doubled_when_etcd_is_killed_and_restarted_under_load() {
    for seed in seeds(1, 20) {
        let mut etcd = Etcd::start(1, &[]);
        judge(seed, &mut etcd, async |etcd, _, _| {
            etcd.kill(0);
            etcd.launch(0);
            assert!(etcd.comes_up(0));
        })
        .await;
    }
}
