//! The monitors: one informer of metadata per collectable kind, following discovery.
//!
//! A kind that another component of this process watches is not watched again.

use std::collections::BTreeMap;

use gantry_decide::gc::Resource;
use gantry_decide::gc::discovery::{Sync, Watches, plan};
use gantry_runtime::informer::MetadataOnly;
use gantry_runtime::{Informer, Switch, shutdown};
use tokio::task::JoinHandle;

use super::{Cache, Garbage};
use crate::discovery::discover;

#[derive(Debug)]
pub(super) struct Monitors {
    garbage: Garbage,
    by_resource: BTreeMap<Resource, Monitor>,
}

/// The metadata of one kind.
#[derive(Debug)]
struct Monitor {
    informer: Informer<MetadataOnly>,
    /// `None` if the watch belongs to another component.
    own_watch: Option<(Switch, JoinHandle<()>)>,
}

impl Monitors {
    pub(super) fn new(garbage: Garbage) -> Self {
        Self { garbage, by_resource: BTreeMap::new() }
    }

    /// Discovers the served resources, and starts and stops watches accordingly. Returns whether discovery succeeded.
    pub(super) async fn refresh(&mut self) -> bool {
        let found = match discover(&self.garbage.context.api).await {
            Ok(found) => found,
            Err(failure) => {
                tracing::warn!(%failure, "discovery failed");
                return false;
            }
        };
        self.garbage.graph_state().kinds.update(&found);
        let plan = plan(&self.watches(), &found);
        for resource in plan.stop {
            self.garbage.graph_state().caches.remove(&resource);
            if let Some(monitor) = self.by_resource.remove(&resource) {
                monitor.stop().await;
            }
        }
        for resource in plan.start {
            let monitor = self.start(resource.clone());
            let watched_since = self.garbage.context.clock.steady();
            let cache = Cache { informer: monitor.informer.clone(), watched_since };
            self.garbage.graph_state().caches.insert(resource.clone(), cache);
            self.by_resource.insert(resource, monitor);
        }
        true
    }

    /// Which watches have synced.
    pub(super) fn watches(&self) -> Watches {
        let state =
            |(resource, monitor): (&Resource, &Monitor)| (resource.clone(), sync_of(&monitor.informer));
        self.by_resource.iter().map(state).collect()
    }

    /// Returns when every watch has synced.
    pub(super) async fn synced(&self) {
        futures::future::join_all(self.by_resource.values().map(|monitor| monitor.informer.synced())).await;
    }

    pub(super) async fn stop_all(&mut self) {
        for (_, monitor) in std::mem::take(&mut self.by_resource) {
            monitor.stop().await;
        }
    }

    fn start(&self, resource: Resource) -> Monitor {
        let shared = self.garbage.informers.metadata_of(&resource);
        let is_shared = shared.is_some();
        let informer = shared.unwrap_or_else(|| Informer::new(resource));
        super::triggers::subscribe(&informer, &self.garbage);
        let own_watch = (!is_shared).then(|| {
            let (switch, signal) = shutdown();
            let (running, context) = (informer.clone(), &self.garbage.context);
            let (api, clock) = (context.api.clone(), context.clock.clone());
            (switch, tokio::spawn(async move { running.run(api, clock, signal).await }))
        });
        Monitor { informer, own_watch }
    }
}

pub(super) fn sync_of(informer: &Informer<MetadataOnly>) -> Sync {
    if informer.is_synced() { Sync::Synced } else { Sync::Pending }
}

impl Monitor {
    async fn stop(self) {
        let Some((switch, task)) = self.own_watch else { return };
        switch.turn();
        match task.await {
            // The process ends without waiting for its tasks.
            Err(error) if error.is_cancelled() => {}
            Err(error) => {
                tracing::error!(%error, "a watch of the garbage collector panicked; please report it");
            }
            Ok(()) => {}
        }
    }
}
