//! The load: sends the requests of a step and waits until the cluster has completed it.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::connection::{ApiRequest, Connection, Endpoint};
use crate::metrics::Counters;
use crate::objects::{self, PodList, WatchEvent};
use crate::probe::{self, Probe};
use crate::progress::Progress;
use crate::workload::{Step, Workload, create_namespace, delete_namespace};

/// The maximum number of requests about Deployments in flight.
const WORKERS: usize = 16;
/// How often the number of pods is sampled.
const SAMPLE: Duration = Duration::from_millis(50);
/// How long a step may take.
const STEP_LIMIT: Duration = Duration::from_secs(30 * 60);
/// The number of checks, and the delay between them, whether a namespace has its service account.
const ACCOUNT_ATTEMPTS: u32 = 600;
const ACCOUNT_POLL: Duration = Duration::from_millis(50);

const DEPLOYMENTS: &str = "/apis/apps/v1/deployments";

/// A load on a server.
pub(crate) struct Load {
    workload: Workload,
    connection: Connection,
    /// The probe's connection, so that it does not wait for the load.
    probing: Connection,
    state: Arc<State>,
    /// The number of pods that do not belong to the load.
    others: i64,
}

struct State {
    progress: Mutex<Progress>,
    complete: Notify,
    /// Why the watch of the Deployments failed.
    failure: Mutex<Option<String>>,
}

/// The measurements of a step from outside the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timings {
    /// From the first request to the last available pod, or the last deleted one.
    pub(crate) wall: Duration,
    /// From the first request to the last response.
    pub(crate) sent: Duration,
    /// From the request to the last available pod, of each Deployment.
    pub(crate) available: Vec<Duration>,
    /// The latencies of the writes.
    pub(crate) writes: Vec<Duration>,
    /// The latencies of the reads.
    pub(crate) reads: Vec<Duration>,
    /// The number of ready pods (in the last step: of remaining pods) over time.
    pub(crate) pods: Vec<(Duration, i64)>,
    /// How often the pods were counted by a request.
    pub(crate) polls: u64,
}

/// The measurements while waiting.
#[derive(Debug, Default)]
struct Waited {
    wall: Duration,
    pods: Vec<(Duration, i64)>,
    /// How often the pods were counted by a request.
    polls: u64,
}

impl Load {
    /// Connects, creates the namespaces and begins to watch.
    pub(crate) async fn start(kubeconfig: &Path, workload: Workload) -> Result<Self, String> {
        let endpoint = Endpoint::of_kubeconfig(kubeconfig).await?;
        let connection = endpoint.connect().await?;
        for number in 0..workload.namespaces {
            prepare_namespace(&connection, &Workload::namespace(number)).await?;
        }
        probe::prepare(&connection).await?;
        let state = Arc::new(State {
            progress: Mutex::new(Progress::new(workload)),
            complete: Notify::new(),
            failure: Mutex::new(None),
        });
        tokio::spawn(follow(endpoint.connect().await?, Arc::clone(&state)));
        let others = count_pods(&connection).await?;
        let probing = endpoint.connect().await?;
        Ok(Self { workload, connection, probing, state, others })
    }

    /// Reads the server's counters.
    pub(crate) async fn counters(&self) -> Result<Counters, String> {
        let text = self.connection.send_ok(&ApiRequest::get("/metrics".to_owned())).await?;
        Ok(Counters::parse(&String::from_utf8_lossy(&text)))
    }

    /// Carries out a step.
    pub(crate) async fn step(&self, step: Step) -> Result<Timings, String> {
        self.state.progress().begin(step);
        let began = Instant::now();
        let probe = Probe::start(&self.probing);
        let work = async { tokio::try_join!(self.send_all(step, began), self.wait(step, began)) };
        let ((sent, mut writes), waited) = timeout(STEP_LIMIT, work).await.map_err(|_| self.late(step))??;
        let probed = probe.stop().await;
        writes.extend(probed.writes);
        let available = self.state.progress().taken();
        let Waited { wall, pods, polls } = waited;
        Ok(Timings { wall, sent, available, writes, reads: probed.reads, pods, polls })
    }

