//! `gantry up`: a whole cluster in one process, in the foreground, detached, or around a command. Flags in, calls out.

mod around;
mod detach;
mod forward;
mod scratch;
mod welcome;

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use gantry_cluster::{Cluster, Options, Profile};
use gantry_runtime::chain;

use crate::clusters::{Claim, ClusterName, Home};
use crate::host::{self, Amount, Keeping, ServerFlags, Signals};
use crate::kubectl::duration;
use crate::output::{fail, print};
use welcome::Welcome;

/// The flags of `gantry up`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct UpFlags {
    /// The name of the cluster, which has its own data, port and kubeconfig [default: gantry]
    #[arg(long, value_name = "NAME")]
    name: Option<ClusterName>,
    /// Keep everything in this directory instead of in your own data directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with_all = ["in_memory", "name"])]
    data_dir: Option<PathBuf>,
    /// Keep everything in memory, until it stops
    #[arg(long)]
    in_memory: bool,
    /// How many nodes to simulate; with 0 there is no scheduler either, and pods stay pending
    #[arg(long, value_name = "N", default_value_t = 3)]
    nodes: usize,
    /// A file that says how pods behave on the simulated nodes
    #[arg(long, value_name = "FILE")]
    sim_profile: Option<PathBuf>,
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
    /// Run this command against a cluster that is thrown away afterwards, with KUBECONFIG set, and exit with its status
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["name", "data_dir", "detach", "write_kubeconfig"])]
    command: Vec<OsString>,
}

/// Where the cluster `gantry` listens, and `gantry apiserver`.
pub(crate) const DEFAULT_ADDRESS: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 6443));
/// How long a cluster may take until it is ready.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs a cluster until it is told to stop.
pub(crate) fn run(flags: &UpFlags) -> ExitCode {
    let format = flags.server.log_format;
    if !flags.command.is_empty() {
        return host::run(format, Amount::Errors, around::run(flags));
    }
    if flags.detach && !flags.detached {
        return detach::run(flags);
    }
    if flags.wait.is_some() && !flags.detached {
        return fail(
            "--wait is for --detach and for a command\nhint: without them `gantry up` says when it is ready",
        );
    }
    let amount = if flags.quiet { Amount::Quiet } else { Amount::Usual };
    host::run(format, amount, serve(flags))
}

async fn serve(flags: &UpFlags) -> Result<ExitCode, String> {
    if flags.detached {
        detach::leave_terminal()?;
    }
    let mut signals = Signals::new()?;
    let home = flags.home();
    let mut claim = flags.claim(home.as_ref())?;
    let (mut cluster, kubeconfig) = flags.start(home.as_ref()).await?;
    let url = cluster.url().unwrap_or_default().to_owned();
    if let Some(claim) = &mut claim {
        claim.publish(&url, kubeconfig.clone())?;
    }
    if flags.detached {
        print(detach::SERVING);
    }
    let is_ready = tokio::select! {
        ready = cluster.ready() => ready.map(|()| true).map_err(|error| chain(&error))?,
        () = signals.wait() => false,
    };
    if !is_ready {
        signals.until_second(cluster.stop()).await;
        return Ok(ExitCode::SUCCESS);
    }
    let welcome =
        Welcome { home: home.as_ref().ok(), in_memory: flags.in_memory, nodes: flags.nodes, url, kubeconfig };
    // A closed standard output is no reason not to run.
    print(&if flags.detached { detach::READY.to_owned() } else { welcome.in_foreground() });
    host::run_to_end(cluster, &mut signals).await?;
    drop(claim);
    Ok(ExitCode::SUCCESS)
}

impl UpFlags {
    /// The directory of the cluster.
    fn home(&self) -> Result<Home, String> {
        match (&self.data_dir, &self.name) {
            (Some(directory), _) => {
                Ok(Home::at(std::path::absolute(directory).unwrap_or_else(|_| directory.clone())))
            }
            (None, Some(name)) => Home::named(name.clone()),
            (None, None) if self.in_memory => Home::named(ClusterName::of_process(std::process::id())),
            (None, None) => Home::named(ClusterName::default()),
        }
    }

    /// The right to run the cluster. A cluster in memory without a name needs no directory, if its kubeconfig has
    /// another place; then it is not listed.
    fn claim(&self, home: Result<&Home, &String>) -> Result<Option<Claim>, String> {
        let taken = home.map_err(Clone::clone).and_then(|home| Claim::take(home, self.in_memory, self.nodes));
        match taken {
            Err(why) if self.in_memory && self.name.is_none() && self.server.write_kubeconfig.is_some() => {
                tracing::info!("`gantry clusters` will not list this cluster: {why}");
                Ok(None)
            }
            taken => taken.map(Some),
        }
    }

    /// Starts the cluster and writes its kubeconfigs; returns the one that was asked for.
    async fn start(&self, home: Result<&Home, &String>) -> Result<(Cluster, PathBuf), String> {
        let keeping = match home {
            Ok(home) if !self.in_memory => Keeping::Directory(home.directory.clone()),
            _ => Keeping::Memory,
        };
        let home = home.ok().filter(|home| home.directory.exists());
        let name = home.map(Home::context);
        let options = host::options(&self.server, &keeping, self.address(home)).await?;
        let name = name.unwrap_or_else(|| options.name.clone());
        let cluster =
            host::launch(Options { name, nodes: self.nodes, profile: self.profile()?, ..options }).await?;
        let own = home.map(Home::kubeconfig);
        let asked = self.server.write_kubeconfig.clone();
        let asked = asked.map(|file| std::path::absolute(&file).unwrap_or(file));
        for file in own.iter().chain(&asked) {
            let written = cluster.kubeconfig().map_or(Ok(()), |kubeconfig| kubeconfig.write(file));
            written.map_err(|error| format!("--write-kubeconfig: {}", chain(&error)))?;
        }
        if let (Some(home), Some(url)) = (home.filter(|_| !self.in_memory), cluster.url()) {
            remember(home, url)?;
        }
        let kubeconfig =
            asked.or(own).ok_or("there is no place for the kubeconfig\nhint: use --write-kubeconfig")?;
        Ok((cluster, kubeconfig))
    }

    /// Where to listen if it is not said: 6443 for `gantry` and for a directory, otherwise the port of the last start or
    /// a free one.
    fn address(&self, home: Option<&Home>) -> SocketAddr {
        let has_fixed_port = match home {
            Some(Home { name: Some(name), .. }) => name.is_default(),
            Some(Home { name: None, .. }) => true,
            None => false,
        };
        if has_fixed_port && !self.in_memory {
            return DEFAULT_ADDRESS;
        }
        let port = home.and_then(Home::port).unwrap_or(0);
        SocketAddr::from((Ipv4Addr::LOCALHOST, port))
    }

    fn profile(&self) -> Result<Profile, String> {
        let Some(file) = &self.sim_profile else { return Ok(Profile::built_in()) };
        let name = file.display();
        let text = std::fs::read_to_string(file)
            .map_err(|error| format!("--sim-profile: cannot read {name}: {error}"))?;
        Profile::read(&text).map_err(|error| format!("--sim-profile: {name}: {error}"))
    }
}

/// Remembers the port of a cluster that is not always on the same one.
fn remember(home: &Home, url: &str) -> Result<(), String> {
    let is_fixed = home.name.as_ref().is_none_or(ClusterName::is_default);
    let port = url.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    match port.filter(|_| !is_fixed) {
        Some(port) => home.remember_port(port),
        None => Ok(()),
    }
}
