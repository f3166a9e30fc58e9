//! One screen of the live view.

use gantry_model::{EventType, Strategy};

use super::pod_glyph::{Charset, PodGlyph};
use super::time_left::time_left;
use crate::formatting::{count, names, one_line, span};
use crate::rollout_state::{ReplicaSetState, RolloutState, SetRole};
use crate::span::{Line, Style};
use crate::why::{self, Report, Severity, Verdict};

/// The maximum width of a bar.
const BAR_MAX: usize = 40;
/// The maximum number of pod rows of a set.
const POD_ROWS_MAX: usize = 4;
const CAUSES_MAX: usize = 4;
/// The indent of pods.
const INDENT: usize = 4;

/// The size and character set of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canvas {
    /// How many columns there are.
    pub columns: usize,
    /// How many rows there are.
    pub rows: usize,
    /// The characters that can be written.
    pub charset: Charset,
}

/// Draws a rollout within the given size.
///
/// The most important lines come first; events fill the remaining rows, and the last row is the legend.
pub fn frame(rollout: &RolloutState<'_>, canvas: Canvas) -> Vec<Line> {
    let report = why::report(rollout, &why::CommandFlags::default());
    let mut lines = vec![title(rollout, &report, canvas), headline(&report)];
    lines.push(progress(&report, canvas));
    if let Some(budget) = &report.budget {
        lines.push(Line::of(Style::Dim, "budget    ").with(Style::Plain, &why::budget_words(budget)));
    }
    lines.push(time(rollout, &report));
    for set in &rollout.sets {
        lines.push(Line::default());
        lines.extend(self::set(rollout, set, canvas));
    }
    lines.extend(causes(&report));
    let rows = canvas.rows.saturating_sub(1);
    lines.truncate(rows);
    let free = rows.saturating_sub(lines.len());
    lines.extend(events(rollout, free));
    lines.resize(rows, Line::default());
    lines.push(legend(canvas.charset));
    lines.truncate(canvas.rows);
    lines.into_iter().map(|line| line.cut(canvas.columns)).collect()
}

/// The Deployment, and on the right the verdict.
fn title(rollout: &RolloutState<'_>, report: &Report, canvas: Canvas) -> Line {
    let deployment = &rollout.snapshot.deployment;
    let strategy = match &deployment.strategy {
        Strategy::Recreate => "Recreate",
        Strategy::RollingUpdate(_) => "RollingUpdate",
        Strategy::Unknown(other) => other,
    };
    let revision = report.revision.map(|revision| format!("  revision {revision}")).unwrap_or_default();
    let about = format!("  in {}{revision}  {strategy}", report.deployment.namespace);
    let mut line =
        Line::of(Style::Strong, &format!("deployment/{}", report.deployment.name)).with(Style::Dim, &about);
    let verdict = report.verdict.as_str();
    let gap = canvas.columns.saturating_sub(line.width() + verdict.len()).max(1);
    line.push(Style::Plain, &" ".repeat(gap));
    line.with(report.verdict.style(), verdict)
}

fn headline(report: &Report) -> Line {
    Line::of(report.verdict.style(), &report.headline)
}

fn progress(report: &Report, canvas: Canvas) -> Line {
    let pods = &report.pods;
    let (full, empty) = if canvas.charset == Charset::Unicode { ("█", "░") } else { ("=", ".") };
    let width = BAR_MAX.min(canvas.columns / 3);
    let part = |n: i64| usize::try_from(n).unwrap_or(0);
    let done = part(pods.updated.get().min(pods.wanted.get()));
    let filled = (done * width).checked_div(part(pods.wanted.get())).unwrap_or(width);
    let old = match pods.old.get() {
        0 => String::new(),
        old => format!(", {old} old remaining"),
    };
    let numbers = format!("  {} of {} updated, {} available{old}", pods.updated, pods.wanted, pods.available);
    Line::of(Style::Dim, "updated   ")
        .with(report.verdict.style(), &full.repeat(filled))
        .with(Style::Dim, &empty.repeat(width - filled))
        .with(Style::Plain, &numbers)
}

/// The estimated time left, and the deadline.
fn time(rollout: &RolloutState<'_>, report: &Report) -> Line {
    let left = time_left(rollout).filter(|_| report.verdict == Verdict::Moving);
    let left = left.map(|left| format!("about {} left at this pace; ", span(left))).unwrap_or_default();
    let deadline = format!("{left}deadline {}", why::deadline_words(report));
    Line::of(Style::Dim, "time      ").with(Style::Plain, &deadline)
}

