//! One run: all steps on one cluster, each with its cost.

use std::path::Path;
use std::time::Duration;

use tokio::time::sleep;

use crate::load::{Load, Timings};
use crate::metrics::Counters;
use crate::processes::{self, Process};
use crate::setup::Setup;
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
    /// Memory after the last step, in bytes.
    pub(crate) after_bytes: u64,
    pub(crate) steps: Vec<StepCost>,
}

/// What a step took.
#[derive(Debug)]
pub(crate) struct StepCost {
    pub(crate) step: Step,
    /// How many pods it created, replaced or deleted.
    pub(crate) pods: usize,
    pub(crate) timings: Timings,
    /// By process, until all were idle again.
    pub(crate) cpu_seconds: Vec<(String, f64)>,
    /// By process.
    pub(crate) peak_bytes: Vec<(String, u64)>,
    pub(crate) counters: Counters,
}

/// How long a cluster is left alone before its idle memory is read.
const REST: Duration = Duration::from_secs(2);

/// Carries out all steps on a cluster. Its data, if any, is in `parent` meanwhile.
pub(crate) async fn measure(setup: &Setup, workload: Workload, parent: &Path) -> Result<Run, String> {
    let running = setup.start(parent).await?;
    sleep(REST).await;
    let idle_bytes = resident_bytes(&running.processes)?;
    let load = Load::start(&running.kubeconfig, workload).await?;
    let mut steps = Vec::new();
    for step in Step::ALL {
        processes::wait_until_idle(&running.processes).await?;
        let cost = measure_step(&load, workload, step, &running.processes).await?;
        crate::say(&format!("{:<8} {:.2} s", step.name(), cost.timings.wall.as_secs_f64()));
        steps.push(cost);
    }
    let after_bytes = resident_bytes(&running.processes)?;
    let is_reference = matches!(setup, Setup::Given { .. });
    if is_reference {
        load.clean_up().await?;
    }
    running.stop().await?;
    Ok(Run { title: setup.title(), is_reference, workload, idle_bytes, after_bytes, steps })
}

async fn measure_step(
    load: &Load,
    workload: Workload,
    step: Step,
    processes: &[Process],
) -> Result<StepCost, String> {
    let counted = load.counters().await?;
    processes.iter().try_for_each(Process::reset_peak)?;
    let before = cpu_seconds(processes)?;
    let timings = load.step(step).await?;
    processes::wait_until_idle(processes).await?;
    let after = cpu_seconds(processes)?;
    let peaks = processes.iter().map(|process| Ok((process.name.clone(), process.peak_bytes()?)));
    let peak_bytes = peaks.collect::<Result<_, String>>()?;
    let counters = load.counters().await?.since(&counted).without_measuring(timings.polls);
    let used = after.into_iter().zip(before).map(|((name, after), (_, before))| (name, after - before));
    let (pods, cpu_seconds) = (workload.pods_of(step), used.collect());
    Ok(StepCost { step, pods, timings, cpu_seconds, peak_bytes, counters })
}

fn cpu_seconds(processes: &[Process]) -> Result<Vec<(String, f64)>, String> {
    processes.iter().map(|process| Ok((process.name.clone(), process.cpu_seconds()?))).collect()
}

fn resident_bytes(processes: &[Process]) -> Result<u64, String> {
    processes.iter().map(Process::resident_bytes).sum()
}

impl Run {
    /// What runs of another size have in common with it: the title without the number of nodes.
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
