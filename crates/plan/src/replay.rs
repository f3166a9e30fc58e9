//! Replays a change in a simulated cluster and observes the rollouts.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gantry_json::Value;
use gantry_kubectl::{Failure, Manifest};
use gantry_model::{Deployment, Name, ReplicaSet, Timestamp};
use gantry_runtime::{Decode as _, Wire};
use gantry_sim::{
    Commit, ControllerProcesses, Omissions, RequestInfo, SimCluster, SimObserver, SimOptions, simulate,
    simulate_and_stop,
};
use gantry_view::why::{self, CommandFlags, Report};
use gantry_view::{ApiObjects, Snapshot};
use k8s_openapi::api::{apps::v1 as apps, core::v1 as core};

use crate::assumptions::Assumptions;
use crate::changes::changes;
use crate::import::ClusterObjects;
use crate::plan::{Observation, RolloutPlan};
use crate::start_state::{
    RolledOut, apply, create_dependencies, create_namespaces, deployment, namespace_of, roll_out,
};
use crate::timeline::{Recorder, Timeline, TimelineSample};
use crate::variant::Variant;

/// How long nothing may change until a rollout that is stuck or paused counts as ended.
pub(crate) const QUIET: Duration = Duration::from_secs(60);
/// How often the observation decides whether the rollouts have ended, in virtual time.
const POLL: Duration = Duration::from_secs(1);

/// More than the pods of the largest rollouts, because several keys share a place.
const DECODED_OBJECTS: NonZero<usize> = NonZero::new(8192).expect("not zero");

/// A change, and the cluster in which it is replayed.
#[derive(Clone, Debug)]
pub struct ReplayRequest {
    /// The state before the change.
    pub before: StartState,
    /// The objects to apply.
    pub after: Vec<Manifest>,
    /// The namespace of objects without one.
    pub namespace: String,
    /// The assumptions about pods and nodes.
    pub assumptions: Assumptions,
    /// How long rollouts are observed at most, in virtual time.
    pub horizon: Duration,
    /// Decides all randomness.
    pub seed: u64,
}

/// The state before a change.
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

/// Shortcuts that take less time than on a running cluster, with the same result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shortcuts {
    /// Deployments of more replicas before the change are not rolled out pod by pod.
    pub(crate) copied_above: u64,
    /// Data that no plan shows and no decision depends on.
    pub(crate) omissions: Omissions,
}

impl Shortcuts {
    const ALL: Self = Self {
        copied_above: 100,
        omissions: Omissions { normal_events: true, managed_fields: true, passing_statuses: true },
    };
}

/// A Deployment by namespace and name.
pub(crate) type DeploymentKey = (String, String);

/// The recorders of all observed Deployments.
type Recorders = BTreeMap<DeploymentKey, Observed>;

struct Observed {
    recorder: Recorder,
    uid: Option<String>,
}

/// Records the commits of a simulation.
struct RolloutObserver {
    recorders: Arc<Mutex<Recorders>>,
    /// When the change was made, since the start of the simulation.
    began: Duration,
}

impl SimObserver for RolloutObserver {
    fn committed(&mut self, commit: &Commit, at: Duration, _: RequestInfo) {
        let mut recorders = self.recorders.lock().unwrap_or_else(PoisonError::into_inner);
        record(&mut recorders, commit, at.saturating_sub(self.began));
    }
}

/// Replays a change with a variant of its strategy; returns a plan for each of its Deployments, in their order.
pub fn replay(request: &ReplayRequest, variant: &Variant) -> Result<Vec<RolloutPlan>, ReplayError> {
    replay_with(request, variant, Shortcuts::ALL)
}

