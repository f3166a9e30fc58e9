//! What evaluating costs, and how it ends when it costs too much.

use std::sync::Arc;

use gantry_primitives::Pattern;

/// What one evaluation may cost. A step costs one, a glance at a letter or an element a tenth.
///
/// The limit is Kubernetes'. What is counted is meant to be no more than it counts, so that what ends there ends here and
/// little else does; patterns that are not written out are the exception, because making them ready takes long.
const PER_CALL: u64 = 1_000_000;

/// Why an evaluation has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Something in it makes no sense with these values.
    Failed(String),
    /// It costs more than it may.
    Exhausted,
}

/// Counts what an evaluation costs.
#[derive(Debug, Default)]
pub struct Meter {
    /// In tenths.
    spent: u64,
    /// The pattern that was made ready last: a loop often asks for the same again.
    pub(super) pattern: Option<Arc<Pattern>>,
}

impl Fault {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self::Failed(why.into())
    }

    /// There is no such operation on such values.
    pub(super) fn no_overload() -> Self {
        Self::new("no such overload")
    }
}

impl Meter {
    /// What it cost so far.
    pub fn spent(&self) -> u64 {
        self.spent / 10
    }

    /// So many steps, before they are taken.
    pub(super) fn steps(&mut self, steps: usize) -> Result<(), Fault> {
        self.glances(steps.saturating_mul(10))
    }

    /// So many letters or elements, before they are looked at.
    pub(super) fn glances(&mut self, glances: usize) -> Result<(), Fault> {
        self.spent = self.spent.saturating_add(u64::try_from(glances).unwrap_or(u64::MAX));
        if self.spent > PER_CALL * 10 { Err(Fault::Exhausted) } else { Ok(()) }
    }

    /// As many steps as two numbers multiplied.
    pub(super) fn product(&mut self, one: usize, other: usize) -> Result<(), Fault> {
        self.steps(one.saturating_mul(other))
    }
}
