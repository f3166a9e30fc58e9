//! Invariants that any cluster must satisfy, as functions that return findings.
//!
//! The checker shares no code with what it checks: it resolves limits and adds up pods itself, in the simplest way,
//! from the objects alone. It depends only on the crates of objects (`gantry-json`, `gantry-model`). Tests and
//! simulations fail on a finding.

mod judge;
mod rollout;
mod state;

pub use judge::{Judge, ObservedWrite, PodRequest, Writer};
pub use rollout::rollout_step;
pub use state::{reported, rolled_out};

use std::fmt;

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The invariant, as a sentence.
    pub broken: &'static str,
    /// The violation that was found.
    pub found: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.broken, self.found)
    }
}

/// A finding unless the invariant holds.
fn unless(holds: bool, broken: &'static str, found: impl FnOnce() -> String) -> Option<Finding> {
    (!holds).then(|| Finding { broken, found: found() })
}
