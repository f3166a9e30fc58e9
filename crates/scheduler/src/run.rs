//! The scheduler's main loop: one task that owns the cache, and a bounded number of requests in flight.

use std::pin::Pin;

use gantry_runtime::{Api, ApiTransport, Clock, EventRecorder, Informers, Metrics, Shutdown};
use tokio::task::JoinSet;

use crate::apply;
use crate::cache::SchedulerCache;
use crate::observe::{Caches, ChangedKeys, KeySets};

/// How the scheduler runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The maximum number of requests in flight. More than a server processes at once only delay each other.
    pub requests_max: usize,
    /// The informers of the process, which other components may share.
    pub informers: Informers,
    /// Whether events of type Normal are recorded.
    pub normal_events: bool,
    /// The time source.
    pub clock: Clock,
    /// The registry for its metrics.
    pub metrics: Metrics,
}

/// The field manager in `metadata.managedFields`.
const MANAGER: &str = "gantry-scheduler";

/// Schedules pods until shutdown, and returns when no request is in flight.
///
/// It may run beside a scheduler with another name. Two of the same name compete, but no pod is bound twice.
///
/// The future is boxed so that it is compiled here, not in each crate that awaits it.
pub fn run(
    transport: ApiTransport,
    options: Options,
    shutdown: Shutdown,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(schedule(transport, options, shutdown))
}

async fn schedule(transport: ApiTransport, options: Options, shutdown: Shutdown) {
    let Options { requests_max, informers, normal_events, clock, metrics } = options;
    let api = Api::new(transport, MANAGER, metrics);
    let mut tasks = JoinSet::new();
    let caches = Caches::of(&informers);
    let changes = ChangedKeys::of(&caches);
    let (events, writer) = EventRecorder::new(api.clone(), clock.clone());
    let events = events.with_normal_events(normal_events);
    tasks.spawn(writer.run(shutdown.clone()));
    informers.start(&mut tasks, &api, &clock, &shutdown);
    if shutdown.unless(caches.synced()).await.is_some() {
        let scheduler = Scheduler { caches, changes, api, events, clock, requests_max: requests_max.max(1) };
        scheduler.run(&shutdown).await;
    }
    while tasks.join_next().await.is_some() {}
}

struct Scheduler {
    caches: Caches,
    changes: ChangedKeys,
    api: Api,
    events: EventRecorder,
    clock: Clock,
    requests_max: usize,
}

impl Scheduler {
    async fn run(&self, shutdown: &Shutdown) {
        let mut cache = SchedulerCache::default();
        let mut in_flight = JoinSet::new();
        loop {
            self.update_cache(&mut cache);
            while in_flight.len() < self.requests_max
                && let Some(task) = cache.next_task(self.clock.steady())
            {
                let (api, events) = (self.api.clone(), self.events.clone());
                in_flight.spawn(apply::carry_out(task, api, events, self.clock.now()));
            }
            tokio::select! {
                biased;
                () = shutdown.wait() => break,
                Some(Ok((key, uid, result))) = in_flight.join_next() => {
                    cache.finish(&key, &uid, result, self.clock.steady());
                }
                () = self.changes.changed() => {}
                () = self.sleep(&cache) => {}
            }
        }
        while in_flight.join_next().await.is_some() {}
    }

    /// Updates the cache from the informers.
    fn update_cache(&self, cache: &mut SchedulerCache) {
        let changed = self.changes.take();
        self.update_storage(&changed, cache);
        if !changed.nodes.is_empty() {
            let nodes = self.caches.nodes.read();
            changed.nodes.iter().for_each(|key| cache.update_node(key, nodes.get(key)));
        }
        if !changed.pods.is_empty() {
            let pods = self.caches.pods.read();
            changed.pods.iter().for_each(|key| cache.update_pod(key, pods.get(key)));
        }
    }

    fn update_storage(&self, changed: &KeySets, cache: &mut SchedulerCache) {
        for key in &changed.claims {
            let claim = self.caches.claims.read().get(key).cloned();
            cache.update_storage(|storage| match claim {
                Some(claim) => storage.set_claim(&claim.wire),
                None => storage.remove_claim(key.namespace.as_str(), key.name.as_str()),
            });
        }
        for key in &changed.volumes {
            let volume = self.caches.volumes.read().get(key).cloned();
            cache.update_storage(|storage| match volume {
                Some(volume) => storage.set_volume(&volume.wire),
                None => storage.remove_volume(key.name.as_str()),
            });
        }
        for key in &changed.classes {
            let class = self.caches.classes.read().get(key).cloned();
            cache.update_storage(|storage| match class {
                Some(class) => storage.set_class(&class.wire),
                None => storage.remove_class(key.name.as_str()),
            });
        }
    }

    async fn sleep(&self, cache: &SchedulerCache) {
        match cache.next_wake() {
            Some(wake) => tokio::time::sleep_until(self.clock.instant(wake)).await,
            None => std::future::pending().await,
        }
    }
}

impl Options {
    /// The system clock, and enough requests to keep a server in the same process busy.
    pub fn new(metrics: Metrics) -> Self {
        Self {
            requests_max: 32,
            informers: Informers::new(),
            normal_events: true,
            clock: Clock::system(),
            metrics,
        }
    }
}
