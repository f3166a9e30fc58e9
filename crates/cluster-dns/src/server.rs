//! The sockets of the server, and the caches from which its names are computed.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use gantry_model::{EndpointSlice, Selector, keys};
use gantry_runtime::informer::{Cached as _, CachedEndpointSlice, Plain};
use gantry_runtime::{Informer, Informers, Shutdown};
use k8s_openapi::api::core::v1 as core;
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use crate::answer::{Answer, answer};
use crate::message::{Query, Record, RecordData, Response, ResponseCode, addresses_in, failure};
use crate::upstream::{Upstreams, read_message, write_message};
use crate::zone::Zone;

/// The maximum number of concurrent queries, and of connections.
const QUERIES_MAX: usize = 1000;
const CONNECTIONS_MAX: usize = 200;
/// The idle timeout of a connection.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// The pause after a failure of a socket.
const RETRY: Duration = Duration::from_millis(100);
/// The attempts to bind a port for both protocols.
const BIND_ATTEMPTS: usize = 20;

/// The options of a DNS server.
#[derive(Clone, Debug)]
pub struct DnsOptions {
    /// The domain of the cluster.
    pub domain: String,
    /// The address by which pods reach the server.
    pub address: IpAddr,
    /// The servers of the machine, for all other names.
    pub upstreams: Vec<String>,
}

/// The DNS server of a cluster's names.
#[derive(Debug)]
pub struct DnsServer {
    udp: UdpSocket,
    tcp: TcpListener,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: DnsOptions,
    upstreams: Upstreams,
    services: Informer<Plain<core::Service>>,
    slices: Informer<CachedEndpointSlice>,
    zone: RwLock<Arc<Zone>>,
    changed: Notify,
}

impl DnsServer {
    /// Binds both sockets to an address; if its port is taken, to any port. The informers are to be started by the caller.
    pub async fn bind(address: SocketAddr, options: DnsOptions, informers: &Informers) -> io::Result<Self> {
        let (udp, tcp) = match bind_both(address).await {
            Ok(both) => both,
            Err(_) => bind_any(address.ip()).await?,
        };
        let upstreams = Upstreams::new(&options.upstreams, options.address);
        let shared = Arc::new(Shared {
            options,
            upstreams,
            services: informers.of(),
            slices: informers.of(),
            zone: RwLock::default(),
            changed: Notify::new(),
        });
        let (by_service, by_slice) = (Arc::downgrade(&shared), Arc::downgrade(&shared));
        let notify = |shared: Option<Arc<Shared>>| {
            if let Some(shared) = shared {
                shared.changed.notify_one();
            }
        };
        shared.services.subscribe(move |_| notify(by_service.upgrade()));
        shared.slices.subscribe(move |_| notify(by_slice.upgrade()));
        Ok(Self { udp, tcp, shared })
    }

    /// Returns the address that the server is bound to.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.udp.local_addr()
    }

    /// Serves until shutdown.
    pub async fn run(self, shutdown: Shutdown) {
        let Self { udp, tcp, shared } = self;
        let serve = async {
            shared.services.synced().await;
            shared.slices.synced().await;
            shared.rebuild();
            let datagrams = shared.clone().serve_udp(Arc::new(udp));
            let connections = shared.clone().serve_tcp(tcp);
            tokio::join!(shared.follow(), datagrams, connections);
        };
        shutdown.unless(serve).await;
    }
}

async fn bind_both(address: SocketAddr) -> io::Result<(UdpSocket, TcpListener)> {
    let tcp = TcpListener::bind(address).await?;
    let udp = UdpSocket::bind(tcp.local_addr()?).await?;
    Ok((udp, tcp))
}

/// A port that is free for one protocol may be taken for the other.
async fn bind_any(ip: IpAddr) -> io::Result<(UdpSocket, TcpListener)> {
    let mut result = bind_both(SocketAddr::new(ip, 0)).await;
    for _ in 0..BIND_ATTEMPTS {
        if result.is_ok() {
            break;
        }
        result = bind_both(SocketAddr::new(ip, 0)).await;
    }
    result
}

