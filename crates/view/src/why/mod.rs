//! Why a rollout is where it is.
//!
//! ```text
//! Standing ─┬─ rules (what the controller waits for) ─┐
//!           └─ complaint (what each pod suffers from) ─┴─ causes ── verdict, headline ── Report ─┬─ text
//!                                                                                               └─ json
//! ```
//!
//! A cause *blocks*, *waits* or is a *note*. What waits will pass by itself, what blocks will not. A rollout is stuck when its
//! deadline has passed, or when something blocks it and nothing is left that moves.

mod causes;
mod complaint;
mod headline;
mod json;
mod reason;
mod refused;
mod report;
mod rules;
mod text;

pub(crate) use complaint::complaint;
pub use json::render as render_json;
pub use reason::{Probed, Reason};
pub use report::{Budget, Cause, Held, Pods, Report, Verdict, Weight};
pub use text::render as render_text;
pub(crate) use text::{deadline as deadline_words, short_budget as budget_words};

use gantry_decide::deployment::{Deadline, Limits, WaitingOn, revision_of};
use gantry_model::{RollingLimits, Strategy, Timestamp};

use crate::snapshot::Snapshot;
use crate::standing::Standing;

/// Says why the rollout of this Deployment is where it is now.
pub fn explain(now: Timestamp, snapshot: &Snapshot) -> Report {
    report(&Standing::of(now, snapshot))
}

/// Says why a rollout stands where it stands.
pub fn report(standing: &Standing<'_>) -> Report {
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
        unblock: unblock(standing, verdict, &causes),
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

/// What a person could do: about each thing that blocks, and in the end always to go back.
fn unblock(standing: &Standing<'_>, verdict: Verdict, causes: &[Cause]) -> Vec<String> {
    let name = &standing.snapshot.deployment.meta.name;
    let mut advice = Vec::new();
    if verdict == Verdict::Paused {
        advice.push(format!("resume it: gantry rollout resume deployment/{name}"));
    }
    for cause in causes.iter().filter(|cause| cause.weight == Weight::Blocks) {
        if let Some(what) = cause.reason.advice(cause.pods.first())
            && !advice.contains(&what)
        {
            advice.push(what);
        }
    }
    let has_earlier = standing.old_sets().any(|old| old.set.is_active());
    if verdict == Verdict::Stuck && has_earlier {
        advice.push(format!("or go back to what ran before: gantry rollout undo deployment/{name}"));
    }
    advice
}
