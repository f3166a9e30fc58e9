//! Three members of which one is lost.

use gantry_store::suite::seeds;

use crate::crash::check_histories;
use crate::etcd::Etcd;

/// Each member in turn is killed, the one in use included, and writes continue on the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_is_lost_or_doubled_when_a_member_of_three_is_lost_under_load() {
    for seed in seeds(1, 15) {
        let mut etcd = Etcd::start(3, &[]);
        // The first endpoint is the one in use at the start.
        let mut next = 0;
        check_histories(seed, &mut etcd, async |etcd, rng, load| {
            etcd.kill(next);
            load.wait_for_writes(30 + rng.below(50)).await;
            etcd.launch(next);
            etcd.becomes_healthy(next).await;
            next = rng.index(3);
        })
        .await;
    }
}
