//! The options of a cluster.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gantry_apiserver::{RequestLimits, ServiceAccounts, Settings, StaticToken};
use gantry_controllers::Repairs;
use gantry_node_agent::AgentOptions;
use gantry_nodes::behaviour::Profile;
use gantry_nodes::{Capacity, NodeTemplate, Reports};
use gantry_registry::admission::{AddressRange, ServiceRanges};
use gantry_store::Store;

use crate::environment::{Connector, ProcessEnvironment};

/// The options of a cluster. The default has three nodes, keeps everything in memory and opens no port.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the cluster in its kubeconfig.
    pub name: String,
    /// The number of simulated nodes; with 0 there is no scheduler either, and pods stay pending until a node joins by the endpoint.
    pub nodes: usize,
    /// The agent that makes this machine a node, if it is one. Simulated nodes beside it have a taint.
    pub agent: Option<AgentOptions>,
    /// The capacity of each simulated node.
    pub capacity: Capacity,
    /// The first simulated nodes, if they are like nodes of another cluster.
    pub templates: Vec<NodeTemplate>,
    /// The behaviour of pods on the nodes.
    pub profile: Profile,
    /// The steps of pods happen at multiples of this duration; zero for any time.
    pub resolution: Duration,
    /// How often simulated nodes renew their leases.
    pub renew_every: Duration,
    /// Whether the controllers run. Without them (and with no nodes) this is an API server alone.
    pub controllers: bool,
    /// The repairs of Kubernetes' defects that are on.
    pub repairs: Repairs,
    /// Where objects are kept.
    pub storage: Storage,
    /// The socket to serve on; `None` if all clients are in this process.
    pub endpoint: Option<Endpoint>,
    /// Bearer tokens and their users.
    pub tokens: Vec<StaticToken>,
    /// The address range of services.
    pub services: AddressRange,
    /// Whether pods need an existing service account, and mount its token.
    pub service_accounts: ServiceAccounts,
    /// The limits on requests in flight. The components of the cluster are exempt.
    pub requests: RequestLimits,
    /// The number of objects whose decoded form the server keeps for their next write.
    pub decoded_objects: NonZero<usize>,
    /// Whether there is a certificate authority even without an endpoint. Its certificate is in every namespace, as
    /// `kube-root-ca.crt`; without one it is empty.
    pub authority: bool,
    /// The features that are omitted.
    pub omissions: Omissions,
    /// The clock, and the source of uids and names.
    pub environment: ProcessEnvironment,
    /// How the components connect to the server.
    pub connector: Connector,
}

/// Features of Kubernetes that a cluster omits, because nothing that its user observes depends on them. By default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omissions {
    /// Events of type Normal, which are the larger part of all requests.
    pub normal_events: bool,
    /// `managedFields` of objects.
    pub managed_fields: bool,
    /// Statuses of pods on which no decision of a controller depends, see [`Reports::Decisive`].
    pub passing_statuses: bool,
}

/// Where objects are kept.
#[derive(Clone, Default)]
pub enum Storage {
    /// In memory, until the cluster stops.
    #[default]
    Memory,
    /// In this directory, which is created if it does not exist.
    Directory(PathBuf),
    /// In a store of the caller, such as etcd, which other servers may use as well.
    Other(Arc<dyn Store>),
    /// In a store of the caller that no other server uses, so that no unfinished work of other servers is searched for.
    Own(Arc<dyn Store>),
}

/// A socket to serve the API on, for clients in other processes.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Port 0 means any free port.
    pub address: SocketAddr,
    /// The certificates; `None` for plain HTTP, where every client has all permissions unless there are tokens.
    pub tls: Option<Tls>,
}

/// The certificates of an endpoint.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// The directory of the certificates; `None` keeps them in memory.
    pub directory: Option<PathBuf>,
    /// Additional names and addresses of the server certificate.
    pub names: Vec<String>,
}

impl Omissions {
    /// Which statuses of pods the nodes report.
    pub(crate) fn reports(self) -> Reports {
        if self.passing_statuses { Reports::Decisive } else { Reports::All }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: "gantry".to_owned(),
            nodes: 3,
            agent: None,
            capacity: Capacity::default(),
            templates: Vec::new(),
            profile: Profile::built_in(),
            resolution: Duration::ZERO,
            renew_every: gantry_nodes::lease::RENEW_EVERY,
            controllers: true,
            repairs: Repairs::default(),
            storage: Storage::Memory,
            endpoint: None,
            tokens: Vec::new(),
            services: ServiceRanges::default().addresses,
            service_accounts: ServiceAccounts::Required,
            requests: RequestLimits::default(),
            decoded_objects: Settings::DECODED_OBJECTS,
            authority: true,
            omissions: Omissions::default(),
            environment: ProcessEnvironment::default(),
            connector: Connector::default(),
        }
    }
}

impl Endpoint {
    /// TLS on a free port of the loopback interface, with certificates that are kept in memory.
    pub fn on_free_port() -> Self {
        Self { address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), tls: Some(Tls::default()) }
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("Memory"),
            Self::Directory(directory) => f.debug_tuple("Directory").field(directory).finish(),
            Self::Other(_) => f.write_str("Other"),
            Self::Own(_) => f.write_str("Own"),
        }
    }
}
