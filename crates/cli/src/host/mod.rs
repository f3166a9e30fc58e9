//! A process that serves the API: the store, the certificates, the listener, and whoever else lives in it.
//!
//! What comes up first goes down last: the company before the server, the server before the store.

mod company;
mod flags;
mod logging;
mod store;
mod tokens;

use std::net::{IpAddr, Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use gantry_apiserver::{Access, ApiServer, Health, Settings, UncontrolledKind};
use gantry_registry::admission::ServiceRanges;
use gantry_runtime::chain;
use gantry_serving::kubeconfig::Kubeconfig;
use gantry_serving::{Limits, Listening, Pki, RealWorld, ServerNames, Stopper, Transport};
use tokio::signal::unix::{Signal, SignalKind, signal};

pub(crate) use company::Company;
pub(crate) use flags::{Etcd, EtcdFiles, Keeping, LogFormat, ServerFlags};
pub(crate) use logging::start as start_logging;

use crate::output::fail;
use store::Opened;

/// How often events that are too old are removed.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// How often it is looked whether another server left a definition half settled.
const SETTLE_EVERY: Duration = Duration::from_secs(2);

/// A server that is ready to serve.
pub(crate) struct Host {
    pub(crate) server: ApiServer,
    /// The certificate of the authority, if there is TLS.
    pub(crate) authority: Option<String>,
    listening: Listening,
    transport: Transport,
    kubeconfig: Kubeconfig,
    store: Opened,
    signals: Signals,
}

/// The signals that end a process in order.
pub(crate) struct Signals([Signal; 2]);

/// Runs something to its end on a runtime of its own.
pub(crate) fn run(log_format: LogFormat, work: impl Future<Output = Result<(), String>>) -> ExitCode {
    start_logging(log_format);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("cannot start: {error}")),
    };
    match runtime.block_on(work) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

impl Host {
    /// Opens everything without serving yet. `uncontrolled` lists the kinds for which no controller will run.
    pub(crate) async fn open(
        keeping: &Keeping,
        flags: &ServerFlags,
        uncontrolled: &[UncontrolledKind],
    ) -> Result<Self, String> {
        flags.check()?;
        let access = access(flags)?;
        let signals = Signals::new()?;
        // First, because it is what is wrong most often, and nothing has been touched yet.
        let listening = Listening::on(flags.listen).await.map_err(|error| flags.cannot_listen(&error))?;
        let store = Opened::open(keeping).await?;
        let (transport, kubeconfig, authority) = transport(keeping, flags, &listening)?;
        let services = ServiceRanges { addresses: flags.service_range, ..ServiceRanges::default() };
        let advertised = advertised(&listening);
        let client_ca = authority.clone();
        let uncontrolled = uncontrolled.to_vec();
        let settings =
            Settings { access, services, advertised, client_ca, uncontrolled, ..Settings::default() };
        let server = ApiServer::new(store.port(), Arc::new(RealWorld), settings);
        server.prepare().await.map_err(|refusal| format!("the store does not work: {}", refusal.message))?;
        Ok(Self { server, authority, listening, transport, kubeconfig, store, signals })
    }

    /// Where the API is.
    pub(crate) fn url(&self) -> String {
        format!("{}://{}", self.transport.scheme(), self.listening.address())
    }

    /// Writes the administrator's kubeconfig; a file that is not ours is left as it is.
    pub(crate) fn write_kubeconfig(&self, file: &Path) -> Result<(), String> {
        self.kubeconfig.write(file).map_err(|error| format!("--write-kubeconfig: {}", chain(&error)))
    }

    /// Serves until a signal comes or somebody of the company fails, then ends everything in order.
    pub(crate) async fn serve(self, mut company: Company) -> Result<(), String> {
        let Self { server, listening, transport, store, mut signals, .. } = self;
        store.look_after();
        let chores = [tokio::spawn(sweep(server.clone())), tokio::spawn(settle(server.clone()))];
        let (stopper, stop) = Stopper::new();
        let mut serving = tokio::spawn(listening.serve(server.clone(), transport, Limits::default(), stop));
        let outcome = tokio::select! {
            () = signals.wait() => Ok(()),
            failed = company.failed() => Err(failed),
            // Only a bug ends it before it is told to.
            ended = &mut serving => return Err(format!("the server ended by itself: {ended:?}")),
        };
        tracing::info!("stopping");
        chores.iter().for_each(tokio::task::JoinHandle::abort);
        server.set_health(Health::ShuttingDown);
        let in_order = async {
            company.leave().await;
            stopper.stop();
            serving.await
        };
        tokio::select! {
            _ = in_order => {}
            () = signals.wait() => tracing::warn!("told to stop twice, so nobody is waited for"),
        }
        store.close();
        outcome
    }
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
}

/// Removes events that are too old, for as long as the server runs.
async fn sweep(server: ApiServer) {
    loop {
        tokio::time::sleep(SWEEP_EVERY).await;
        if let Err(refusal) = server.sweep_events().await {
            tracing::warn!("old events could not be removed: {}", refusal.message);
        }
    }
}

/// Settles definitions that nobody else does, for as long as the server runs.
async fn settle(server: ApiServer) {
    loop {
        tokio::time::sleep(SETTLE_EVERY).await;
        if let Err(refusal) = server.settle_definitions().await {
            tracing::warn!("definitions could not be settled: {}", refusal.message);
        }
    }
}

/// Who is let in: on plain HTTP without tokens everybody on this machine, otherwise whom the roles allow.
fn access(flags: &ServerFlags) -> Result<Access, String> {
    match &flags.token {
        Some(file) => Ok(Access { tokens: tokens::read(file)?, ..Access::rbac() }),
        None if flags.plain_http => Ok(Access::default()),
        None => Ok(Access::rbac()),
    }
}

/// The address that the service `kubernetes` leads to.
fn advertised(listening: &Listening) -> SocketAddrV4 {
    let address = listening.address();
    match address.ip() {
        IpAddr::V4(ip) if !ip.is_unspecified() => SocketAddrV4::new(ip, address.port()),
        _ => SocketAddrV4::new(Ipv4Addr::LOCALHOST, address.port()),
    }
}

/// What is spoken, how the administrator uses it, and the authority of clients.
fn transport(
    keeping: &Keeping,
    flags: &ServerFlags,
    listening: &Listening,
) -> Result<(Transport, Kubeconfig, Option<String>), String> {
    let address = listening.address();
    // Somebody on this machine reaches an address that means all of them by loopback.
    let host = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => "127.0.0.1".to_owned(),
        IpAddr::V6(ip) if ip.is_unspecified() => "[::1]".to_owned(),
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    let here = format!("{host}:{}", address.port());
    if flags.plain_http {
        return Ok((Transport::Plain, Kubeconfig::plain(format!("http://{here}")), None));
    }
    let names =
        ServerNames::default().with_address(address.ip()).with_address(flags.service_range.first().into());
    let names = flags.tls_san.iter().fold(names, |names, name| names.with(name));
    let pki = match flags.pki_directory(keeping) {
        Some(directory) => Pki::in_directory(&directory, &names),
        None => Pki::in_memory(&names),
    };
    let pki = pki.map_err(|error| chain(&error))?;
    let transport = Transport::tls(&pki).map_err(|error| chain(&error))?;
    let kubeconfig = Kubeconfig::with_certificates(format!("https://{here}"), &pki);
    Ok((transport, kubeconfig, Some(pki.authority)))
}
