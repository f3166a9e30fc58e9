//! The DNS server of a cluster's names: Services, their endpoints and pods, by the specification of Kubernetes'
//! DNS-based service discovery (schema 1.1). Queries for other names are forwarded to the DNS servers of the machine.
//!
//! ```text
//! Services, EndpointSlices ──► Zone (names and records) ──┐
//!        informers                                        ├──► answer ──► message ──► UDP, TCP
//!                            other names ──► upstream ────┘
//! ```
//!
//! `zone`, `answer` and `message` are pure. `server` has the sockets, `upstream` queries other servers.
//!
//! *Invariant:* no query for a name of the cluster is forwarded, and no message of a client can stop the server.

mod answer;
mod message;
mod server;
#[cfg(test)]
mod tests;
mod upstream;
mod zone;

pub use server::{DnsOptions, DnsServer};
