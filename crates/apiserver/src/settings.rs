//! Settings of an API server. The defaults are the defaults of Kubernetes.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use gantry_registry::admission::ServiceRanges;

use crate::authorization::Access;
use crate::node_connector::NodeConnector;

/// Settings of an API server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Authentication and authorization.
    pub access: Access,
    /// Service account admission of pods.
    pub service_accounts: ServiceAccounts,
    /// The ranges that addresses and ports of services are allocated from.
    pub services: ServiceRanges,
    /// The address of the server to which the service `default/kubernetes` routes.
    pub advertised: SocketAddrV4,
    /// The CA certificates of client certificates, as PEM.
    pub client_ca: Option<String>,
    /// The time that an event is kept after its last write.
    pub event_lifetime: Duration,
    /// Connects to the agents of nodes, for logs, exec, attach and port-forward; if `None`, nodes have no agents.
    pub nodes: Option<Arc<dyn NodeConnector>>,
    /// The limits of memory for requests and responses in progress.
    pub memory: MemoryLimits,
    /// Kinds for which no controller runs: creating an object of one returns a warning.
    pub uncontrolled: Vec<UncontrolledKind>,
    /// The limits on requests in flight.
    pub requests: RequestLimits,
    /// Whether `managedFields` are kept: which manager changed which field.
    pub managed_fields: bool,
    /// The number of objects whose decoded form is kept for their next write.
    pub decoded_objects: NonZero<usize>,
}

/// The limits on requests in flight. Watches count while they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// The maximum number of concurrent requests that read; 0 for no limit.
    pub reading: u32,
    /// The maximum number of concurrent requests that write; 0 for no limit.
    pub mutating: u32,
    /// Whether the sum of both is divided by priority and fairness, instead of each being a separate limit.
    pub priority_and_fairness: bool,
}

/// The limits of memory for requests and responses in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimits {
    /// The size of all bodies of requests in progress.
    pub request_bodies: usize,
    /// The size of all large responses that clients have not read yet.
    pub unsent_responses: usize,
}

/// A kind for which no controller runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UncontrolledKind {
    /// The API group.
    pub group: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The missing effect, as the end of a sentence about an object: `no pods are created for it`.
    pub effect: &'static str,
}

/// Service account admission of pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceAccounts {
    /// The account must exist, and its token is mounted unless disabled.
    Required,
    /// Accounts are not checked, and no token is mounted.
    Ignored,
}

impl UncontrolledKind {
    /// The warning of creating an object.
    pub(crate) fn warning(self) -> String {
        let Self { kind, effect, .. } = self;
        format!("no controller for {kind} objects runs in this cluster: this one is stored, but {effect}")
    }
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self { reading: 400, mutating: 200, priority_and_fairness: true }
    }
}

impl Settings {
    /// The default of [`Settings::decoded_objects`].
    pub const DECODED_OBJECTS: NonZero<usize> = NonZero::new(1024).expect("not zero");
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            access: Access::default(),
            service_accounts: ServiceAccounts::Required,
            services: ServiceRanges::default(),
            advertised: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 6443),
            client_ca: None,
            event_lifetime: Duration::from_hours(1),
            nodes: None,
            memory: MemoryLimits::default(),
            uncontrolled: Vec::new(),
            requests: RequestLimits::default(),
            managed_fields: true,
            decoded_objects: Self::DECODED_OBJECTS,
        }
    }
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self { request_bodies: 64 << 20, unsent_responses: 48 << 20 }
    }
}
