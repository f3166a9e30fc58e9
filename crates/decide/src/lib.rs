//! The rules: what to do next about a Deployment, a ReplicaSet, a namespace or an orphaned object, as pure functions.
//!
//! Each controller is a folder of one shape. `triggers` says which keys a change enqueues, `claim` (shared, in
//! [`ownership`]) which objects belong to which owner, and `decide` turns what was observed and `now` into a value:
//! the actions to carry out in order, why it goes no further, and when to requeue. A shell over a Kubernetes client,
//! or the simulator, carries it out.
//!
//! *Invariant:* decisions depend on the state, never on what changed. The decision after a restart is the decision
//! before it. This crate has no clock, client, async code, randomness or logging; its only dependency is
//! `gantry-model`. Nothing outside this crate counts replicas.

pub mod bootstrap_tokens;
pub mod certificates;
pub mod cluster_role_aggregation;
pub mod deployment;
pub mod disruption;
pub mod endpoint_slice_mirroring;
pub mod endpoint_slices;
pub mod endpoints;
pub mod events;
pub mod gc;
pub mod namespace;
pub mod node_lifecycle;
pub mod ownership;
pub mod queue;
pub mod replica_set;
pub mod services;
mod share;
mod wake;
pub mod written_versions;

pub use wake::Wake;
