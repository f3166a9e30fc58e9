//! The scheduler at work: one task that keeps the desk, and a bounded number of requests under way.

use gantry_runtime::{Api, Clock, EventRecorder, Metrics, Shutdown};
use tokio::task::JoinSet;

use crate::apply;
use crate::desk::Desk;
use crate::observe::{Caches, Changed, Changes};

/// How the scheduler runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many requests may be under way at once. More than a server answers at once only makes all of them late.
    pub requests_max: usize,
    /// What it takes the time from.
    pub clock: Clock,
    /// Where it counts.
    pub metrics: Metrics,
}

/// What `metadata.managedFields` shows.
const MANAGER: &str = "gantry-scheduler";

/// Places pods until it is time to end.
///
/// Returns when nothing is under way any more. It may run beside another scheduler of another name; two of the same name
/// disturb each other, though no pod is ever bound twice.
pub async fn run(client: kube::Client, options: Options, shutdown: Shutdown) {
    let Options { requests_max, clock, metrics } = options;
    let api = Api::new(client, MANAGER, metrics);
    let mut tasks = JoinSet::new();
    let caches = Caches::new();
    let changes = Changes::of(&caches);
    let (events, writer) = EventRecorder::new(api.clone(), clock.clone());
    tasks.spawn(writer.run(shutdown.clone()));
    caches.start(&mut tasks, &api, &shutdown);
    if shutdown.unless(caches.synced()).await.is_some() {
        let office = Office { caches, changes, api, events, clock, requests_max: requests_max.max(1) };
        office.work(&shutdown).await;
    }
    while tasks.join_next().await.is_some() {}
}

/// Everything around the desk.
struct Office {
    caches: Caches,
    changes: Changes,
    api: Api,
    events: EventRecorder,
    clock: Clock,
    requests_max: usize,
}

impl Office {
    async fn work(&self, shutdown: &Shutdown) {
        let mut desk = Desk::default();
        let mut under_way = JoinSet::new();
        loop {
            self.look(&mut desk);
            while under_way.len() < self.requests_max
                && let Some(task) = desk.next_task(self.clock.steady())
            {
                let (api, events) = (self.api.clone(), self.events.clone());
                under_way.spawn(apply::carry_out(task, api, events, self.clock.now()));
            }
            tokio::select! {
                () = shutdown.wait() => break,
                () = self.changes.heard() => {}
                () = self.sleep(&desk) => {}
                Some(Ok((key, uid, became))) = under_way.join_next() => {
                    desk.finish(&key, &uid, became, self.clock.steady());
                }
            }
        }
        while under_way.join_next().await.is_some() {}
    }

    /// Brings the desk up to date with what the informers have heard.
    fn look(&self, desk: &mut Desk) {
        let changed = self.changes.take();
        self.look_at_storage(&changed, desk);
        if !changed.nodes.is_empty() {
            let nodes = self.caches.nodes.read();
            changed.nodes.iter().for_each(|key| desk.see_node(key, nodes.get(key)));
        }
        if !changed.pods.is_empty() {
            let pods = self.caches.pods.read();
            changed.pods.iter().for_each(|key| desk.see_pod(key, pods.get(key)));
        }
    }

    fn look_at_storage(&self, changed: &Changed, desk: &mut Desk) {
        for key in &changed.claims {
            let claim = self.caches.claims.read().get(key).cloned();
            desk.see_storage(|storage| match claim {
                Some(claim) => storage.set_claim(&claim.wire),
                None => storage.remove_claim(key.namespace.as_str(), key.name.as_str()),
            });
        }
        for key in &changed.volumes {
            let volume = self.caches.volumes.read().get(key).cloned();
            desk.see_storage(|storage| match volume {
                Some(volume) => storage.set_volume(&volume.wire),
                None => storage.remove_volume(key.name.as_str()),
            });
        }
        for key in &changed.classes {
            let class = self.caches.classes.read().get(key).cloned();
            desk.see_storage(|storage| match class {
                Some(class) => storage.set_class(&class.wire),
                None => storage.remove_class(key.name.as_str()),
            });
        }
    }

    async fn sleep(&self, desk: &Desk) {
        match desk.next_wake() {
            Some(wake) => tokio::time::sleep_until(self.clock.instant(wake)).await,
            None => std::future::pending().await,
        }
    }
}

impl Options {
    /// The machine's clock, and requests enough to keep a server in the same process busy.
    pub fn new(metrics: Metrics) -> Self {
        Self { requests_max: 32, clock: Clock::system(), metrics }
    }
}
