//! Slow start: create one pod, then two, then four, and stop at the first batch that fails.
//!
//! Most refusals, a quota for instance, would meet every pod alike. Asking once before asking five hundred times
//! spares the API server the calls and the person who reads the events the repetition.

/// The size of the first batch.
const FIRST_BATCH: usize = 1;

/// Where a slow start stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlowStart {
    stage: Stage,
    remaining: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A batch of this size is to be tried; never zero.
    Batch(usize),
    /// All were tried and went well.
    Done,
    /// A batch had failures, so the rest is not tried.
    Stopped,
}

impl SlowStart {
    /// Starts on so many calls.
    pub fn new(calls: usize) -> Self {
        Self { stage: Stage::upto(FIRST_BATCH, calls), remaining: calls }
    }

    /// How many calls to make now, all at once; `None` when it is over.
    pub fn batch(&self) -> Option<usize> {
        match self.stage {
            Stage::Batch(calls) => Some(calls),
            Stage::Done | Stage::Stopped => None,
        }
    }

    /// Takes note that the whole batch has been answered, so many of its calls with a failure.
    pub fn completed(&mut self, failures: usize) {
        let Stage::Batch(calls) = self.stage else { return };
        self.remaining = self.remaining.saturating_sub(calls);
        self.stage = match failures {
            0 => Stage::upto(calls.saturating_mul(2), self.remaining),
            _ => Stage::Stopped,
        };
    }

    /// How many calls have not been tried.
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
