//! The rules: what to do next about a Deployment, a ReplicaSet, a namespace or a piece of garbage, as pure functions.
//!
//! Each controller is a folder of one shape. `triggers` says which keys a change wakes, `claim` (shared, in
//! [`ownership`]) whose objects are whose, and `decide` turns what was observed and `now` into a value: the actions
//! to carry out in order, why it goes no further, and when to look again. Somebody else carries it out: a shell over
//! a Kubernetes client, or the simulator.
//!
//! *Invariant:* this crate never learns what changed, only what is. The decision after a restart is the decision
//! before it. It knows no clock, no client, no async, no randomness and does not log; its only dependency is
//! `gantry-model`. Nothing outside this crate counts replicas.

pub mod cluster_role_aggregation;
pub mod deployment;
pub mod disruption;
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
