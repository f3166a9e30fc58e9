//! The garbage collector: watches the metadata of everything, and looks after what the graph points at.
//!
//! ```text
//! discovery ──plan──► monitors (one informer of metadata each) ──Change──► Mind (graph, absent owners, kinds)
//!                                                                            │ Effect
//!                    server ◄── attempts ◄── workers ◄── queues ◄────────────┘
//! ```
//!
//! The one [`Mind`] is behind a lock that is held for single steps of the rules, never across a request. A kind whose
//! watch never gets going delays the first attempt by half a minute and nothing after that.

mod apply;
mod observe;
mod triggers;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_decide::Wake;
use gantry_decide::gc::discovery::{self, Start};
use gantry_decide::gc::{AbsentOwners, Fate, Graph, Item, Knowledge, Outcome, ServedKinds};
use gantry_decide::queue::{self, RetryPolicy};
use gantry_model::Uid;
use gantry_runtime::Queue;

use crate::context::{Assembly, Context};
use observe::Monitors;

/// How often it is looked whether the first lists are in.
const SYNC_POLL: Duration = Duration::from_millis(50);

/// The garbage collector.
#[derive(Clone, Debug)]
struct Garbage {
    context: Context,
    mind: Arc<Mutex<Mind>>,
    to_delete: Queue<Item>,
    to_orphan: Queue<Uid>,
}

/// All that it knows.
#[derive(Debug)]
struct Mind {
    graph: Graph,
    absent: AbsentOwners,
    kinds: ServedKinds,
}

/// Adds the garbage collector to a process.
pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let (clock, metrics) = (context.clock.clone(), context.metrics.clone());
    let mind = Mind { graph: Graph::new(), absent: AbsentOwners::new(), kinds: ServedKinds::default() };
    let garbage = Garbage {
        context,
        mind: Arc::new(Mutex::new(mind)),
        to_delete: Queue::new("garbage_collector_attempt_to_delete", clock.clone(), &metrics),
        to_orphan: Queue::new("garbage_collector_attempt_to_orphan", clock, &metrics),
    };
    assembly.run(garbage.run());
}

impl Garbage {
    async fn run(self) {
        let shutdown = self.context.shutdown.clone();
        let mut monitors = Monitors::new(self.clone());
        if shutdown.unless(self.prepare(&mut monitors)).await.is_some() {
            let workers = self.context.workers.garbage_collector;
            let (deleter, orphaner) = (self.clone(), self.clone());
            let delete = move |item| {
                let garbage = deleter.clone();
                async move { garbage.attempt_to_delete(&item).await }
            };
            let orphan = move |owner| {
                let garbage = orphaner.clone();
                async move { garbage.attempt_to_orphan(&owner).await }
            };
            let policy = RetryPolicy::GARBAGE_COLLECTOR;
            futures::join!(
                self.to_delete.work(workers, policy, shutdown.clone(), delete),
                self.to_orphan.work(workers, policy, shutdown.clone(), orphan),
                shutdown.unless(self.follow_discovery(&mut monitors)),
            );
        }
        monitors.stop_all().await;
    }

    /// Learns what is served, and waits for the first lists, though not for ever.
    async fn prepare(&self, monitors: &mut Monitors) {
        while !monitors.refresh().await {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let began = self.context.clock.steady();
        loop {
            match discovery::start(&monitors.watches(), self.context.clock.steady().since(began)) {
                Start::Wait => tokio::time::sleep(SYNC_POLL).await,
                Start::Synced => return,
                Start::Anyway { pending } => {
                    tracing::warn!(pending, "collecting garbage although some kinds cannot be watched");
                    return;
                }
            }
        }
    }

    async fn follow_discovery(&self, monitors: &mut Monitors) {
        loop {
            tokio::time::sleep(discovery::DISCOVERY_REFRESH).await;
            monitors.refresh().await;
        }
    }

    fn mind(&self) -> MutexGuard<'_, Mind> {
        self.mind.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mind {
    fn knowledge(&mut self) -> Knowledge<'_> {
        Knowledge { graph: &self.graph, kinds: &self.kinds, absent: &mut self.absent }
    }
}

/// What the queue is to make of an attempt.
fn ended(fate: Fate, outcome: &Outcome) -> (queue::Outcome, Wake) {
    if let Outcome::Failed(trouble) = outcome {
        if trouble.is_quiet() {
            tracing::trace!(%trouble, "garbage could not be collected");
        } else {
            tracing::debug!(%trouble, "garbage could not be collected");
        }
    }
    match fate {
        Fate::Forget => (queue::Outcome::Success, Wake::OnChange),
        Fate::Retry => (queue::Outcome::Failure, Wake::OnChange),
    }
}
