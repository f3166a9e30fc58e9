//! The number of ready pods over time, as SVG: a panel per size, a line per cluster.

use std::fmt::Write as _;

use crate::measure::Run;
use crate::workload::{Step, Workload};

const WIDTH: f64 = 860.0;
const PANEL: f64 = 300.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 70.0;
const BOTTOM: f64 = 40.0;
/// Each has a dash pattern, so that lines are distinguishable without colours.
const LINES: [(&str, &str); 3] = [("#0b6e4f", "none"), ("#1f4e9c", "6 3"), ("#b3401f", "2 3")];

/// A point: seconds since the first step began, and pods.
type Point = (f64, f64);

/// The curve of a run: the points, and where each step ends.
#[derive(Debug, PartialEq)]
struct Curve {
    points: Vec<Point>,
    ends: Vec<(Step, f64)>,
}

/// Draws all runs.
pub(crate) fn svg(runs: &[Run]) -> String {
    let mut workloads: Vec<Workload> = Vec::new();
    for run in runs {
        if !workloads.contains(&run.workload) {
            workloads.push(run.workload);
        }
    }
    let mut panels = String::new();
    let mut top = 0.0;
    for workload in workloads {
        let of_workload: Vec<&Run> = runs.iter().filter(|run| run.workload == workload).collect();
        let _ = writeln!(panels, "<g transform=\"translate(0 {top:.0})\">{}</g>", panel(&of_workload));
        top += PANEL;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {top:.0}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{panels}</svg>\n"
    )
}

fn panel(runs: &[&Run]) -> String {
    let curves: Vec<Curve> = runs.iter().map(|run| curve(run)).collect();
    let all = || curves.iter().flat_map(|curve| curve.points.iter());
    let seconds = all().map(|point| point.0).fold(1.0, f64::max);
    let pods = all().map(|point| point.1).fold(1.0, f64::max);
    let x = |at: f64| LEFT + at / seconds * (WIDTH - LEFT - RIGHT);
    let y = |count: f64| PANEL - BOTTOM - count / pods * (PANEL - TOP - BOTTOM);
    let mut text = axes(seconds, pods, &x, &y);
    for (number, (run, curve)) in runs.iter().zip(&curves).enumerate() {
        let (colour, dashes) = LINES[number % LINES.len()];
        let stroke =
            format!("stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dashes}\" fill=\"none\"");
        let points: Vec<String> =
            curve.points.iter().map(|(at, count)| format!("{:.1},{:.1}", x(*at), y(*count))).collect();
        let _ = writeln!(text, "<polyline points=\"{}\" {stroke}/>", points.join(" "));
        for (step, end) in &curve.ends {
            let at = x(*end);
            let _ = writeln!(
                text,
                "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"0.6\">\
                 <title>{}: {} ends at {end:.2} s</title></line>",
                y(0.0),
                y(0.0) + 6.0,
                run.title,
                step.name()
            );
        }
        let line = 16.0 + 15.0 * f64::from(u8::try_from(number).unwrap_or(u8::MAX));
        let _ = writeln!(
            text,
            "<line x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{line}\" y2=\"{line}\" {stroke}/><text x=\"{:.0}\" y=\"{:.0}\">{}: {}</text>",
            LEFT + 30.0,
            LEFT + 38.0,
            line + 4.0,
            run.title,
            step_times(run)
        );
    }
    text
}

fn axes(seconds: f64, pods: f64, x: &impl Fn(f64) -> f64, y: &impl Fn(f64) -> f64) -> String {
    let mut text = String::new();
    for quarter in 0..=4 {
        let part = f64::from(quarter) / 4.0;
        let (across, up) = (x(part * seconds), y(part * pods));
        let _ = writeln!(
            text,
            "<line x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{up:.1}\" y2=\"{up:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{:.0}</text>\
             <text x=\"{across:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{:.1} s</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            up + 4.0,
            part * pods,
            PANEL - BOTTOM + 22.0,
            part * seconds
        );
    }
    let middle = (TOP + PANEL - BOTTOM) / 2.0;
    let _ = writeln!(
        text,
        "<text transform=\"translate(16 {middle:.0}) rotate(-90)\" text-anchor=\"middle\">ready pods</text>"
    );
    text
}

fn step_times(run: &Run) -> String {
    let times = run.steps.iter().map(|cost| {
        let (name, wall) = (cost.step.name(), cost.timings.wall.as_secs_f64());
        format!("{name} {wall:.1} s")
    });
    times.collect::<Vec<_>>().join(", ")
}

/// Puts the steps of a run one after the other, without the pauses between them.
fn curve(run: &Run) -> Curve {
    let mut curve = Curve { points: Vec::new(), ends: Vec::new() };
    let mut began = 0.0;
    for cost in &run.steps {
        let samples = cost.timings.pods.iter();
        curve.points.extend(samples.map(|(at, pods)| (began + at.as_secs_f64(), count(*pods))));
        began += cost.timings.wall.as_secs_f64();
        curve.ends.push((cost.step, began));
    }
    curve
}

#[expect(clippy::cast_precision_loss, reason = "pixels")]
fn count(pods: i64) -> f64 {
    pods as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Timings;
    use crate::measure::StepCost;
    use crate::metrics::Counters;
    use std::time::Duration;

    fn run(title: &str) -> Run {
        let workload = Workload { deployments: 1, replicas: 2, namespaces: 1 };
        let steps = [Step::Create, Step::Roll].map(|step| StepCost {
            step,
            pods: 2,
            timings: Timings {
                wall: Duration::from_secs(2),
                pods: vec![(Duration::from_secs(0), 0), (Duration::from_secs(2), 2)],
                ..Timings::default()
            },
            cpu_seconds: Vec::new(),
            client_cpu_seconds: Vec::new(),
            peak_bytes: Vec::new(),
            allocations: None,
            counters: Counters::default(),
        });
        Run {
            title: title.to_owned(),
            is_reference: false,
            workload,
            idle_bytes: 0,
            after_bytes: 0,
            rest: Duration::ZERO,
            steps: steps.into(),
        }
    }

    #[test]
    fn the_steps_follow_each_other() {
        let curve = curve(&run("one"));
        assert_eq!(curve.points, [(0.0, 0.0), (2.0, 2.0), (2.0, 0.0), (4.0, 2.0)]);
        assert_eq!(curve.ends, [(Step::Create, 2.0), (Step::Roll, 4.0)]);
    }

    #[test]
    fn every_run_has_a_line_and_its_times() {
        let text = svg(&[run("one"), run("two")]);
        assert_eq!(text.matches("<polyline").count(), 2);
        assert!(text.contains("two: create 2.0 s, roll 2.0 s"), "{text}");
    }
}
