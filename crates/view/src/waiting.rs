//! When waiting for a rollout ends.

use std::time::Duration;

use gantry_decide::deployment::Deadline;
use gantry_model::Timestamp;

use crate::why::{Report, Verdict};

/// Waits for rollouts to end: done, stuck for long enough, or timed out.
///
/// An image that cannot be pulled or a pod without a node may recover. So a stuck or paused rollout counts as ended
/// only after it has been so for a while, or when its progress deadline has passed.
#[derive(Clone, Copy, Debug)]
pub struct WaitPolicy {
    stuck_for: Duration,
    until: Option<Timestamp>,
    stuck_since: Option<Timestamp>,
}

/// The result of a check of the rollouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitDecision {
    /// Check again when something changes, and at this time at the latest.
    Continue {
        /// When the result changes although nothing else does.
        at: Option<Timestamp>,
    },
    /// Waiting is over.
    End,
}

impl WaitPolicy {
    /// Waits from `now` on for at most `timeout`; a rollout that is stuck for `stuck_for` has ended.
    pub fn new(now: Timestamp, stuck_for: Duration, timeout: Option<Duration>) -> Self {
        Self { stuck_for, until: timeout.map(|timeout| now.plus(timeout)), stuck_since: None }
    }

    /// Whether the timeout has expired.
    pub fn is_timeout(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| now >= until)
    }

    /// Decides after a check of all rollouts.
    pub fn next(&mut self, now: Timestamp, reports: &[Report]) -> WaitDecision {
        let is_over = |report: &Report| {
            report.verdict == Verdict::Done
                || (report.verdict == Verdict::Stuck && report.deadline == Deadline::Exceeded)
        };
        if reports.iter().all(is_over) || self.is_timeout(now) {
            return WaitDecision::End;
        }
        if reports.iter().any(|report| report.verdict == Verdict::Moving) {
            self.stuck_since = None;
            return WaitDecision::Continue { at: self.until };
        }
        let since = *self.stuck_since.get_or_insert(now);
        let ends = since.plus(self.stuck_for);
        if now >= ends {
            return WaitDecision::End;
        }
        WaitDecision::Continue { at: Some(self.until.map_or(ends, |until| until.min(ends))) }
    }
}
