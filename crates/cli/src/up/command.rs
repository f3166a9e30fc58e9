//! `gantry up -- COMMAND`: runs a temporary cluster for one command.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};

use gantry_cluster::{Cluster, Options};
use gantry_runtime::error_chain;
use tokio::process::{Child, Command};

use super::signal_forwarding::{ForwardedSignals, forward};
use super::temp_dir::TempDir;
use super::{READY_TIMEOUT, UpFlags};
use crate::output::fail;
use crate::server_process::{self, StorageTarget};
use crate::sim_profile;

/// The exit codes of shells for a command that does not exist, and for one that cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_RUNNABLE: u8 = 126;
/// Added to the signal number in the exit code of a killed command.
const BY_SIGNAL: i32 = 128;

/// Starts a cluster, runs the command with KUBECONFIG set, and returns its status.
pub(super) async fn run(flags: &UpFlags) -> Result<ExitCode, String> {
    let mut signals = ForwardedSignals::new()?;
    let free_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let options = server_process::options(&flags.server, &StorageTarget::Memory, free_port).await?;
    let options = Options {
        nodes: flags.nodes(),
        agent: flags.agent(None).await?,
        profile: sim_profile::read(flags.sim_profile.as_deref())?,
        repairs: flags.repair.unwrap_or_default(),
        ..options
    };
    let mut cluster = server_process::launch(options).await?;
    let timeout = flags.wait.unwrap_or(READY_TIMEOUT);
    tokio::select! {
        ready = tokio::time::timeout(timeout, cluster.ready()) => match ready {
            Ok(ready) => ready.map_err(|error| error_chain(&error))?,
            Err(_) => return Err(format!("the cluster is not ready after {timeout:?}\nhint: wait longer with --wait=5m")),
        },
        signal = signals.next() => return Ok(status(BY_SIGNAL + signal.as_raw())),
    }
    let temp_dir = TempDir::new()?;
    let kubeconfig = temp_dir.file("kubeconfig");
    if let Some(written) = cluster.kubeconfig() {
        written.write(&kubeconfig).map_err(|error| error_chain(&error))?;
    }
    let Some((program, arguments)) = flags.command.split_first() else { return Ok(ExitCode::SUCCESS) };
    let mut command = Command::new(program);
    let ended = match command.args(arguments).env("KUBECONFIG", kubeconfig).spawn() {
        Ok(child) => wait(child, &mut cluster, &mut signals).await.map(code),
        Err(error) => Ok(cannot_run(program, &error)),
    };
    // The cluster is dropped without a graceful shutdown, because no data is kept; but containers are removed.
    if flags.cri.is_some() {
        cluster.stop().await;
    }
    ended
}

/// Waits for the command, and forwards signals to it.
async fn wait(
    mut child: Child,
    cluster: &mut Cluster,
    signals: &mut ForwardedSignals,
) -> Result<ExitStatus, String> {
    let cannot = |error: io::Error| format!("cannot wait for the command: {error}");
    loop {
        tokio::select! {
            ended = child.wait() => return ended.map_err(cannot),
            signal = signals.next() => forward(signal, child.id()),
            failed = cluster.failed() => {
                forward(rustix::process::Signal::TERM, child.id());
                child.wait().await.map_err(cannot)?;
                return Err(failed);
            }
        }
    }
}

fn code(ended: ExitStatus) -> ExitCode {
    status(ended.code().or_else(|| ended.signal().map(|signal| BY_SIGNAL + signal)).unwrap_or(1))
}

fn status(number: i32) -> ExitCode {
    ExitCode::from(u8::try_from(number).unwrap_or(1))
}

fn cannot_run(program: &OsString, error: &io::Error) -> ExitCode {
    fail(&format!("cannot run {}: {error}", program.display()));
    ExitCode::from(if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUNNABLE })
}
