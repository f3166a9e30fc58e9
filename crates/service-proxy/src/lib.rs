//! The service proxy of a node: connections to Services are routed to their endpoints by nftables, as kube-proxy does it.
//!
//! ```text
//! Services, EndpointSlices ──► port_spec, endpoints ──► Ruleset ──► NftTables ──difference──► script ──► nft -f -
//!        informers                       selection                     (pure up to here)                 one transaction
//! ```
//!
//! `Ruleset` is the routing of connections in terms of Services; `NftTables` is the same in chains, maps and sets;
//! `script` computes the transaction from the installed tables to the wanted ones. `proxy` is the shell: it follows the
//! API and writes when something changed. `nft` runs the program. The kernel keeps sending the packets of a UDP client
//! to the endpoint of the first one; `udp_routes` finds the flows that lead to removed endpoints, and `udp_flows`
//! removes them. `health_checks` reports to load balancers whether the node has endpoints.
//!
//! *Invariant:* only the tables of this node are touched. A transaction is applied as a whole or not at all, and established
//! connections stay with their endpoint.

mod endpoints;
mod health_checks;
mod kernel_settings;
mod nft;
mod nft_tables;
mod port_spec;
mod proxy;
mod ruleset;
mod script;
mod selection;
#[cfg(test)]
mod tests;
mod udp_flows;
mod udp_routes;

pub use nft::{check, remove_tables};
pub use proxy::{ProxyOptions, ServiceProxy};
