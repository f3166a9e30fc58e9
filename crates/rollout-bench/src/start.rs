//! The cost of a start: the time until the cluster is ready and until the first pod of a new Deployment is ready, and
//! the memory of an idle cluster.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::connection::{ApiRequest, Endpoint};
use crate::objects::{Pod, WatchEvent};
use crate::processes::Process;
use crate::report::{Percentiles, megabytes};
use crate::setup::{Delays, Directory, Program, Running, Storage, up_in};
use crate::workload::{Step, Workload};

/// The nodes of `gantry up` by default.
const NODES: usize = 3;
/// How long an idle cluster is left idle before its memory is read.
const IDLE: Duration = Duration::from_secs(10);
/// The Deployment is in a namespace that every cluster has.
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// The times of a start, since the process was started.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// When it printed that the cluster is ready.
    ready: Duration,
    /// When a pod of a Deployment that was created then became ready.
    pod: Duration,
}

/// Starts the binary several times in memory and on a disk, and once without nodes, and reports the medians.
pub(crate) async fn run(gantry: &Program, parent: &Path, times: usize) -> Result<(), String> {
    let (mut memory, mut first, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..times.max(1) {
        let directory = Directory::create(parent)?;
        memory.push(start(&directory, gantry, Storage::Memory, 0).await?);
        first.push(start(&directory, gantry, Storage::Directory, 0).await?);
        again.push(start(&directory, gantry, Storage::Directory, 1).await?);
        directory.remove()?;
    }
    crate::say("| start | ready ms | first pod ready ms |\n|---|---|---|");
    for (title, starts) in [("in memory", memory), ("new directory", first), ("same directory again", again)]
    {
        let median = |time: fn(&Start) -> Duration| {
            let times: Vec<_> = starts.iter().map(time).collect();
            Percentiles::of(&times).map_or(0.0, |times| times.p50 * 1000.0)
        };
        let (ready, pod) = (median(|start| start.ready), median(|start| start.pod));
        crate::say(&format!("| {title} | {ready:.0} | {pod:.0} |"));
    }
    let idle = megabytes(idle_bytes(gantry, parent).await?);
    crate::say(&format!("\nresident without nodes after {} s: {idle:.1} MB", IDLE.as_secs()));
    Ok(())
}

/// Starts a cluster with nodes, creates the Deployment of this number and waits for its pod.
async fn start(
    directory: &Directory,
    gantry: &Program,
    storage: Storage,
    number: usize,
) -> Result<Start, String> {
    let began = Instant::now();
    let running = up_in(directory, gantry, NODES, Delays::None, storage).await?;
    let ready = began.elapsed();
    wait_for_first_pod(&running, number).await?;
    let pod = began.elapsed();
    running.stop().await?;
    Ok(Start { ready, pod })
}

/// Creates a Deployment of one pod and returns when the pod is ready.
async fn wait_for_first_pod(running: &Running, number: usize) -> Result<(), String> {
    let connection = Endpoint::of_kubeconfig(&running.kubeconfig).await?.connect().await?;
    let workload = Workload { deployments: number + 1, replicas: 1, namespaces: 1 };
    let create = workload.request(Step::Create, number);
    connection.send_ok(&ApiRequest { path: DEPLOYMENTS.to_owned(), ..create }).await?;
    let prefix = format!("{}-", Workload::deployment(number));
    let mut watch = connection.watch(PODS).await?;
    while let Some(event) = watch.next::<Pod>().await? {
        if let WatchEvent::Changed(pod) = event
            && pod.metadata.name.starts_with(&prefix)
            && pod
                .status
                .conditions
                .iter()
                .any(|condition| condition.kind == "Ready" && condition.status == "True")
        {
            return Ok(());
        }
    }
    Err("the watch of the pods ended".to_owned())
}

/// Returns the memory of a cluster without nodes that is idle.
async fn idle_bytes(gantry: &Program, parent: &Path) -> Result<u64, String> {
    let directory = Directory::create(parent)?;
    let running = up_in(&directory, gantry, 0, Delays::None, Storage::Directory).await?;
    sleep(IDLE).await;
    let bytes = running.processes.iter().map(Process::resident_bytes).sum::<Result<u64, String>>()?;
    running.stop().await?;
    directory.remove()?;
    Ok(bytes)
}
