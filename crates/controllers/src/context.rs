//! The context of every controller: an API client, clocks, metrics and an event recorder; and what runs it.

use std::fmt::Display;

use futures::future::BoxFuture;
use gantry_decide::Wake;
use gantry_decide::events::Subject;
use gantry_decide::queue::{Outcome, RetryPolicy};
use gantry_model::{Event, Meta, Refusal, RefusalKind};
use gantry_runtime::informer::{InformerScope, Typed};
use gantry_runtime::{Api, Clock, EventRecorder, Informer, Informers, Metrics, Queue, Shutdown};

use crate::options::{Options, Workers};

#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) api: Api,
    pub(crate) clock: Clock,
    pub(crate) metrics: Metrics,
    pub(crate) events: EventRecorder,
    pub(crate) shutdown: Shutdown,
    pub(crate) workers: Workers,
}

/// A controller whose workers sync one key after the other.
pub(crate) trait Reconciler<K>: Clone + Send + Sync + 'static {
    /// Prepares the first sync, once the caches are synced.
    fn begin(&self, _queue: &Queue<K>) {}

    /// Syncs a key, and returns when to sync it again if nothing changes.
    fn sync(&self, key: &K) -> impl Future<Output = Result<Wake, Refusal>> + Send;
}

/// A controller under construction: it requests informers and adds tasks.
pub(crate) struct Assembly<'a> {
    pub(crate) context: Context,
    pub(crate) options: &'a Options,
    /// The informers of the process. A controller waits for those that it requests by [`informer`](Self::informer).
    pub(crate) informers: Informers,
    /// Whether each requested informer has synced.
    synced: Vec<BoxFuture<'static, ()>>,
    runs: &'a mut Vec<BoxFuture<'static, ()>>,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(
        context: Context,
        options: &'a Options,
        informers: &Informers,
        runs: &'a mut Vec<BoxFuture<'static, ()>>,
    ) -> Self {
        Self { context, options, informers: informers.clone(), synced: Vec::new(), runs }
    }

    /// Returns the informer of all objects of a type. The controller begins when it has synced.
    pub(crate) fn informer<T: Typed>(&mut self) -> Informer<T> {
        self.scoped_informer(InformerScope::all())
    }

    /// Returns the informer of some objects of a type. The controller begins when it has synced.
    pub(crate) fn scoped_informer<T: Typed>(&mut self, scope: InformerScope) -> Informer<T> {
        let informer = self.informers.scoped(scope);
        let awaited = informer.clone();
        self.synced.push(Box::pin(async move { awaited.synced().await }));
        informer
    }

    /// Returns a queue; the name is the label of its metrics.
    pub(crate) fn queue<K: Ord + Clone + Display + Send + Sync + 'static>(
        &self,
        name: &'static str,
    ) -> Queue<K> {
        Queue::new(name, self.context.clock.clone(), &self.context.metrics)
    }

    /// Adds a task that runs until shutdown.
    pub(crate) fn run(&mut self, run: impl Future<Output = ()> + Send + 'static) {
        self.runs.push(Box::pin(run));
    }

    /// Runs workers on a queue, once the informers that were requested since the last task have synced.
    pub(crate) fn work<K>(
        &mut self,
        queue: &Queue<K>,
        (workers, policy): (usize, RetryPolicy),
        controller: impl Reconciler<K>,
    ) where
        K: Ord + Clone + Display + Send + Sync + 'static,
    {
        let (beginning, to) = (controller.clone(), queue.clone());
        let working = queue.work(workers, policy, self.context.shutdown.clone(), move |key| {
            let controller = controller.clone();
            async move {
                let done = controller.sync(&key).await;
                ended(&key, done)
            }
        });
        self.run_once_synced(Box::pin(async move {
            beginning.begin(&to);
            working.await;
        }));
    }

    /// Adds a task that runs until shutdown, once the informers that were requested since the last task have synced.
    pub(crate) fn run_once_synced(&mut self, run: BoxFuture<'static, ()>) {
        let shutdown = self.context.shutdown.clone();
        let synced = std::mem::take(&mut self.synced);
        let all_synced = async move {
            for synced in synced {
                synced.await;
            }
        };
        self.run(async move {
            if shutdown.unless(all_synced).await.is_some() {
                run.await;
            }
        });
    }
}

/// Returns the outcome of a sync, for the queue; logs a failure.
fn ended(key: &dyn Display, done: Result<Wake, Refusal>) -> (Outcome, Wake) {
    match done {
        Ok(wake) => (Outcome::Success, wake),
        Err(refusal) if refusal.kind == RefusalKind::NamespaceTerminating => {
            (Outcome::NamespaceTerminating, Wake::OnChange)
        }
        Err(refusal) => {
            tracing::debug!(%key, %refusal, "the sync failed and is retried");
            (Outcome::Failure, Wake::OnChange)
        }
    }
}

impl Context {
    /// Records an event about a namespaced object.
    pub(crate) fn record_event(
        &self,
        source: &'static str,
        api_version: &'static str,
        kind: &'static str,
        meta: &Meta,
        event: Event,
    ) {
        self.events.record(source, Subject::namespaced(api_version, kind, meta), event);
    }
}
