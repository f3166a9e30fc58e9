//! The scheduler at work: one task that keeps the desk, and a bounded number of requests under way.

use gantry_runtime::informer::resource_of;
use gantry_runtime::{Api, Clock, EventRecorder, Informer, Metrics, Shutdown};
use k8s_openapi::api::core::v1 as core;
use tokio::task::JoinSet;

use crate::apply;
use crate::desk::Desk;
use crate::observe::{Changes, SeenNode, SeenPod};

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
    let pods = Informer::<SeenPod>::new(resource_of::<core::Pod>());
    let nodes = Informer::<SeenNode>::new(resource_of::<core::Node>());
    let changes = Changes::of(&pods, &nodes);
    let (events, writer) = EventRecorder::new(api.clone(), clock.clone());
    tasks.spawn(writer.run(shutdown.clone()));
    tasks.spawn(follow(pods.clone(), api.clone(), shutdown.clone()));
    tasks.spawn(follow(nodes.clone(), api.clone(), shutdown.clone()));
    // Before both are known, a pod might be sent to a node that is full.
    let synced = async { tokio::join!(pods.synced(), nodes.synced()) };
    if shutdown.unless(synced).await.is_some() {
        let office = Office { pods, nodes, changes, api, events, clock, requests_max: requests_max.max(1) };
        office.work(&shutdown).await;
    }
    while tasks.join_next().await.is_some() {}
}

async fn follow<T: gantry_runtime::informer::Cached>(informer: Informer<T>, api: Api, shutdown: Shutdown) {
    informer.run(api, shutdown).await;
}

/// Everything around the desk.
struct Office {
    pods: Informer<SeenPod>,
    nodes: Informer<SeenNode>,
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
        if !changed.nodes.is_empty() {
            let nodes = self.nodes.read();
            changed.nodes.iter().for_each(|key| desk.see_node(key, nodes.get(key)));
        }
        if !changed.pods.is_empty() {
            let pods = self.pods.read();
            changed.pods.iter().for_each(|key| desk.see_pod(key, pods.get(key)));
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
