//! A cluster in virtual time: the production decisions, carried out on plain data, deterministically.
//!
//! [`PlainCluster`] does to Deployments, ReplicaSets and Pods what an API server does, as far as the rules depend on
//! it. The `controllers` are the second interpreter of the decisions, beside the one over a Kubernetes client.
//! [`World`] adds a virtual clock. [`story`] drives a world by lines of text and prints what happened, for tests and
//! for users who want to see what a rollout will do.
//!
//! This crate never opens a socket, starts a thread, reads the system clock or uses unseeded randomness. It holds no
//! rules: all decisions come from `gantry-decide`.

mod cluster;
mod controllers;
pub mod scenario;
mod simulation;
pub mod snapshot;
pub mod story;
mod world;

pub use cluster::{NewDeployment, NewReplicaSet, PlainCluster, Propagation, WorkloadKind};
pub use simulation::{
    Commit, Component, ControllerProcesses, Faults, KeyWrite, RequestInfo, SimCluster, SimObserver,
    SimOptions, simulate, simulate_prepared,
};
pub use world::{Interleaving, World};
