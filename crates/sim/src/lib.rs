//! A cluster in virtual time: the production decisions, carried out on plain data, the same on every run.
//!
//! [`Cluster`] is what an API server does to Deployments, ReplicaSets and Pods, as far as the rules can tell.
//! The `controllers` are the second interpreter of the decisions, beside the one over a Kubernetes client. [`World`]
//! puts them together with a clock that only moves when told. [`story`] drives a world by lines of text and prints what
//! happened, for tests and for people who want to see what a rollout will do.
//!
//! This crate never opens a socket, starts a thread, reads the wall clock or uses randomness that was not seeded. It
//! holds no rules: what it does about an object it was told by `gantry-decide`.

mod cluster;
mod controllers;
mod dice;
pub mod snapshot;
pub mod story;
mod world;

pub use cluster::{Cluster, Kind, NewDeployment, NewReplicaSet, Propagation};
pub use dice::Dice;
pub use world::{Turns, World};
