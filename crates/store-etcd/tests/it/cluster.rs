//! Three members of which one is lost.

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
        judge(seed, &mut etcd, async |etcd, rng, requests| {
            etcd.kill(next);
            requests.wait_for(50 + rng.index(50)).await;
            etcd.launch(next);
            assert!(etcd.comes_up(next));
            next = rng.index(3);
        })
        .await;
    }
}
