//! Runs the agent.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gantry_cri::{Runtime, RuntimeError};
use gantry_decide::queue::RetryPolicy;
use gantry_model::ObjectKey;
use gantry_nodes::pod_lifecycle::FoundPod;
use gantry_nodes::{CachedPod, PodWorkers};
use gantry_runtime::informer::{Cached as _, InformerScope, Plain, resource_of};
use gantry_runtime::{Api, ApiTransport, EventRecorder, Queue, ResourcePath, Shutdown};
use gantry_service_proxy::{ProxyOptions, ServiceProxy};
use k8s_openapi::api::core::v1 as core;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use crate::agent::{Agent, AgentRuntime};
use crate::cgroups::Cgroups;
use crate::cluster_dns::{self, ClusterDns};
use crate::eviction::{self, Evictions};
use crate::known_pods::{KnownPod, KnownPods};
use crate::machine_info::{self, MachineInfo};
use crate::node_object::NodeFacts;
use crate::node_record::NodeRecord;
use crate::objects::PodObjects;
use crate::options::{AgentOptions, OnStop};
use crate::pod_files::PodFiles;
use crate::registration::Registration;
use crate::runtime_pods::{self, RuntimePod, RuntimePods};
use crate::sandbox_config::{SandboxSettings, parse_resolv_conf};
use crate::server::{Listener, NodeServer};
use crate::{relist, termination};

/// The field manager.
const MANAGER: &str = "gantry-node-agent";
/// The maximum number of pods that are synced concurrently.
const SYNCS_MAX: usize = 32;
/// The maximum number of images that are pulled concurrently.
const PULLS_MAX: usize = 4;
/// The pause between attempts to reach the runtime or the server at the start.
const RETRY: Duration = Duration::from_secs(1);

/// Runs the agent until shutdown.
///
/// It continues with the containers that an agent of the same node and cluster has left running. The future is boxed so
/// that it is compiled here, not in each crate that awaits it.
pub fn run(
    transport: ApiTransport,
    options: AgentOptions,
    shutdown: Shutdown,
) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> {
    Box::pin(run_agent(transport, options, shutdown))
}

