//! A running cluster. What starts first stops last: the controllers before the server, the server before the store.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gantry_apiserver::{ApiServer, ApiService, Health};
use gantry_certificates::RequestSigner;
use gantry_controllers::{ClusterSigner, Controller};
use gantry_node_agent::AgentOptions;
use gantry_runtime::{Api, ApiTransport, Informers, Metrics, Tasks};
use gantry_serving::kubeconfig::Kubeconfig;
use gantry_serving::{ConnectionRuntime, Stopper};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::error::StartError;
use crate::joined_nodes::JoinedNodes;
use crate::options::{Options, Storage};
use crate::ready::Readiness;
use crate::server::{PreparedServer, Socket};
use crate::storage::OpenStore;

/// How often expired events are removed.
const REMOVE_EVENTS_EVERY: Duration = Duration::from_secs(60);
/// How often definitions that another server left unfinished are completed, and its changes to flow control are read.
const SETTLE_EVERY: Duration = Duration::from_secs(2);

/// How often default objects of flow control that were deleted are created again.
const MAINTAIN_FLOW_CONTROL_EVERY: Duration = Duration::from_secs(60);
/// How long writes of disconnected clients may take to end after shutdown was requested.
const DETACHED_WRITES_MAX: Duration = Duration::from_secs(10);

/// A cluster in this process. Dropping it stops it at once, [`Cluster::stop`] gracefully.
pub struct Cluster {
    server: ApiServer,
    store: Arc<OpenStore>,
    endpoint: Option<RunningEndpoint>,
    /// The CA certificate, as PEM, if there is one.
    authority: Option<String>,
    /// The CA as one that signs the requests of nodes.
    signer: Option<Arc<RequestSigner>>,
    tasks: Tasks,
    metrics: Metrics,
    background: Vec<JoinHandle<()>>,
    options: Options,
}

struct RunningEndpoint {
    kubeconfig: Kubeconfig,
    stopper: Option<Stopper>,
    serving: JoinHandle<()>,
    _runtime: ConnectionRuntime,
}

impl Cluster {
    /// Starts a cluster of three simulated nodes in memory, without a socket, and returns when it is ready.
    pub async fn start() -> Result<Self, StartError> {
        Self::start_with(Options::default()).await
    }

    /// Starts a cluster and returns when it is ready.
    pub async fn start_with(options: Options) -> Result<Self, StartError> {
        let mut cluster = Self::launch(options).await?;
        cluster.ready().await?;
        Ok(cluster)
    }

    /// Starts a cluster and returns as soon as it serves; [`Cluster::ready`] waits for the rest.
    pub async fn launch(options: Options) -> Result<Self, StartError> {
        node_options(&options, Metrics::new()).check().map_err(StartError::Nodes)?;
        let PreparedServer { server, store, authority, signer, socket } =
            PreparedServer::open(&options).await?;
        let mut background = vec![
            tokio::spawn(remove_old_events(server.clone())),
            tokio::spawn(Arc::clone(&store).watch_disk()),
        ];
        if !matches!(options.storage, Storage::Own(_)) {
            background.push(tokio::spawn(reconcile_definitions(server.clone())));
            background.push(tokio::spawn(reconcile_flow_control(server.clone())));
        }
        if !store.port().commits_both_or_neither() {
            background.push(tokio::spawn(complete_deletions(server.clone())));
        }
        let endpoint = socket.map(|socket| RunningEndpoint::start(&server, socket));
        let (tasks, metrics) = (Tasks::new(), Metrics::new());
        let mut cluster =
            Self { server, store, endpoint, authority, signer, tasks, metrics, background, options };
        cluster.start_components();
        Ok(cluster)
    }

    /// Returns when the API responds, the default service account exists, `admin`, `edit` and `view` have their rules and
    /// every node is Ready; fails if a component of the cluster does before that.
    pub async fn ready(&mut self) -> Result<(), StartError> {
        let readiness = Readiness {
            api: Api::new(
                ApiTransport::in_process(self.service_as("gantry-readiness")),
                "gantry-readiness",
                Metrics::new(),
            ),
            controllers: self.options.controllers,
            nodes: node_options(&self.options, Metrics::new())
                .names()
                .chain(self.options.agent.as_ref().map(AgentOptions::name))
                .collect(),
        };
        tokio::select! {
            biased;
            () = readiness.wait() => Ok(()),
            failed = self.failed() => Err(StartError::Failed(failed)),
        }
    }

    /// The API for a privileged client in this process, such as `kube::Client::new(cluster.service(), "default")`.
    pub fn service(&self) -> ApiService {
        self.service_as("gantry-cluster")
    }

    /// The administrator's kubeconfig for clients in other processes; `None` without an endpoint.
    pub fn kubeconfig(&self) -> Option<&Kubeconfig> {
        self.endpoint.as_ref().map(|endpoint| &endpoint.kubeconfig)
    }

    /// The URL of the API; `None` without an endpoint.
    pub fn url(&self) -> Option<&str> {
        self.kubeconfig().map(Kubeconfig::server)
    }

