//! A plan as a picture: pods over time, stacked by their state, with the limits of the rollout as lines.
//!
//! Available pods are at the bottom, so that the top of their area is the number of available pods; starting pods are above
//! them, so that the top of those is the number of pods; terminating pods, which no limit counts, are on top.

mod heading;

use std::fmt::Write as _;
use std::time::Duration;

use crate::phrases;
use crate::plan::{RolloutPlan, StrategyText};
use crate::time::span;
use crate::timeline::{Counts, TimelineSample};
use heading::Heading;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 124.0;
const PLOT_HEIGHT: f64 = 280.0;
const BOTTOM: f64 = 48.0;
/// The width of the state before the change, in front of the time axis.
const LEAD: f64 = 28.0;
/// The maximum number of characters of an entry of the legend beside another one.
const LEGEND_MAX: usize = 54;
/// The height of a line of the legend.
const LEGEND_LINE: f64 = 20.0;

const NEW: &str = "#2563eb";
const NEW_STARTING: &str = "#a8c5fb";
const OLD: [&str; 4] = ["#64748b", "#8a97a8", "#a9b3c0", "#c4cbd4"];
const OLD_STARTING: &str = "#dde2e8";
const TERMINATING: &str = "#f3c6b8";
const CEILING: &str = "#b42318";
const FLOOR: &str = "#15803d";
const INK: &str = "#1f2937";
const FAINT: &str = "#6b7280";

/// The axes of a picture. Pictures that are compared share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    /// The end of the time axis.
    pub end: Duration,
    /// The largest number of pods.
    pub height: i64,
}

impl Axes {
    /// The axes on which all these plans fit.
    pub fn of(plans: &[RolloutPlan]) -> Self {
        let end = plans.iter().map(shown_end).max().unwrap_or_default();
        let height = plans.iter().map(|plan| plan.timeline.height()).max().unwrap_or(0);
        Self { end: end.max(Duration::from_secs(1)), height: height.max(1) }
    }

    fn x(self, at: Duration) -> f64 {
        let width = WIDTH - LEFT - RIGHT - LEAD;
        LEFT + LEAD + width * (at.as_secs_f64() / self.end.as_secs_f64()).min(1.0)
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of pods are far below 2^52")]
    fn y(self, pods: i64) -> f64 {
        PLOT_HEIGHT * (1.0 - pods as f64 / self.height as f64)
    }
}

/// The end of the shown time: a little after the last change of a plan.
fn shown_end(plan: &RolloutPlan) -> Duration {
    let last_condition = plan.timeline.conditions.last().map(|change| change.at).unwrap_or_default();
    plan.timeline.end().max(last_condition).mul_f64(1.04)
}

/// The plans as one self-contained SVG document, one below the other on the same axes.
pub fn render_all(plans: &[RolloutPlan]) -> String {
    let axes = Axes::of(plans);
    if let [plan] = plans {
        return render(plan, axes);
    }
    let height: f64 = plans.iter().map(height).sum();
    let mut svg = String::new();
    put(
        &mut svg,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\">"
        ),
    );
    let mut top = 0.0;
    for plan in plans {
        svg.push_str(&picture(plan, axes, top));
        top += self::height(plan);
    }
    svg.push_str("</svg>\n");
    svg
}

/// The plan as a self-contained SVG document.
pub fn render(plan: &RolloutPlan, axes: Axes) -> String {
    picture(plan, axes, 0.0)
}

/// The height of a plan's picture.
fn height(plan: &RolloutPlan) -> f64 {
    let legend = legend(plan);
    #[expect(clippy::cast_precision_loss, reason = "a handful of lines")]
    let legend = LEGEND_LINE * legend.len().div_ceil(columns(&legend)) as f64;
    Heading::of(plan).height() + PLOT_HEIGHT + BOTTOM + legend + 8.0
}

