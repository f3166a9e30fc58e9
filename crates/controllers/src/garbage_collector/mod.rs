//! The garbage collector: watches the metadata of all objects, and attempts to delete those that the graph selects.
//!
//! ```text
//! discovery ──plan──► monitors (one informer of metadata each) ──GraphChange──► GraphState (graph, absent owners,
//! kinds)
//!                                                                                │ Effect
//!                                           server ◄── attempts ◄── workers ◄── queues ◄──────────────┘
//! ```
//!
//! The one [`GraphState`] is behind a lock that is held for single steps of the rules, never across a request. A kind
//! whose watch never syncs delays the first attempt by half a minute, orphaning by ten minutes, and nothing after that.

mod apply;
mod observe;
mod triggers;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use gantry_decide::Wake;
use gantry_decide::gc::discovery::{self, Start};
use gantry_decide::gc::{
    AbsentOwners, AttemptContext, AttemptResult, Graph, ItemDisposition, QueueItem, Resource, ServedKinds,
};
use gantry_decide::queue::{self, RetryPolicy};
use gantry_model::{Timestamp, Uid};
use gantry_runtime::informer::MetadataOnly;
use gantry_runtime::{Informer, Informers, Queue};

use crate::context::{Assembly, Context};
use observe::{Monitors, sync_of};

#[derive(Clone, Debug)]
struct Garbage {
    context: Context,
    /// The informers of the other controllers, whose watches are shared.
    informers: Informers,
    graph_state: Arc<Mutex<GraphState>>,
    to_delete: Queue<QueueItem>,
    to_orphan: Queue<Uid>,
}

#[derive(Debug)]
struct GraphState {
    graph: Graph,
    absent: AbsentOwners,
    kinds: ServedKinds,
    /// The metadata of each kind.
    caches: BTreeMap<Resource, Cache>,
}

#[derive(Clone, Debug)]
struct Cache {
    informer: Informer<MetadataOnly>,
    watched_since: Timestamp,
}

pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let (clock, metrics) = (context.clock.clone(), context.metrics.clone());
    let graph_state = GraphState {
        graph: Graph::new(),
        absent: AbsentOwners::new(),
        kinds: ServedKinds::default(),
        caches: BTreeMap::new(),
    };
    let garbage = Garbage {
        context,
        informers: assembly.informers.clone(),
        graph_state: Arc::new(Mutex::new(graph_state)),
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

    /// Discovers the served resources, and waits for the initial lists up to a limit.
    async fn prepare(&self, monitors: &mut Monitors) {
        while !monitors.refresh().await {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let began = self.context.clock.steady();
        loop {
            let waited = self.context.clock.steady().since(began);
            match discovery::start(&monitors.watches(), waited) {
                Start::Wait => {
                    let rest = discovery::INITIAL_SYNC_MAX.saturating_sub(waited);
                    // A timeout is not an error: the next iteration of the loop decides.
                    let _ = tokio::time::timeout(rest, monitors.synced()).await;
                }
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

    /// Waits until the dependents of every owner are in the graph.
    async fn dependents_observed(&self) {
        loop {
            let pending = self.kinds_to_wait_for();
            if pending.is_empty() {
                return;
            }
            let kinds: Vec<_> = pending.iter().map(|(resource, _)| resource.plural.as_str()).collect();
            tracing::warn!(kinds = kinds.join(", "), "orphaning waits until these kinds have been listed");
            let synced = join_all(pending.iter().map(|(_, informer)| informer.synced()));
            // A timeout is not an error: the next iteration of the loop decides.
            let _ = tokio::time::timeout(discovery::DISCOVERY_REFRESH, synced).await;
        }
    }

    /// The kinds whose initial list orphaning waits for.
    fn kinds_to_wait_for(&self) -> Vec<(Resource, Informer<MetadataOnly>)> {
        let now = self.context.clock.steady();
        let caches = &self.graph_state().caches;
        let pending = caches.iter().filter(|(_, cache)| {
            !discovery::may_orphan(sync_of(&cache.informer), now.since(cache.watched_since))
        });
        pending.map(|(resource, cache)| (resource.clone(), cache.informer.clone())).collect()
    }

    fn graph_state(&self) -> MutexGuard<'_, GraphState> {
        self.graph_state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GraphState {
    fn context(&mut self) -> AttemptContext<'_> {
        AttemptContext { graph: &self.graph, kinds: &self.kinds, absent: &mut self.absent }
    }
}

/// The result of an attempt, for the queue.
fn queue_result(disposition: ItemDisposition, result: &AttemptResult) -> (queue::Outcome, Wake) {
    if let AttemptResult::Failed(error) = result {
        if error.is_quiet() {
            tracing::trace!(%error, "garbage could not be collected");
        } else {
            tracing::debug!(%error, "garbage could not be collected");
        }
    }
    match disposition {
        ItemDisposition::Forget => (queue::Outcome::Success, Wake::OnChange),
        ItemDisposition::Retry => (queue::Outcome::Failure, Wake::OnChange),
    }
}
