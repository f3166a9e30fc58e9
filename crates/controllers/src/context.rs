//! The context of every controller: an API client, clocks, metrics and an event recorder.

use std::fmt::Display;

use futures::future::BoxFuture;
use gantry_decide::Wake;
use gantry_decide::events::Subject;
use gantry_decide::queue::{Outcome, RetryPolicy};
use gantry_model::{Event, Meta};
use gantry_runtime::{Api, Clock, EventRecorder, Informers, Metrics, Queue, Shutdown};

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

/// A process under construction: each controller requests informers and adds tasks.
pub(crate) struct Assembly<'a> {
    pub(crate) context: Context,
    pub(crate) options: &'a Options,
    pub(crate) informers: Informers,
    runs: Vec<BoxFuture<'static, ()>>,
}

impl<'a> Assembly<'a> {
    pub(crate) fn new(context: Context, options: &'a Options) -> Self {
        let informers = options.informers.clone().unwrap_or_default();
        Self { context, options, informers, runs: Vec::new() }
    }

    /// Adds a task that runs until shutdown.
    pub(crate) fn run(&mut self, run: impl Future<Output = ()> + Send + 'static) {
        self.runs.push(Box::pin(run));
    }

    /// Runs workers on a queue, once the caches that they read are synced.
    pub(crate) fn work<K, F, W>(
        &mut self,
        queue: &Queue<K>,
        (workers, policy): (usize, RetryPolicy),
        synced: impl Future<Output = ()> + Send + 'static,
        work: F,
    ) where
        K: Ord + Clone + Display + Send + Sync + 'static,
        F: Fn(K) -> W + Clone + Send + 'static,
        W: Future<Output = (Outcome, Wake)> + Send + 'static,
    {
        let working = queue.work(workers, policy, self.context.shutdown.clone(), work);
        self.work_once_synced(Box::pin(synced), working);
    }

    fn work_once_synced(&mut self, synced: BoxFuture<'static, ()>, working: BoxFuture<'static, ()>) {
        let shutdown = self.context.shutdown.clone();
        self.run(async move {
            if shutdown.unless(synced).await.is_some() {
                working.await;
            }
        });
    }

    /// The tasks, and the informers to start first.
    pub(crate) fn finish(self) -> (Informers, Vec<BoxFuture<'static, ()>>) {
        (self.informers, self.runs)
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
