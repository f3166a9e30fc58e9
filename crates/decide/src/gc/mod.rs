//! The garbage collector: which objects nobody owns any more, and what to do about each, as pure code.
//!
//! ```text
//! watches ──Change──► Graph::observe ──Effect──► queues ──Item──► attempt::begin / orphan::begin
//!                         ▲                        ▲                    │ Step: read, patch, delete, wait
//!                         │ VerifiedAbsent         │ asked, retried     ▼
//!                         └────────────────────────┴──────────────── Outcome
//! ```
//!
//! The [`Graph`] remembers who said they belong to whom. It may lag and it may be wrong, and never decides a
//! deletion: it only says what to look at. Looking is an *attempt*, a machine that is handed the answers of live reads
//! and hands out the next request, until it ends in an [`Outcome`] that says what was done and [`Why`] it goes no
//! further. [`Outcome::fate`] then says what becomes of the queue item. [`discovery`] says what is watched.
//!
//! Start with [`Graph::observe`] and [`attempt::begin`].
//!
//! What is absent: clients, queues, time. A shell owns the one [`Graph`] and the one [`AbsentOwners`], feeds them
//! changes in the order of arrival, runs [`WORKERS`] attempts of each sort at a time, and retries under the garbage
//! collector's policy in [`crate::queue`](super::queue): rate limited, without a cap.

mod absent;
pub mod attempt;
pub mod discovery;
mod effect;
mod graph;
mod item;
mod kinds;
pub mod orphan;

#[cfg(test)]
mod tests;

pub use absent::{ABSENT_OWNERS_MAX, AbsentOwners};
pub use attempt::{Deed, Deletion, Outcome, Propagation, Step, Trouble, Why};
pub use effect::{EVENT_SOURCE, Effect, Pace, Report};
pub use graph::{Change, Graph, Node, Presence};
pub use item::{Fate, Item};
pub use kinds::{Kinds, Resource, Scope, ServedKinds};

/// How many attempts to delete run at a time; as many attempts to orphan run beside them.
pub const WORKERS: usize = 20;

/// What attempts consult between their requests.
pub struct Knowledge<'a> {
    /// Who belongs to whom, as far as the watches have told.
    pub graph: &'a Graph,
    /// Which kinds are served, and where their objects live.
    pub kinds: &'a dyn Kinds,
    /// Owners that a live read or a delete event has proved absent.
    pub absent: &'a mut AbsentOwners,
}
