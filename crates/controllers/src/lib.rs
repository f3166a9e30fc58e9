//! The controllers as ordinary Kubernetes clients: they observe, decide and apply.
//!
//! Every folder has one shape: `observe` takes a snapshot from the caches, `apply` carries out decisions, `triggers`
//! maps changes to keys to enqueue, and `mod` connects them. The rules are in `gantry_decide`; nothing here counts
//! replicas.
//!
//! [`run`] is the entry point.
//!
//! *Invariant:* controllers read and change the cluster through the API only.

mod bootstrap_tokens;
mod certificates;
mod cluster_role_aggregation;
mod context;
mod deployment;
mod discovery;
mod disruption;
mod endpoint_slice_cache;
mod endpoint_slice_mirroring;
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

pub use gantry_decide::deployment::Repairs;

pub use certificates::ClusterSigner;
pub use cluster_role_aggregation::are_bootstrap_roles_aggregated;
pub use manager::{ControllerPanicked, run};
pub use options::{Controller, LeaseOptions, Options, UnknownController, Workers};
