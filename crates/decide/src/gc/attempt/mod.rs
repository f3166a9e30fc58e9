//! An attempt to collect one object.
//!
//! A state machine: [`begin`] returns an [`AttemptStep`], and each step with a request holds the state to resume with
//! the response, until one is [`AttemptStep::Done`]. Every file is one part of it:
//!
//! ```text
//! begin ─► item ─┬─► owners ─► decision ─┬─► (relink) ─► deletion ─► Done
//!                │                      └─► relink ─► Done
//!                └─► foreground ─┬─► finalizer ─► Done
//!                                └─► (relink) ─► Done
//! ```
//!
//! The graph alone never justifies a deletion: all owners are read live, and the delete request has the version of the
//! object that was read as a precondition. That read may be served from a cache: after a conflict the object is read
//! live.

mod decision;
mod deletion;
mod finalizer;
mod foreground;
mod item;
mod owners;
mod relink;
mod result;
mod step;

pub use decision::{CollectionDecision, DependentState, decide};
pub use deletion::{DeleteRequest, Propagation};
pub use finalizer::{FINALIZER_PATCH_TRIES, FINALIZER_RETRY_JITTER, finalizer_retry_delay};
pub use item::begin;
pub use owners::Owners;
pub use result::{AttemptAction, AttemptError, AttemptReason, AttemptResult};
pub use step::{
    AttemptStep, DeleteResult, PatchResult, PendingDelete, PendingPatch, PendingRead, PendingWait, ReadResult,
};

pub(super) use finalizer::FinalizerRemoval;
pub(super) use item::Subject;
pub(super) use relink::{OnGone, Relink, RelinkChange, Then};
