//! Replays a change in a simulated cluster and observes the rollouts.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gantry_json::Value;
use gantry_kubectl::verbs::{ApplyOptions, apply_manifests};
use gantry_kubectl::{ClientContext, Failure, Manifest, OutputStreams};
use gantry_model::{Deployment, Name, ReplicaSet, Timestamp};
use gantry_runtime::{Decode as _, ObjectList, Wire};
use gantry_sim::{
    Commit, ControllerProcesses, RequestInfo, SimCluster, SimObserver, SimOptions, simulate,
    simulate_and_stop,
};
use gantry_view::why::{self, CommandFlags, Report};
use gantry_view::{ApiObjects, Snapshot};
use k8s_openapi::api::{apps::v1 as apps, core::v1 as core};

use crate::assumptions::Assumptions;
use crate::changes::changes;
use crate::dependencies;
use crate::import::ClusterObjects;
use crate::plan::{Observation, RolloutPlan};
use crate::timeline::{Recorder, Timeline, TimelineSample};
use crate::variant::Variant;

/// How long nothing may change until a rollout that is stuck or paused counts as ended.
const QUIET: Duration = Duration::from_secs(60);
/// How often the observation decides whether the rollouts have ended, in virtual time.
const POLL: Duration = Duration::from_secs(1);

/// A change, and the cluster in which it is replayed.
#[derive(Clone, Debug)]
pub struct ReplayRequest {
    /// What there is before the change.
    pub before: StartState,
    /// The objects to apply.
    pub after: Vec<Manifest>,
    /// The namespace of objects without one.
    pub namespace: String,
    /// What is assumed about pods and nodes.
    pub assumptions: Assumptions,
    /// How long rollouts are observed at most, in virtual time.
    pub horizon: Duration,
    /// Decides everything random.
    pub seed: u64,
}

/// What there is before a change.
#[derive(Clone, Debug)]
pub enum StartState {
    /// These objects, rolled out; there may be none.
    Manifests(Vec<Manifest>),
    /// The state of a running cluster, at this time.
    Cluster(ClusterObjects, Timestamp),
}

/// Why a change cannot be replayed.
#[derive(Debug)]
pub enum ReplayError {
    /// There is no Deployment among the objects.
    NoDeployment,
    /// The API refuses an object; before the change, or the change itself.
    Refused {
        /// Whether it is an object of the change.
        is_change: bool,
        /// The failures of `apply`.
        failure: Failure,
    },
    /// The assumptions do not fit the change.
    Assumptions(String),
    /// An object of the running cluster is refused by the simulated one.
    Import(String),
}

/// A Deployment by namespace and name.
type DeploymentKey = (String, String);

/// The recorders of all observed Deployments.
type Recorders = BTreeMap<DeploymentKey, Observed>;

struct Observed {
    recorder: Recorder,
    uid: Option<String>,
}

/// Records the commits of a simulation.
struct RolloutObserver {
    recorders: Arc<Mutex<Recorders>>,
    /// When the change was made, since the beginning of the simulation.
    began: Duration,
}

impl SimObserver for RolloutObserver {
    fn committed(&mut self, commit: &Commit, at: Duration, _: RequestInfo) {
        let mut recorders = self.recorders.lock().unwrap_or_else(PoisonError::into_inner);
        record(&mut recorders, commit, at.saturating_sub(self.began));
    }

    fn lost_creation(&mut self, _: Duration) {}
}

/// Replays a change with a variant of its strategy; returns a plan for each of its Deployments, in their order.
pub fn replay(request: &ReplayRequest, variant: &Variant) -> Result<Vec<RolloutPlan>, ReplayError> {
    let keys = deployments(&request.after, &request.namespace);
    if keys.is_empty() {
        return Err(ReplayError::NoDeployment);
    }
    let profile = request.assumptions.profile(&request.before.templates(), &request.after);
    let options = SimOptions {
        seed: request.seed,
        nodes: request.assumptions.nodes,
        capacity: request.assumptions.capacity.clone(),
        profile: profile.map_err(ReplayError::Assumptions)?,
        resolution: resolution(&request.after),
        normal_events: false,
        ..SimOptions::default()
    };
    match &request.before {
        StartState::Manifests(before) => simulate(options, async |cluster| {
            let assumed = roll_out(cluster, request, before, &keys).await?;
            Replay { request, variant, keys, cluster }.run(assumed).await
        }),
        StartState::Cluster(state, now) => {
            let preparation = SimOptions {
                start: now.minus(state.import_time()),
                nodes: 0,
                controllers: ControllerProcesses::None,
                // With the same seed, the uids of the replay would come up here.
                seed: !options.seed,
                ..options.clone()
            };
            let (imported, cluster) = simulate_and_stop(preparation, async |cluster| {
                create_namespaces(cluster, request).await;
                create_dependencies(cluster, request).await;
                state.import(cluster, options.nodes).await
            });
            imported.map_err(ReplayError::Import)?;
            cluster.start(SimOptions { start: *now, ..options }, async |cluster| {
                Replay { request, variant, keys, cluster }.run(Vec::new()).await
            })
        }
    }
}