/// The picture of a plan that begins at this distance from the top.
fn picture(plan: &RolloutPlan, axes: Axes, top: f64) -> String {
    let (layers, legend, height) = (layers(plan), legend(plan), height(plan));
    let mut svg = String::new();
    let label = escape(&format!("{} {}", phrases::title(plan), phrases::ending(plan)));
    put(
        &mut svg,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" y=\"{top}\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{label}\" font-family=\"system-ui, -apple-system, 'Segoe UI', sans-serif\" font-size=\"13\">"
        ),
    );
    put(&mut svg, format_args!("<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>"));
    let heading = Heading::of(plan);
    heading.draw(&mut svg);
    put(&mut svg, format_args!("<g transform=\"translate(0 {})\">", heading.height()));
    grid(&mut svg, axes);
    for layer in &layers {
        put(&mut svg, format_args!("<path d=\"{}\" fill=\"{}\"/>", layer.path(axes), layer.colour));
    }
    limits(&mut svg, plan, axes);
    marks(&mut svg, plan, axes);
    axis(&mut svg, axes);
    draw_legend(&mut svg, &legend);
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// One area of the picture: its upper and lower edge over time.
struct Layer {
    colour: &'static str,
    edges: Vec<(Duration, i64, i64)>,
}

/// The number of pods of a layer, from the numbers of all sets.
type CountOf = Box<dyn Fn(&[Counts]) -> i64>;

/// The pods that a layer counts.
struct Part {
    colour: &'static str,
    count: CountOf,
}

fn layers(plan: &RolloutPlan) -> Vec<Layer> {
    let parts = parts(plan);
    let samples = &plan.timeline.samples;
    let mut layers: Vec<Layer> =
        parts.iter().map(|part| Layer { colour: part.colour, edges: Vec::new() }).collect();
    for sample in samples {
        let mut below = 0;
        for (part, layer) in parts.iter().zip(&mut layers) {
            let above = below + (part.count)(&sample.counts).max(0);
            layer.edges.push((sample.at, below, above));
            below = above;
        }
    }
    layers
}

/// The parts of the stack from bottom to top.
fn parts(plan: &RolloutPlan) -> Vec<Part> {
    let sets = &plan.timeline.sets;
    let (new, old): (Vec<usize>, Vec<usize>) = (0..sets.len()).partition(|index| sets[*index].is_new);
    let mut parts = Vec::new();
    for index in new.iter().copied() {
        parts.push(Part { colour: NEW, count: Box::new(move |counts| counts[index].available) });
    }
    for (shade, index) in old.iter().copied().enumerate() {
        let colour = OLD[shade.min(OLD.len() - 1)];
        parts.push(Part { colour, count: Box::new(move |counts| counts[index].available) });
    }
    for index in new {
        let count = move |counts: &[Counts]| counts[index].pods - counts[index].available;
        parts.push(Part { colour: NEW_STARTING, count: Box::new(count) });
    }
    let unavailable =
        move |counts: &[Counts]| old.iter().map(|it| counts[*it].pods - counts[*it].available).sum();
    parts.push(Part { colour: OLD_STARTING, count: Box::new(unavailable) });
    let terminating = |counts: &[Counts]| counts.iter().map(|counts| counts.terminating).sum();
    parts.push(Part { colour: TERMINATING, count: Box::new(terminating) });
    parts
}

impl Layer {
    /// The outline: the upper edge from left to right, the lower one back.
    fn path(&self, axes: Axes) -> String {
        let points = thinned(&self.edges, axes);
        let until = |index: usize| points.get(index + 1).map_or(WIDTH - RIGHT, |(x, ..)| *x);
        let mut path = String::new();
        for (index, (x, _, above)) in points.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let y = axes.y(*above);
            // Writing to a string cannot fail.
            let _ = write!(path, "{command}{x:.1} {y:.1}H{:.1}", until(index));
        }
        for (index, (x, below, _)) in points.iter().enumerate().rev() {
            let y = axes.y(*below);
            let _ = write!(path, "L{:.1} {y:.1}H{x:.1}", until(index));
        }
        path.push('Z');
        path
    }
}

