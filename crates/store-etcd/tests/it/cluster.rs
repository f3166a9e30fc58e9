//! Three members of which one is lost.

use std::time::Duration;

use gantry_store::suite::seeds;

use crate::crash::judge;
use crate::etcd::Etcd;

/// Whichever member is killed, the one in use included, the others carry on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_is_lost_or_doubled_when_a_member_of_three_is_lost_under_load() {
    for seed in seeds(1, 15) {
        let mut etcd = Etcd::start(3, &[]);
        // The first endpoint is the one in use at the beginning.
        let mut next = 0;
        judge(seed, &mut etcd, async |etcd, rng| {
            etcd.kill(next);
            tokio::time::sleep(Duration::from_millis(2000 + rng.below(1000))).await;
            etcd.launch(next);
            tokio::time::sleep(Duration::from_millis(1500)).await;
            next = rng.index(3);
        })
        .await;
    }
}
