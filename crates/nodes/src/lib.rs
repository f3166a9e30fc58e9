//! The lifecycle of pods as a kubelet reports it, and simulated nodes, which report it without running anything.
//!
//! ```text
//! behaviour (profile, annotations) ─► pod_lifecycle (status, events) ─► pod_workers: writes them, removes deleted pods
//!        NodeRuntime: the simulation here, or a container runtime in gantry-node-agent ─────┘
//! node_spec (Node and Lease objects) ─► heartbeat: registers nodes, renews leases, reports conditions
//! ```
//!
//! [`behaviour`], [`pod_lifecycle`], `node_spec`, `addresses` and `status_patch` are pure. The shells around them are
//! two work queues, one of pods and one of nodes, shared by all nodes: a thousand nodes need no more tasks than one.
//! The objects that a pod depends on are read when it needs them (`lookups`). All state is in the API: after a restart,
//! pods continue from their last reported status.
//!
//! *Invariant:* only pods on the nodes of this process are written, and every write names the uid of its object.

mod addresses;
pub mod behaviour;
mod heartbeat;
pub mod lease;
pub mod log_messages;
mod lookups;
mod node_spec;
mod node_state;
mod options;
pub mod pod_lifecycle;
mod pod_workers;
mod run;
mod simulated_log;
mod simulation;
mod status_patch;

pub use node_spec::{
    NodeHealth, SIMULATED_TAINT, conditions, healthy_conditions, is_ready, is_settled,
    taints_without_not_ready,
};
pub use options::{Capacity, InvalidOptions, NodeTemplate, Options, Reports};
pub use pod_workers::{CachedPod, NodeRuntime, PodWorkers, is_over, subject};
pub use run::run;
pub use simulated_log::{LogLine, simulated_log};
