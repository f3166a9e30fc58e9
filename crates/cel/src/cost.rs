//! The cost of an evaluation and its limit.

use std::sync::Arc;

use gantry_primitives::Pattern;

/// The most that one evaluation may cost. A step costs one, traversing a character or an element a tenth.
///
/// The limit is Kubernetes'. Costs are counted so that they are not higher than in Kubernetes, and evaluations that it
/// aborts are aborted here, too. Patterns that are not literals are an exception, because compiling them is slow.
const PER_CALL: u64 = 1_000_000;

/// Why an evaluation has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluationError {
    /// An operation failed with these values.
    Failed(String),
    /// It exceeds the cost limit.
    CostExceeded,
}

/// Counts the cost of an evaluation.
#[derive(Debug, Default)]
pub struct CostMeter {
    /// In tenths.
    spent: u64,
    /// The pattern that was compiled last, because loops often use the same one.
    pub(super) pattern: Option<Arc<Pattern>>,
}

impl EvaluationError {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self::Failed(why.into())
    }

    /// No overload of the operation exists for these types.
    pub(super) fn no_overload() -> Self {
        Self::new("no such overload")
    }
}

impl CostMeter {
    /// The cost so far.
    pub fn cost(&self) -> u64 {
        self.spent / 10
    }

    /// Adds the cost of steps, before they are done.
    pub(super) fn steps(&mut self, steps: usize) -> Result<(), EvaluationError> {
        self.traverse(steps.saturating_mul(10))
    }

    /// Adds the cost of traversing characters or elements, before they are traversed.
    pub(super) fn traverse(&mut self, count: usize) -> Result<(), EvaluationError> {
        self.spent = self.spent.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        if self.spent > PER_CALL * 10 { Err(EvaluationError::CostExceeded) } else { Ok(()) }
    }

    /// Adds the cost of as many steps as the product of two numbers.
    pub(super) fn product(&mut self, one: usize, other: usize) -> Result<(), EvaluationError> {
        self.steps(one.saturating_mul(other))
    }
}
