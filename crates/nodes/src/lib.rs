//! Simulated nodes: they report the lifecycle of pods as a kubelet would, without running anything.
//!
//! ```text
//! behaviour (profile, annotations) ─► pod_lifecycle (status, events) ─► pod_workers: writes them, removes deleted pods
//! node_spec (Node and Lease objects) ─► heartbeat: registers nodes, renews leases, reports conditions
//! ```
//!
//! [`behaviour`], [`pod_lifecycle`], `node_spec`, `addresses` and `status_patch` are pure. The shells around them are two
//! work queues, one of pods and one of nodes, shared by all nodes: a thousand nodes need no more tasks than one. The
//! objects that a pod depends on are read when it needs them (`lookups`). All state is in the API: after a restart, pods
//! continue from their last reported status.
//!
//! *Invariant:* only pods on the nodes of this process are written, and every write names the uid of its object.

mod addresses;
pub mod behaviour;
mod heartbeat;
mod lookups;
mod node_spec;
mod node_state;
mod options;
pub mod pod_lifecycle;
mod pod_workers;
mod run;
mod status_patch;

pub use node_spec::is_settled;
pub use options::{Capacity, InvalidOptions, Options};
pub use run::run;
