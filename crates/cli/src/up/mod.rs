//! `gantry up`: runs a cluster in one process, in the foreground, detached, or for one command.

mod command;
mod detach;
mod signal_forwarding;
mod startup_message;
mod temp_dir;

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use gantry_cluster::{Cluster, Options};
use gantry_decide::deployment::Repairs;
use gantry_node_agent::{AgentOptions, OnStop};
use gantry_runtime::error_chain;

use crate::clusters::{ClusterDir, ClusterLock, ClusterName};
use crate::kubectl::duration;
use crate::node::AgentFlags;
use crate::output::{fail, print};
use crate::server_process::{self, ServerFlags, Signals, StorageTarget, Verbosity};
use crate::sim_profile;
use startup_message::StartupMessage;

/// The flags of `gantry up`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct UpFlags {
    /// The name of the cluster [default: gantry]
    #[arg(id = "cluster_name", long = "name", value_name = "NAME")]
    name: Option<ClusterName>,
    /// Store the data in this directory instead of the user's data directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with_all = ["in_memory", "cluster_name"])]
    data_dir: Option<PathBuf>,
    /// Store the data in memory, until the cluster stops
    #[arg(long)]
    in_memory: bool,
    /// The number of simulated nodes; with 0, pods stay pending until a node joins [default: 3, or 0 with --cri]
    #[arg(long, value_name = "N")]
    nodes: Option<usize>,
    /// Run real pods on this machine, with the container runtime at this socket; `auto` finds the usual ones
    #[arg(long, value_name = "SOCKET")]
    cri: Option<String>,
    #[command(flatten)]
    agent: AgentFlags,
    /// A profile that defines how pods behave on the simulated nodes
    #[arg(long, value_name = "FILE")]
    sim_profile: Option<PathBuf>,
    /// Repair these defects of Kubernetes, comma-separated: all, size-annotation, recreate-scaling, undo-deadline
    #[arg(long, value_name = "NAMES")]
    repair: Option<Repairs>,
    /// Run in the background, with a log file; `gantry down` stops it
    #[arg(long)]
    detach: bool,
    /// How long to wait until the API answers and all nodes are ready, with --detach or a command [default: 60s]
    #[arg(
        long,
        value_name = "TIMEOUT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "60s",
        value_parser = duration
    )]
    wait: Option<Duration>,
    /// Log warnings and errors only
    #[arg(short, long)]
    quiet: bool,
    /// The process that --detach started
    #[arg(long, hide = true)]
    detached: bool,
    #[command(flatten)]
    server: ServerFlags,
    /// Run this command with KUBECONFIG set to a temporary cluster, and exit with its status
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["cluster_name", "data_dir", "detach", "write_kubeconfig"])]
    command: Vec<OsString>,
}

/// The default address of the cluster `gantry` and of `gantry apiserver`.
pub(crate) const DEFAULT_ADDRESS: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 6443));
/// The default number of simulated nodes.
const NODES: usize = 3;
/// The default timeout until a cluster is ready.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs a cluster until it receives a signal.
pub(crate) fn run(flags: &UpFlags) -> ExitCode {
    let format = flags.server.log_format;
    if !flags.command.is_empty() {
        return server_process::run(format, Verbosity::Errors, command::run(flags));
    }
    if flags.detach && !flags.detached {
        return detach::run(flags);
    }
    if flags.wait.is_some() && !flags.detached {
        return fail(
            "--wait is for --detach and for a command\nhint: without them, `gantry up` prints a message when it is ready",
        );
    }
    let verbosity = if flags.quiet { Verbosity::Warnings } else { Verbosity::Info };
    server_process::run(format, verbosity, serve(flags))
}

async fn serve(flags: &UpFlags) -> Result<ExitCode, String> {
    if flags.detached {
        detach::leave_terminal()?;
    }
    let mut signals = Signals::new()?;
    let dir = flags.dir();
    let mut lock = flags.lock(dir.as_ref())?;
    let (mut cluster, kubeconfig) = flags.start(dir.as_ref()).await?;
    let url = cluster.url().unwrap_or_default().to_owned();
    if let Some(lock) = &mut lock {
        lock.publish(&url, kubeconfig.clone())?;
    }
    if flags.detached {
        print(detach::SERVING);
    }
    let is_ready = tokio::select! {
        ready = cluster.ready() => ready.map(|()| true).map_err(|error| error_chain(&error))?,
        () = signals.wait() => false,
    };
    if !is_ready {
        signals.until_second(cluster.stop()).await;
        return Ok(ExitCode::SUCCESS);
    }
    let startup_message = StartupMessage {
        dir: dir.as_ref().ok(),
        in_memory: flags.in_memory,
        nodes: flags.nodes(),
        has_agent: flags.cri.is_some(),
        url,
        kubeconfig,
    };
    // A closed standard output does not stop the cluster.
    print(&if flags.detached { detach::READY.to_owned() } else { startup_message.in_foreground() });
    server_process::run_to_end(cluster, &mut signals).await?;
    drop(lock);
    Ok(ExitCode::SUCCESS)
}

