//! The scheduler: assigns pods to nodes and writes the binding to the API.
//!
//! ```text
//! informers (observe) ─► cache + scheduling_queue ─► place ─► bind, or report FailedScheduling (apply)
//! ```
//!
//! [`place`] is the decision: a cluster as plain data and one pod in, a node or the reasons against all of them out.
//! `place`, `cache` and `scheduling_queue` have no client, no async code and no clock. The cache has one writer, the
//! task of [`run`]: a pod counts on its node from the moment it is assumed to be bound, before an informer shows it.
//!
//! *Invariant:* at most one request about a pod is in flight at any time, so a late `Unschedulable` condition never
//! follows the pod's binding.

mod apply;
mod cache;
mod observe;
pub mod place;
mod run;
mod scheduling_queue;

pub use run::{Options, run};