/// Applies the objects before the change, and waits until they are rolled out. Returns what was assumed to exist.
async fn roll_out(
    cluster: &SimCluster,
    request: &ReplayRequest,
    before: &[Manifest],
    keys: &[DeploymentKey],
) -> Result<Vec<String>, ReplayError> {
    create_namespaces(cluster, request).await;
    let assumed = create_dependencies(cluster, request).await;
    cluster.settle().await;
    apply(cluster, request, before.to_vec(), false).await?;
    wait_until_rolled_out(cluster, request, keys).await;
    Ok(assumed)
}

async fn apply(
    cluster: &SimCluster,
    request: &ReplayRequest,
    manifests: Vec<Manifest>,
    is_change: bool,
) -> Result<(), ReplayError> {
    if manifests.is_empty() {
        return Ok(());
    }
    let streams = OutputStreams { out: Box::new(io::sink()), err: Box::new(io::sink()) };
    let clock = || gantry_primitives::Timestamp::from_secs(0);
    let mut context = ClientContext::new(cluster.transport(), "the simulated cluster", streams, clock);
    context.namespace.clone_from(&request.namespace);
    let applied = apply_manifests(&mut context, &ApplyOptions::default(), manifests).await;
    applied.map_err(|failure| ReplayError::Refused { is_change, failure })
}

/// Waits until the Deployments that exist are rolled out, or nothing more happens.
async fn wait_until_rolled_out(cluster: &SimCluster, request: &ReplayRequest, keys: &[DeploymentKey]) {
    let began = cluster.elapsed();
    while cluster.elapsed().saturating_sub(began) < request.horizon {
        let mut is_done = true;
        for key in keys {
            let deployment = deployment(cluster, key).await;
            is_done &= deployment.is_none_or(|it| is_rolled_out(&it));
        }
        if is_done {
            return;
        }
        let writes = cluster.writes();
        cluster.advance(QUIET).await;
        if cluster.writes() == writes {
            return;
        }
    }
}

async fn deployment(cluster: &SimCluster, (namespace, name): &DeploymentKey) -> Option<Value> {
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
    let (status, object) = cluster.try_send("GET", &path, &Value::Null).await;
    (status == 200).then_some(object)
}

impl StartState {
    /// The pod templates before the change.
    fn templates(&self) -> Vec<Manifest> {
        match self {
            Self::Manifests(manifests) => manifests.clone(),
            Self::Cluster(state, _) => {
                let manifest = |object: &Value| Manifest { source: String::new(), object: object.clone() };
                state.deployments.iter().map(manifest).collect()
            }
        }
    }
}

struct Replay<'r, 'c> {
    request: &'r ReplayRequest,
    variant: &'r Variant,
    keys: Vec<DeploymentKey>,
    cluster: &'c mut SimCluster,
}

impl Replay<'_, '_> {
    /// Makes the change and observes the rollouts.
    async fn run(self, assumed: Vec<String>) -> Result<Vec<RolloutPlan>, ReplayError> {
        let mut before = BTreeMap::new();
        let mut recorders = Recorders::new();
        for key in &self.keys {
            let deployment = deployment(self.cluster, key).await;
            recorders.insert(key.clone(), self.recorder(key, deployment.as_ref()).await);
            before.insert(key.clone(), deployment);
        }
        let recorders = Arc::new(Mutex::new(recorders));
        let began = self.cluster.elapsed();
        self.observe(&recorders, began);
        let after = self.variant.applied_to(self.request.after.clone());
        apply(self.cluster, self.request, after, true).await?;
        let observed_for = self.wait_until_ended(&recorders, began).await;
        let mut recorders = std::mem::take(&mut *recorders.lock().unwrap_or_else(PoisonError::into_inner));
        let mut plans = Vec::new();
        for key in &self.keys {
            let Some(observed) = recorders.remove(key) else { continue };
            let timeline = observed.recorder.finish();
            plans.extend(self.plan(key, before[key].as_ref(), timeline, observed_for, &assumed).await);
        }
        Ok(plans)
    }

