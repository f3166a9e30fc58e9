//! The phrases that texts and pictures share.

use gantry_view::count;

use crate::plan::{RolloutEnding, RolloutPlan};
use crate::time::span;

/// `deployment/web`, with the variant if there are several: `deployment/web with maxSurge=1`.
pub(crate) fn title(plan: &RolloutPlan) -> String {
    let with = if plan.variant.is_empty() { "" } else { " with " };
    format!("deployment/{}{with}{}", plan.deployment.name, plan.variant)
}

/// How the rollout ends: `completes after 48s`.
pub(crate) fn ending(plan: &RolloutPlan) -> String {
    match plan.ending() {
        RolloutEnding::Complete(after) if after.is_zero() => {
            "no rollout: the pod template does not change".to_owned()
        }
        RolloutEnding::Complete(after) => format!("completes after {}", span(after)),
        RolloutEnding::Stuck => format!("gets stuck: {}", plan.report.headline),
        RolloutEnding::Paused => "stays paused".to_owned(),
        RolloutEnding::Unfinished => format!("is not complete after {}", span(plan.observed_for)),
    }
}

pub(crate) fn changes(plan: &RolloutPlan) -> String {
    if plan.changes.is_empty() { "none".to_owned() } else { plan.changes.join(", ") }
}

/// `8 of 10 at worst, for 24s from 0s on`.
pub(crate) fn fewest_available(plan: &RolloutPlan) -> String {
    let fewest = plan.summary.fewest_available;
    let wanted = plan.timeline.samples.last().map_or(0, |sample| sample.limits.desired);
    let when = format!("for {} from {} on", span(fewest.lasted), span(fewest.at));
    format!("{} of {wanted} at worst, {when}", fewest.value)
}

/// `13 at most, 15 with terminating ones`.
pub(crate) fn most_pods(plan: &RolloutPlan) -> String {
    let (most, all) = (plan.summary.most_pods, plan.summary.most_with_terminating);
    if all.value > most.value {
        format!("{} at most, {} with terminating ones", most.value, all.value)
    } else {
        format!("{} at most", most.value)
    }
}

/// Whether the progress deadline is exceeded.
pub(crate) fn deadline(plan: &RolloutPlan) -> String {
    match (plan.deadline, plan.summary.deadline_exceeded_after) {
        (None, _) => "none".to_owned(),
        (Some(deadline), None) => format!("{} without progress: not exceeded", span(deadline)),
        (Some(deadline), Some(at)) => {
            format!("{} without progress: exceeded at {}", span(deadline), span(at))
        }
    }
}

/// The pods of each ReplicaSet at the end.
pub(crate) fn left_over(plan: &RolloutPlan) -> Vec<String> {
    let Some(last) = plan.timeline.samples.last() else { return Vec::new() };
    let sets = plan.timeline.sets.iter().zip(&last.counts).filter(|(_, counts)| counts.pods > 0);
    let line = |(set, counts): (&crate::timeline::SetInfo, &crate::timeline::Counts)| {
        let which = if set.is_new { "new" } else { "old" };
        format!("{} ({which}): {}, {} available", set.name, count(counts.pods, "pod"), counts.available)
    };
    sets.map(line).collect()
}
