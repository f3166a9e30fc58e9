//! The plan of a rollout: its request, its assumptions and its timeline.

use std::time::Duration;

use gantry_model::{Deployment, ObjectKey, Strategy};
use gantry_view::why::{Report, Severity, Verdict};

use crate::steps::{self, RolloutStep};
use crate::summary::Summary;
use crate::timeline::{Timeline, deadline};
use crate::warnings::{self, Warning};

/// The plan of one Deployment's rollout.
#[derive(Clone, Debug)]
pub struct RolloutPlan {
    /// The Deployment.
    pub deployment: ObjectKey,
    /// The difference from other plans of the same Deployment, such as `maxSurge=1`; empty for the only one.
    pub variant: String,
    /// The changes, such as `image nginx:1 -> nginx:2`.
    pub changes: Vec<String>,
    /// The strategy, as written.
    pub strategy: StrategyText,
    /// The progress deadline, if there is one.
    pub deadline: Option<Duration>,
    /// The assumptions about pods and nodes, such as `start-seconds=20`.
    pub assumptions: Vec<String>,
    /// The recorded history.
    pub timeline: Timeline,
    /// How long it was observed.
    pub observed_for: Duration,
    /// The state at the end, explained.
    pub report: Report,
    /// The warnings.
    pub warnings: Vec<Warning>,
    /// The extremes.
    pub summary: Summary,
}

/// The strategy of a Deployment, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrategyText {
    /// `RollingUpdate` with `maxSurge` and `maxUnavailable` as written.
    RollingUpdate {
        /// Such as `25%`.
        max_surge: String,
        /// Such as `1`.
        max_unavailable: String,
    },
    /// `Recreate`.
    Recreate,
}

/// How a rollout ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RolloutEnding {
    /// All desired pods are available, and no others remain.
    Complete(Duration),
    /// It does not progress unless something is changed.
    Stuck,
    /// It is paused.
    Paused,
    /// It was still in progress when the observation ended.
    Unfinished,
}

impl RolloutEnding {
    /// The verdict of `gantry why` about it.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::Complete(_) => Verdict::Done,
            Self::Stuck => Verdict::Stuck,
            Self::Paused => Verdict::Paused,
            Self::Unfinished => Verdict::Moving,
        }
    }
}

impl RolloutPlan {
    /// Summarizes an observation.
    pub fn new(deployment: &Deployment, observed: Observation) -> Self {
        let Observation { variant, changes, assumptions, timeline, observed_for, report } = observed;
        let summary = Summary::of(&timeline, observed_for);
        let mut plan = Self {
            deployment: deployment.meta.key(),
            variant,
            changes,
            strategy: StrategyText::of(&deployment.strategy),
            deadline: deadline(deployment),
            assumptions,
            timeline,
            observed_for,
            report,
            warnings: Vec::new(),
            summary,
        };
        plan.warnings = warnings::warnings(deployment, &plan);
        plan
    }

    /// How the rollout ends.
    pub fn ending(&self) -> RolloutEnding {
        match (self.summary.complete_after, self.report.verdict) {
            (Some(after), _) => RolloutEnding::Complete(after),
            (None, Verdict::Paused) => RolloutEnding::Paused,
            (None, Verdict::Stuck) => RolloutEnding::Stuck,
            (None, _) if self.report.causes.iter().any(|cause| cause.severity == Severity::Blocks) => {
                RolloutEnding::Stuck
            }
            (None, _) => RolloutEnding::Unfinished,
        }
    }

    /// The steps of the rollout.
    pub fn steps(&self) -> Vec<RolloutStep> {
        steps::steps(&self.timeline)
    }
}

/// The observation of a rollout, see [`RolloutPlan`].
#[derive(Clone, Debug)]
pub struct Observation {
    /// See [`RolloutPlan::variant`].
    pub variant: String,
    /// See [`RolloutPlan::changes`].
    pub changes: Vec<String>,
    /// See [`RolloutPlan::assumptions`].
    pub assumptions: Vec<String>,
    /// The recorded history.
    pub timeline: Timeline,
    /// How long it was observed.
    pub observed_for: Duration,
    /// The state at the end, explained.
    pub report: Report,
}

impl StrategyText {
    fn of(strategy: &Strategy) -> Self {
        match strategy {
            Strategy::RollingUpdate(Ok(limits)) => Self::RollingUpdate {
                max_surge: limits.surge.to_string(),
                max_unavailable: limits.unavailable.to_string(),
            },
            Strategy::RollingUpdate(Err(_)) | Strategy::Unknown(_) | Strategy::Recreate => Self::Recreate,
        }
    }
}
