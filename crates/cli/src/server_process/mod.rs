//! A process that serves the API until it receives a signal: flags, logging, signals, and start errors.

mod etcd;
mod flags;
mod listen;
mod logging;
mod start_error;
mod tokens;

use std::net::SocketAddr;
use std::pin::Pin;
use std::process::ExitCode;

use gantry_cluster::{Cluster, Endpoint, Options, Storage, Tls};
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};

pub(crate) use etcd::open as open_etcd;
pub(crate) use flags::{Etcd, EtcdFiles, LogFormat, ServerFlags, StorageTarget};
pub(crate) use logging::{Verbosity, start as start_logging};

use crate::output::{fail, print_stderr};

/// SIGTERM and SIGINT.
pub(crate) struct Signals([Signal; 2]);

/// Runs a server on a multi-threaded runtime.
pub(crate) fn run(
    log_format: LogFormat,
    verbosity: Verbosity,
    work: impl Future<Output = Result<ExitCode, String>>,
) -> ExitCode {
    run_on(Builder::new_multi_thread(), log_format, verbosity, Box::pin(work))
}

/// Runs clients of a server on one thread: they mostly wait for it, and waking another thread costs more than the work it would do.
pub(crate) fn run_clients(
    log_format: LogFormat,
    verbosity: Verbosity,
    work: impl Future<Output = Result<ExitCode, String>>,
) -> ExitCode {
    run_on(Builder::new_current_thread(), log_format, verbosity, Box::pin(work))
}

/// The work is boxed so that the runtime is compiled once, not for each command.
fn run_on(
    runtime: Builder,
    log_format: LogFormat,
    verbosity: Verbosity,
    work: Pin<Box<dyn Future<Output = Result<ExitCode, String>> + '_>>,
) -> ExitCode {
    start_logging(log_format, verbosity);
    gantry_serving::raise_file_descriptor_limit();
    let runtime = match gantry_serving::build_runtime(runtime) {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("cannot start: {error}")),
    };
    match runtime.block_on(work) {
        Ok(code) => code,
        Err(message) => fail(&message),
    }
}

/// The cluster options of these flags; `address` is the default for --listen.
pub(crate) async fn options(
    flags: &ServerFlags,
    target: &StorageTarget,
    address: SocketAddr,
) -> Result<Options, String> {
    let address = flags.listen.unwrap_or(address);
    flags.check(address)?;
    let storage = match target {
        StorageTarget::Memory => Storage::Memory,
        StorageTarget::Directory(directory) => Storage::Directory(directory.clone()),
        StorageTarget::Etcd(etcd) => Storage::Other(open_etcd(etcd).await?),
    };
    let tls = Tls { directory: flags.pki_directory(target), names: flags.tls_san.clone() };
    let endpoint = Endpoint { address, tls: (!flags.plain_http).then_some(tls) };
    Ok(Options {
        storage,
        endpoint: Some(endpoint),
        tokens: flags.token.as_deref().map(tokens::read).transpose()?.unwrap_or_default(),
        services: flags.service_range,
        service_accounts: flags.service_accounts(),
        requests: flags.requests.limits()?,
        ..Options::default()
    })
}

/// Starts a cluster; the error names the flag and the fix.
pub(crate) async fn launch(options: Options) -> Result<Cluster, String> {
    let address = options.endpoint.as_ref().map(|endpoint| endpoint.address);
    let cluster = Cluster::launch(options).await.map_err(|error| start_error::explain(&error))?;
    if let Some(address) = address {
        warn_if_exposed(address);
    }
    Ok(cluster)
}

/// Warns if other machines can connect, regardless of the log level.
pub(crate) fn warn_if_exposed(address: SocketAddr) {
    let Some(warning) = listen::exposure_warning(address) else { return };
    if tracing::enabled!(tracing::Level::WARN) {
        tracing::warn!("{warning}");
    } else {
        print_stderr(&format!("warning: {warning}"));
    }
}

/// Serves until a signal or a failure, then shuts down gracefully; a second signal stops immediately.
pub(crate) async fn run_to_end(mut cluster: Cluster, signals: &mut Signals) -> Result<(), String> {
    let outcome = tokio::select! {
        () = signals.wait() => Ok(()),
        failed = cluster.failed() => Err(failed),
    };
    tracing::info!("stopping");
    signals.until_second(cluster.stop()).await;
    outcome
}

impl Signals {
    pub(crate) fn new() -> Result<Self, String> {
        let on = |kind| signal(kind).map_err(|error| format!("cannot listen to signals: {error}"));
        Ok(Self([on(SignalKind::terminate())?, on(SignalKind::interrupt())?]))
    }

    /// Waits for either.
    pub(crate) async fn wait(&mut self) {
        let [one, other] = &mut self.0;
        tokio::select! {
            _ = one.recv() => {}
            _ = other.recv() => {}
        }
    }

    /// Waits for a graceful shutdown, unless another signal arrives.
    pub(crate) async fn until_second(&mut self, stopping: impl Future<Output = ()>) {
        tokio::select! {
            () = stopping => {}
            () = self.wait() => tracing::warn!("second signal: stopping immediately"),
        }
    }
}
