//! `gantry down`: stops a cluster and returns when it has stopped.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::{Pid, Signal, kill_process};

use super::cluster_dir::ClusterDir;
use super::name::ClusterName;
use super::process_record::{ProcessRecord, running};
use crate::kubectl::duration;
use crate::output::{fail, print};

/// The flags of `gantry down`.
#[derive(Debug, Args)]
pub(crate) struct DownFlags {
    /// The cluster [default: gantry]
    #[arg(id = "cluster_name", value_name = "NAME", conflicts_with = "data_dir")]
    name: Option<ClusterName>,
    /// The cluster with this data directory
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// How long to wait until it has stopped
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    timeout: Duration,
    /// Kill it immediately; acknowledged writes are kept
    #[arg(long)]
    force: bool,
}

/// How often the process is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Stops a cluster.
pub(crate) fn run(flags: &DownFlags) -> ExitCode {
    match stop_cluster(flags) {
        Ok(text) => print(&text),
        Err(message) => fail(&message),
    }
}

fn stop_cluster(flags: &DownFlags) -> Result<String, String> {
    let dir = match &flags.data_dir {
        Some(directory) => ClusterDir::at(directory.clone()),
        None => ClusterDir::named(flags.name.clone().unwrap_or_default())?,
    };
    if !dir.directory.exists() {
        return Err(super::unknown(&dir));
    }
    let signal = if flags.force { Signal::KILL } else { Signal::TERM };
    match running(&dir)? {
        None => Ok(format!("{} is not running\n", dir.title())),
        Some(record) => {
            stop(&dir, &record, signal, flags.timeout)?;
            Ok(format!("{} has stopped\n", dir.title()))
        }
    }
}

/// Sends a signal to the process that runs a cluster, and returns when it has ended.
pub(super) fn stop(
    dir: &ClusterDir,
    record: &ProcessRecord,
    signal: Signal,
    timeout: Duration,
) -> Result<(), String> {
    let cannot = |why: &str| format!("cannot stop {}: process {}: {why}", dir.title(), record.pid);
    let pid =
        i32::try_from(record.pid).ok().and_then(Pid::from_raw).ok_or_else(|| cannot("no such process"))?;
    kill_process(pid, signal).map_err(|error| cannot(&error.to_string()))?;
    let end = Instant::now() + timeout;
    while running(dir)?.is_some_and(|found| found == *record || found.pid == record.pid) {
        if Instant::now() >= end {
            return Err(format!(
                "{} is still running after {timeout:?}: process {}\nhint: wait longer with --timeout, or use --force",
                dir.title(),
                record.pid
            ));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}