/// The edges in pixels, at most one in half a pixel; the first one begins before the time axis.
fn thinned(edges: &[(Duration, i64, i64)], axes: Axes) -> Vec<(f64, i64, i64)> {
    let mut points: Vec<(f64, i64, i64)> = Vec::new();
    for (index, (at, below, above)) in edges.iter().enumerate() {
        let x = if index == 0 { LEFT } else { axes.x(*at) };
        match points.last_mut() {
            Some(last) if x - last.0 < 0.5 => *last = (last.0, *below, *above),
            _ => points.push((x, *below, *above)),
        }
    }
    points
}

fn grid(svg: &mut String, axes: Axes) {
    for pods in ticks(axes.height) {
        let y = axes.y(pods);
        let right = WIDTH - RIGHT;
        put(
            svg,
            format_args!(
                "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#e5e7eb\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{FAINT}\">{pods}</text>",
                LEFT - 8.0,
                y + 4.5
            ),
        );
    }
}

/// Numbers for the vertical axis: at most six steps of 1, 2 or 5 times a power of ten.
fn ticks(height: i64) -> Vec<i64> {
    let steps = (0..18).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i64.pow(power)));
    let step = steps.into_iter().find(|step| height / step <= 6).unwrap_or(i64::MAX);
    (0..=height / step).map(|index| index * step).collect()
}

/// The limits, as dashed lines with labels to the right. They change when the Deployment is scaled.
fn limits(svg: &mut String, plan: &RolloutPlan, axes: Axes) {
    let samples = &plan.timeline.samples;
    let Some(last) = samples.last() else { return };
    let is_rolling = matches!(plan.strategy, StrategyText::RollingUpdate { .. });
    let mut labels = vec![(last.limits.desired, format!("{} wanted", last.limits.desired), FAINT)];
    line(svg, axes, plan, FAINT, "2 3", |sample| sample.limits.desired);
    if is_rolling {
        line(svg, axes, plan, CEILING, "7 4", |sample| sample.limits.ceiling());
        line(svg, axes, plan, FLOOR, "7 4", |sample| sample.limits.floor());
        labels.push((last.limits.ceiling(), format!("{} at most", last.limits.ceiling()), CEILING));
        labels.push((last.limits.floor(), format!("{} at least", last.limits.floor()), FLOOR));
    }
    labels.sort_by_key(|(pods, ..)| *pods);
    let mut lowest = f64::INFINITY;
    for (pods, text, colour) in labels {
        // Labels of limits that are close to each other are moved apart.
        let y = (axes.y(pods) + 4.5).min(lowest - 15.0);
        lowest = y;
        put(
            svg,
            format_args!(
                "<text x=\"{:.1}\" y=\"{y:.1}\" fill=\"{colour}\">{text}</text>",
                WIDTH - RIGHT + 8.0
            ),
        );
    }
}

fn line(
    svg: &mut String,
    axes: Axes,
    plan: &RolloutPlan,
    colour: &str,
    dashes: &str,
    value: impl Fn(&TimelineSample) -> i64,
) {
    let mut path = String::new();
    let mut last = None;
    for (index, sample) in plan.timeline.samples.iter().enumerate() {
        let pods = value(sample);
        if last == Some(pods) {
            continue;
        }
        let x = if index == 0 { LEFT } else { axes.x(sample.at) };
        let y = axes.y(pods);
        let command = if last.is_none() { format!("M{x:.1} {y:.1}") } else { format!("H{x:.1}V{y:.1}") };
        path.push_str(&command);
        last = Some(pods);
    }
    let right = WIDTH - RIGHT;
    put(
        svg,
        format_args!(
            "<path d=\"{path}H{right}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" stroke-dasharray=\"{dashes}\"/>"
        ),
    );
}