    async fn list<W: Wire>(&self, api: &str, namespace: &str, plural: &str) -> Vec<W> {
        let list = self.cluster.get(&format!("{api}/namespaces/{namespace}/{plural}")).await;
        ObjectList::decode_value(&list).map(|list| list.items).unwrap_or_default()
    }

    /// A recorder that begins with the state before the change.
    async fn recorder(&self, (namespace, _): &DeploymentKey, deployment: Option<&Value>) -> Observed {
        let parsed = deployment.and_then(|it| apps::Deployment::decode_value(it).ok());
        let uid = parsed.as_ref().and_then(|it| it.metadata.uid.clone());
        let sets: Vec<apps::ReplicaSet> = self.list("/apis/apps/v1", namespace, "replicasets").await;
        let own = sets.into_iter().filter(|set| uid.is_some() && owner(set) == uid);
        let sets: Vec<_> = own.filter_map(|set| ReplicaSet::parse(set).ok()).collect();
        let deployment = parsed.and_then(|it| Deployment::parse(it).ok());
        Observed { recorder: Recorder::new(deployment.as_ref(), sets), uid }
    }

    /// Has every commit from now on recorded.
    fn observe(&self, recorders: &Arc<Mutex<Recorders>>, began: Duration) {
        self.cluster.observe(Box::new(RolloutObserver { recorders: Arc::clone(recorders), began }));
    }

    /// Waits until all rollouts have ended, or the horizon is reached; returns how long that took.
    async fn wait_until_ended(&self, recorders: &Arc<Mutex<Recorders>>, began: Duration) -> Duration {
        loop {
            self.cluster.advance(POLL).await;
            let elapsed = self.cluster.elapsed().saturating_sub(began);
            let recorders = recorders.lock().unwrap_or_else(PoisonError::into_inner);
            let has_ended = recorders.values().all(|observed| has_ended(&observed.recorder, elapsed));
            if has_ended || elapsed >= self.request.horizon {
                return elapsed;
            }
        }
    }

    async fn plan(
        &self,
        key: &DeploymentKey,
        before: Option<&Value>,
        timeline: Timeline,
        observed_for: Duration,
        assumed: &[String],
    ) -> Option<RolloutPlan> {
        let after = deployment(self.cluster, key).await?;
        let report = self.report(key, &after).await?;
        let deployment = Deployment::parse(apps::Deployment::decode_value(&after).ok()?).ok()?;
        Some(RolloutPlan::new(
            &deployment,
            Observation {
                variant: self.variant.to_string(),
                changes: changes(before, &after),
                assumptions: self
                    .request
                    .assumptions
                    .described()
                    .into_iter()
                    .chain(assumed.to_vec())
                    .collect(),
                timeline,
                observed_for,
                report,
            },
        ))
    }

    /// Explains the state at the end.
    async fn report(&self, (namespace, _): &DeploymentKey, deployment: &Value) -> Option<Report> {
        let objects = ApiObjects {
            deployment: apps::Deployment::decode_value(deployment).ok()?,
            sets: self.list("/apis/apps/v1", namespace, "replicasets").await,
            pods: self.list("/api/v1", namespace, "pods").await,
            events: self.list("/api/v1", namespace, "events").await,
            deployments: self.list("/apis/apps/v1", namespace, "deployments").await,
            nodes: Vec::<core::Node>::new(),
        };
        let snapshot = Snapshot::parse(objects).ok()?;
        Some(why::explain(self.cluster.now(), &snapshot, &CommandFlags::default()))
    }
}

/// Creates the namespaces of all objects: a manifest need not have them.
async fn create_namespaces(cluster: &SimCluster, request: &ReplayRequest) {
    let mut namespaces: Vec<_> = request.objects().map(|it| namespace_of(&it, &request.namespace)).collect();
    namespaces.sort();
    namespaces.dedup();
    for namespace in namespaces.into_iter().filter(|namespace| namespace != "default") {
        let object = gantry_json::json!({"metadata": {"name": namespace}});
        // One that exists already is as good.
        cluster.try_send("POST", "/api/v1/namespaces", &object).await;
    }
}

/// Creates what pods depend on and no file has; returns what was created, in words.
async fn create_dependencies(cluster: &SimCluster, request: &ReplayRequest) -> Vec<String> {
    let mut namespaces: BTreeMap<String, Vec<Manifest>> = BTreeMap::new();
    for manifest in request.objects() {
        namespaces.entry(namespace_of(&manifest, &request.namespace)).or_default().push(manifest);
    }
    let mut created = Vec::new();
    for (namespace, manifests) in namespaces {
        for ((kind, name), keys) in dependencies::missing(&manifests) {
            let path = format!("/api/v1/namespaces/{namespace}/{}", kind.plural());
            cluster.try_send("POST", &path, &kind.object(&name, &keys)).await;
            created.push(format!("{}/{name} exists", kind.singular()));
        }
    }
    created
}

