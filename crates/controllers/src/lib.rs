//! The controllers as ordinary Kubernetes clients: they observe, ask the rules, and carry out what these say.
//!
//! Every folder has one shape: `observe` takes a snapshot from the caches, `apply` carries out decisions, `triggers` says
//! what wakes a key, and `mod` ties them together. The rules are in `gantry_decide`; nothing here counts replicas.
//!
//! [`run`] is the way in, for a process of its own and for one that holds a whole cluster alike.
//!
//! *Invariant:* all that is known of the cluster comes through the API, and all that is done to it goes through it.

mod cluster_role_aggregation;
mod context;
mod deployment;
mod discovery;
mod disruption;
mod endpoint_slices;
mod endpoints;
mod garbage_collector;
mod manager;
mod namespace;
mod node_lifecycle;
mod options;
mod pod_gc;
mod replica_set;
mod root_ca;
mod service_account;
mod services;
mod storage_protection;

pub use cluster_role_aggregation::are_bootstrap_roles_aggregated;
pub use manager::{BrokeDown, run};
pub use options::{Controller, LeaseOptions, Options, UnknownController, Workers};
