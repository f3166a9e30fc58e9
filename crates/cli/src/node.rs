//! `gantry node`: makes this machine a node of any cluster; and the flags that `gantry up` shares with it.

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgAction, Args};
use gantry_node_agent::{AgentOptions, EvictionThresholds, OnStop, SoftEviction};
use gantry_node_join::JoinError;
use gantry_runtime::{Metrics, Tasks};

use crate::cluster::ConnectionFlags;
use crate::node_credentials::credentials;
use crate::server_process::{self, LogFormat, Signals, Verbosity};

/// The flags of a real node.
#[derive(Debug, Args)]
pub(crate) struct AgentFlags {
    /// The name of this machine as a node [default: its host name]
    #[arg(long, value_name = "NAME", requires = "cri")]
    node_name: Option<String>,
    /// The address of this machine as a node [default: that of the default route]
    #[arg(long, value_name = "ADDRESS", requires = "cri")]
    node_ip: Option<IpAddr>,
    /// The addresses of the cluster's DNS servers, comma-separated [default: that of the Service kube-dns]
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',', requires = "cri")]
    cluster_dns: Vec<IpAddr>,
    /// Route connections to Services on this machine with nftables; with `false`, kube-proxy or another proxy has to do it
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = true,
        action = ArgAction::Set,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        requires = "cri"
    )]
    service_proxy: bool,
    /// Serve the cluster's names to the pods of this machine, unless the cluster has a DNS server or --cluster-dns is given
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = true,
        action = ArgAction::Set,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        requires = "cri"
    )]
    dns_server: bool,
    /// Thresholds of memory and disk below which pods are evicted, such as memory.available<100Mi; a kubelet's by default
    #[arg(long, value_name = "THRESHOLDS", value_parser = EvictionThresholds::parse, requires = "cri")]
    eviction_hard: Option<EvictionThresholds>,
    /// Thresholds below which pods are evicted after a while, such as memory.available<1Gi
    #[arg(long, value_name = "THRESHOLDS", value_parser = EvictionThresholds::parse, requires_all = ["cri", "eviction_soft_grace_period"])]
    eviction_soft: Option<EvictionThresholds>,
    /// How long each soft threshold may be exceeded before pods are evicted, such as memory.available=1m30s
    #[arg(long, value_name = "DURATIONS", requires = "eviction_soft")]
    eviction_soft_grace_period: Option<String>,
    /// The longest grace period of pods that are evicted by a soft threshold, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0, requires = "cri")]
    eviction_max_pod_grace_period: u64,
    /// How long the node keeps reporting memory or disk pressure after it has ended, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, requires = "cri")]
    eviction_pressure_transition_period: u64,
}

/// The flags of `gantry node`.
#[derive(Debug, Args)]
pub(crate) struct NodeFlags {
    /// The socket of the container runtime; `auto` finds the usual ones
    #[arg(long, value_name = "SOCKET", default_value = "auto")]
    cri: String,
    #[command(flatten)]
    agent: AgentFlags,
    /// The directory of the volumes of pods
    #[arg(long, value_name = "DIRECTORY", default_value = "/var/lib/gantry/node")]
    root_dir: PathBuf,
    /// The pin of the authority of a cluster to join, as `gantry token create` prints it; may be repeated
    #[arg(long, value_name = "sha256:HASH")]
    ca_cert_hash: Vec<String>,
    /// The format of the log, which is written to standard error
    #[arg(long, value_enum, default_value = "text")]
    log_format: LogFormat,
    #[command(flatten)]
    cluster: Box<ConnectionFlags>,
}

impl AgentFlags {
    fn eviction_soft(&self) -> Result<SoftEviction, String> {
        let Some(thresholds) = &self.eviction_soft else { return Ok(SoftEviction::none()) };
        let grace = self.eviction_soft_grace_period.as_deref().unwrap_or_default();
        let pod_grace_max = Duration::from_secs(self.eviction_max_pod_grace_period);
        let soft = SoftEviction::new(thresholds.clone(), grace, pod_grace_max);
        soft.map_err(|why| format!("--eviction-soft-grace-period: {why}"))
    }

    /// Returns the options of the agent; an error says why this machine cannot be a node.
    pub(crate) async fn options(&self, cri: &str) -> Result<AgentOptions, String> {
        let unusable = |why: gantry_node_agent::NotUsable| format!("--cri {cri}: {why}");
        let socket = gantry_node_agent::find_socket(cri).map_err(unusable)?;
        if let Some(warning) = gantry_node_agent::check(&socket).await.map_err(unusable)? {
            tracing::warn!("{warning}");
        }
        Ok(AgentOptions {
            eviction_soft: self.eviction_soft()?,
            node_name: self.node_name.clone(),
            address: self.node_ip.map(|address| address.to_string()),
            cluster_dns: self.cluster_dns.iter().map(ToString::to_string).collect(),
            service_proxy: self.service_proxy,
            dns_server: self.dns_server,
            on_stop: OnStop::Keep,
            eviction_hard: self.eviction_hard.clone().unwrap_or_default(),
            pressure_transition: Duration::from_secs(self.eviction_pressure_transition_period),
            ..AgentOptions::new(socket, Metrics::new())
        })
    }
}

/// Runs the agent until the process receives a signal.
pub(crate) fn run(flags: &NodeFlags) -> ExitCode {
    server_process::run(flags.log_format, Verbosity::Info, serve(flags))
}

async fn serve(flags: &NodeFlags) -> Result<ExitCode, String> {
    let mut signals = Signals::new()?;
    let options = AgentOptions { root: flags.root_dir.clone(), ..flags.agent.options(&flags.cri).await? };
    let node = options.name();
    let joining = credentials(&flags.cluster, &flags.ca_cert_hash, &flags.root_dir, &node);
    let credentials = tokio::select! {
        credentials = joining => credentials?,
        () = signals.wait() => return Ok(ExitCode::SUCCESS),
    };
    let options = AgentOptions { client_ca: credentials.authority, ..options };
    tracing::info!(server = credentials.server, node, socket = %options.socket.display(), "starting");
    let mut tasks = Tasks::new();
    let signal = tasks.signal();
    if let Some(renewal) = credentials.renewal {
        let signal = signal.clone();
        tasks.spawn("certificate of the node", async move {
            signal.unless(renewal.run(node)).await;
            Ok::<(), JoinError>(())
        });
    }
    tasks.spawn("node agent", gantry_node_agent::run(credentials.transport, options, signal));
    let outcome = tokio::select! {
        () = signals.wait() => Ok(ExitCode::SUCCESS),
        failed = tasks.failed() => Err(failed),
    };
    tracing::info!("stopping; containers keep running");
    signals.until_second(tasks.end()).await;
    outcome
}
