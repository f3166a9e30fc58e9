//! The names and addresses under which a server is reached.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The names and addresses of a server certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerNames {
    pub(crate) names: BTreeSet<String>,
    pub(crate) addresses: BTreeSet<IpAddr>,
}

/// The names by which pods reach the API server.
const SERVICE_NAMES: [&str; 4] =
    ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];

impl Default for ServerNames {
    /// The default names: loopback, and the service of the API itself.
    fn default() -> Self {
        let names = SERVICE_NAMES.into_iter().chain(["localhost"]).map(str::to_owned).collect();
        let addresses = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)].into();
        Self { names, addresses }
    }
}

impl ServerNames {
    /// Adds an address, unless it is unspecified.
    pub fn with_address(mut self, address: IpAddr) -> Self {
        if !address.is_unspecified() {
            self.addresses.insert(address);
        }
        self
    }

    /// Adds a name or an address.
    pub fn with(mut self, name: &str) -> Self {
        if let Ok(address) = name.parse() {
            return self.with_address(address);
        }
        self.names.insert(name.to_owned());
        self
    }
}
