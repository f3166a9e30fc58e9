//! Rollouts while the API server and the controllers, in separate processes, are killed and restarted.
//!
//! Writers create, scale, roll and delete their own Deployments and record which writes were acknowledged. A kubelet
//! binds some pods to a node, reports all of them ready, and ends those that are terminating. At the end every
//! Deployment has its acknowledged state, everything has converged, no pod is terminating and no object is without its
//! owner. Six kills, or two hundred with `GANTRY_LONG=1`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gantry_json::{Value, json};
use gantry_store::suite::{Rng, is_long_run, seeds};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};

use super::TIMEOUT;
use super::running::{Process, Scratch, Server};

const WRITERS: u64 = 3;
const DEPLOYMENTS_EACH: u64 = 2;
/// The timeout until everything has converged after the last kill.
const CONVERGENCE_TIMEOUT: Duration = Duration::from_secs(300);

/// The acknowledged state of a Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wanted {
    replicas: u64,
    image: String,
}

/// A client that writes its own Deployments.
struct Writer {
    api: Api<Deployment>,
    number: u64,
    rng: Rng,
    wanted: BTreeMap<String, Wanted>,
    acknowledged: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

/// The processes that are killed.
struct Processes {
    server: Server,
    controllers: Process,
    address: String,
    data: PathBuf,
    kubeconfig: PathBuf,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rollouts_converge_and_no_pod_is_left_terminating() {
    let seed = seeds(1, 1).next().unwrap_or_default();
    println!("GANTRY_SEED={seed}");
    let scratch = Scratch::new("crash-rollouts");
    let mut processes = Processes::start(&scratch);
    let client = processes.server.client().await;
    let (stop, acknowledged) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
    let accounts: Api<ServiceAccount> = Api::default_namespaced(client.clone());
    until("the service account of pods", TIMEOUT, async || {
        accounts.get_opt("default").await.ok().flatten().map(drop)
    })
    .await;
    let kubelet = tokio::spawn(kubelet(client.clone(), Arc::clone(&acknowledged)));
    let writers: Vec<_> = (0..WRITERS)
        .map(|number| {
            let rng = Rng::new(seed.wrapping_mul(1000) + number);
            let (stop, acknowledged) = (Arc::clone(&stop), Arc::clone(&acknowledged));
            let (api, wanted) = (Api::default_namespaced(client.clone()), BTreeMap::new());
            tokio::spawn(Writer { api, number, rng, wanted, acknowledged, stop }.write())
        })
        .collect();
    let mut rng = Rng::new(seed);
    for kill in 0..if is_long_run() { 200 } else { 6 } {
        // After new writes of clients and of the kubelet: the rollouts of earlier ones are then at any step.
        let enough = acknowledged.load(Ordering::SeqCst) + 5 + rng.below(20);
        let deadline = Instant::now() + CONVERGENCE_TIMEOUT;
        while acknowledged.load(Ordering::SeqCst) <= enough {
            processes.restart_controllers();
            assert!(Instant::now() < deadline, "GANTRY_SEED={seed}: no write is acknowledged any more");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        processes.kill(&mut rng);
        println!("kill {kill}: {} writes were acknowledged", acknowledged.load(Ordering::SeqCst));
    }
    stop.store(true, Ordering::SeqCst);
    let mut wanted = BTreeMap::new();
    for writer in writers {
        wanted.extend(writer.await.expect("every writer finds the acknowledged state"));
    }
    let deadline = Instant::now() + CONVERGENCE_TIMEOUT;
    loop {
        processes.restart_controllers();
        let left = differences(&client, &wanted).await.unwrap_or_else(|error| error.to_string());
        if left.is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "GANTRY_SEED={seed}: the cluster does not converge:\n{left}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    kubelet.abort();
}

impl Processes {
    fn start(scratch: &Scratch) -> Self {
        let (data, kubeconfig) = (scratch.join("data"), scratch.join("kubeconfig"));
        let server = Server::in_directory(&data, &kubeconfig);
        let address = server.address().to_owned();
        Self { server, controllers: controllers(&kubeconfig), address, data, kubeconfig }
    }

    /// Kills the server, the controllers or both, and starts them again.
    fn kill(&mut self, rng: &mut Rng) {
        let both = rng.one_in(8);
        if both || rng.one_in(4) {
            self.controllers.kill();
        }
        if both || self.controllers.ended().is_none() {
            self.server.kill();
            let arguments = ["--data-dir", &self.data.display().to_string()];
            self.server = Server::start(&self.address, &self.kubeconfig, &arguments);
        }
        self.restart_controllers();
    }

    /// Restarts the controllers if they have ended, as they do if they find no server when they start.
    fn restart_controllers(&mut self) {
        if self.controllers.ended().is_some() {
            self.controllers = controllers(&self.kubeconfig);
        }
    }
}

fn controllers(kubeconfig: &Path) -> Process {
    let arguments = ["controllers", "--bind-address", "127.0.0.1:0", "--kubeconfig"];
    Process::start(&arguments, |command| {
        command.arg(kubeconfig);
        command.env("GANTRY_LOG", std::env::var("GANTRY_LOG").unwrap_or_else(|_| "off".to_owned()));
    })
}

impl Writer {
    /// Writes until it is stopped; returns the acknowledged state of every Deployment.
    async fn write(mut self) -> BTreeMap<String, Wanted> {
        let mut next = 0;
        while !self.stop.load(Ordering::SeqCst) {
            next += 1;
            let name = format!("d{}-{}", self.number, self.rng.below(DEPLOYMENTS_EACH));
            let before = self.wanted.get(&name).cloned();
            let after = self.next_state(before.as_ref(), next);
            let attempted = self.attempt(&name, before.as_ref(), after.as_ref()).await;
            let is_acknowledged = attempted.is_ok();
            match attempted {
                Ok(()) => drop(self.acknowledged.fetch_add(1, Ordering::SeqCst)),
                Err(error) => assert!(is_lost(&error), "{name}: {before:?} to {after:?}: {error}"),
            }
            let found = self.find(&name).await;
            let found = found.filter(|found| found.metadata.deletion_timestamp.is_none());
            let found = found.as_ref().and_then(state);
            assert!(
                found == after || (!is_acknowledged && found == before),
                "{name}: {before:?} to {after:?} (acknowledged: {is_acknowledged}), found {found:?}"
            );
            if let Some(found) = found {
                self.wanted.insert(name, found);
                continue;
            }
            self.wanted.remove(&name);
            // The name is free when the dependents are deleted, if they are deleted first.
            let deadline = Instant::now() + CONVERGENCE_TIMEOUT;
            while self.find(&name).await.is_some() {
                assert!(Instant::now() < deadline, "{name} is never deleted");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        self.wanted
    }

    /// The Deployment, if it exists, as soon as the server responds.
    async fn find(&self, name: &str) -> Option<Deployment> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match self.api.get_opt(name).await {
                Ok(found) => return found,
                Err(error) => {
                    assert!(Instant::now() < deadline, "the server does not respond again: {error}");
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn next_state(&mut self, before: Option<&Wanted>, next: u64) -> Option<Wanted> {
        let Some(before) = before else {
            return Some(Wanted { replicas: 1 + self.rng.below(3), image: format!("nginx:{next}") });
        };
        match self.rng.below(6) {
            0 | 1 => Some(Wanted { replicas: self.rng.below(4), ..before.clone() }),
            2 | 3 => Some(Wanted { image: format!("nginx:{next}"), ..before.clone() }),
            4 => Some(Wanted { replicas: 1 + self.rng.below(3), image: format!("nginx:{next}") }),
            _ => None,
        }
    }

    async fn attempt(
        &mut self,
        name: &str,
        before: Option<&Wanted>,
        after: Option<&Wanted>,
    ) -> kube::Result<()> {
        match (before, after) {
            (None, Some(after)) => {
                let created = self.api.create(&PostParams::default(), &deployment(name, after)).await;
                created.map(drop)
            }
            (_, Some(after)) => {
                let patch = Patch::Strategic(spec(after));
                self.api.patch(name, &PatchParams::default(), &patch).await.map(drop)
            }
            (_, None) => {
                let foreground = self.rng.one_in(2);
                let params = if foreground { DeleteParams::foreground() } else { DeleteParams::background() };
                self.api.delete(name, &params).await.map(drop)
            }
        }
    }
}

/// Whether the outcome of the request is unknown. A retried request may find that the first one was carried out.
fn is_lost(error: &kube::Error) -> bool {
    !matches!(error, kube::Error::Api(status) if status.code < 500 && !matches!(status.code, 404 | 409 | 429))
}

fn spec(wanted: &Wanted) -> Value {
    let containers = json!([{"name": "c", "image": wanted.image}]);
    json!({"spec": {"replicas": wanted.replicas, "template": {"spec": {"containers": containers}}}})
}

fn deployment(name: &str, wanted: &Wanted) -> Deployment {
    let mut object = spec(wanted);
    object["metadata"] = json!({"name": name});
    object["spec"]["selector"] = json!({"matchLabels": {"app": name}});
    object["spec"]["template"]["metadata"] = json!({"labels": {"app": name}});
    gantry_json::from_value(object).unwrap()
}

fn state(deployment: &Deployment) -> Option<Wanted> {
    let spec = &deployment.spec;
    let image = spec.template.spec.as_ref()?.containers.first()?.image.clone()?;
    Some(Wanted { replicas: u64::try_from(spec.replicas?).ok()?, image })
}

/// The differences from the expected state; empty if there are none.
async fn differences(client: &Client, wanted: &BTreeMap<String, Wanted>) -> kube::Result<String> {
    let all = ListParams::default();
    let deployments = Api::<Deployment>::default_namespaced(client.clone()).list(&all).await?.items;
    let sets = Api::<ReplicaSet>::default_namespaced(client.clone()).list(&all).await?.items;
    let pods = Api::<Pod>::default_namespaced(client.clone()).list(&all).await?.items;
    let mut wrong = Vec::new();
    let found: BTreeMap<String, Wanted> =
        deployments.iter().filter_map(|found| Some((found.name_any(), state(found)?))).collect();
    if found != *wanted {
        wrong.push(format!("found {found:?} instead of {wanted:?}"));
    }
    for deployment in &deployments {
        let status = deployment.status.clone().unwrap_or_default();
        let replicas = deployment.spec.replicas;
        let is_observed = status.observed_generation == deployment.metadata.generation;
        let counts = [status.replicas, status.updated_replicas, status.available_replicas];
        if !is_observed || counts.iter().any(|count| count.unwrap_or(0) != replicas.unwrap_or(0)) {
            wrong.push(format!("{} is not rolled out: {status:?}", deployment.name_any()));
        }
    }
    let owners: BTreeSet<String> = deployments.iter().filter_map(kube::ResourceExt::uid).collect();
    for set in sets.iter().filter(|set| !is_owned(*set, &owners)) {
        wrong.push(format!("ReplicaSet {} has no owner", set.name_any()));
    }
    let owners: BTreeSet<String> = sets.iter().filter_map(kube::ResourceExt::uid).collect();
    for pod in &pods {
        if !is_owned(pod, &owners) {
            wrong.push(format!("pod {} has no owner", pod.name_any()));
        }
        if pod.metadata.deletion_timestamp.is_some() {
            wrong.push(format!("pod {} is terminating", pod.name_any()));
        }
    }
    let replicas: u64 = wanted.values().map(|wanted| wanted.replicas).sum();
    if pods.len() as u64 != replicas {
        wrong.push(format!("{} pods instead of {replicas}", pods.len()));
    }
    Ok(wrong.join("\n"))
}

fn is_owned(object: &impl kube::Resource, owners: &BTreeSet<String>) -> bool {
    let references = object.meta().owner_references.iter().flatten();
    references.filter(|owner| owner.controller == Some(true)).any(|owner| owners.contains(&owner.uid))
}

/// Acts as the scheduler for some pods, and as the kubelet for all, for as long as it is polled. Counts the pods that
/// it has ended or reported ready.
async fn kubelet(client: Client, acknowledged: Arc<AtomicU64>) {
    let ready = Patch::Strategic(json!({"status": {
        "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
    }}));
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    loop {
        tokio::time::sleep(Duration::from_millis(30)).await;
        // Every request may fail: the server may be stopped, the pod deleted.
        let Ok(list) = pods.list(&ListParams::default()).await else { continue };
        for pod in list.items {
            let name = pod.name_any();
            let is_bound = pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some());
            let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
            let is_acknowledged = if pod.metadata.deletion_timestamp.is_some() {
                // No kubelet ends a pod that is not bound.
                is_bound && pods.delete(&name, &DeleteParams::default().grace_period(0)).await.is_ok()
            } else if phase != Some("Running") {
                if !is_bound && name.as_bytes().last().is_some_and(|letter| letter % 2 == 0) {
                    let _ = bind(&client, &name).await;
                }
                pods.patch_status(&name, &PatchParams::default(), &ready).await.is_ok()
            } else {
                false
            };
            acknowledged.fetch_add(u64::from(is_acknowledged), Ordering::SeqCst);
        }
    }
}

async fn bind(client: &Client, name: &str) -> kube::Result<Value> {
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"kind": "Node", "name": "n1"},
    });
    let request = http::Request::post(format!("/api/v1/namespaces/default/pods/{name}/binding"))
        .header("content-type", "application/json")
        .body(binding.to_string().into_bytes())
        .unwrap();
    client.request(request).await
}

/// Waits until the function returns a value.
async fn until<T>(what: &str, timeout: Duration, mut check: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + timeout;
    loop {
        if let Some(found) = check().await {
            return found;
        }
        assert!(Instant::now() < deadline, "timed out waiting for {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