/// Vertical lines: the change, the end of the rollout, the exceeded deadline.
fn marks(svg: &mut String, plan: &RolloutPlan, axes: Axes) {
    let mut mark = |at: Duration, text: &str, colour: &str| {
        let (x, bottom) = (axes.x(at), PLOT_HEIGHT);
        let is_right = x > WIDTH / 2.0;
        let (anchor, shift) = if is_right { ("end", -5.0) } else { ("start", 5.0) };
        put(
            svg,
            format_args!(
                "<path d=\"M{x:.1} 0V{bottom}\" stroke=\"{colour}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" \
             fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>",
                x + shift,
                bottom - 8.0,
                escape(text)
            ),
        );
    };
    mark(Duration::ZERO, "change", FAINT);
    if let Some(at) = plan.summary.deadline_exceeded_after {
        mark(at, &format!("deadline exceeded {}", span(at)), CEILING);
    }
    if let Some(at) = plan.summary.complete_after.filter(|at| !at.is_zero()) {
        mark(at, &format!("complete {}", span(at)), FLOOR);
    }
}

fn axis(svg: &mut String, axes: Axes) {
    let y = PLOT_HEIGHT;
    put(svg, format_args!("<path d=\"M{LEFT} {y}H{}\" stroke=\"{INK}\"/>", WIDTH - RIGHT));
    for at in time_ticks(axes.end) {
        let x = axes.x(at);
        put(
            svg,
            format_args!(
                "<path d=\"M{x:.1} {y}v5\" stroke=\"{INK}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{FAINT}\">{}</text>",
                y + 20.0,
                span(at)
            ),
        );
    }
}

/// Times for the horizontal axis: at most eight steps of common durations.
fn time_ticks(end: Duration) -> Vec<Duration> {
    const MILLIS: [u64; 19] = [
        100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
        900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000,
    ];
    let end = u64::try_from(end.as_millis()).unwrap_or(u64::MAX);
    let step = MILLIS.into_iter().find(|step| end / step <= 8).unwrap_or(end.max(1));
    (0..=end / step).map(|index| Duration::from_millis(index * step)).collect()
}

/// The entries of the legend: colour and text.
fn legend(plan: &RolloutPlan) -> Vec<(&'static str, String)> {
    let mut entries = Vec::new();
    let mut shade = 0;
    for set in &plan.timeline.sets {
        let images = shortened(&set.images.join(", "), 44);
        if set.is_new {
            entries.push((NEW, format!("{}: available ({images})", set.name)));
            entries.push((NEW_STARTING, format!("{}: not available yet", set.name)));
        } else {
            entries.push((OLD[shade.min(OLD.len() - 1)], format!("{}: available ({images})", set.name)));
            shade += 1;
        }
    }
    let any = |number: fn(&Counts) -> i64| {
        plan.timeline.samples.iter().any(|sample| {
            let old = plan.timeline.sets.iter().zip(&sample.counts).filter(|(set, _)| !set.is_new);
            old.map(|(_, counts)| number(counts)).sum::<i64>() > 0
        })
    };
    if any(|counts| counts.pods - counts.available) {
        entries.push((OLD_STARTING, "old pods that are not available".to_owned()));
    }
    if plan.timeline.samples.iter().any(|sample| sample.terminating() > 0) {
        entries.push((TERMINATING, "terminating (not limited by maxSurge)".to_owned()));
    }
    entries
}

/// The number of columns in which all entries of a legend fit.
fn columns(entries: &[(&'static str, String)]) -> usize {
    let longest = entries.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    if longest > LEGEND_MAX { 1 } else { 2 }
}

fn draw_legend(svg: &mut String, entries: &[(&'static str, String)]) {
    let (top, columns) = (PLOT_HEIGHT + BOTTOM, columns(entries));
    for (index, (colour, text)) in entries.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a handful of lines")]
        let (x, y) = (LEFT + (index % columns) as f64 * 430.0, top + LEGEND_LINE * (index / columns) as f64);
        put(
            svg,
            format_args!(
                "<rect x=\"{x}\" y=\"{:.1}\" width=\"14\" height=\"12\" rx=\"2\" fill=\"{colour}\"/><text x=\"{:.1}\" y=\"{y:.1}\" fill=\"{INK}\">{}</text>",
                y - 10.5,
                x + 21.0,
                escape(text)
            ),
        );
    }
}

fn shortened(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    text.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}

/// Escapes text for XML and HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

fn put(svg: &mut String, element: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = svg.write_fmt(element);
    svg.push('\n');
}
