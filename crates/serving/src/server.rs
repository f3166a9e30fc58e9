//! Accepts connections until shutdown; then they have a grace period.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use gantry_apiserver::ApiServer;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use crate::activity::Pressure;
use crate::connection::Connections;
use crate::file_descriptors;
use crate::runtime::ConnectionRuntime;
use crate::stop::Stop;
use crate::tls::Transport;

/// The limits of connections.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    /// The timeout of a TLS handshake.
    pub handshake: Duration,
    /// The timeout of the first request of a connection.
    pub first_request: Duration,
    /// The timeout of an idle connection, and of a request's head.
    pub idle: Duration,
    /// The maximum number of connections. When it is reached, idle ones are closed; others wait until one ends.
    pub connections: usize,
    /// The maximum number of concurrent requests of one HTTP/2 connection. A client has all its watches on one.
    pub streams: u32,
    /// The ping period of an idle HTTP/2 connection.
    pub ping_every: Duration,
    /// The timeout of a ping.
    pub ping_timeout: Duration,
    /// How long requests may take to finish after shutdown was requested.
    pub shutdown_grace: Duration,
}

/// A bound socket for the API.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

/// The delay when the system has no resources for another connection.
const PAUSE: Duration = Duration::from_millis(50);

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(10),
            first_request: Duration::from_secs(30),
            // As in kube-apiserver, for both.
            idle: Duration::from_secs(90),
            connections: 4096.min(file_descriptors::connections_max()),
            // kube-apiserver allows 100; a controller manager has about 60 watches.
            streams: 400,
            ping_every: Duration::from_secs(30),
            ping_timeout: Duration::from_secs(15),
            shutdown_grace: Duration::from_secs(10),
        }
    }
}

impl Listener {
    /// Binds the address. Connections wait until they are served.
    pub async fn on(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }

    /// The address, with the port that the system chose for port 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves the API until shutdown, and returns when the last connection has ended.
    ///
    /// Then no connection is accepted any more, watches end, and requests have [`ConnectionLimits::shutdown_grace`]
    /// to finish. The future is boxed so that connections are compiled here, not in each crate that awaits it.
    pub fn serve(
        self,
        server: ApiServer,
        transport: Transport,
        limits: ConnectionLimits,
        stop: Stop,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(self.accept(server, transport, limits, stop))
    }

    /// Does the same on a runtime for connections, which has to be kept until then.
    pub fn serve_on(
        self,
        runtime: &ConnectionRuntime,
        server: ApiServer,
        transport: Transport,
        stop: Stop,
    ) -> JoinHandle<()> {
        runtime.spawn(self.serve(server, transport, ConnectionLimits::default(), stop))
    }

    async fn accept(self, server: ApiServer, transport: Transport, limits: ConnectionLimits, mut stop: Stop) {
        let (shutdown_grace, connections_max) = (limits.shutdown_grace, limits.connections);
        let pressure = Pressure::default();
        let (stop_of_connections, requests) = (stop.clone(), Arc::default());
        let shared = Arc::new(Connections {
            server,
            transport,
            limits,
            stop: stop_of_connections,
            pressure,
            requests,
        });
        let mut connections = JoinSet::new();
        let mut warnings = FoldedWarnings::default();
        loop {
            let is_full = connections.len() >= connections_max;
            if is_full {
                shared.pressure.request_close();
                warnings.warn(&format!("{connections_max} connections are open, others have to wait"));
            }
            tokio::select! {
                biased;
                () = stop.wait() => break,
                accepted = self.socket.accept(), if !is_full => match accepted {
                    Ok((socket, _)) => {
                        connections.spawn(Arc::clone(&shared).serve(socket));
                    }
                    // The client has disconnected already.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(error) => {
                        // The system has no resources for it; closing idle connections may free some.
                        shared.pressure.request_close();
                        warnings.warn(&format!("cannot accept a connection: {error}"));
                        tokio::time::sleep(PAUSE).await;
                    }
                },
                Some(_) = connections.join_next() => {}
                () = tokio::time::sleep(PAUSE), if is_full => {}
            }
        }
        drop(self.socket);
        let all = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(shutdown_grace, all).await.is_err() {
            tracing::warn!(connections = connections.len(), "connections closed that did not finish in time");
            connections.shutdown().await;
        }
    }
}

/// Logs a warning at most every few seconds.
#[derive(Default)]
struct FoldedWarnings {
    last: Option<Instant>,
    left_out: u64,
}

/// The interval of warnings.
const WARN_EVERY: Duration = Duration::from_secs(10);

impl FoldedWarnings {
    fn warn(&mut self, message: &str) {
        if self.last.is_some_and(|last| last.elapsed() < WARN_EVERY) {
            self.left_out += 1;
            return;
        }
        tracing::warn!(left_out = self.left_out, "{message}");
        *self = Self { last: Some(Instant::now()), left_out: 0 };
    }
}
