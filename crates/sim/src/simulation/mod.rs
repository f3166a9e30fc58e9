//! The shipped cluster in virtual time: `gantry_cluster::Cluster` on tokio's paused clock, with all randomness decided
//! by a seed.
//!
//! ```text
//! simulate(options, work) ─► runtime of one thread, clock paused
//!     SimCluster ─► Cluster (server, controllers, scheduler, nodes)
//!         │             │ store: MemoryStore ─► observer of every commit
//!         └─ Network ◄──┘ each client: Transport (trace, faults)
//! ```
//!
//! Virtual time passes only while every task waits, so that an hour of waiting takes as long as the work in it.

mod cluster;
mod discovery;
mod environment;
mod faults;
mod network;
mod options;
mod stopped;
mod store;
mod trace;
mod transport;

pub use cluster::SimCluster;
pub use environment::Identities;
pub use faults::Faults;
pub use network::{Component, RequestInfo, SimObserver};
pub use options::{ControllerProcesses, SimOptions, SimScope};
pub use stopped::StoppedCluster;
pub use store::{Commit, KeyWrite};

use std::sync::OnceLock;

use store::StoreContent;
use tokio::runtime::{Builder, Runtime};

/// Runs `work` on a simulated cluster, to its end, in the calling thread.
///
/// # Panics
/// If the cluster does not start, which is a bug.
pub fn simulate<T>(options: SimOptions, work: impl AsyncFnOnce(&mut SimCluster) -> T) -> T {
    run(options, prepared(), work)
}

/// Runs `work` on a simulated cluster, and returns its result and the content of the store at that time.
///
/// # Panics
/// If the cluster does not start, which is a bug.
pub fn simulate_and_stop<T>(
    options: SimOptions,
    work: impl AsyncFnOnce(&mut SimCluster) -> T,
) -> (T, StoppedCluster) {
    // Before the first runtime, because it needs a runtime of its own.
    let empty = prepared();
    runtime().block_on(async {
        let mut cluster = SimCluster::start(options, Some(empty)).await;
        let done = work(&mut cluster).await;
        let stopped = StoppedCluster { content: cluster.content().await };
        (done, stopped)
    })
}

/// Runs `work` on a cluster that starts with this content of its store.
fn run<T>(options: SimOptions, content: &StoreContent, work: impl AsyncFnOnce(&mut SimCluster) -> T) -> T {
    runtime().block_on(async {
        let mut cluster = SimCluster::start(options, Some(content)).await;
        work(&mut cluster).await
    })
}

/// The seed of the prepared store. Its uids must not be generated again, so no simulation should have this seed.
const PREPARATION_SEED: u64 = 0x7072_6570_6172_6564;

/// The store of a cluster that has started and has no nodes: creating its roles and priorities takes longer than most
/// simulations.
fn prepared() -> &'static StoreContent {
    static PREPARED: OnceLock<StoreContent> = OnceLock::new();
    PREPARED.get_or_init(|| {
        let options = SimOptions { seed: PREPARATION_SEED, nodes: 0, ..SimOptions::default() };
        runtime().block_on(async {
            let cluster = SimCluster::start(options, None).await;
            let [core, groups] = discovery::PATHS;
            discovery::prepare([cluster.discovery(core).await, cluster.discovery(groups).await]);
            cluster.content().await
        })
    })
}

fn runtime() -> Runtime {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime without I/O always starts")
}
