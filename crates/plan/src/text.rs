//! A plan as text.

use gantry_view::why::Severity;
use gantry_view::{Line, Style, count};

use crate::phrases;
use crate::plan::{RolloutEnding, RolloutPlan, StrategyText};
use crate::steps::{Resize, RolloutStep, Trigger, condense};
use crate::time::span;
use crate::timeline::SetInfo;

/// The number of steps that are shown; more are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// At most about one screen.
    Condensed,
    /// All steps.
    Full,
}

/// The number of steps on a screen.
const STEPS_MAX: usize = 20;

/// The plan as lines.
///
/// ```text
/// deployment/web completes after 48s
///
/// Change     image nginx:1 -> nginx:2
/// Strategy   RollingUpdate: at most 5 pods (maxSurge 25%), at least 3 available (maxUnavailable 25%)
/// Available  3 of 4 at worst, for 48s from 0s on
/// ```
pub fn lines(plan: &RolloutPlan, detail: Detail) -> Vec<Line> {
    let mut lines = vec![headline(plan), Line::default()];
    lines.extend(
        facts(plan)
            .into_iter()
            .map(|(title, text)| Line::of(Style::Strong, &format!("{title:<11}")).with(Style::Plain, &text)),
    );
    if !plan.warnings.is_empty() {
        lines.extend([Line::default(), Line::of(Style::Bad, "Warnings")]);
        lines.extend(plan.warnings.iter().map(|warning| Line::of(Style::Plain, &format!("  {warning}"))));
    }
    lines.push(Line::default());
    lines.extend(steps(plan, detail));
    lines.extend(left_over(plan));
    lines
}

fn headline(plan: &RolloutPlan) -> Line {
    let style = match plan.ending() {
        RolloutEnding::Complete(_) => Style::Good,
        RolloutEnding::Stuck => Style::Bad,
        RolloutEnding::Paused | RolloutEnding::Unfinished => Style::Busy,
    };
    Line::of(Style::Strong, &format!("{} ", phrases::title(plan))).with(style, &phrases::ending(plan))
}

/// The facts of a plan, with their titles.
pub(crate) fn facts(plan: &RolloutPlan) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Change", phrases::changes(plan)),
        ("Strategy", strategy(plan)),
        ("Available", phrases::fewest_available(plan)),
        ("Pods", phrases::most_pods(plan)),
        ("Deadline", phrases::deadline(plan)),
    ];
    if !plan.assumptions.is_empty() {
        facts.push(("Assumed", plan.assumptions.join(", ")));
    }
    facts
}

fn strategy(plan: &RolloutPlan) -> String {
    let limits = plan.timeline.samples.last().map(|sample| sample.limits);
    match (&plan.strategy, limits) {
        (StrategyText::RollingUpdate { max_surge, max_unavailable }, Some(limits)) => format!(
            "RollingUpdate: at most {} pods (maxSurge {max_surge}), at least {} available (maxUnavailable {max_unavailable})",
            limits.ceiling(),
            limits.floor(),
        ),
        (StrategyText::RollingUpdate { .. }, None) => "RollingUpdate".to_owned(),
        (StrategyText::Recreate, _) => {
            "Recreate: all old pods stop before the first new one starts".to_owned()
        }
    }
}

/// The table of steps: a column for each ReplicaSet.
fn steps(plan: &RolloutPlan, detail: Detail) -> Vec<Line> {
    let steps = match detail {
        Detail::Full => plan.steps(),
        Detail::Condensed => condense(&plan.steps(), STEPS_MAX),
    };
    if steps.is_empty() {
        return vec![Line::of(Style::Dim, "No ReplicaSet is resized.")];
    }
    let mut rows = vec![header(plan)];
    rows.extend(steps.iter().map(|step| row(plan, step)));
    align(&rows)
}

pub(crate) fn header(plan: &RolloutPlan) -> Vec<String> {
    let name = |set: &SetInfo| format!("{} ({})", set.name, if set.is_new { "new" } else { "old" });
    let sets = plan.timeline.sets.iter().map(name);
    let first = ["TIME".to_owned()];
    first.into_iter().chain(sets).chain(["AVAILABLE", "PODS", "BECAUSE"].map(str::to_owned)).collect()
}

pub(crate) fn row(plan: &RolloutPlan, step: &RolloutStep) -> Vec<String> {
    let time = if step.from == step.until {
        span(step.from)
    } else {
        format!("{} .. {}", span(step.from), span(step.until))
    };
    let pods = match step.terminating {
        0 => step.pods.to_string(),
        terminating => format!("{} +{terminating} ending", step.pods),
    };
    let sizes = step.sizes.iter().map(|resize| size(*resize));
    let last = [format!("{} of {}", step.available, step.limits.desired), pods, because(plan, step)];
    [time].into_iter().chain(sizes).chain(last).collect()
}

fn size(resize: Resize) -> String {
    if resize.is_change() {
        format!("{} -> {}", resize.before, resize.after)
    } else {
        resize.after.to_string()
    }
}

/// The text for the trigger of a step.
pub(crate) fn because(plan: &RolloutPlan, step: &RolloutStep) -> String {
    let is_recreate = plan.strategy == StrategyText::Recreate;
    match step.trigger {
        Trigger::Change if is_recreate => "the change: all old pods stop first".to_owned(),
        Trigger::Change => {
            format!(
                "the change: at least {} available, at most {} pods",
                step.limits.floor(),
                step.limits.ceiling()
            )
        }
        Trigger::Available { more, total } => {
            format!("{} available, {total} in all", count(more, "more new pod"))
        }
        Trigger::Gone => "all old pods are gone".to_owned(),
        Trigger::Unavailable { count: pods } => format!("{} not available any more", count(pods, "pod")),
        Trigger::Other => String::new(),
    }
}

/// The final state if the rollout does not complete: the sets with pods, and the causes.
fn left_over(plan: &RolloutPlan) -> Vec<Line> {
    if matches!(plan.ending(), RolloutEnding::Complete(_)) {
        return Vec::new();
    }
    let mut lines =
        vec![Line::default(), Line::of(Style::Strong, &format!("Left after {}", span(plan.observed_for)))];
    lines.extend(phrases::left_over(plan).iter().map(|text| Line::of(Style::Plain, &format!("  {text}"))));
    let blocking = plan.report.causes.iter().filter(|cause| cause.severity == Severity::Blocks);
    for cause in blocking {
        let message = cause.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
        lines.push(Line::of(
            Style::Bad,
            &format!("  {}{message}", cause.reason.summary_line(plan.report.now)),
        ));
    }
    if !plan.report.unblock.is_empty() {
        lines.extend([Line::default(), Line::of(Style::Strong, "Suggested actions")]);
        let advice = plan.report.unblock.iter();
        lines.extend(advice.map(|advice| Line::of(Style::Plain, &format!("  {advice}"))));
    }
    lines
}

/// Pads the columns except the last one.
pub(crate) fn align(rows: &[Vec<String>]) -> Vec<Line> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0; columns];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |(index, row): (usize, &Vec<String>)| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let style = if index == 0 { Style::Dim } else { Style::Plain };
        Line::of(style, cells.collect::<Vec<_>>().join("   ").trim_end())
    };
    rows.iter().enumerate().map(line).collect()
}
