//! A report as people read it.

use std::fmt::Write as _;

use gantry_decide::deployment::Deadline;

use super::reason::Reason;
use super::report::{Budget, Cause, Held, Report, Weight};
use crate::words::{count, harmless, names, span};

/// The report in lines, each of which ends.
///
/// ```text
/// deployment/web is stuck: 2 pods: image nginx:nope cannot be pulled (container main)
///
/// Pods      2 of 5 updated, 4 available, 4 old to go (revision 2)
/// Budget    6 of at most 6 pods (maxSurge 25%), 4 available of at least 4 (maxUnavailable 25%)
/// Deadline  fires in 9m10s, at 2026-01-01T12:10:00Z
///
/// Blocking
///   image nginx:nope cannot be pulled (container main)
///     pods web-2-a, web-2-b
///     Back-off pulling image "nginx:nope"
///
/// What would help
///   correct the image nginx:nope, push it, or give the pods a pull secret that may read it
/// ```
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    line(&mut text, &report.sentence());
    line(&mut text, "");
    line(&mut text, &format!("Pods      {}", pods(report)));
    if let Some(budget) = &report.budget {
        line(&mut text, &format!("Budget    {}", self::budget(budget)));
    }
    line(&mut text, &format!("Deadline  {}", deadline(report)));
    for (weight, title) in
        [(Weight::Blocks, "Blocking"), (Weight::Waits, "Under way"), (Weight::Notes, "Good to know")]
    {
        // The line of the budget has said it.
        let is_budget = |cause: &Cause| {
            matches!(cause.reason, Reason::SurgeLimit { .. } | Reason::AvailabilityFloor { .. })
        };
        let causes = report.causes.iter().filter(|cause| cause.weight == weight && !is_budget(cause));
        let mut causes = causes.peekable();
        if causes.peek().is_some() {
            line(&mut text, "");
            line(&mut text, title);
        }
        causes.for_each(|cause| self::cause(&mut text, report, cause));
    }
    if !report.unblock.is_empty() {
        line(&mut text, "");
        line(&mut text, "What would help");
        report.unblock.iter().for_each(|advice| line(&mut text, &format!("  {advice}")));
    }
    text
}

/// When the lack of progress is, or was, reported.
pub(crate) fn deadline(report: &Report) -> String {
    let seconds = report.deadline_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    match (report.deadline, seconds) {
        (Deadline::At(when), _) if when > report.now => {
            format!("fires in {}, at {}", span(when.since(report.now)), when.to_whole_seconds())
        }
        (Deadline::At(_), _) => "fires now".to_owned(),
        (Deadline::Exceeded, Some(seconds)) => {
            format!("passed: no progress for {}", span(std::time::Duration::from_secs(seconds)))
        }
        (Deadline::Exceeded, None) => "passed".to_owned(),
        (Deadline::None, Some(_)) => "does not run".to_owned(),
        (Deadline::None, None) => "none is set".to_owned(),
    }
}

/// What there is of each limit, and which of them holds the rollout back.
fn budget(budget: &Budget) -> String {
    let Budget { max_surge, max_unavailable, most, least, pods, available, .. } = budget;
    format!(
        "{pods} of at most {most} pods (maxSurge {max_surge}), \
         {available} available of at least {least} (maxUnavailable {max_unavailable}){}",
        held(budget)
    )
}

/// The same in fewer words.
pub(crate) fn short_budget(budget: &Budget) -> String {
    let Budget { most, least, pods, available, .. } = budget;
    format!("{pods} of at most {most} pods, {available} available of at least {least}{}", held(budget))
}

fn held(budget: &Budget) -> &'static str {
    match budget.held.as_slice() {
        [] => "",
        [Held::Surge] => "; no pod may be added",
        [Held::Availability] => "; no old pod may go",
        [..] => "; no pod may be added, no old pod may go",
    }
}

fn pods(report: &Report) -> String {
    let pods = &report.pods;
    let old = match pods.old.get() {
        0 => String::new(),
        old => format!(", {old} old to go"),
    };
    let revision = report.revision.map(|revision| format!(" (revision {revision})")).unwrap_or_default();
    let (updated, wanted, ready, available) = (pods.updated, pods.wanted, pods.ready, pods.available);
    format!("{updated} of {wanted} updated, {ready} ready, {available} available{old}{revision}")
}

fn cause(text: &mut String, report: &Report, cause: &Cause) {
    let set = cause.set.as_ref().filter(|_| cause.pods.is_empty());
    let set = set.map(|set| format!("{set}: ")).unwrap_or_default();
    line(text, &format!("  {set}{}", cause.reason.sentence(report.now)));
    if !cause.pods.is_empty() {
        let n = i64::try_from(cause.pods.len()).unwrap_or(i64::MAX);
        line(text, &format!("    {}: {}", count(n, "pod"), names(&cause.pods)));
    }
    if let Some(message) = &cause.message {
        line(text, &format!("    {message}"));
    }
}

fn line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", harmless(line));
}
