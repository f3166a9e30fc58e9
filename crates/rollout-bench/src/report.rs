//! The numbers of runs: as tables to read and as JSON to keep.

use std::fmt::Write as _;
use std::time::Duration;

use gantry_json::{Value, json};

use crate::measure::{Run, StepCost};
use crate::workload::Step;

/// Median and 99th percentile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percentiles {
    pub(crate) p50: f64,
    p99: f64,
}

impl Percentiles {
    /// The percentiles of durations, in seconds; `None` if there are no durations.
    pub(crate) fn of(durations: &[Duration]) -> Option<Self> {
        let mut sorted = durations.to_vec();
        sorted.sort_unstable();
        let at =
            |percent: usize| sorted.get((sorted.len() * percent / 100).min(sorted.len().checked_sub(1)?));
        Some(Self { p50: at(50)?.as_secs_f64(), p99: at(99)?.as_secs_f64() })
    }
}

/// One line per step.
pub(crate) fn table(run: &Run) -> String {
    let mut text = format!(
        "\n{:<17}{:>8}{:>9}{:>9}{:>9}{:>9}{:>10}{:>9}{:>15}{:>15}{:>15}\n",
        "step",
        "pods",
        "wall s",
        "CPU s",
        "ms/pod",
        "peak MB",
        "req/pod",
        "wr/pod",
        "read ms",
        "write ms",
        "available s"
    );
    for cost in &run.steps {
        let StepCost { step, pods, timings, counters, .. } = cost;
        let _ = writeln!(
            text,
            "{:<17}{pods:>8}{:>9.2}{:>9.2}{:>9.2}{:>9.0}{:>10.2}{:>9.2}{:>15}{:>15}{:>15}",
            step.name(),
            timings.wall.as_secs_f64(),
            cost.cpu_total(),
            1000.0 * per_pod(cost, cost.cpu_total()),
            megabytes(cost.peak_total()),
            per_pod(cost, number(counters.total())),
            per_pod(cost, number(counters.store_writes)),
            shown(Percentiles::of(&timings.reads), 1000.0),
            shown(Percentiles::of(&timings.writes), 1000.0),
            shown(Percentiles::of(&timings.available), 1.0),
        );
    }
    let _ = writeln!(
        text,
        "memory: {:.0} MB idle, {:.0} MB {} s after the last step; latencies are p50/p99",
        megabytes(run.idle_bytes),
        megabytes(run.after_bytes),
        run.rest.as_secs()
    );
    text.push_str(&allocations(run));
    text.push_str(&clients(run));
    if run.steps.iter().any(|cost| cost.cpu_seconds.len() > 1) {
        text.push_str(&by_process(run));
    }
    text
}

/// The allocations per pod of each step, if the server counts them.
fn allocations(run: &Run) -> String {
    let steps = run.steps.iter().filter_map(|cost| {
        Some(format!("{} {:.0}", cost.step.name(), per_pod(cost, number(cost.allocations?))))
    });
    let steps: Vec<String> = steps.collect();
    if steps.is_empty() { String::new() } else { format!("allocations per pod: {}\n", steps.join(", ")) }
}

/// CPU seconds of the load and the hollow kubelet in all steps, which the table does not include.
fn clients(run: &Run) -> String {
    let Some(first) = run.steps.first() else { return String::new() };
    let names = first.client_cpu_seconds.iter().map(|(name, _)| name);
    let totals = names.enumerate().map(|(number, name)| {
        let seconds: f64 = run.steps.iter().map(|cost| cost.client_cpu_seconds[number].1).sum();
        format!("{name} {seconds:.2} s")
    });
    format!("CPU of the clients, not counted: {}\n", totals.collect::<Vec<_>>().join(", "))
}

/// CPU seconds and peak memory of each process.
fn by_process(run: &Run) -> String {
    let mut text = String::new();
    for cost in &run.steps {
        let _ = write!(text, "{:<17}", cost.step.name());
        for ((name, seconds), (_, bytes)) in cost.cpu_seconds.iter().zip(&cost.peak_bytes) {
            let _ = write!(text, "  {name}: {seconds:.2} s, {:.0} MB", megabytes(*bytes));
        }
        text.push('\n');
    }
    text
}

/// The requests per pod of each step by verb and resource, the most frequent first.
pub(crate) fn requests(run: &Run) -> String {
    let mut text = String::new();
    for cost in &run.steps {
        let _ = writeln!(text, "{}: requests per pod", cost.step.name());
        let mut requests: Vec<_> = cost.counters.requests.iter().collect();
        requests.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (name, count) in requests {
            let _ = writeln!(text, "  {:>8.3}  {name}", per_pod(cost, number(*count)));
        }
    }
    text
}

/// How the runs compare: with Kubernetes at the same size, and with themselves at the smallest size.
pub(crate) fn comparison(runs: &[Run]) -> String {
    let mut text = String::new();
    for run in runs.iter().filter(|run| !run.is_reference) {
        let reference = runs.iter().find(|other| other.is_reference && other.workload == run.workload);
        if let Some(reference) = reference {
            text.push_str(&ratios(run, reference));
        }
    }
    let smallest = runs.iter().map(|run| run.workload.pods_of(Step::Create)).min();
    for run in runs.iter().filter(|run| Some(run.workload.pods_of(Step::Create)) > smallest) {
        let of_same_kind = |other: &&Run| {
            Some(other.workload.pods_of(Step::Create)) == smallest && other.kind() == run.kind()
        };
        if let Some(small) = runs.iter().find(of_same_kind) {
            text.push_str(&growth(run, small));
        }
    }
    text
}