fn replay_with(
    request: &ReplayRequest,
    variant: &Variant,
    shortcuts: Shortcuts,
) -> Result<Vec<RolloutPlan>, ReplayError> {
    let keys = deployments(&request.after, &request.namespace);
    if keys.is_empty() {
        return Err(ReplayError::NoDeployment);
    }
    let profile = request.assumptions.profile(&request.before.templates(), &request.after);
    let options = SimOptions {
        seed: request.seed,
        nodes: request.assumptions.nodes,
        capacity: request.assumptions.capacity.clone(),
        templates: request.assumptions.templates.clone(),
        profile: profile.map_err(ReplayError::Assumptions)?,
        resolution: resolution(&request.after),
        omissions: shortcuts.omissions,
        decoded_objects: DECODED_OBJECTS,
        ..SimOptions::default()
    };
    match &request.before {
        StartState::Manifests(before) => {
            let copied = RolledOut::by_copying(request, &options, before, shortcuts.copied_above)?;
            if let Some(RolledOut { cluster, now, assumed }) = copied {
                return cluster.start(SimOptions { start: now, ..options }, async |cluster| {
                    Replay { request, variant, keys, cluster }.run(assumed).await
                });
            }
            simulate(options, async |cluster| {
                let assumed = roll_out(cluster, request, before).await?;
                Replay { request, variant, keys, cluster }.run(assumed).await
            })
        }
        StartState::Cluster(state, now) => {
            let preparation = SimOptions {
                start: now.minus(state.import_time()),
                nodes: 0,
                controllers: ControllerProcesses::None,
                // With the same seed, the uids of the replay would be generated here already.
                seed: !options.seed,
                ..options.clone()
            };
            let (imported, cluster) = simulate_and_stop(preparation, async |cluster| {
                create_namespaces(cluster, request).await;
                create_dependencies(cluster, request).await;
                state.import(cluster, node_names(&options)).await
            });
            imported.map_err(ReplayError::Import)?;
            cluster.start(SimOptions { start: *now, ..options }, async |cluster| {
                Replay { request, variant, keys, cluster }.run(Vec::new()).await
            })
        }
    }
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
        let list = self.cluster.get_text(&format!("{api}/namespaces/{namespace}/{plural}")).await;
        W::decode_list(&list).map(|list| list.items).unwrap_or_default()
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

    /// Records every commit from now on.
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

impl ReplayRequest {
    /// All objects, before and after the change.
    pub(crate) fn objects(&self) -> impl Iterator<Item = Manifest> {
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

pub(crate) fn owner(set: &apps::ReplicaSet) -> Option<String> {
    let owners = set.metadata.owner_references.iter().flatten();
    owners.into_iter().find(|owner| owner.controller == Some(true)).map(|owner| owner.uid.clone())
}

/// Whether a rollout has ended: complete with no terminating pods, or without a change for so long that none will
/// follow.
fn has_ended(recorder: &Recorder, elapsed: Duration) -> bool {
    let is_gone = |sample: &TimelineSample| sample.terminating() == 0;
    let quiet = elapsed.saturating_sub(recorder.last_change());
    if recorder.is_complete() {
        return recorder.last().is_none_or(is_gone);
    }
    let deadline = recorder.deadline().filter(|_| !recorder.is_deadline_exceeded() && !recorder.is_paused());
    quiet > deadline.unwrap_or_default() + QUIET
}

/// The Deployments among these objects.
pub(crate) fn deployments(manifests: &[Manifest], namespace: &str) -> Vec<DeploymentKey> {
    let is_deployment = |it: &&Manifest| it.object["kind"] == "Deployment";
    let name = |it: &Manifest| it.object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    manifests.iter().filter(is_deployment).map(|it| (namespace_of(it, namespace), name(it))).collect()
}

/// The names of the simulated nodes.
fn node_names(options: &SimOptions) -> Vec<String> {
    let nodes = gantry_nodes::Options::new(options.nodes, gantry_runtime::Metrics::new());
    gantry_nodes::Options { templates: options.templates.clone(), ..nodes }.names().collect()
}

/// The resolution of the times of pods: large rollouts are replayed in coarser steps.
fn resolution(manifests: &[Manifest]) -> Duration {
    let replicas = manifests.iter().filter_map(|it| it.object["spec"]["replicas"].as_u64()).max();
    match replicas.unwrap_or(0) {
        0..=100 => Duration::ZERO,
        101..=500 => Duration::from_millis(100),
        _ => Duration::from_millis(250),
    }
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

#[cfg(test)]
mod tests {
    use gantry_json::json;
    use gantry_nodes::behaviour::Profile;

    use super::*;

    const NONE: Shortcuts = Shortcuts {
        copied_above: u64::MAX,
        omissions: Omissions { normal_events: false, managed_fields: false, passing_statuses: false },
    };

    fn web(image: &str, strategy: &Value) -> Manifest {
        let probe = json!({"httpGet": {"path": "/", "port": 80}, "periodSeconds": 1});
        let containers = json!([{"name": "web", "image": image, "readinessProbe": probe}]);
        let object = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {
                "replicas": 7, "strategy": strategy, "minReadySeconds": 2,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}},
            },
        });
        Manifest { source: String::new(), object }
    }

    fn timeline(traits: &[&str], new: &[&str], strategy: &Value, shortcuts: Shortcuts) -> Timeline {
        let owned = |traits: &[&str]| traits.iter().map(|&text| text.to_owned()).collect();
        let mut assumptions = Assumptions::new(Profile::built_in(), 14);
        (assumptions.all_pods, assumptions.new_pods) = (owned(traits), owned(new));
        let request = ReplayRequest {
            before: StartState::Manifests(vec![web("nginx:1", strategy)]),
            after: vec![web("nginx:2", strategy)],
            namespace: "default".to_owned(),
            assumptions,
            horizon: Duration::from_hours(1),
            seed: 3,
        };
        replay_with(&request, &Variant::AsWritten, shortcuts).unwrap().remove(0).timeline
    }

    /// Pods that all take the same time: with and without shortcuts their uids differ, and thus times from a range
    /// would.
    #[test]
    fn omitted_components_change_no_size_and_no_time() {
        let times = ["pull-seconds=1", "start-seconds=2", "ready-seconds=3", "terminate-seconds=4"];
        let rolling = |surge: &str, unavailable: &str| json!({"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
        let all = Shortcuts { copied_above: 1, ..Shortcuts::ALL };
        for (strategy, new) in [
            (rolling("25%", "25%"), &[][..]),
            (rolling("10%", "0%"), &["ready=never"]),
            (rolling("25%", "25%"), &["image-pull=fails"]),
            (json!({"type": "Recreate"}), &[]),
        ] {
            let (quick, whole) =
                (timeline(&times, new, &strategy, all), timeline(&times, new, &strategy, NONE));
            assert!(!quick.resizes.is_empty());
            assert_eq!(quick.resizes, whole.resizes, "{strategy} {new:?}");
            assert_eq!(quick.samples, whole.samples, "{strategy} {new:?}");
        }
    }
}