    /// Sends the requests of a step. Returns how long that took, and the latency of each.
    async fn send_all(&self, step: Step, began: Instant) -> Result<(Duration, Vec<Duration>), String> {
        let next = Arc::new(AtomicUsize::new(0));
        let mut workers = JoinSet::new();
        for _ in 0..WORKERS {
            let (workload, connection) = (self.workload, self.connection.clone());
            let (state, next) = (Arc::clone(&self.state), Arc::clone(&next));
            workers.spawn(async move {
                let mut latencies = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= workload.requests_of(step) {
                        return Ok::<_, String>(latencies);
                    }
                    let request = workload.request(step, number);
                    let sent = Instant::now();
                    state.progress().sent(number, sent);
                    connection.send_ok(&request).await?;
                    latencies.push(sent.elapsed());
                }
            });
        }
        let mut all = Vec::new();
        while let Some(latencies) = workers.join_next().await {
            all.extend(latencies.map_err(|error| error.to_string())??);
        }
        Ok((began.elapsed(), all))
    }

    /// Waits until the cluster has completed a step, and samples the number of pods meanwhile.
    async fn wait(&self, step: Step, began: Instant) -> Result<Waited, String> {
        let mut waited = Waited::default();
        loop {
            let (pods, is_complete) = if step.is_deletion() {
                waited.polls += 1;
                let remaining = count_pods(&self.connection).await? - self.others;
                let is_gone = remaining <= 0 && (step == Step::Delete || self.are_namespaces_gone().await?);
                (remaining, is_gone)
            } else {
                let progress = self.state.progress();
                (progress.ready(), progress.is_complete())
            };
            waited.pods.push((began.elapsed(), pods));
            if let Some(failure) = self.state.failure().clone() {
                return Err(failure);
            }
            if is_complete {
                waited.wall = began.elapsed();
                return Ok(waited);
            }
            tokio::select! {
                () = self.state.complete.notified() => {}
                () = sleep(SAMPLE) => {}
            }
        }
    }

    /// Deletes the objects that the load has created besides the Deployments.
    pub(crate) async fn clean_up(&self) -> Result<(), String> {
        let namespaces = (0..self.workload.namespaces).map(Workload::namespace);
        for namespace in namespaces.chain([probe::NAMESPACE.to_owned()]) {
            let request = delete_namespace(&namespace);
            let response = self.connection.send(&request).await?;
            if !response.is_ok() && response.status != 404 {
                return Err(response.refusal(&request));
            }
            while self.exists(&namespace).await? {
                sleep(SAMPLE).await;
            }
        }
        Ok(())
    }

    async fn are_namespaces_gone(&self) -> Result<bool, String> {
        for number in 0..self.workload.namespaces {
            if self.exists(&Workload::namespace(number)).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn exists(&self, namespace: &str) -> Result<bool, String> {
        let path = format!("/api/v1/namespaces/{namespace}");
        Ok(self.connection.send(&ApiRequest::get(path)).await?.status != 404)
    }

    fn late(&self, step: Step) -> String {
        let complete = self.state.progress().complete();
        let (name, all) = (step.name(), self.workload.deployments);
        format!("{name}: {complete} of {all} Deployments complete after {} s", STEP_LIMIT.as_secs())
    }
}

impl State {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failure(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows the Deployments until the server has stopped.
async fn follow(connection: Connection, state: Arc<State>) {
    loop {
        if let Err(error) = follow_watch(&connection, &state).await {
            *state.failure() = Some(error);
            return;
        }
    }
}

/// Follows one watch of the Deployments to its end.
async fn follow_watch(connection: &Connection, state: &State) -> Result<(), String> {
    let mut watch = connection.watch(DEPLOYMENTS).await?;
    while let Some(event) = watch.next().await? {
        let (is_deleted, deployment) = match event {
            WatchEvent::Changed(deployment) => (false, deployment),
            WatchEvent::Deleted(deployment) => (true, deployment),
            WatchEvent::Bookmark => continue,
            WatchEvent::Failed(reason) => {
                crate::complain(&format!("the watch of the Deployments is restarted: {reason}"));
                break;
            }
        };
        if state.progress().observe(is_deleted, &deployment, Instant::now()) {
            state.complete.notify_one();
        }
    }
    Ok(())
}

async fn count_pods(connection: &Connection) -> Result<i64, String> {
    let body = connection.send_ok(&ApiRequest::get("/api/v1/pods?limit=1".to_owned())).await?;
    let list: PodList = objects::decode(&body)?;
    let remaining = list.metadata.and_then(|metadata| metadata.remaining_item_count).unwrap_or(0);
    Ok(remaining + i64::try_from(list.items.len()).unwrap_or(i64::MAX))
}

/// Creates a namespace and waits for its service account, without which no pod can be created.
async fn prepare_namespace(connection: &Connection, name: &str) -> Result<(), String> {
    connection.send_ok(&create_namespace(name)).await?;
    let account = ApiRequest::get(format!("/api/v1/namespaces/{name}/serviceaccounts/default"));
    for _ in 0..ACCOUNT_ATTEMPTS {
        if connection.send(&account).await?.is_ok() {
            return Ok(());
        }
        sleep(ACCOUNT_POLL).await;
    }
    Err(format!("the namespace {name} has no service account; does its controller run?"))
}