impl ReplayRequest {
    /// All objects, before and after the change.
    fn objects(&self) -> impl Iterator<Item = Manifest> {
        self.before.templates().into_iter().chain(self.after.iter().cloned())
    }
}

/// Records what a commit changes about the observed Deployments.
fn record(recorders: &mut Recorders, commit: &Commit, at: Duration) {
    for write in &commit.writes {
        let mut parts = write.key.trim_start_matches("/registry/").split('/');
        let (Some(resource), Some(namespace), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        match (resource, &write.value) {
            ("deployments", Some(value)) => {
                let Some(observed) = recorders.get_mut(&(namespace.to_owned(), name.to_owned())) else {
                    continue;
                };
                let Ok(object) = apps::Deployment::decode(value) else { continue };
                observed.uid.clone_from(&object.metadata.uid);
                if let Ok(deployment) = Deployment::parse(object) {
                    observed.recorder.deployment(at, &deployment);
                }
            }
            ("replicasets", Some(value)) => {
                let Ok(object) = apps::ReplicaSet::decode(value) else { continue };
                let owner = owner(&object);
                let observed =
                    recorders.values_mut().find(|observed| owner.is_some() && observed.uid == owner);
                if let (Some(observed), Ok(set)) = (observed, ReplicaSet::parse(object)) {
                    observed.recorder.set(at, set);
                }
            }
            ("replicasets", None) => {
                for observed in recorders.values_mut() {
                    observed.recorder.set_deleted(at, &Name::from(name));
                }
            }
            _ => {}
        }
    }
}

fn owner(set: &apps::ReplicaSet) -> Option<String> {
    let owners = set.metadata.owner_references.iter().flatten();
    owners.into_iter().find(|owner| owner.controller == Some(true)).map(|owner| owner.uid.clone())
}

/// Whether a rollout has ended: complete with no pod left to terminate, or without a change for so long that none will come.
fn has_ended(recorder: &Recorder, elapsed: Duration) -> bool {
    let is_gone = |sample: &TimelineSample| sample.terminating() == 0;
    let quiet = elapsed.saturating_sub(recorder.last_change());
    if recorder.is_complete() {
        return recorder.last().is_none_or(is_gone);
    }
    let deadline = recorder.deadline().filter(|_| !recorder.is_deadline_exceeded() && !recorder.is_paused());
    quiet > deadline.unwrap_or_default() + QUIET
}

fn is_rolled_out(deployment: &Value) -> bool {
    let conditions = deployment["status"]["conditions"].as_array();
    let is_observed = deployment["status"]["observedGeneration"] == deployment["metadata"]["generation"];
    is_observed && conditions.is_some_and(|all| all.iter().any(|it| it["reason"] == "NewReplicaSetAvailable"))
}

/// The Deployments among these objects.
fn deployments(manifests: &[Manifest], namespace: &str) -> Vec<DeploymentKey> {
    let is_deployment = |it: &&Manifest| it.object["kind"] == "Deployment";
    let name = |it: &Manifest| it.object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    manifests.iter().filter(is_deployment).map(|it| (namespace_of(it, namespace), name(it))).collect()
}

/// How finely the times of pods are distinguished: large rollouts are replayed in coarser steps.
fn resolution(manifests: &[Manifest]) -> Duration {
    let replicas = manifests.iter().filter_map(|it| it.object["spec"]["replicas"].as_u64()).max();
    match replicas.unwrap_or(0) {
        0..=100 => Duration::ZERO,
        101..=500 => Duration::from_millis(100),
        _ => Duration::from_millis(250),
    }
}

fn namespace_of(manifest: &Manifest, default: &str) -> String {
    manifest.object["metadata"]["namespace"].as_str().unwrap_or(default).to_owned()
}

impl std::fmt::Display for ReplayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoDeployment => {
                f.write_str("there is no Deployment among the objects, so there is no rollout to plan")
            }
            Self::Refused { is_change: true, failure } => {
                write!(f, "the change would be refused:\n{}", failure.lines().trim_end())
            }
            Self::Refused { is_change: false, failure } => {
                write!(f, "the objects before the change are refused:\n{}", failure.lines().trim_end())
            }
            Self::Assumptions(message) => f.write_str(message),
            Self::Import(message) => write!(f, "the state of the cluster cannot be replayed: {message}"),
        }
    }
}

impl std::error::Error for ReplayError {}
