//! Follows Services and EndpointSlices, and writes the kernel's tables when something changed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use gantry_model::{EndpointSlice, Selector, keys};
use gantry_runtime::informer::{Cached as _, CachedEndpointSlice, InformerEvent, InformerScope, Plain};
use gantry_runtime::{Informer, Informers, Shutdown};
use k8s_openapi::api::core::v1 as core;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};

use crate::endpoints::ProxyNode;
use crate::health_checks::HealthServers;
use crate::kernel_settings;
use crate::nft::{self, NftError};
use crate::nft_tables::render;
use crate::port_spec::PortSpec;
use crate::ruleset::Ruleset;
use crate::script::{Installed, transaction};
use crate::udp_flows;
use crate::udp_routes::UdpRoutes;

/// How often the existence of the tables is checked: firewalls are reloaded by removing all tables.
const CHECK_EVERY: Duration = Duration::from_secs(30);
/// The minimum and the maximum pause before a failed write is repeated.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// The options of a service proxy.
#[derive(Clone, Debug)]
pub struct ProxyOptions {
    /// The cluster and the node; part of the names of tables.
    pub owner: String,
    /// The name of the node.
    pub node: String,
    /// Services that the node itself serves to its pods, by namespace and name; their endpoints do not count.
    pub own_services: BTreeMap<(String, String), SocketAddr>,
}

/// The service proxy of a node. Cheap to clone; clones share their state.
#[derive(Clone, Debug)]
pub struct ServiceProxy(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    table: String,
    node: String,
    own_services: BTreeMap<(String, String), SocketAddr>,
    services: Informer<Plain<core::Service>>,
    slices: Informer<CachedEndpointSlice>,
    nodes: Informer<Plain<core::Node>>,
    /// The pods of this node.
    pods: Informer<Plain<core::Pod>>,
    changed: Notify,
    /// The live pods that the kernel's tables route to, if they can be written; `None` before the first write.
    applied: watch::Sender<Option<BTreeSet<String>>>,
}

/// The state of the loop between writes.
#[derive(Debug, Default)]
struct Progress {
    installed: Installed,
    failure: Option<NftError>,
    retry: Option<(Instant, Duration)>,
    /// The UDP routes for which stale flows were last removed.
    udp_routes: UdpRoutes,
    health_servers: HealthServers,
}

impl ServiceProxy {
    /// A proxy that follows these informers, which are to be started by the caller.
    pub fn new(options: &ProxyOptions, informers: &Informers) -> Self {
        let this_node = InformerScope::all().fields(format!("metadata.name={}", options.node));
        let of_node = InformerScope::all().fields(format!("spec.nodeName={}", options.node));
        let shared = Arc::new(Shared {
            table: nft::table_name(&options.owner),
            node: options.node.clone(),
            own_services: options.own_services.clone(),
            services: informers.of(),
            slices: informers.of(),
            nodes: informers.scoped(this_node),
            pods: informers.scoped(of_node),
            changed: Notify::new(),
            applied: watch::channel(None).0,
        });
        let notify = |shared: &Arc<Shared>| {
            let shared = Arc::downgrade(shared);
            move || {
                if let Some(shared) = shared.upgrade() {
                    shared.changed.notify_one();
                }
            }
        };
        let [a, b, c, d] = [(); 4].map(|()| notify(&shared));
        shared.services.subscribe(move |_| a());
        shared.slices.subscribe(move |_| b());
        shared.nodes.subscribe(move |_| c());
        shared.pods.subscribe(move |change| {
            // Other changes of a pod change no route.
            if !matches!(change, InformerEvent::Updated { .. }) || is_deleted(change.object()) {
                d();
            }
        });
        Self(shared)
    }

    /// Writes the kernel's tables until shutdown, and does not remove them then: Services work while no agent runs.
    pub async fn run(self, shutdown: Shutdown) {
        let shared = &self.0;
        let synced = async {
            shared.services.synced().await;
            shared.slices.synced().await;
            shared.nodes.synced().await;
            shared.pods.synced().await;
        };
        if shutdown.unless(synced).await.is_none() {
            return;
        }
        kernel_settings::prepare_bridges();
        let mut progress = Progress { installed: shared.found().await, ..Progress::default() };
        let mut check_at = Instant::now() + CHECK_EVERY;
        loop {
            // A write that has begun is finished: its result would be unknown otherwise.
            shared.write(&mut progress).await;
            let retry_at = progress.retry.map_or(check_at, |(at, _)| at.min(check_at));
            tokio::select! {
                biased;
                () = shutdown.wait() => return,
                () = shared.changed.notified() => {}
                () = sleep_until(retry_at) => {
                    if Instant::now() >= check_at {
                        shared.check(&mut progress).await;
                        check_at = Instant::now() + CHECK_EVERY;
                    }
                }
            }
        }
    }