fn set(rollout: &RolloutState<'_>, set_state: &ReplicaSetState<'_>, canvas: Canvas) -> Vec<Line> {
    let set = set_state.set;
    let (role, style) = match set_state.role {
        SetRole::New => ("new ", Style::Strong),
        SetRole::Old => ("old ", Style::Plain),
    };
    let revision = set_state.revision().filter(|revision| *revision > 0);
    let revision = revision.map(|revision| format!("  revision {revision}")).unwrap_or_default();
    let sizes = format!(
        "  {} of {} wanted, {} available",
        count(set.status.replicas.get(), "pod"),
        set.replicas,
        set.status.available
    );
    let about = format!("{revision}  {}", set_state.images().join(", "));
    let name = Line::of(Style::Dim, role).with(style, set.meta.name.as_str());
    let mut lines = vec![name.with(Style::Dim, &about).with(Style::Plain, &sizes)];
    lines.extend(pods(rollout, set_state, canvas));
    lines
}

/// One character for each pod, the most advanced first.
fn pods(rollout: &RolloutState<'_>, set: &ReplicaSetState<'_>, canvas: Canvas) -> Vec<Line> {
    let glyph = |seen: &&crate::snapshot::ObservedPod| PodGlyph::of(rollout.now, rollout.snapshot, set, seen);
    let mut glyphs: Vec<_> = set.pods.iter().filter_map(glyph).collect();
    glyphs.sort();
    let per_row = canvas.columns.saturating_sub(INDENT + 12).max(1);
    let shown = per_row * POD_ROWS_MAX;
    let more = glyphs.len().saturating_sub(shown);
    let mut lines: Vec<Line> = glyphs[..glyphs.len() - more]
        .chunks(per_row)
        .map(|row| {
            let mut line = Line::of(Style::Plain, &" ".repeat(INDENT));
            for glyph in row {
                line.push(glyph.style(), &glyph.glyph(canvas.charset).to_string());
            }
            line
        })
        .collect();
    if let (Some(last), 1..) = (lines.last_mut(), more) {
        last.push(Style::Dim, &format!(" +{more}"));
    }
    lines
}

/// The blocking causes, with the cluster's messages.
fn causes(report: &Report) -> Vec<Line> {
    let blocking = report.causes.iter().filter(|cause| cause.severity == Severity::Blocks);
    let mut lines = Vec::new();
    for cause in blocking.take(CAUSES_MAX) {
        lines.push(Line::default());
        lines.push(Line::of(Style::Bad, &cause.reason.summary_line(report.now)));
        let pods = names(&cause.pods);
        if !pods.is_empty() {
            lines.push(Line::of(Style::Dim, &format!("    {pods}")));
        }
        if let Some(message) = &cause.message {
            lines.push(Line::of(Style::Plain, &format!("    {message}")));
        }
    }
    lines
}

/// The last events that fit in so many rows, after an empty one and a title.
fn events(rollout: &RolloutState<'_>, rows: usize) -> Vec<Line> {
    let lines_max = rows.saturating_sub(2);
    let events = &rollout.snapshot.events;
    if lines_max == 0 || events.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::default(), Line::of(Style::Dim, "events")];
    for event in &events[events.len().saturating_sub(lines_max)..] {
        let age = event.last.map(|last| span(rollout.now.since(last))).unwrap_or_default();
        let style = if event.event_type == EventType::Warning { Style::Bad } else { Style::Plain };
        let times = if event.count > 1 { format!(" (x{})", event.count) } else { String::new() };
        let of = format!("  {}/{}  ", event.kind.to_lowercase(), event.of);
        lines.push(
            Line::of(Style::Dim, &format!("{age:>6}  "))
                .with(style, &event.reason)
                .with(Style::Dim, &of)
                .with(Style::Plain, &format!("{}{times}", one_line(&event.message))),
        );
    }
    lines
}

fn legend(charset: Charset) -> Line {
    let mut line = Line::of(Style::Strong, "q").with(Style::Dim, " quits  ");
    for glyph in PodGlyph::ALL {
        line.push(glyph.style(), &glyph.glyph(charset).to_string());
        line.push(Style::Dim, &format!(" {}  ", glyph.label()));
    }
    line
}
