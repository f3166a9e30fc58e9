//! Slow start: create one pod, then two, then four, and stop at the first batch that fails.
//!
//! Most refusals, such as an exceeded quota, concern every pod alike. One request before five hundred saves requests
//! and events.

/// The size of the first batch.
const FIRST_BATCH: usize = 1;

/// The state of a slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowStart {
    stage: Stage,
    remaining: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The size of the next batch; never zero.
    Batch(usize),
    /// All requests have succeeded.
    Done,
    /// A batch had failures, so the rest is not tried.
    Stopped,
}

impl SlowStart {
    /// A slow start of so many requests.
    pub fn new(calls: usize) -> Self {
        Self { stage: Stage::upto(FIRST_BATCH, calls), remaining: calls }
    }

    /// The size of the next batch; `None` when the slow start has ended.
    pub fn batch(&self) -> Option<usize> {
        match self.stage {
            Stage::Batch(calls) => Some(calls),
            Stage::Done | Stage::Stopped => None,
        }
    }

    /// Records the responses to the whole batch, so many of them failures.
    pub fn completed(&mut self, failures: usize) {
        let Stage::Batch(calls) = self.stage else { return };
        self.remaining = self.remaining.saturating_sub(calls);
        self.stage = match failures {
            0 => Stage::upto(calls.saturating_mul(2), self.remaining),
            _ => Stage::Stopped,
        };
    }

    /// How many requests have not been made.
    pub fn untried(&self) -> usize {
        self.remaining
    }
}

impl Stage {
    fn upto(calls: usize, remaining: usize) -> Self {
        match calls.min(remaining) {
            0 => Self::Done,
            calls => Self::Batch(calls),
        }
    }
}