    /// Returns when the kernel's tables route no connections to a pod that is being deleted, unless no other pod would
    /// respond. A node waits for it before it stops the pod. It does not return if this proxy has ended.
    pub async fn routed_away_from(&self, uid: &str) {
        let mut applied = self.0.applied.subscribe();
        // The sender lives as long as this proxy.
        let _ = applied.wait_for(|live| live.as_ref().is_some_and(|live| !live.contains(uid))).await;
    }
}

/// Whether a pod is being deleted.
fn is_deleted(pod: &Plain<core::Pod>) -> bool {
    pod.wire.metadata.deletion_timestamp.is_some()
}

impl Shared {
    /// Computes the rules, and the pods of this node that are live in them.
    fn wanted(&self) -> (Ruleset, BTreeSet<String>) {
        let live = self.live_pods();
        let stopping = self.stopping_pods(&live);
        let zone = self.nodes.read().iter().find_map(|node| {
            node.wire.metadata.labels.as_ref().and_then(|labels| labels.get(keys::ZONE).cloned())
        });
        let node =
            ProxyNode { name: self.node.clone(), zone, stopping, own_services: self.own_services.clone() };
        let (services, slices) = (self.services.read(), self.slices.read());
        let ports = services.iter().flat_map(|service| {
            let key = service.key();
            let selector = Selector::with_labels([(keys::SERVICE_NAME, key.name.as_str())]);
            let found = slices.selected(&key.namespace, &selector);
            let found: Vec<&EndpointSlice> = found.into_iter().map(|slice| &slice.parsed).collect();
            PortSpec::of(&service.wire).into_iter().map(move |port| (port, found.clone()))
        });
        (Ruleset::compute(ports, &node), live)
    }

    /// Writes the difference between the kernel's tables and the wanted ones.
    async fn write(&self, progress: &mut Progress) {
        let (rules, live) = self.wanted();
        progress.health_servers.serve(&rules.health_checks).await;
        let wanted = render(&rules);
        let script = transaction(&self.table, &progress.installed, &wanted);
        let result = if script.is_empty() { Ok(()) } else { nft::apply(&script).await };
        match result {
            Ok(()) => {
                if rules.uses_loopback() {
                    kernel_settings::allow_routes_to_loopback();
                }
                if !script.is_empty() {
                    tracing::debug!(commands = script.lines().count(), "routes of services changed");
                }
                if progress.failure.take().is_some() {
                    tracing::info!("services are routed again");
                }
                progress.installed = Installed::Known(wanted);
                progress.retry = None;
                let routes = UdpRoutes::of(&rules);
                if routes != progress.udp_routes {
                    udp_flows::remove_stale(routes.clone()).await;
                    progress.udp_routes = routes;
                }
            }
            Err(failure) => {
                if progress.failure.as_ref() != Some(&failure) {
                    tracing::error!("services are not routed on this node, pods run without them: {failure}");
                }
                tracing::debug!(script, "rejected");
                let pause = progress.retry.map_or(RETRY_MIN, |(_, pause)| (pause * 2).min(RETRY_MAX));
                progress.installed = Installed::Unknown;
                progress.failure = Some(failure);
                progress.retry = Some((Instant::now() + pause, pause));
            }
        }
        self.applied.send_replace(Some(live));
    }

    /// Requests that the tables are written again if they were removed.
    async fn check(&self, progress: &mut Progress) {
        let Installed::Known(known) = &progress.installed else { return };
        if let Ok(Installed::Found(found)) = nft::find(&self.table).await {
            let is_there = known.iter().all(|(family, table)| {
                found.get(family).is_some_and(|found| table.chains.keys().eq(found.chains.keys()))
            });
            if !is_there {
                tracing::warn!("the tables of the service proxy were removed or changed; writing them again");
                progress.installed = Installed::Unknown;
            }
        }
    }

    async fn found(&self) -> Installed {
        nft::find(&self.table).await.unwrap_or_default()
    }

    /// Returns the uids of the pods of this node that are not being deleted.
    fn live_pods(&self) -> BTreeSet<String> {
        let pods = self.pods.read();
        pods.iter().filter(|pod| !is_deleted(pod)).map(|pod| pod.uid().to_string()).collect()
    }

    /// Returns the uids of the pods of this node that are in EndpointSlices and are being deleted or removed,
    /// regardless of their state in the slices, which is updated a moment later, and later still after a restart of
    /// their controller.
    fn stopping_pods(&self, live: &BTreeSet<String>) -> BTreeSet<String> {
        let slices = self.slices.read();
        let endpoints = slices.iter().flat_map(|slice| &slice.parsed.content.endpoints);
        let of_node = endpoints.filter(|it| it.node.as_ref().is_some_and(|name| name.as_str() == self.node));
        let targets = of_node.filter_map(|endpoint| endpoint.target.as_ref());
        let uids = targets.filter(|target| target.kind == "Pod").map(|target| target.uid.to_string());
        uids.filter(|uid| !uid.is_empty() && !live.contains(uid)).collect()
    }
}
