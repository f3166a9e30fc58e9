//! The garbage collector: which objects have no owners any more, and what to do about each, as pure code.
//!
//! ```text
//! watches ──GraphChange──► Graph::observe ──Effect──► queues ──QueueItem──► attempt::begin / orphan::begin
//!                         ▲                        ▲                    │ AttemptStep: read, patch, delete, wait
//!                         │ VerifiedAbsent         │ enqueued, retried  ▼
//!                         └────────────────────────┴──────────────── AttemptResult
//! ```
//!
//! The [`Graph`] records who owns whom. It may be stale or wrong, and never decides a deletion: it only selects the
//! objects to check. A check is an *attempt*, a state machine that takes the responses of live reads and returns the
//! next request, until it ends in an [`AttemptResult`] that says what was done and why it goes no further
//! ([`AttemptReason`]). [`AttemptResult::disposition`] then says what happens to the queue item. [`discovery`] says
//! what is watched.
//!
//! Start with [`Graph::observe`] and [`attempt::begin`].
//!
//! Not here: clients, queues, time. A shell owns the one [`Graph`] and the one [`AbsentOwners`], passes them changes
//! in the order of arrival, runs [`WORKERS`] attempts of each sort at a time, and retries under the garbage
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
pub use attempt::{
    AttemptAction, AttemptError, AttemptReason, AttemptResult, AttemptStep, DeleteRequest, Propagation,
};
pub use effect::{EVENT_SOURCE, Effect, EnqueueMode, ObjectEvent};
pub use graph::{Graph, GraphChange, GraphNode, Presence};
pub use item::{ItemDisposition, QueueItem};
pub use kinds::{KindLookup, Resource, ResourceScope, ServedKinds};

/// How many attempts to delete run at a time; as many attempts to orphan run beside them.
pub const WORKERS: usize = 20;

/// The data that attempts read between their requests.
pub struct AttemptContext<'a> {
    /// The owner graph.
    pub graph: &'a Graph,
    /// The served kinds.
    pub kinds: &'a dyn KindLookup,
    /// Owners that a live read or a delete event has shown to be absent.
    pub absent: &'a mut AbsentOwners,
}
