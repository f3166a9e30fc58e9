//! A cluster in virtual time: the shipped server, controllers, scheduler and nodes on a clock that advances while they wait.
//!
//! - [`simulate`] runs a [`SimCluster`] with faults of the network, decided by a seed.
//! - [`scenario`] generates what users, crashes and nodes do to it, and checks every write.
//! - [`story`] drives it by lines of text and prints what happened, for tests and for users who want to see what a
//!   rollout does.
//!
//! This crate never opens a socket, reads the system clock or uses unseeded randomness. It holds no rules.

pub mod scenario;
mod simulation;
pub mod story;

pub use gantry_cluster::Omissions;
pub use simulation::{
    Commit, Component, ControllerProcesses, Faults, Identities, KeyWrite, RequestInfo, SimCluster,
    SimObserver, SimOptions, SimScope, StoppedCluster, simulate, simulate_and_stop,
};