    /// Returns when a component fails, which is a bug or a broken disk; returns what failed.
    pub async fn failed(&mut self) -> String {
        let served = async {
            match &mut self.endpoint {
                Some(served) => (&mut served.serving).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            failed = self.tasks.failed() => failed,
            ended = served => format!("the server ended unexpectedly: {ended:?}"),
        }
    }

    /// Stops gracefully: controllers end, watches end, requests finish, the store is closed.
    pub async fn stop(mut self) {
        self.background.iter().for_each(JoinHandle::abort);
        self.server.set_health(Health::ShuttingDown);
        self.tasks.end().await;
        if let Some(served) = &mut self.endpoint {
            if let Some(stopper) = served.stopper.take() {
                stopper.stop();
            }
            // It only fails if it panicked, which is logged already.
            let _ = (&mut served.serving).await;
        }
        if tokio::time::timeout(DETACHED_WRITES_MAX, self.server.finish_detached_writes()).await.is_err() {
            tracing::warn!("writes of disconnected clients did not end in time");
        }
    }

    /// The API for a privileged client in this process, as this user, without the connector of the options.
    pub fn service_as(&self, user: &str) -> ApiService {
        ApiService::for_master(self.server.clone(), user)
    }

    /// The options of controllers for this cluster; `None` as informers for those that share none with other components.
    pub fn controller_options(&self, informers: Option<Informers>) -> gantry_controllers::Options {
        let mut options = gantry_controllers::Options {
            // Every pod mounts it. Without TLS there is no CA, and it is published empty.
            root_ca: Some(self.authority.clone().unwrap_or_default()),
            informers,
            repairs: self.options.repairs,
            ..self.plain_controller_options()
        };
        options.controllers.extend(Controller::WITH_API_SERVER);
        // Nodes of other machines join by a socket with TLS.
        if let (Some(_), Some(authority)) = (&self.endpoint, &self.signer) {
            let authority = Arc::clone(authority);
            options.signer = Some(ClusterSigner { authority, longest: ClusterSigner::LONGEST });
            options.controllers.extend(Controller::JOINING);
        }
        if self.has_nodes() {
            options.controllers.extend(Controller::WITH_NODES);
        } else {
            // Until a node joins, controllers that act on the status of pods do not run, because tests set the status.
            for controller in Controller::WITH_POD_STATUS {
                options.controllers.remove(&controller);
            }
        }
        options
    }

    /// The options of the controllers that are started when a node joins a cluster without nodes.
    fn joined_controller_options(&self) -> gantry_controllers::Options {
        let controllers = Controller::WITH_NODES.into_iter().chain(Controller::WITH_POD_STATUS).collect();
        gantry_controllers::Options { controllers, ..self.plain_controller_options() }
    }

    fn plain_controller_options(&self) -> gantry_controllers::Options {
        gantry_controllers::Options {
            normal_events: !self.options.omissions.normal_events,
            clock: self.options.environment.clock.clone(),
            metrics: self.metrics.clone(),
            ..gantry_controllers::Options::default()
        }
    }

    fn scheduler_options(&self, informers: Informers) -> gantry_scheduler::Options {
        gantry_scheduler::Options {
            informers,
            normal_events: !self.options.omissions.normal_events,
            clock: self.options.environment.clock.clone(),
            ..gantry_scheduler::Options::new(self.metrics.clone())
        }
    }

    /// Waits for nodes, which join by the socket of a cluster that has none.
    fn joined_nodes(&self) -> Option<JoinedNodes> {
        let waits = self.options.controllers && self.endpoint.is_some() && !self.has_nodes();
        let name = "gantry-joined-nodes";
        waits.then(|| JoinedNodes {
            api: Api::new(self.transport_as(name), name, Metrics::new()),
            clock: self.options.environment.clock.clone(),
            shutdown: self.tasks.signal(),
        })
    }

    fn has_nodes(&self) -> bool {
        self.options.nodes > 0 || self.options.agent.is_some()
    }

    /// The transport of a component in this process, made by the connector of the options.
    fn transport_as(&self, user: &str) -> ApiTransport {
        self.options.connector.connect(self.service_as(user), user)
    }

    /// Starts everything except the server, each component as its in-process client.
    fn start_components(&mut self) {
        let informers = Informers::new();
        let signal = self.tasks.signal();
        if self.options.controllers {
            self.start_controllers(&informers);
        }
        if self.has_nodes() {
            let scheduler = self.scheduler_options(informers.clone());
            let run = gantry_scheduler::run(self.transport_as("gantry-scheduler"), scheduler, signal.clone());
            self.tasks.spawn("scheduler", async {
                run.await;
                Ok::<(), StartError>(())
            });
        }
        self.start_when_nodes_join();
        if let Some(agent) = &self.options.agent {
            let agent = AgentOptions {
                informers: informers.clone(),
                metrics: self.metrics.clone(),
                clock: self.options.environment.clock.clone(),
                client_ca: self.authority.clone(),
                ..agent.clone()
            };
            let run = gantry_node_agent::run(self.transport_as("gantry-node-agent"), agent, signal.clone());
            self.tasks.spawn("node agent", run);
        }
        if self.options.nodes > 0 {
            let nodes =
                gantry_nodes::Options { informers, ..node_options(&self.options, self.metrics.clone()) };
            self.tasks.spawn("nodes", gantry_nodes::run(self.transport_as("gantry-nodes"), nodes, signal));
        }
    }

    /// Starts the controllers. Those of a cluster without nodes stop while a kube-controller-manager holds its lease.
    fn start_controllers(&mut self, informers: &Informers) {
        let transport = self.transport_as("gantry-controllers");
        let options = self.controller_options(Some(informers.clone()));
        let Some(joined) = self.joined_nodes() else {
            let run = gantry_controllers::run(transport, options, self.tasks.signal());
            self.tasks.spawn("controllers", run);
            return;
        };
        let start = move |shutdown| {
            let options =
                gantry_controllers::Options { informers: Some(Informers::new()), ..options.clone() };
            gantry_controllers::run(transport.clone(), options, shutdown)
        };
        self.tasks.spawn("controllers", joined.run("kube-controller-manager", start));
    }

    /// Starts the components that wait for nodes to join, if the cluster has no nodes.
    fn start_when_nodes_join(&mut self) {
        if let Some(joined) = self.joined_nodes() {
            let (transport, options) =
                (self.transport_as("gantry-controllers"), self.joined_controller_options());
            let start = move |shutdown| gantry_controllers::run(transport.clone(), options.clone(), shutdown);
            self.tasks.spawn("controllers", joined.run_when_joined("kube-controller-manager", start));
        }
        if let Some(joined) = self.joined_nodes() {
            let transport = self.transport_as("gantry-scheduler");
            let options = self.scheduler_options(Informers::new());
            let start = move |shutdown| {
                let options = gantry_scheduler::Options { informers: Informers::new(), ..options.clone() };
                let run = gantry_scheduler::run(transport.clone(), options, shutdown);
                async {
                    run.await;
                    Ok(())
                }
            };
            self.tasks.spawn("scheduler", joined.run_when_joined("kube-scheduler", start));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.background.iter().for_each(JoinHandle::abort);
        if let Some(served) = &self.endpoint {
            served.serving.abort();
        }
        self.store.close();
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("url", &self.url())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl RunningEndpoint {
    fn start(server: &ApiServer, socket: Socket) -> Self {
        let Socket { listener, runtime, transport, kubeconfig } = socket;
        let (stopper, stop) = Stopper::new();
        let serving = listener.serve_on(&runtime, server.clone(), transport, stop);
        Self { kubeconfig, stopper: Some(stopper), serving, _runtime: runtime }
    }
}

fn node_options(options: &Options, metrics: Metrics) -> gantry_nodes::Options {
    gantry_nodes::Options {
        capacity: options.capacity.clone(),
        templates: options.templates.clone(),
        is_tainted: options.agent.is_some(),
        profile: options.profile.clone(),
        resolution: options.resolution,
        renew_every: options.renew_every,
        reports: options.omissions.reports(),
        normal_events: !options.omissions.normal_events,
        clock: options.environment.clock.clone(),
        ..gantry_nodes::Options::new(options.nodes, metrics)
    }
}

/// Completes the deletions that a crash interrupted.
async fn complete_deletions(server: ApiServer) {
    if let Err(refusal) = server.complete_deletions().await {
        tracing::warn!(
            "deletions of pods that a crash interrupted could not be completed: {}",
            refusal.message
        );
    }
}

/// Removes expired events, for as long as the server runs.
async fn remove_old_events(server: ApiServer) {
    loop {
        tokio::time::sleep(REMOVE_EVENTS_EVERY).await;
        if let Err(refusal) = server.delete_expired_events().await {
            tracing::warn!("old events could not be removed: {}", refusal.message);
        }
    }
}

/// Completes definitions that no other server completes, for as long as the server runs.
async fn reconcile_definitions(server: ApiServer) {
    loop {
        tokio::time::sleep(SETTLE_EVERY).await;
        if let Err(refusal) = server.reconcile_definitions().await {
            tracing::warn!("definitions could not be reconciled: {}", refusal.message);
        }
    }
}

/// Follows changes to flow control, and maintains its default objects, for as long as the server runs.
async fn reconcile_flow_control(server: ApiServer) {
    let mut maintained = Instant::now();
    loop {
        tokio::time::sleep(SETTLE_EVERY).await;
        let reconciled = if maintained.elapsed() >= MAINTAIN_FLOW_CONTROL_EVERY {
            maintained = Instant::now();
            server.maintain_flow_control().await
        } else {
            server.refresh_flow_control().await
        };
        if let Err(refusal) = reconciled {
            tracing::warn!("flow control could not be reconciled: {}", refusal.message);
        }
    }
}
