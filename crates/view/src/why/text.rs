//! A report as text.

use gantry_decide::deployment::Deadline;

use super::commands::Advice;
use super::reason::Reason;
use super::report::{Budget, Cause, ReachedLimit, Report, Severity, Verdict};
use crate::formatting::{count, names, span};
use crate::span::{Line, Style};

/// The width of titles such as `Pods`.
const TITLE: usize = 10;
/// The indent of causes and advice.
const INDENT: usize = 2;
/// The indent of the details of a cause.
const DEEP: usize = 4;

/// The report as unwrapped text, for pipes and files.
pub fn render(report: &Report) -> String {
    lines(report, None).iter().map(|line| line.text() + "\n").collect()
}

/// The report in lines that are at most so wide; commands and other words without a space are never broken.
///
/// ```text
/// deployment/web is stuck: 2 pods: image nginx:nope cannot be pulled (container main)
///
/// Pods      2 of 5 updated, 4 available, 4 old remaining (revision 2)
/// Budget    6 of at most 6 pods (maxSurge 25%), 4 available of at least 4 (maxUnavailable 25%)
/// Deadline  fires in 9m10s, at 2026-01-01T12:10:00Z
///
/// Blocking
///   image nginx:nope cannot be pulled (container main)
///     2 pods: web-2-a, web-2-b
///     Back-off pulling image "nginx:nope"
///
/// Suggested actions
///   use another image: gantry set image deployment/web main=IMAGE
///   or push nginx:nope, or give the pods an image pull secret that may read it
/// ```
pub fn lines(report: &Report, columns: Option<usize>) -> Vec<Line> {
    titled(report, &report.title(), columns)
}

/// The same, with another title.
pub(super) fn titled(report: &Report, title: &str, columns: Option<usize>) -> Vec<Line> {
    let mut page = Page { lines: Vec::new(), columns };
    page.wrapped(summary_line(report, title), INDENT);
    page.line(Line::default());
    page.titled("Pods", &pods(report));
    if let Some(budget) = &report.budget {
        page.titled("Budget", &self::budget(budget));
    }
    page.titled("Deadline", &deadline(report));
    for (severity, title, style) in [
        (Severity::Blocks, "Blocking", Style::Bad),
        (Severity::Waits, "Under way", Style::Busy),
        (Severity::Notes, "Notes", Style::Strong),
    ] {
        page.causes(report, severity, &Line::of(style, title));
    }
    page.advice(&report.unblock);
    page.lines
}

/// Lines that are wrapped to a width.
struct Page {
    lines: Vec<Line>,
    columns: Option<usize>,
}

impl Page {
    fn line(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// A line that is wrapped with this indent.
    fn wrapped(&mut self, line: Line, indent: usize) {
        match self.columns {
            Some(columns) => self.lines.extend(line.wrap(columns, indent)),
            None => self.lines.push(line),
        }
    }

    fn titled(&mut self, title: &str, text: &str) {
        self.wrapped(Line::of(Style::Dim, &format!("{title:TITLE$}")).with(Style::Plain, text), TITLE);
    }

    fn indented(&mut self, indent: usize, style: Style, text: &str) {
        self.wrapped(Line::of(Style::Plain, &" ".repeat(indent)).with(style, text), indent.max(DEEP));
    }

    fn causes(&mut self, report: &Report, severity: Severity, title: &Line) {
        // The line of the budget shows it.
        let is_budget = |cause: &Cause| {
            matches!(cause.reason, Reason::SurgeLimit { .. } | Reason::AvailabilityFloor { .. })
        };
        let causes = report.causes.iter().filter(|cause| cause.severity == severity && !is_budget(cause));
        let mut causes = causes.peekable();
        if causes.peek().is_some() {
            self.line(Line::default());
            self.line(title.clone());
        }
        causes.for_each(|cause| self.cause(report, cause));
    }

    fn cause(&mut self, report: &Report, cause: &Cause) {
        let set = cause.set.as_ref().filter(|_| cause.pods.is_empty());
        let set = set.map(|set| format!("{set}: ")).unwrap_or_default();
        self.indented(INDENT, Style::Plain, &format!("{set}{}", cause.reason.summary_line(report.now)));
        if !cause.pods.is_empty() {
            let n = i64::try_from(cause.pods.len()).unwrap_or(i64::MAX);
            self.indented(DEEP, Style::Dim, &format!("{}: {}", count(n, "pod"), names(&cause.pods)));
        }
        if let Some(message) = &cause.message {
            self.indented(DEEP, Style::Dim, message);
        }
    }

    fn advice(&mut self, all: &[Advice]) {
        if all.is_empty() {
            return;
        }
        self.line(Line::default());
        self.line(Line::of(Style::Strong, "Suggested actions"));
        for advice in all {
            let Some(command) = &advice.command else {
                self.indented(INDENT, Style::Plain, &advice.text);
                continue;
            };
            let indent = " ".repeat(INDENT);
            let whole =
                Line::of(Style::Plain, &format!("{indent}{}: ", advice.text)).with(Style::Strong, command);
            if self.columns.is_none_or(|columns| whole.width() <= columns) {
                self.line(whole);
            } else {
                // On a line of its own, unwrapped, so that it can be copied.
                self.indented(INDENT, Style::Plain, &format!("{}:", advice.text));
                let command = Line::of(Style::Plain, &" ".repeat(DEEP)).with(Style::Strong, command);
                self.line(command);
            }
        }
    }
}

fn summary_line(report: &Report, title: &str) -> Line {
    Line::of(Style::Strong, title)
        .with(Style::Plain, " is ")
        .with(report.verdict.style(), report.verdict.as_str())
        .with(Style::Plain, &format!(": {}", report.headline))
}

/// The state of the progress deadline.
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
        (Deadline::None, Some(_)) if report.verdict == Verdict::Paused => {
            "not running while paused".to_owned()
        }
        (Deadline::None, Some(_)) if report.rolled_out || report.verdict == Verdict::Done => {
            "not running, the rollout is complete".to_owned()
        }
        (Deadline::None, Some(_)) => "not running".to_owned(),
        (Deadline::None, None) => "none is set".to_owned(),
    }
}

/// The usage of each limit, and which of them are reached.
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
    let held = match budget.held.as_slice() {
        [_, _, ..] => "; at surge limit and availability floor",
        _ => held(budget),
    };
    format!("{pods} of at most {most} pods, {available} available of at least {least}{held}")
}

fn held(budget: &Budget) -> &'static str {
    match budget.held.as_slice() {
        [] => "",
        [ReachedLimit::Surge] => "; at the surge limit",
        [ReachedLimit::Availability] => "; at the availability floor",
        [..] => "; at the surge limit and at the availability floor",
    }
}

fn pods(report: &Report) -> String {
    let pods = &report.pods;
    let old = match pods.old.get() {
        0 => String::new(),
        old => format!(", {old} old remaining"),
    };
    let revision = report.revision.map(|revision| format!(" (revision {revision})")).unwrap_or_default();
    let (updated, wanted, ready, available) = (pods.updated, pods.wanted, pods.ready, pods.available);
    format!("{updated} of {wanted} updated, {ready} ready, {available} available{old}{revision}")
}
