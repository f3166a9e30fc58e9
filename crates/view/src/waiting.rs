//! When waiting for a rollout ends.

use std::time::Duration;

use gantry_decide::deployment::Deadline;
use gantry_model::Timestamp;

use crate::why::{Report, Verdict};

/// Waits for rollouts to end: done, stuck for long enough, or out of time.
///
/// An image that cannot be pulled or a pod without a node may recover: the registry answers again, a node is added. So a
/// rollout that is stuck or paused counts as ended only when it has been so for a while, or when its deadline has passed.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    stuck_for: Duration,
    until: Option<Timestamp>,
    stuck_since: Option<Timestamp>,
}

/// What to do after a look at the rollouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Look again: when something changes, and at this time at the latest.
    Continue {
        /// When the answer changes although nothing else does.
        at: Option<Timestamp>,
    },
    /// Waiting is over.
    End,
}

impl Waiting {
    /// Waits from `now` on for at most `timeout`; what is stuck for `stuck_for` has ended.
    pub fn new(now: Timestamp, stuck_for: Duration, timeout: Option<Duration>) -> Self {
        Self { stuck_for, until: timeout.map(|timeout| now.plus(timeout)), stuck_since: None }
    }

    /// Whether the time is up.
    pub fn is_timeout(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| now >= until)
    }

    /// Decides after a look at all rollouts that are waited for.
    pub fn next(&mut self, now: Timestamp, reports: &[Report]) -> Next {
        let is_over = |report: &Report| {
            report.verdict == Verdict::Done
                || (report.verdict == Verdict::Stuck && report.deadline == Deadline::Exceeded)
        };
        if reports.iter().all(is_over) || self.is_timeout(now) {
            return Next::End;
        }
        if reports.iter().any(|report| report.verdict == Verdict::Moving) {
            self.stuck_since = None;
            return Next::Continue { at: self.until };
        }
        let since = *self.stuck_since.get_or_insert(now);
        let ends = since.plus(self.stuck_for);
        if now >= ends {
            return Next::End;
        }
        Next::Continue { at: Some(self.until.map_or(ends, |until| until.min(ends))) }
    }
}