impl Shared {
    /// Computes the names again when something changed.
    async fn follow(&self) {
        loop {
            self.changed.notified().await;
            self.rebuild();
        }
    }

    fn rebuild(&self) {
        let zone = {
            let (services, slices) = (self.services.read(), self.slices.read());
            let all = services.iter().map(|service| {
                let key = service.key();
                let selector = Selector::with_labels([(keys::SERVICE_NAME, key.name.as_str())]);
                let found = slices.selected(&key.namespace, &selector);
                let found: Vec<&EndpointSlice> = found.into_iter().map(|slice| &slice.parsed).collect();
                (&*service.wire, found)
            });
            Arc::new(Zone::compute(&self.options.domain, self.options.address, all))
        };
        *self.zone.write().unwrap_or_else(PoisonError::into_inner) = zone;
    }

    async fn serve_udp(self: Arc<Self>, socket: Arc<UdpSocket>) {
        let permits = Arc::new(Semaphore::new(QUERIES_MAX));
        let mut buffer = vec![0; 4096];
        loop {
            let Ok((length, client)) = socket.recv_from(&mut buffer).await else {
                tokio::time::sleep(RETRY).await;
                continue;
            };
            // Beyond the limit queries are dropped; clients repeat them.
            let Ok(permit) = permits.clone().try_acquire_owned() else { continue };
            let (shared, socket, message) = (self.clone(), socket.clone(), buffer[..length].to_vec());
            tokio::spawn(async move {
                if let Some(response) = shared.respond(&message, false).await {
                    let _ = socket.send_to(&response, client).await;
                }
                drop(permit);
            });
        }
    }

    async fn serve_tcp(self: Arc<Self>, listener: TcpListener) {
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            let Ok((connection, _)) = listener.accept().await else {
                tokio::time::sleep(RETRY).await;
                continue;
            };
            let Ok(permit) = permits.clone().try_acquire_owned() else { continue };
            let shared = self.clone();
            tokio::spawn(async move {
                shared.serve_connection(connection).await;
                drop(permit);
            });
        }
    }

    /// Answers the queries of a connection until it ends or the idle timeout has passed.
    async fn serve_connection(&self, mut connection: TcpStream) {
        while let Ok(Ok(message)) = timeout(IDLE_MAX, read_message(&mut connection)).await {
            let Some(response) = self.respond(&message, true).await else { return };
            let Ok(Ok(())) = timeout(IDLE_MAX, write_message(&mut connection, &response)).await else {
                return;
            };
        }
    }

    /// Returns the response to a message; `None` if it gets none.
    async fn respond(&self, message: &[u8], is_tcp: bool) -> Option<Vec<u8>> {
        let query = match Query::parse(message) {
            Ok(query) => query,
            Err(refused) => return refused.map(|(id, code)| failure(id, code)),
        };
        let zone = self.zone.read().unwrap_or_else(PoisonError::into_inner).clone();
        let response = match answer(&query, &zone) {
            Answer::Known(response) => response,
            Answer::Alias(response, target) => self.complete(&query, response, target).await,
            Answer::Foreign => {
                let forwarded = self.upstreams.forward(message, is_tcp).await;
                return Some(forwarded.unwrap_or_else(|| query.respond(&server_failure(), is_tcp)));
            }
        };
        Some(query.respond(&response, is_tcp))
    }

    /// Adds the addresses of an alias' target, which clients do not look up themselves.
    async fn complete(&self, query: &Query, mut response: Response, target: String) -> Response {
        let reply = self.upstreams.forward(&query.for_name(&target), false).await;
        let addresses = reply.and_then(|message| addresses_in(&message)).unwrap_or_default();
        let records =
            addresses.into_iter().map(|ip| Record { name: target.clone(), data: RecordData::Address(ip) });
        response.answers.extend(records.filter(|record| record.data.kind() == query.kind));
        response
    }
}

fn server_failure() -> Response {
    Response {
        code: ResponseCode::ServerFailure,
        is_authoritative: false,
        answers: Vec::new(),
        authorities: Vec::new(),
        additionals: Vec::new(),
    }
}
