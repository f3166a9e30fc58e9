//! The API server of a cluster, with its store, its certificates and its socket.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;

use gantry_apiserver::{Access, ApiServer, NodeConnector, Settings, UncontrolledKind};
use gantry_certificates::RequestSigner;
use gantry_registry::admission::ServiceRanges;
use gantry_serving::kubeconfig::Kubeconfig;
use gantry_serving::{
    ConnectionRuntime, KubeletConnector, Listener, Pki, ProxyConnector, ServerNames, Transport,
};

use crate::error::StartError;
use crate::node_agents::NodeAgents;
use crate::options::{Endpoint, Options, Tls};
use crate::storage::OpenStore;
use crate::uncontrolled::UNCONTROLLED;

pub(crate) struct PreparedServer {
    pub(crate) server: ApiServer,
    pub(crate) store: Arc<OpenStore>,
    /// The CA certificate, as PEM, if there is TLS.
    pub(crate) authority: Option<String>,
    /// The CA as one that signs the requests of nodes.
    pub(crate) signer: Option<Arc<RequestSigner>>,
    pub(crate) socket: Option<Socket>,
}

/// A bound socket.
pub(crate) struct Socket {
    pub(crate) listener: Listener,
    /// The runtime of its connections.
    pub(crate) runtime: ConnectionRuntime,
    pub(crate) transport: Transport,
    pub(crate) kubeconfig: Kubeconfig,
}

impl PreparedServer {
    /// Opens everything without serving requests yet.
    pub(crate) async fn open(options: &Options) -> Result<Self, StartError> {
        // The address first: it fails most often, and nothing has been written yet.
        let listener = match &options.endpoint {
            Some(endpoint) => Some(listen(endpoint.address).await?),
            None => None,
        };
        let store = Arc::new(OpenStore::open(&options.storage)?);
        let address = listener.as_ref().map(Listener::address);
        let pki = pki(options, address)?;
        let authority = pki.as_ref().map(|pki| pki.authority.clone());
        let signer = pki.as_ref().map(|pki| Arc::clone(&pki.signer));
        let defaults = Settings::default();
        let settings = Settings {
            access: access(options),
            service_accounts: options.service_accounts,
            services: ServiceRanges { addresses: options.services, ..ServiceRanges::default() },
            advertised: address.map_or(defaults.advertised, advertised),
            client_ca: authority.clone(),
            uncontrolled: uncontrolled(options).to_vec(),
            requests: options.requests,
            decoded_objects: options.decoded_objects,
            managed_fields: !options.omissions.managed_fields,
            nodes: Some(node_agents(options, pki.as_ref())?),
            ..defaults
        };
        let socket = listener.map(|listener| socket(options, listener, pki.as_ref())).transpose()?;
        let server = ApiServer::new(store.port(), Arc::clone(&options.environment.server), settings);
        server.prepare().await.map_err(|refusal| StartError::Store(refusal.message))?;
        Ok(Self { server, store, authority, signer, socket })
    }
}

/// Connects to the agents of nodes, which accept certificates of the cluster's authority.
fn node_agents(options: &Options, pki: Option<&Pki>) -> Result<Arc<dyn NodeConnector>, StartError> {
    Ok(Arc::new(NodeAgents {
        kubelets: pki.map(KubeletConnector::new).transpose().map_err(StartError::Tls)?,
        proxies: ProxyConnector::new().map_err(StartError::Tls)?,
        has_simulated_nodes: options.nodes > 0,
        clock: options.environment.clock.clone(),
    }))
}

async fn listen(address: SocketAddr) -> Result<Listener, StartError> {
    Listener::on(address).await.map_err(|source| StartError::Listen { address, source })
}

/// On plain HTTP without tokens every client has all permissions, otherwise RBAC decides.
fn access(options: &Options) -> Access {
    let is_plain = options.endpoint.as_ref().is_some_and(|endpoint| endpoint.tls.is_none());
    if is_plain && options.tokens.is_empty() {
        Access::default()
    } else {
        Access { tokens: options.tokens.clone(), ..Access::rbac() }
    }
}

/// The kinds to warn about. Without nodes, external kubelets and controllers may use this server.
fn uncontrolled(options: &Options) -> &'static [UncontrolledKind] {
    if options.nodes == 0 { &[] } else { &UNCONTROLLED }
}

/// The certificates. A cluster without a socket may have them too: the CA's is published as `kube-root-ca.crt`.
fn pki(options: &Options, address: Option<SocketAddr>) -> Result<Option<Pki>, StartError> {
    let tls = match &options.endpoint {
        None if !options.authority => return Ok(None),
        None => Tls::default(),
        Some(Endpoint { tls: Some(tls), .. }) => tls.clone(),
        Some(Endpoint { tls: None, .. }) => return Ok(None),
    };
    let names = ServerNames::default().with_address(options.services.first().into());
    let names = address.into_iter().fold(names, |names, address| names.with_address(address.ip()));
    let names = tls.names.iter().fold(names, |names, name| names.with(name));
    let pki = match &tls.directory {
        Some(directory) => Pki::in_directory(directory, &names),
        None => Pki::in_memory(&names),
    };
    pki.map(Some).map_err(StartError::Certificates)
}

fn socket(options: &Options, listener: Listener, pki: Option<&Pki>) -> Result<Socket, StartError> {
    let here = reachable(listener.address());
    let (transport, kubeconfig) = match pki {
        None => (Transport::Plain, Kubeconfig::plain(format!("http://{here}"))),
        Some(pki) => (
            Transport::tls(pki).map_err(StartError::Tls)?,
            Kubeconfig::with_certificates(format!("https://{here}"), pki),
        ),
    };
    let address = listener.address();
    let runtime = ConnectionRuntime::start().map_err(|source| StartError::Listen { address, source })?;
    Ok(Socket { listener, runtime, transport, kubeconfig: kubeconfig.named(&options.name) })
}

/// The address for clients on this machine, which reach an unspecified address by loopback.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => std::net::Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// The address of the service `kubernetes`.
fn advertised(address: SocketAddr) -> SocketAddrV4 {
    match reachable(address).ip() {
        IpAddr::V4(ip) => SocketAddrV4::new(ip, address.port()),
        IpAddr::V6(_) => SocketAddrV4::new(Ipv4Addr::LOCALHOST, address.port()),
    }
}
