//! The options of the agent.

use std::path::PathBuf;
use std::time::Duration;

use gantry_runtime::{Clock, Informers, Metrics};

use crate::pressure::EvictionThresholds;
use crate::soft_eviction::SoftEviction;

/// The options of the agent.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// The socket of the container runtime.
    pub socket: PathBuf,
    /// The name of the node; the host name if `None`.
    pub node_name: Option<String>,
    /// The address of the node; that of the default route if `None`.
    pub address: Option<String>,
    /// The directory of the volumes of pods, with a subdirectory for each cluster.
    pub root: PathBuf,
    /// The directory of the logs of pods.
    pub logs: PathBuf,
    /// The addresses of the cluster's DNS servers. If empty, that of the Service `kube-dns` is used, or those of the node.
    pub cluster_dns: Vec<String>,
    /// The domain of the cluster.
    pub cluster_domain: String,
    /// Whether connections to Services are routed on this node. Without it, kube-proxy or another proxy does it.
    pub service_proxy: bool,
    /// Whether the node serves the names of the cluster to its pods, if `cluster_dns` is empty and the cluster has no DNS server.
    pub dns_server: bool,
    /// The thresholds below which pods are evicted at once.
    pub eviction_hard: EvictionThresholds,
    /// The thresholds below which pods are evicted after a while, with a grace period.
    pub eviction_soft: SoftEviction,
    /// How long the node reports pressure after it has ended.
    pub pressure_transition: Duration,
    /// The maximum number of pods.
    pub pods_max: u32,
    /// Labels of the node.
    pub labels: Vec<(String, String)>,
    /// A file with a record of the node's resources, which [`remove_recorded`](crate::remove_recorded) removes.
    pub record: Option<PathBuf>,
    /// The port of the agent's server; if `None`, the kubelet's, or any free port if that is taken.
    pub port: Option<u16>,
    /// The certificates, in PEM, of the authorities of clients of the agent's server. Without them there is no server.
    pub client_ca: Option<String>,
    /// How pods are handled when the agent stops.
    pub on_stop: OnStop,
    /// The informers of the process, which other components may share.
    pub informers: Informers,
    /// The clock.
    pub clock: Clock,
    /// The metrics of requests and queues.
    pub metrics: Metrics,
}

/// How the containers of a node are handled when its agent stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStop {
    /// They keep running, and the next agent continues with them.
    Keep,
    /// They are stopped and removed, because the cluster ends with the agent.
    Remove,
}

impl AgentOptions {
    /// Returns the defaults for a runtime behind this socket.
    pub fn new(socket: PathBuf, metrics: Metrics) -> Self {
        Self {
            socket,
            node_name: None,
            address: None,
            root: PathBuf::from("/var/lib/gantry/node"),
            logs: PathBuf::from("/var/log/pods"),
            cluster_dns: Vec::new(),
            cluster_domain: "cluster.local".to_owned(),
            service_proxy: true,
            dns_server: true,
            eviction_hard: EvictionThresholds::default(),
            eviction_soft: SoftEviction::none(),
            pressure_transition: Duration::from_mins(5),
            pods_max: 110,
            labels: Vec::new(),
            record: None,
            port: None,
            client_ca: None,
            on_stop: OnStop::Keep,
            informers: Informers::new(),
            clock: Clock::system(),
            metrics,
        }
    }

    /// Returns the name of the node.
    pub fn name(&self) -> String {
        self.node_name.clone().unwrap_or_else(crate::machine_info::host_name)
    }
}
