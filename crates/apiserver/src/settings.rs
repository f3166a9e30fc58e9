//! What whoever runs the server decides about it. Every value is good; the defaults are those of Kubernetes.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::Duration;

use gantry_registry::admission::ServiceRanges;

use crate::guard::Access;
use crate::logs::PodLogs;

/// What whoever runs the server decides about it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who is let in, and how far.
    pub access: Access,
    /// Whether pods need a service account, and are given its token.
    pub service_accounts: ServiceAccounts,
    /// The addresses and ports that services are given.
    pub services: ServiceRanges,
    /// Where clients reach the server: what the service `default/kubernetes` leads to.
    pub advertised: SocketAddrV4,
    /// The certificates, in PEM, that vouch for client certificates.
    pub client_ca: Option<String>,
    /// How long an event is kept after it was last written.
    pub event_lifetime: Duration,
    /// Who can read the logs of pods, if anybody can.
    pub logs: Option<Arc<dyn PodLogs>>,
    /// Kinds for which no controller runs: creating an object of one returns a warning that says so.
    pub uncontrolled: Vec<UncontrolledKind>,
}

/// A kind for which no controller runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UncontrolledKind {
    /// Its API group.
    pub group: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// What does not happen to its objects, as the end of a sentence about one: `no pods are created for it`.
    pub effect: &'static str,
}

/// What is asked of a pod's service account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceAccounts {
    /// It must exist, and its token is mounted unless somebody said not to.
    Required,
    /// Nothing: pods are taken as they come.
    Ignored,
}

impl UncontrolledKind {
    /// The warning that comes with a new object.
    pub(crate) fn warning(self) -> String {
        let Self { kind, effect, .. } = self;
        format!("no controller for {kind} objects runs in this cluster: this one is stored, but {effect}")
    }
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
            logs: None,
            uncontrolled: Vec::new(),
        }
    }
}
