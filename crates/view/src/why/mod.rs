//! The reasons for the state of a rollout.
//!
//! ```text
//! RolloutState ─┬─ reason (what the controller waits for) ─┐
//!               └─ pod_problem (computes a pod's problem) ─┴─ causes ── headline, advice ── Report ─┬─ text
//!                                                                                                   └─ json
//! ```
//!
//! A cause *blocks*, *waits* or is a *note*. A waiting cause resolves by itself, a blocking one does not. A rollout
//! is stuck when its deadline has passed, or when something blocks it and nothing else progresses.

mod advice;
mod causes;
mod commands;
mod headline;
mod json;
mod missing;
mod pod_problem;
mod reason;
mod refused;
mod report;
mod rules;
mod scheduling;
mod several;
mod summary_line;
mod text;

pub use commands::{Advice, CommandFlags};
pub use json::{render as render_json, value as json_value};
pub use missing::Missing;
pub(crate) use pod_problem::pod_problem;
pub use reason::{ProbeKind, Reason};
pub use report::{Budget, Cause, Pods, ReachedLimit, Report, Severity, Verdict};
pub use scheduling::{Obstacle, ObstacleKind};
pub use several::Several;
pub(crate) use text::{deadline as deadline_words, short_budget as budget_words};
pub use text::{lines, render as render_text};

use gantry_decide::deployment::{Deadline, Limits, WaitingOn, revision_of};
use gantry_model::{RollingLimits, Strategy, Timestamp};

use crate::rollout_state::RolloutState;
use crate::snapshot::Snapshot;

/// Reports the reasons for the state of this Deployment's rollout. The commands in its advice carry these flags.
pub fn explain(now: Timestamp, snapshot: &Snapshot, flags: &CommandFlags) -> Report {
    report(&RolloutState::of(now, snapshot), flags)
}

/// Reports the reasons for the state of a rollout.
pub fn report(rollout: &RolloutState<'_>, flags: &CommandFlags) -> Report {
    let deployment = &rollout.snapshot.deployment;
    let causes = causes::collect(rollout);
    let verdict = verdict(rollout, &causes);
    let status = &rollout.status;
    let old = (status.replicas.get() - status.updated.get()).max(0);
    let mut report = Report {
        deployment: deployment.meta.key(),
        now: rollout.now,
        verdict,
        headline: String::new(),
        revision: revision_of(&deployment.meta.annotations).filter(|revision| *revision > 0),
        rolled_out: rollout.is_rolled_out(),
        pods: Pods {
            wanted: deployment.replicas,
            updated: status.updated,
            ready: status.ready,
            available: status.available,
            old: gantry_model::Replicas::nearest(old),
        },
        budget: budget(rollout),
        deadline: rollout.decision.deadline,
        deadline_seconds: deployment.progress_deadline_seconds,
        unblock: advice::of(rollout, verdict, &causes, flags),
        causes,
    };
    report.headline = headline::of(rollout, &report);
    report
}

fn verdict(rollout: &RolloutState<'_>, causes: &[Cause]) -> Verdict {
    let weighs = |severity| causes.iter().any(|cause| cause.severity == severity);
    let deployment = &rollout.snapshot.deployment;
    if deployment.meta.is_deleting() {
        return if weighs(Severity::Blocks) { Verdict::Stuck } else { Verdict::Moving };
    }
    if deployment.paused {
        return Verdict::Paused;
    }
    if rollout.is_done() && !weighs(Severity::Blocks) {
        return Verdict::Done;
    }
    let is_late = rollout.decision.deadline == Deadline::Exceeded;
    if is_late || (weighs(Severity::Blocks) && !weighs(Severity::Waits)) {
        return Verdict::Stuck;
    }
    Verdict::Moving
}

/// The limits of a rolling update, their usage, and which of them are reached.
fn budget(rollout: &RolloutState<'_>) -> Option<Budget> {
    let deployment = &rollout.snapshot.deployment;
    let Strategy::RollingUpdate(Ok(RollingLimits { surge, unavailable })) = deployment.strategy else {
        return None;
    };
    let limits = Limits::of(deployment);
    let held = rollout.decision.waiting_on.iter().filter_map(|waiting| match waiting {
        WaitingOn::SurgeLimit { .. } => Some(ReachedLimit::Surge),
        WaitingOn::AvailabilityFloor { .. } => Some(ReachedLimit::Availability),
        _ => None,
    });
    Some(Budget {
        max_surge: surge,
        max_unavailable: unavailable,
        most: limits.ceiling(),
        least: limits.floor(),
        // As the rules count: pods that are missing for full availability are wanted, too.
        pods: rollout.status.available.get() + rollout.status.unavailable.get(),
        available: rollout.status.available.get(),
        held: held.collect(),
    })
}
