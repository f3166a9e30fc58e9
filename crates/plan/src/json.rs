//! A plan as JSON, for programs. The fields are described in `docs/plan.md`.

use std::time::Duration;

use gantry_json::{Value, json};
use gantry_view::why;

use crate::phrases;
use crate::plan::{RolloutEnding, RolloutPlan, StrategyText};
use crate::summary::Extreme;
use crate::timeline::{ConditionChange, SetInfo, SizeChange, TimelineSample};
use crate::warnings::Warning;

/// The plan as a JSON value.
pub fn value(plan: &RolloutPlan) -> Value {
    let summary = &plan.summary;
    json!({
        "namespace": plan.deployment.namespace.as_str(),
        "name": plan.deployment.name.as_str(),
        "variant": plan.variant,
        "ending": ending(plan.ending()),
        "headline": phrases::ending(plan),
        "changes": plan.changes,
        "strategy": strategy(&plan.strategy),
        "assumptions": plan.assumptions,
        "completeAfterSeconds": summary.complete_after.map(seconds),
        "observedForSeconds": seconds(plan.observed_for),
        "deadlineSeconds": plan.deadline.map(seconds),
        "deadlineExceededAfterSeconds": summary.deadline_exceeded_after.map(seconds),
        "fewestAvailable": extreme(summary.fewest_available),
        "mostPods": extreme(summary.most_pods),
        "mostPodsWithTerminating": extreme(summary.most_with_terminating),
        "warnings": plan.warnings.iter().map(warning).collect::<Vec<_>>(),
        "sets": plan.timeline.sets.iter().map(set).collect::<Vec<_>>(),
        "samples": plan.timeline.samples.iter().map(sample).collect::<Vec<_>>(),
        "resizes": plan.timeline.resizes.iter().map(resize).collect::<Vec<_>>(),
        "conditions": plan.timeline.conditions.iter().map(condition).collect::<Vec<_>>(),
        "atTheEnd": why::json_value(&plan.report),
    })
}

fn seconds(duration: Duration) -> f64 {
    // Virtual time has no finer resolution than a millisecond.
    (duration.as_secs_f64() * 1000.0).round() / 1000.0
}

fn ending(ending: RolloutEnding) -> &'static str {
    match ending {
        RolloutEnding::Complete(_) => "complete",
        RolloutEnding::Stuck => "stuck",
        RolloutEnding::Paused => "paused",
        RolloutEnding::Unfinished => "unfinished",
    }
}

fn strategy(strategy: &StrategyText) -> Value {
    match strategy {
        StrategyText::RollingUpdate { max_surge, max_unavailable } => {
            json!({"type": "RollingUpdate", "maxSurge": max_surge, "maxUnavailable": max_unavailable})
        }
        StrategyText::Recreate => json!({"type": "Recreate"}),
    }
}

fn extreme(extreme: Extreme) -> Value {
    json!({
        "value": extreme.value,
        "atSeconds": seconds(extreme.at),
        "forSeconds": seconds(extreme.lasted),
    })
}

fn warning(warning: &Warning) -> Value {
    json!({"code": warning.code(), "message": warning.to_string()})
}

fn set(set: &SetInfo) -> Value {
    json!({"name": set.name.as_str(), "images": set.images, "revision": set.revision, "isNew": set.is_new})
}

fn sample(sample: &TimelineSample) -> Value {
    let counts = sample.counts.iter().map(|it| {
        json!({"size": it.size, "pods": it.pods, "available": it.available, "terminating": it.terminating})
    });
    json!({
        "atSeconds": seconds(sample.at),
        "desired": sample.limits.desired,
        "podsAtMost": sample.limits.ceiling(),
        "availableAtLeast": sample.limits.floor(),
        "sets": counts.collect::<Vec<_>>(),
    })
}

fn resize(resize: &SizeChange) -> Value {
    json!({"atSeconds": seconds(resize.at), "set": resize.set.as_str(), "from": resize.from, "to": resize.to})
}

fn condition(change: &ConditionChange) -> Value {
    json!({
        "atSeconds": seconds(change.at),
        "type": change.condition,
        "status": change.status,
        "reason": change.reason,
        "message": change.message,
    })
}