async fn run_agent(transport: ApiTransport, options: AgentOptions, shutdown: Shutdown) -> Result<(), String> {
    let api = Api::new(transport, MANAGER, options.metrics.clone());
    let cri = Runtime::at(&options.socket);
    let Some(Start { cluster, version }) = shutdown.unless(start(&api, &cri)).await else { return Ok(()) };
    let owner = format!("{cluster}.{}", options.name());
    let node_record = NodeRecord {
        socket: options.socket.clone(),
        root: options.root.join(&owner),
        logs: options.logs.clone(),
        owner: owner.clone(),
    };
    std::fs::create_dir_all(&node_record.root)
        .map_err(|error| format!("cannot create {}: {error}", node_record.root.display()))?;
    if let Some(record) = &options.record {
        node_record.write(record).map_err(|error| format!("cannot write {}: {error}", record.display()))?;
    }
    let (events, writer) = EventRecorder::new(api.clone(), options.clock.clone());
    let informers = &options.informers;
    let of_node = InformerScope::all().fields(format!("spec.nodeName={}", options.name()));
    let pods = informers.scoped::<CachedPod>(of_node);
    let services = informers.of::<Plain<core::Service>>();
    let resolv = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let node_dns = parse_resolv_conf(&resolv);
    let dns = shutdown.unless(ClusterDns::prepare(&api, &options, &node_dns.servers)).await;
    let Some(ClusterDns { servers: cluster_dns, own_server }) = dns else { return Ok(()) };
    let proxy = if options.service_proxy {
        let own_services = own_server.iter().filter_map(cluster_dns::own_service).collect();
        let proxy = ProxyOptions { owner: owner.clone(), node: options.name(), own_services };
        Some(ServiceProxy::new(&proxy, informers))
    } else {
        gantry_service_proxy::remove_tables(&owner).await;
        None
    };
    let queue = Queue::<ObjectKey>::new("pods", options.clock.clone(), &options.metrics);
    let address = options.address.clone().unwrap_or_else(|| machine_info::address().to_string());
    let listener = match &options.client_ca {
        Some(authorities) => Some(Listener::bind(&address, options.port, authorities).await?),
        None => None,
    };
    let facts = Arc::new(NodeFacts {
        name: options.name(),
        address,
        machine: MachineInfo::inspect(&node_record.root),
        pods_max: options.pods_max,
        runtime: format!("{}://{}", version.runtime_name, version.runtime_version),
        port: listener.as_ref().and_then(Listener::port),
        labels: options.labels.clone(),
    });
    let cgroups = shutdown.unless(Cgroups::prepare(&cri, &owner, facts.machine.cpus)).await;
    let Some(cgroups) = cgroups else { return Ok(()) };
    let settings = SandboxSettings {
        owner,
        node: facts.name.clone(),
        logs: options.logs.to_string_lossy().into_owned(),
        cluster_dns,
        cluster_domain: options.cluster_domain.clone(),
        node_dns,
    };
    let evictions = Arc::new(Evictions::new(&options));
    let agent = Arc::new(Agent {
        evictions: evictions.clone(),
        runtime_name: version.runtime_name,
        facts: facts.clone(),
        settings,
        cgroups,
        root: node_record.root.clone(),
        objects: PodObjects::new(api.clone(), options.clock.clone()),
        services,
        proxy: proxy.clone(),
        events,
        clock: options.clock.clone(),
        queue: queue.clone(),
        pods: KnownPods::default(),
        found: Mutex::new(BTreeMap::new()),
        pulls: Semaphore::new(PULLS_MAX),
        cleanup: Notify::new(),
        cri: cri.clone(),
    });
    let Some(found) = shutdown.unless(find_all(&agent)).await else { return Ok(()) };
    *agent.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = found;

    let mut tasks = JoinSet::new();
    tasks.spawn(writer.run(shutdown.clone()));
    let (to_queue, node) = (queue.clone(), facts.name.clone());
    pods.subscribe(move |change| {
        let pod = change.object();
        if pod.wire.spec.as_ref().is_some_and(|spec| spec.node_name.as_deref() == Some(&node)) {
            to_queue.add(pod.key());
        }
    });
    informers.start(&mut tasks, &api, &options.clock, &shutdown);
    let registration = Registration {
        api: api.clone(),
        clock: options.clock.clone(),
        runtime: cri.clone(),
        facts,
        evictions,
    };
    tasks.spawn(registration.run(shutdown.clone()));
    if let Some(server) = own_server {
        tasks.spawn(server.run(shutdown.clone()));
    }
    if let Some(proxy) = proxy {
        tasks.spawn(proxy.run(shutdown.clone()));
    }
    // Service variables are part of the environment, so pods wait for the services.
    if shutdown.unless(agent.services.synced()).await.is_none() {
        return Ok(());
    }
    tasks.spawn(eviction::run(agent.clone(), pods.clone(), shutdown.clone()));
    tasks.spawn(relist::run(agent.clone(), pods.clone(), shutdown.clone()));
    if let Some(listener) = listener {
        let server = NodeServer {
            agent: agent.clone(),
            pods: pods.clone(),
            api: api.clone(),
            metrics: options.metrics.clone(),
            last_cpu: Mutex::default(),
        };
        tasks.spawn(listener.serve(Arc::new(server), shutdown.clone()));
    }
    let runtime = Arc::new(AgentRuntime { agent: agent.clone(), shutdown: shutdown.clone() });
    let workers = Arc::new(PodWorkers::new(pods, runtime, api, options.clock.clone(), Duration::ZERO));
    let working = queue.work(SYNCS_MAX, RetryPolicy::REPLICA_SET, shutdown, move |key| {
        let workers = workers.clone();
        async move { workers.sync_pod(key).await }
    });
    working.await;
    while tasks.join_next().await.is_some() {}
    if options.on_stop == OnStop::Remove {
        node_record.remove(&cri).await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The information that is needed first.
struct Start {
    /// The identity of the cluster.
    cluster: String,
    version: gantry_cri::wire::VersionResponse,
}

/// Waits for the server and the runtime.
async fn start(api: &Api, cri: &Runtime) -> Start {
    let namespace = ResourcePath::object(&resource_of::<core::Namespace>(), None, &"kube-system".into());
    let cluster = loop {
        match api.get::<core::Namespace>(&namespace).await {
            Ok(namespace) => break namespace.metadata.uid.unwrap_or_default(),
            Err(failure) => {
                tracing::info!(%failure, "waiting for the API server");
                tokio::time::sleep(RETRY).await;
            }
        }
    };
    loop {
        match cri.version().await {
            Ok(version) => return Start { cluster, version },
            Err(error) => {
                tracing::warn!(%error, "waiting for the container runtime");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

/// Finds the pods of this node in the runtime. Repeated until it succeeds: a container that the previous agent was
/// starting can neither be used nor removed for a moment.
async fn find_all(agent: &Agent) -> BTreeMap<String, (KnownPod, FoundPod)> {
    loop {
        match try_find_all(agent).await {
            Ok(found) => return found,
            Err(error) => {
                tracing::info!(%error, "waiting for the containers of the node");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

async fn try_find_all(agent: &Agent) -> Result<BTreeMap<String, (KnownPod, FoundPod)>, RuntimeError> {
    let listed_pods = RuntimePods::list(&agent.cri, &agent.settings.owner).await?;
    let mut found = BTreeMap::new();
    for (uid, runtime_pod) in listed_pods.0 {
        let pod = find(agent, &uid, &runtime_pod).await?;
        found.insert(uid, pod);
    }
    Ok(found)
}

async fn find(
    agent: &Agent,
    uid: &str,
    runtime_pod: &RuntimePod,
) -> Result<(KnownPod, FoundPod), RuntimeError> {
    let sandbox = runtime_pod.ready_sandbox();
    let mut known = KnownPod { is_mounted: sandbox.is_some(), ..KnownPod::default() };
    let attempts = runtime_pod.sandboxes.iter().filter_map(|sandbox| sandbox.metadata.as_ref());
    let mut found = FoundPod {
        sandboxes: attempts.map(|metadata| metadata.attempt + 1).max().unwrap_or(0),
        is_ready: sandbox.is_some(),
        containers: Vec::new(),
    };
    if let Some(sandbox) = sandbox {
        known.ips = agent.cri.sandbox_status(&sandbox.id).await?.ips();
        known.sandbox = Some(sandbox.id.clone());
    }
    for (name, container) in runtime_pod.latest() {
        let status = agent.cri.container_status(&container.id).await?;
        if status.state() == gantry_cri::wire::RuntimeContainerState::Created {
            // The agent ended between creating and starting it.
            agent.cri.remove_container(&container.id).await?;
            continue;
        }
        let attempt = status.metadata.as_ref().map_or(0, |metadata| metadata.attempt);
        let file = PodFiles::new(&agent.root, uid).termination_message(name, attempt);
        let container =
            runtime_pods::found(&status, &agent.runtime_name, || termination::message(&file, None));
        if container.exit.is_some() {
            known.handled_exits.insert(container.identity.id.clone());
        }
        known.containers.insert(name.to_owned(), status.id);
        found.containers.push(container);
    }
    Ok((known, found))
}
