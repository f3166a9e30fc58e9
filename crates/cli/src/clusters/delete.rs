//! `gantry delete-cluster`: removes a cluster and its data, after confirmation.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use rustix::process::Signal;

use super::cluster_dir::ClusterDir;
use super::down::stop;
use super::name::ClusterName;
use super::process_record::{lock, running};
use crate::output::{fail, print};

/// The flags of `gantry delete-cluster`.
#[derive(Debug, Args)]
pub(crate) struct DeleteClusterFlags {
    /// The cluster
    #[arg(id = "cluster_name", value_name = "NAME")]
    name: ClusterName,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Stop the cluster first, if it is running
    #[arg(long)]
    force: bool,
}

/// How long a cluster may take to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// Removes a cluster.
pub(crate) fn run(flags: &DeleteClusterFlags) -> ExitCode {
    match delete(flags) {
        Ok(text) => print(&text),
        Err(message) => fail(&message),
    }
}

/// Removes the containers that the cluster left running on this machine.
fn remove_containers(dir: &ClusterDir) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    let removed = runtime.block_on(async { gantry_node_agent::remove_recorded(&dir.node_record()).await });
    removed.map_err(|error| {
        format!("cannot remove the containers of the cluster: {error}\nhint: start the container runtime, or run this as root")
    })
}

fn delete(flags: &DeleteClusterFlags) -> Result<String, String> {
    let dir = ClusterDir::named(flags.name.clone())?;
    if !ClusterDir::all()?.contains(&dir) {
        return Err(super::unknown(&dir));
    }
    let (title, directory) = (dir.title(), dir.directory.display());
    let record = running(&dir)?;
    if let Some(record) = record.as_ref().filter(|_| !flags.force) {
        return Err(format!(
            "{title} is running: process {}\nhint: stop it with `gantry down {}`, or use --force",
            record.pid, flags.name
        ));
    }
    if !flags.yes && !agreed(&format!("Delete {title} and all its data in {directory}? [y/N] "))? {
        return Err("nothing was deleted".to_owned());
    }
    if let Some(record) = &record {
        stop(&dir, record, Signal::TERM, STOP_TIMEOUT)?;
        if record.in_memory {
            return Ok(format!("{title} was deleted\n"));
        }
    }
    // Held until everything is removed, so that the cluster is not started meanwhile.
    let _lock = lock(&dir)?;
    remove_containers(&dir)?;
    dir.remove().map_err(|error| format!("cannot delete {directory}: {error}"))?;
    Ok(format!("{title} was deleted\n"))
}

/// Asks for confirmation; fails without a terminal.
fn agreed(request: &str) -> Result<bool, String> {
    if !io::stdin().is_terminal() {
        return Err(
            "nothing was deleted: there is no terminal for confirmation\nhint: --yes deletes without confirmation"
                .to_owned(),
        );
    }
    let prompted = io::stderr().write_all(request.as_bytes()).and_then(|()| io::stderr().flush());
    prompted.map_err(|error| format!("cannot ask: {error}"))?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(|error| format!("cannot read the answer: {error}"))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