impl UpFlags {
    /// The directory of the cluster.
    fn dir(&self) -> Result<ClusterDir, String> {
        match (&self.data_dir, &self.name) {
            (Some(directory), _) => {
                Ok(ClusterDir::at(std::path::absolute(directory).unwrap_or_else(|_| directory.clone())))
            }
            (None, Some(name)) => ClusterDir::named(name.clone()),
            (None, None) if self.in_memory => ClusterDir::named(ClusterName::of_process(std::process::id())),
            (None, None) => ClusterDir::named(ClusterName::default()),
        }
    }

    /// The number of simulated nodes.
    fn nodes(&self) -> usize {
        self.nodes.unwrap_or(if self.cri.is_some() { 0 } else { NODES })
    }

    /// The options of the agent that makes this machine a node. A cluster in memory leaves no containers behind; those of
    /// others keep running until it is started again or deleted.
    async fn agent(&self, dir: Option<&ClusterDir>) -> Result<Option<AgentOptions>, String> {
        let Some(cri) = &self.cri else { return Ok(None) };
        let options = self.agent.options(cri).await?;
        let on_stop = if self.in_memory || !self.command.is_empty() { OnStop::Remove } else { OnStop::Keep };
        Ok(Some(AgentOptions { on_stop, record: dir.map(ClusterDir::node_record), ..options }))
    }

    /// Locks the cluster's directory. An unnamed in-memory cluster with --write-kubeconfig needs none; it is not listed then.
    fn lock(&self, dir: Result<&ClusterDir, &String>) -> Result<Option<ClusterLock>, String> {
        let taken =
            dir.map_err(Clone::clone).and_then(|dir| ClusterLock::take(dir, self.in_memory, self.nodes()));
        match taken {
            Err(why) if self.in_memory && self.name.is_none() && self.server.write_kubeconfig.is_some() => {
                tracing::info!("`gantry clusters` will not list this cluster: {why}");
                Ok(None)
            }
            taken => taken.map(Some),
        }
    }

    /// Starts the cluster and writes its kubeconfigs; returns the path of --write-kubeconfig, or the default one.
    async fn start(&self, dir: Result<&ClusterDir, &String>) -> Result<(Cluster, PathBuf), String> {
        let storage = match dir {
            Ok(dir) if !self.in_memory => StorageTarget::Directory(dir.directory.clone()),
            _ => StorageTarget::Memory,
        };
        let dir = dir.ok().filter(|dir| dir.directory.exists());
        let name = dir.map(ClusterDir::context);
        let options = server_process::options(&self.server, &storage, self.address(dir)).await?;
        let name = name.unwrap_or_else(|| options.name.clone());
        let repairs = self.repair.unwrap_or_default();
        let profile = sim_profile::read(self.sim_profile.as_deref())?;
        let agent = self.agent(dir).await?;
        let options = Options { name, nodes: self.nodes(), agent, profile, repairs, ..options };
        let cluster = server_process::launch(options).await?;
        let own = dir.map(ClusterDir::kubeconfig);
        let requested = self.server.write_kubeconfig.clone();
        let requested = requested.map(|file| std::path::absolute(&file).unwrap_or(file));
        for file in own.iter().chain(&requested) {
            let written = cluster.kubeconfig().map_or(Ok(()), |kubeconfig| kubeconfig.write(file));
            written.map_err(|error| format!("--write-kubeconfig: {}", error_chain(&error)))?;
        }
        if let (Some(dir), Some(url)) = (dir.filter(|_| !self.in_memory), cluster.url()) {
            save_port(dir, url)?;
        }
        let kubeconfig =
            requested.or(own).ok_or("no path for the kubeconfig\nhint: use --write-kubeconfig")?;
        Ok((cluster, kubeconfig))
    }

    /// The default address: port 6443 for `gantry` and for --data-dir, otherwise the port of the last start or
    /// a free one.
    fn address(&self, dir: Option<&ClusterDir>) -> SocketAddr {
        let has_fixed_port = match dir {
            Some(ClusterDir { name: Some(name), .. }) => name.is_default(),
            Some(ClusterDir { name: None, .. }) => true,
            None => false,
        };
        if has_fixed_port && !self.in_memory {
            return DEFAULT_ADDRESS;
        }
        let port = dir.and_then(ClusterDir::port).unwrap_or(0);
        SocketAddr::from((Ipv4Addr::LOCALHOST, port))
    }
}

/// Saves the port of a cluster without a fixed one.
fn save_port(dir: &ClusterDir, url: &str) -> Result<(), String> {
    let is_fixed = dir.name.as_ref().is_none_or(ClusterName::is_default);
    let port = url.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    match port.filter(|_| !is_fixed) {
        Some(port) => dir.save_port(port),
        None => Ok(()),
    }
}
