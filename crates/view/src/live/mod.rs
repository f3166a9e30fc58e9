//! The live view of a rollout: [`frame`] draws one screen, [`Log`] returns the changes as lines.
//!
//! Both depend on the current state only: a view that was started late shows the same as one that was started early.
//! The shell draws them and chooses the colours.

mod frame;
mod log;
mod pod_glyph;
mod time_left;

pub use frame::{Canvas, frame};
pub use log::Log;
pub use pod_glyph::{Charset, PodGlyph};
pub use time_left::time_left;