/// A run's time, CPU and memory as part of the reference's.
fn ratios(run: &Run, reference: &Run) -> String {
    let pods = run.workload.pods_of(Step::Create);
    let mut text = format!("\n{pods} pods, {}, as part of {}:\n", run.title, reference.title);
    for (cost, other) in run.steps.iter().zip(&reference.steps) {
        let wall = (cost.timings.wall.as_secs_f64(), other.timings.wall.as_secs_f64());
        let memory = (number(cost.peak_total()), number(other.peak_total()));
        let [wall, cpu, memory] = [wall, (cost.cpu_total(), other.cpu_total()), memory].map(part);
        let _ = writeln!(text, "{:<17}  wall {wall:>7}  CPU {cpu:>7}  memory {memory:>7}", cost.step.name());
    }
    text
}

/// The CPU per pod of a run compared with a smaller one.
fn growth(run: &Run, small: &Run) -> String {
    let (pods, fewer) = (run.workload.pods_of(Step::Create), small.workload.pods_of(Step::Create));
    let mut text = format!("\n{}: CPU per pod at {pods} pods over that at {fewer}:\n", run.title);
    for (cost, other) in run.steps.iter().zip(&small.steps) {
        let ratio =
            per_pod(cost, cost.cpu_total()) / per_pod(other, other.cpu_total()).max(f64::MIN_POSITIVE);
        let _ = writeln!(text, "{:<17}  {ratio:.2}×", cost.step.name());
    }
    text
}

/// All numbers.
pub(crate) fn json(runs: &[Run]) -> String {
    let runs: Vec<Value> = runs.iter().map(run_json).collect();
    format!("{:#}\n", json!({ "runs": runs }))
}

fn run_json(run: &Run) -> Value {
    let steps: Vec<Value> = run.steps.iter().map(step_json).collect();
    json!({
        "cluster": run.title,
        "deployments": run.workload.deployments,
        "replicas": run.workload.replicas,
        "namespaces": run.workload.namespaces,
        "idle_bytes": run.idle_bytes,
        "after_bytes": run.after_bytes,
        "rest_seconds": run.rest.as_secs(),
        "steps": steps,
    })
}

fn step_json(cost: &StepCost) -> Value {
    let timings = &cost.timings;
    let percentiles = |durations: &[Duration]| {
        Percentiles::of(durations).map(|Percentiles { p50, p99 }| json!({"p50": p50, "p99": p99}))
    };
    let by_process: Vec<Value> = cost
        .cpu_seconds
        .iter()
        .zip(&cost.peak_bytes)
        .map(|((name, seconds), (_, bytes))| json!({"name": name, "cpu_seconds": seconds, "peak_bytes": bytes}))
        .collect();
    let pods: Vec<Value> = timings.pods.iter().map(|(at, pods)| json!([at.as_secs_f64(), pods])).collect();
    json!({
        "step": cost.step.name(),
        "pods": cost.pods,
        "wall_seconds": timings.wall.as_secs_f64(),
        "sent_seconds": timings.sent.as_secs_f64(),
        "cpu_seconds": cost.cpu_total(),
        "peak_bytes": cost.peak_total(),
        "processes": by_process,
        "client_cpu_seconds": cost.client_cpu_seconds,
        "requests": cost.counters.requests,
        "requests_per_pod": per_pod(cost, number(cost.counters.total())),
        "store_writes_per_pod": per_pod(cost, number(cost.counters.store_writes)),
        "allocations_per_pod": cost.allocations.map(|count| per_pod(cost, number(count))),
        "read_seconds": percentiles(&timings.reads),
        "write_seconds": percentiles(&timings.writes),
        "available_seconds": percentiles(&timings.available),
        "pods_over_time": pods,
    })
}

fn per_pod(cost: &StepCost, value: f64) -> f64 {
    value / number(cost.pods as u64).max(1.0)
}

/// `1/5.2` if less than the other, else `×1.3`.
fn part((value, other): (f64, f64)) -> String {
    if value <= 0.0 || other <= 0.0 {
        "-".to_owned()
    } else if value <= other {
        format!("1/{:.1}", other / value)
    } else {
        format!("×{:.1}", value / other)
    }
}

fn shown(percentiles: Option<Percentiles>, factor: f64) -> String {
    percentiles.map_or_else(
        || "-".to_owned(),
        |Percentiles { p50, p99 }| format!("{:.1}/{:.1}", p50 * factor, p99 * factor),
    )
}

#[expect(clippy::cast_precision_loss, reason = "numbers for display")]
fn number(count: u64) -> f64 {
    count as f64
}

pub(crate) fn megabytes(bytes: u64) -> f64 {
    number(bytes) / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let durations: Vec<Duration> = (0..200).rev().map(Duration::from_secs).collect();
        assert_eq!(Percentiles::of(&durations), Some(Percentiles { p50: 100.0, p99: 198.0 }));
        assert_eq!(Percentiles::of(&[Duration::from_secs(3)]), Some(Percentiles { p50: 3.0, p99: 3.0 }));
        assert_eq!(Percentiles::of(&[]), None);
    }

    #[test]
    fn a_part_is_a_fraction_or_a_multiple() {
        assert_eq!(part((1.0, 5.0)), "1/5.0");
        assert_eq!(part((3.0, 2.0)), "×1.5");
        assert_eq!(part((0.0, 2.0)), "-");
    }
}
