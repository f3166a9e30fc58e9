//! How a machine becomes a node: it verifies a cluster by a bootstrap token and a pin of the cluster's authority,
//! requests a certificate, and renews it before it expires.
//!
//! ```text
//! discover: cluster-info, without trust ─► signed by the token? the pinned authority? ─► the same again, with trust
//! join:     a key, a request ─► approved and signed ─► NodeIdentity, kept in a file
//! renew:    at 70 to 90 % of its life, a new key and a new request, by the node itself
//! ```
//!
//! [`discover`], [`request_certificate`] and [`RenewedTransport`] are these steps; [`NodeIdentity`] is their result.
//!
//! *Invariant:* the token is sent to a server only after it was verified.

mod discovery;
mod error;
mod identity;
mod renewal;
mod request;

pub use discovery::{DiscoveredCluster, discover, read_cluster_info};
pub use error::JoinError;
pub use identity::NodeIdentity;
pub use renewal::{RenewedTransport, renew_after};
pub use request::{node_user, request_certificate};
