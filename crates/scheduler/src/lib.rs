//! The scheduler: which node a pod goes to, and telling the API so.
//!
//! ```text
//! observe (informers) ─► desk: who waits (line), who sits where (place::Cluster) ─► place ─► apply (bind, or say why not)
//! ```
//!
//! [`place`] is the decision: a cluster as plain data and one pod in, a node or the reasons against all of them out. It
//! knows no client, no async and no clock, and neither does the line. The desk has one writer, the task of [`run`]:
//! a pod counts on its node from the moment it is sent there, before any informer shows it.
//!
//! *Invariant:* at any time at most one request about a pod is under way, so a late word that a pod found no place never
//! follows its binding.

mod apply;
mod desk;
mod line;
mod observe;
pub mod place;
mod run;

pub use run::{Options, run};
