//! A model checker for small rollouts: every interleaving, over the production decisions.
//!
//! A [`SmallWorld`] is a Deployment of a few pods, with the actions of its user and the faults to inject. [`explore`]
//! visits every state that it can get into: whatever controller, kubelet, watch or user acts next, with a crash, a
//! delayed watch or a failed write between any two writes. The controllers here are interpreters of `gantry-decide`:
//! they observe through caches, carry out one write at a time, honour every
//! [`IfRefused`](gantry_decide::deployment::IfRefused), conflict by resource versions and keep expectations. The
//! properties that have to hold are in `properties`, which shares no code with the rules. A violation is reported with
//! a shortest path to it.
//!
//! States are compared by a fingerprint that masks names, uids, versions and times. Not covered: several Deployments,
//! adoption, deletion of the Deployment, two processes at once, more than one node, restarts of containers, the garbage
//! collector's own rules (a pod without an owner is deleted at some time), and queues' limits of retries (a failed sync
//! is retried at some time).
//!
//! *Invariant:* no clock, no randomness, no I/O: the same world gives the same numbers.

mod deployment_sync;
mod drafts;
mod fingerprint;
mod objects;
mod properties;
mod search;
mod set_sync;
mod small_world;
mod state;
pub mod suites;
mod transitions;

pub use search::{BrokenProperty, Exploration, explore};
pub use small_world::{FaultBudget, Mutant, SmallWorld, StartingPoint, UserAction, rolling, rolling_percent};
