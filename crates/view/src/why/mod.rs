//! Why a rollout is where it is.
//!
//! ```text
//! Standing ─┬─ rules (what the controller waits for) ─┐
//!           └─ complaint (what each pod suffers from) ─┴─ causes ── verdict, headline, advice ── Report ─┬─ text
//!                                                                                                       └─ json
//! ```
//!
//! A cause *blocks*, *waits* or is a *note*. What waits will pass by itself, what blocks will not. A rollout is stuck when its
//! deadline has passed, or when something blocks it and nothing is left that moves.

mod advice;
mod causes;
mod commands;
mod complaint;
mod headline;
mod json;
mod missing;
mod reason;
mod refused;
mod report;
mod rules;
mod scheduling;
mod sentence;
mod several;
mod text;

pub use commands::{Advice, CommandFlags};
pub(crate) use complaint::complaint;
pub use json::render as render_json;
pub use missing::Missing;
pub use reason::{Probed, Reason};
pub use report::{Budget, Cause, Held, Pods, Report, Verdict, Weight};
pub use scheduling::{Obstacle, ObstacleKind};
pub use several::Several;
pub(crate) use text::{deadline as deadline_words, short_budget as budget_words};
pub use text::{lines, render as render_text};

use gantry_decide::deployment::{Deadline, Limits, WaitingOn, revision_of};
use gantry_model::{RollingLimits, Strategy, Timestamp};

use crate::snapshot::Snapshot;
use crate::standing::Standing;

/// Says why the rollout of this Deployment is where it is now. The commands in its advice carry these flags.
pub fn explain(now: Timestamp, snapshot: &Snapshot, flags: &CommandFlags) -> Report {
    report(&Standing::of(now, snapshot), flags)
}

/// Says why a rollout stands where it stands.
pub fn report(standing: &Standing<'_>, flags: &CommandFlags) -> Report {
    let deployment = &standing.snapshot.deployment;
    let causes = causes::collect(standing);
    let verdict = verdict(standing, &causes);
    let status = &standing.status;
    let old = (status.replicas.get() - status.updated.get()).max(0);
    let mut report = Report {
        deployment: deployment.meta.key(),
        now: standing.now,
        verdict,
        headline: String::new(),
        revision: revision_of(&deployment.meta.annotations).filter(|revision| *revision > 0),
        rolled_out: standing.is_rolled_out(),
        pods: Pods {
            wanted: deployment.replicas,
            updated: status.updated,
            ready: status.ready,
            available: status.available,
            old: gantry_model::Replicas::nearest(old),
        },
        budget: budget(standing),
        deadline: standing.decision.deadline,
        deadline_seconds: deployment.progress_deadline_seconds,
        unblock: advice::of(standing, verdict, &causes, flags),
        causes,
    };
    report.headline = headline::of(standing, &report);
    report
}

fn verdict(standing: &Standing<'_>, causes: &[Cause]) -> Verdict {
    let weighs = |weight| causes.iter().any(|cause| cause.weight == weight);
    let deployment = &standing.snapshot.deployment;
    if deployment.meta.is_deleting() {
        return if weighs(Weight::Blocks) { Verdict::Stuck } else { Verdict::Moving };
    }
    if deployment.paused {
        return Verdict::Paused;
    }
    if standing.is_done() && !weighs(Weight::Blocks) {
        return Verdict::Done;
    }
    let is_late = standing.decision.deadline == Deadline::Exceeded;
    if is_late || (weighs(Weight::Blocks) && !weighs(Weight::Waits)) {
        return Verdict::Stuck;
    }
    Verdict::Moving
}

/// The limits of a rolling update, what there is of each, and which of them holds the rollout back.
fn budget(standing: &Standing<'_>) -> Option<Budget> {
    let deployment = &standing.snapshot.deployment;
    let Strategy::RollingUpdate(Ok(RollingLimits { surge, unavailable })) = deployment.strategy else {
        return None;
    };
    let limits = Limits::of(deployment);
    let held = standing.decision.waiting_on.iter().filter_map(|waiting| match waiting {
        WaitingOn::SurgeLimit { .. } => Some(Held::Surge),
        WaitingOn::AvailabilityFloor { .. } => Some(Held::Availability),
        _ => None,
    });
    Some(Budget {
        max_surge: surge,
        max_unavailable: unavailable,
        most: limits.ceiling(),
        least: limits.floor(),
        // What the rules count: pods that are missing for full availability are wanted, too.
        pods: standing.status.available.get() + standing.status.unavailable.get(),
        available: standing.status.available.get(),
        held: held.collect(),
    })
}
