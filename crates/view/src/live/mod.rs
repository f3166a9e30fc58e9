//! The live view of a rollout: [`frame`] draws one screen, [`Log`] says in lines what changed.
//!
//! Both are functions of what is, not of what happened: a view that was started late shows the same as one that was there
//! from the beginning. Who draws on what, and in which colours, is the shell's business.

mod frame;
mod log;
mod look;
mod pace;

pub use frame::{Canvas, frame};
pub use log::Log;
pub use look::{Charset, Look};
pub use pace::time_left;
