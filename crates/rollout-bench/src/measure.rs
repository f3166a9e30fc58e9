//! One run: all steps on one cluster, each with its cost.

use std::path::Path;
use std::time::Duration;

use tokio::time::sleep;

use crate::load::{Load, Timings};
use crate::metrics::Counters;
use crate::processes::{self, Process};
use crate::setup::{Running, Setup};
use crate::workload::{Step, Workload};

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) title: String,
    /// Whether the others are compared with it.
    pub(crate) is_reference: bool,
    pub(crate) workload: Workload,
    /// Memory before the load, in bytes.
    pub(crate) idle_bytes: u64,
    /// Memory after the last step and the rest, in bytes.
    pub(crate) after_bytes: u64,
    pub(crate) rest: Duration,
    pub(crate) steps: Vec<StepCost>,
}

/// The cost of a step.
#[derive(Debug)]
pub(crate) struct StepCost {
    pub(crate) step: Step,
    /// How many pods it created, replaced or deleted.
    pub(crate) pods: usize,
    pub(crate) timings: Timings,
    /// By process, until all were idle again.
    pub(crate) cpu_seconds: Vec<(String, f64)>,
    /// Of the load and the hollow kubelet, by process.
    pub(crate) client_cpu_seconds: Vec<(String, f64)>,
    /// By process.
    pub(crate) peak_bytes: Vec<(String, u64)>,
    pub(crate) counters: Counters,
    /// The number of allocations of the server, if it counts them.
    pub(crate) allocations: Option<u64>,
}

/// The measurements besides the rollouts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Whether namespaces with pods are deleted too.
    pub(crate) namespaces: bool,
    /// How long the cluster is left idle before its memory is read again.
    pub(crate) rest: Duration,
}

/// How long a cluster is left idle before its idle memory is read.
const START: Duration = Duration::from_secs(2);

/// Carries out all steps on a cluster. Its data, if any, is in `parent` meanwhile.
pub(crate) async fn measure(
    setup: &Setup,
    workload: Workload,
    extent: Extent,
    parent: &Path,
) -> Result<Run, String> {
    let mut running = setup.start(parent).await?;
    sleep(START).await;
    let idle_bytes = resident_bytes(&running.processes)?;
    let load = Load::start(&running.kubeconfig, workload).await?;
    let mut steps = Vec::new();
    for step in [Step::Create, Step::Roll, Step::Scale, Step::Delete] {
        steps.push(measure_step(&load, workload, step, &mut running).await?);
    }
    if extent.namespaces {
        load.step(Step::Create).await?;
        steps.push(measure_step(&load, workload, Step::DeleteNamespaces, &mut running).await?);
    }
    sleep(extent.rest).await;
    let after_bytes = resident_bytes(&running.processes)?;
    let is_reference = matches!(setup, Setup::Given { .. });
    if is_reference {
        load.clean_up().await?;
    }
    running.stop().await?;
    let title = setup.title();
    Ok(Run { title, is_reference, workload, idle_bytes, after_bytes, rest: extent.rest, steps })
}

async fn measure_step(
    load: &Load,
    workload: Workload,
    step: Step,
    running: &mut Running,
) -> Result<StepCost, String> {
    let processes = &running.processes.clone();
    let this = Process { name: "load".to_owned(), pid: std::process::id() };
    let clients: Vec<Process> = [this].into_iter().chain(running.hollow.clone()).collect();
    processes::wait_until_idle(processes).await?;
    let counted = load.counters().await?;
    let allocated = running.allocations();
    processes.iter().try_for_each(Process::reset_peak)?;
    let (before, clients_before) = (cpu_seconds(processes)?, cpu_seconds(&clients)?);
    let timings = tokio::select! {
        timings = load.step(step) => timings?,
        failure = running.ended() => return Err(failure),
    };
    crate::say(&format!("{:<17} {:.2} s", step.name(), timings.wall.as_secs_f64()));
    processes::wait_until_idle(processes).await?;
    let (after, clients_after) = (cpu_seconds(processes)?, cpu_seconds(&clients)?);
    let peaks = processes.iter().map(|process| Ok((process.name.clone(), process.peak_bytes()?)));
    let peak_bytes = peaks.collect::<Result<_, String>>()?;
    let allocations = running.allocations().zip(allocated).map(|(after, before)| after - before);
    let counters = load.counters().await?.since(&counted).without_measuring(timings.polls);
    Ok(StepCost {
        step,
        pods: workload.pods_of(step),
        timings,
        cpu_seconds: used(before, after),
        client_cpu_seconds: used(clients_before, clients_after),
        peak_bytes,
        counters,
        allocations,
    })
}

/// The differences of two readings of the same processes.
fn used(before: Vec<(String, f64)>, after: Vec<(String, f64)>) -> Vec<(String, f64)> {
    after.into_iter().zip(before).map(|((name, after), (_, before))| (name, after - before)).collect()
}

fn cpu_seconds(processes: &[Process]) -> Result<Vec<(String, f64)>, String> {
    processes.iter().map(|process| Ok((process.name.clone(), process.cpu_seconds()?))).collect()
}

fn resident_bytes(processes: &[Process]) -> Result<u64, String> {
    processes.iter().map(Process::resident_bytes).sum()
}

impl Run {
    /// The title without the number of nodes, which runs of other sizes share.
    pub(crate) fn kind(&self) -> String {
        self.title.chars().filter(|character| !character.is_ascii_digit()).collect()
    }
}

impl StepCost {
    /// The processor time of all processes.
    pub(crate) fn cpu_total(&self) -> f64 {
        self.cpu_seconds.iter().map(|(_, seconds)| seconds).sum()
    }

    /// The peak memory of all processes.
    pub(crate) fn peak_total(&self) -> u64 {
        self.peak_bytes.iter().map(|(_, bytes)| bytes).sum()
    }
}
