//! A rollout in one sentence.

use super::report::{Cause, Report, Severity, Verdict};
use crate::formatting::{count, span};
use crate::rollout_state::RolloutState;

/// The sentence after "deployment/web is stuck: ".
pub(super) fn of(rollout: &RolloutState<'_>, report: &Report) -> String {
    match report.verdict {
        Verdict::Done => done(report),
        Verdict::Paused => paused(rollout, report),
        Verdict::Moving => {
            let heaviest = report.causes.iter().find(|cause| cause.severity == Severity::Waits);
            let why = heaviest.map(|cause| format!("; {}", describe(report, cause))).unwrap_or_default();
            format!("{}{why}", counts(report))
        }
        Verdict::Stuck if report.rolled_out => broken_later(report),
        Verdict::Stuck => match report.causes.iter().find(|cause| cause.severity == Severity::Blocks) {
            Some(cause) => describe(report, cause),
            None => late(report),
        },
    }
}

fn done(report: &Report) -> String {
    let revision = report.revision.map(|revision| format!(" of revision {revision}")).unwrap_or_default();
    let restarts = report.causes.iter().find(|cause| cause.reason.is_crash());
    let restarts = restarts.map(|cause| format!(", but {}", describe(report, cause))).unwrap_or_default();
    match report.pods.wanted.get() {
        0 => "0 of 0 replicas, nothing to do".to_owned(),
        1 => format!("the 1 pod{revision} is available{restarts}"),
        wanted => format!("all {wanted} pods{revision} are available{restarts}"),
    }
}

/// The rollout was complete; pods became unavailable later.
fn broken_later(report: &Report) -> String {
    let (wanted, available) = (report.pods.wanted.get(), report.pods.available.get());
    let revision = report.revision.map(|revision| format!("revision {revision}"));
    let why = report.causes.iter().find(|cause| cause.severity == Severity::Blocks);
    let why = why.map(|cause| format!("; {}", describe(report, cause))).unwrap_or_default();
    let now = match (available, wanted) {
        (0, 1) => "its pod is not available now".to_owned(),
        (0, _) => format!("none of its {wanted} pods is available now"),
        _ => format!("only {available} of {wanted} pods are available now"),
    };
    format!("{} was rolled out, but {now}{why}", revision.as_deref().unwrap_or("the template"))
}

fn paused(rollout: &RolloutState<'_>, report: &Report) -> String {
    if rollout.new_set().is_none() {
        return "the current template is rolled out after resume".to_owned();
    }
    if rollout.is_done() {
        return "no pending rollout".to_owned();
    }
    counts(report)
}

fn counts(report: &Report) -> String {
    let pods = &report.pods;
    let old = match pods.old.get() {
        0 => String::new(),
        old => format!(", {old} old remaining"),
    };
    let wanted = count(pods.wanted.get(), "pod");
    format!("{} of {wanted} updated, {} available{old}", pods.updated, pods.available)
}

fn describe(report: &Report, cause: &Cause) -> String {
    let summary = cause.reason.summary_line(report.now);
    match cause.pods.len() {
        0 => summary,
        n => format!("{}: {summary}", count(i64::try_from(n).unwrap_or(i64::MAX), "pod")),
    }
}

fn late(report: &Report) -> String {
    let seconds = report.deadline_seconds.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or(0);
    let allowed = span(std::time::Duration::from_secs(seconds));
    format!("no progress for more than {allowed}; {}", counts(report))
}
