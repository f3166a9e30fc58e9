//! One look at one object: is it garbage, and if so, away with it.
//!
//! State and answer in, state and request out: [`begin`] returns a [`Step`], and each step that asks for something
//! holds the state to resume with the answer, until one is [`Step::Done`]. Every file holds one part of the way:
//!
//! ```text
//! begin ─► item ─┬─► owners ─► verdict ─┬─► (relink) ─► deletion ─► Done
//!                │                      └─► relink ─► Done
//!                └─► foreground ─┬─► finalizer ─► Done
//!                                └─► (relink) ─► Done
//! ```
//!
//! Nothing is deleted on the word of the graph: the object and all its owners are read live, and the request to delete
//! carries what was read as a precondition.

mod deletion;
mod finalizer;
mod foreground;
mod item;
mod outcome;
mod owners;
mod relink;
mod step;
mod verdict;

pub use deletion::{Deletion, Propagation};
pub use finalizer::{FINALIZER_PATCH_TRIES, FINALIZER_RETRY_JITTER, finalizer_retry_delay};
pub use item::begin;
pub use outcome::{Deed, Outcome, Trouble, Why};
pub use owners::Owners;
pub use step::{DeleteAnswer, Deleting, PatchAnswer, Patching, ReadAnswer, Reading, Step, Waiting};
pub use verdict::{Household, Verdict, judge};

pub(super) use finalizer::FinalizerRemoval;
pub(super) use item::Subject;
pub(super) use relink::{OnGone, Relink, RelinkChange, Then};
