//! What kind of cluster to start.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use gantry_apiserver::{ServiceAccounts, StaticToken};
use gantry_nodes::behaviour::Profile;
use gantry_registry::admission::{AddressRange, ServiceRanges};
use gantry_store::Store;

/// What kind of cluster to start. The default has three nodes, keeps everything in memory and opens no port.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the cluster in its kubeconfig.
    pub name: String,
    /// How many nodes to simulate; with 0 there is no scheduler either, and pods stay pending.
    pub nodes: usize,
    /// How pods behave on the nodes.
    pub profile: Profile,
    /// Whether the controllers run. Without them (and with no nodes) this is an API server alone.
    pub controllers: bool,
    /// Where objects are kept.
    pub storage: Storage,
    /// The socket to serve on; none if the clients are all in this process.
    pub endpoint: Option<Endpoint>,
    /// Bearer tokens and the users that they stand for.
    pub tokens: Vec<StaticToken>,
    /// The addresses that services are given.
    pub services: AddressRange,
    /// Whether pods need a service account that exists, and mount its token.
    pub service_accounts: ServiceAccounts,
}

/// Where objects are kept.
#[derive(Clone, Default)]
pub enum Storage {
    /// In memory, until the cluster stops.
    #[default]
    Memory,
    /// In this directory, which is created if it does not exist.
    Directory(PathBuf),
    /// In a store of the caller's, such as etcd.
    Other(Arc<dyn Store>),
}

/// A socket to serve the API on, for clients in other processes.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The address; port 0 stands for any free port.
    pub address: SocketAddr,
    /// The certificates; none for plain HTTP, where every client may do everything unless there are tokens.
    pub tls: Option<Tls>,
}

/// The certificates of an endpoint.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// The directory to keep the certificates in; none keeps them in memory.
    pub directory: Option<PathBuf>,
    /// More names and addresses that the server's certificate is to cover.
    pub names: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: "gantry".to_owned(),
            nodes: 3,
            profile: Profile::built_in(),
            controllers: true,
            storage: Storage::Memory,
            endpoint: None,
            tokens: Vec::new(),
            services: ServiceRanges::default().addresses,
            service_accounts: ServiceAccounts::Required,
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
        }
    }
}
