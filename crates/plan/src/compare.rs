//! Several plans of one Deployment side by side.

use gantry_view::Line;

use crate::phrases;
use crate::plan::RolloutPlan;
use crate::text::align;
use crate::time::span;

/// A table with a row for each fact and a column for each plan.
pub(crate) fn rows(plans: &[RolloutPlan]) -> Vec<Vec<String>> {
    let row = |title: &str, cell: &dyn Fn(&RolloutPlan) -> String| -> Vec<String> {
        [title.to_owned()].into_iter().chain(plans.iter().map(cell)).collect()
    };
    let name = |plan: &RolloutPlan| match plan.variant.as_str() {
        "" => "as written".to_owned(),
        variant => variant.to_owned(),
    };
    let outage = |plan: &RolloutPlan| match plan.summary.outage {
        None => "never".to_owned(),
        Some(outage) => format!("for {}", span(outage.duration(plan.observed_for))),
    };
    let deadline = |plan: &RolloutPlan| match plan.summary.deadline_exceeded_after {
        None => "not exceeded".to_owned(),
        Some(at) => format!("exceeded at {}", span(at)),
    };
    vec![
        row("", &name),
        row("Result", &phrases::ending),
        row("Fewest available", &|plan| plan.summary.fewest_available.value.to_string()),
        row("None available", &outage),
        row("Most pods", &|plan| plan.summary.most_pods.value.to_string()),
        row("With terminating ones", &|plan| plan.summary.most_with_terminating.value.to_string()),
        row("Deadline", &deadline),
        row("Steps", &|plan| plan.steps().len().to_string()),
    ]
}

/// The comparison as lines of text.
pub fn lines(plans: &[RolloutPlan]) -> Vec<Line> {
    align(&rows(plans))
}
