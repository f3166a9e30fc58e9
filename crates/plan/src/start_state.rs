//! The state before a change: manifests that are applied and rolled out.
//!
//! A large Deployment is rolled out with one pod, which is then copied: creating all of them would take longer than the
//! change. The state is the same as long as all pods become and stay ready, and the scheduler finds room for them;
//! otherwise nothing is copied.

use std::collections::BTreeMap;
use std::io;

use gantry_decide::deployment::Limits;
use gantry_json::{Value, json};
use gantry_kubectl::verbs::{ApplyOptions, apply_manifests};
use gantry_kubectl::{ClientContext, Manifest, OutputStreams};
use gantry_model::{Deployment, Timestamp, keys};
use gantry_nodes::behaviour::{ANNOTATION_PREFIX, Profile};
use gantry_runtime::Decode as _;
use gantry_sim::{
    ControllerProcesses, Identities, SimCluster, SimOptions, StoppedCluster, simulate_and_stop,
};
use k8s_openapi::api::{apps::v1 as apps, core::v1 as core};

use crate::copies::PodCopier;
use crate::dependencies;
use crate::replay::{DeploymentKey, QUIET, ReplayError, ReplayRequest, deployments};

/// A stopped cluster in which everything is rolled out.
pub(crate) struct RolledOut {
    pub(crate) cluster: StoppedCluster,
    /// The time at which it was stopped.
    pub(crate) now: Timestamp,
    /// The objects that were assumed to exist.
    pub(crate) assumed: Vec<String>,
}

/// A set of a Deployment that has one pod of several.
struct EnlargedSet {
    uid: String,
    /// How many pods it needs beside the existing one.
    missing: usize,
}

/// The seed of the uids and names of copies, beside that of the replay.
const COPIES_SEED: u64 = 0x636f_7069_6573;

impl RolledOut {
    /// Rolls manifests out by copying the pods of Deployments of more than this many replicas; `None` if there are
    /// none, or if they cannot be copied.
    pub(crate) fn by_copying(
        request: &ReplayRequest,
        options: &SimOptions,
        manifests: &[Manifest],
        copied_above: u64,
    ) -> Result<Option<Self>, ReplayError> {
        let is_copied = |manifest: &Manifest| is_copied(manifest, &options.profile, copied_above);
        let large: Vec<_> = manifests.iter().filter(|manifest| is_copied(manifest)).cloned().collect();
        let has_quota = manifests.iter().any(|manifest| manifest.object["kind"] == "ResourceQuota");
        if large.is_empty() || has_quota {
            return Ok(None);
        }
        let mut small = manifests.to_vec();
        for manifest in small.iter_mut().filter(|manifest| is_copied(manifest)) {
            manifest.object["spec"]["replicas"] = json!(1);
        }
        let preparation = SimOptions {
            // With the same seed, the uids of the replay would be generated here already.
            seed: !options.seed,
            controllers: ControllerProcesses::Separate(1),
            ..options.clone()
        };
        let (prepared, mut cluster) = simulate_and_stop(preparation, async |cluster| {
            let assumed = roll_out(cluster, request, &small).await?;
            cluster.stop_controllers(0).await;
            let mut sets = Vec::new();
            for manifest in large {
                match enlarge(cluster, request, manifest).await? {
                    Some(set) => sets.push(set),
                    None => return Ok(None),
                }
            }
            Ok(Some((assumed, sets, cluster.now())))
        });
        let Some((assumed, sets, now)) = prepared? else { return Ok(None) };
        let mut copier = PodCopier::new(&cluster, Identities::new(options.seed ^ COPIES_SEED));
        for set in sets {
            let pods = cluster.objects("/registry/pods/");
            let Some(pod) = pods.iter().find(|pod| is_of(pod, &set.uid)) else { return Ok(None) };
            if copier.copy(&mut cluster, pod, set.missing).is_err() {
                return Ok(None);
            }
        }
        Ok(Some(Self { cluster, now, assumed }))
    }
}

/// Whether the pods of a manifest are copied: there are many of them, and all become and stay ready.
fn is_copied(manifest: &Manifest, profile: &Profile, copied_above: u64) -> bool {
    let spec = &manifest.object["spec"];
    let pod = &spec["template"];
    let items = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let mut containers =
        ["containers", "initContainers"].into_iter().flat_map(|field| items(&pod["spec"][field]));
    let annotations = pod["metadata"]["annotations"].as_object().into_iter().flat_map(gantry_json::Map::keys);
    manifest.object["kind"] == "Deployment"
        && spec["replicas"].as_u64().is_some_and(|replicas| replicas > copied_above)
        && annotations.into_iter().all(|name| !name.starts_with(ANNOTATION_PREFIX))
        && containers.all(|it| it["image"].as_str().is_none_or(|image| profile.stays_ready(image)))
}

/// Sets the size and the status of a rolled-out Deployment with one pod to those that its manifest requests; no
/// controller may run. Returns `None` if it is not rolled out.
async fn enlarge(
    cluster: &SimCluster,
    request: &ReplayRequest,
    manifest: Manifest,
) -> Result<Option<EnlargedSet>, ReplayError> {
    let key = (namespace_of(&manifest, &request.namespace), name_of(&manifest));
    let is_ready = deployment(cluster, &key).await.is_some_and(|deployment| is_rolled_out(&deployment));
    let set = set_of(cluster, &key).await.filter(|set| is_ready && set["status"]["availableReplicas"] == 1);
    let Some(mut set) = set else { return Ok(None) };
    apply(cluster, request, vec![manifest], false).await?;
    let Some(mut deployment) = deployment(cluster, &key).await else { return Ok(None) };
    let parsed = apps::Deployment::decode_value(&deployment).ok().and_then(|it| Deployment::parse(it).ok());
    let Some(limits) = parsed.as_ref().map(Limits::of) else { return Ok(None) };
    let size = json!(limits.desired);
    deployment["status"]["observedGeneration"] = deployment["metadata"]["generation"].clone();
    for field in ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"] {
        deployment["status"][field] = size.clone();
    }
    let (namespace, name) = &key;
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}/status");
    cluster.send("PUT", &path, deployment).await;
    set["spec"]["replicas"] = size.clone();
    set["metadata"]["annotations"][keys::DESIRED_REPLICAS] = json!(limits.desired.to_string());
    set["metadata"]["annotations"][keys::MAX_REPLICAS] = json!(limits.ceiling().to_string());
    let name = set["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let path = format!("/apis/apps/v1/namespaces/{namespace}/replicasets/{name}");
    let mut set = cluster.send("PUT", &path, set).await;
    set["status"]["observedGeneration"] = set["metadata"]["generation"].clone();
    for field in ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"] {
        set["status"][field] = size.clone();
    }
    let set = cluster.send("PUT", &format!("{path}/status"), set).await;
    let missing = usize::try_from(limits.desired - 1).unwrap_or(0);
    Ok(Some(EnlargedSet { uid: set["metadata"]["uid"].as_str().unwrap_or_default().to_owned(), missing }))
}

/// The only ReplicaSet of a Deployment.
async fn set_of(cluster: &SimCluster, key: &DeploymentKey) -> Option<Value> {
    let owner = deployment(cluster, key).await?["metadata"]["uid"].clone();
    let list = cluster.get(&format!("/apis/apps/v1/namespaces/{}/replicasets", key.0)).await;
    let mut sets = list["items"].as_array()?.iter();
    sets.find(|set| set["metadata"]["ownerReferences"][0]["uid"] == owner).cloned()
}

/// Whether a pod belongs to the set of this uid.
fn is_of(pod: &[u8], set: &str) -> bool {
    let Ok(pod) = core::Pod::decode(pod) else { return false };
    pod.metadata.owner_references.iter().flatten().any(|owner| owner.uid == set)
}

/// Applies the objects before the change, and waits until they are rolled out. Returns the objects assumed to exist.
pub(crate) async fn roll_out(
    cluster: &SimCluster,
    request: &ReplayRequest,
    before: &[Manifest],
) -> Result<Vec<String>, ReplayError> {
    create_namespaces(cluster, request).await;
    let assumed = create_dependencies(cluster, request).await;
    cluster.settle().await;
    apply(cluster, request, before.to_vec(), false).await?;
    wait_until_rolled_out(cluster, request, &deployments(before, &request.namespace)).await;
    Ok(assumed)
}

pub(crate) async fn apply(
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

/// Waits until the Deployments that exist are rolled out, or nothing changes any more.
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

pub(crate) async fn deployment(cluster: &SimCluster, (namespace, name): &DeploymentKey) -> Option<Value> {
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
    let (status, object) = cluster.try_send("GET", &path, &Value::Null).await;
    (status == 200).then_some(object)
}

/// Creates the namespaces of all objects: they need not be among the manifests.
pub(crate) async fn create_namespaces(cluster: &SimCluster, request: &ReplayRequest) {
    let mut namespaces: Vec<_> = request.objects().map(|it| namespace_of(&it, &request.namespace)).collect();
    namespaces.sort();
    namespaces.dedup();
    for namespace in namespaces.into_iter().filter(|namespace| namespace != "default") {
        let object = json!({"metadata": {"name": namespace}});
        // An existing namespace is kept.
        cluster.try_send("POST", "/api/v1/namespaces", &object).await;
    }
}

/// Creates the dependencies of pods that are in no file; returns descriptions of them.
pub(crate) async fn create_dependencies(cluster: &SimCluster, request: &ReplayRequest) -> Vec<String> {
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

fn is_rolled_out(deployment: &Value) -> bool {
    let conditions = deployment["status"]["conditions"].as_array();
    let is_observed = deployment["status"]["observedGeneration"] == deployment["metadata"]["generation"];
    is_observed && conditions.is_some_and(|all| all.iter().any(|it| it["reason"] == "NewReplicaSetAvailable"))
}

pub(crate) fn namespace_of(manifest: &Manifest, default: &str) -> String {
    manifest.object["metadata"]["namespace"].as_str().unwrap_or(default).to_owned()
}

fn name_of(manifest: &Manifest) -> String {
    manifest.object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gantry_sim::Omissions;

    use super::*;
    use crate::assumptions::Assumptions;
    use crate::replay::StartState;

    fn web(replicas: u64) -> Manifest {
        let requests = json!({"requests": {"cpu": "100m", "memory": "1Gi"}});
        let containers = json!([{"name": "web", "image": "nginx:1", "resources": requests}]);
        let object = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {
                "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}},
            },
        });
        Manifest { source: String::new(), object }
    }

    fn request(replicas: u64) -> ReplayRequest {
        ReplayRequest {
            before: StartState::Manifests(Vec::new()),
            after: vec![web(replicas)],
            namespace: "default".to_owned(),
            assumptions: Assumptions::new(Profile::built_in(), 0),
            horizon: Duration::from_hours(1),
            seed: 1,
        }
    }

    /// The objects under a prefix without the parts that differ from one rollout to the next, sorted.
    fn masked(cluster: &StoppedCluster, prefix: &str) -> Vec<String> {
        let mut objects: Vec<_> = cluster
            .objects(prefix)
            .iter()
            .map(|object| mask("", &gantry_json::from_slice(object).unwrap()).to_string())
            .collect();
        objects.sort();
        objects
    }

    fn mask(name: &str, value: &Value) -> Value {
        let is_count = ["generation", "observedGeneration"].contains(&name);
        let is_identity =
            ["uid", "ip", "podIP", "hostIP", "containerID", "nodeName", "message"].contains(&name);
        let is_time =
            ["creationTimestamp", "startTime", "startedAt"].contains(&name) || name.ends_with("Time");
        match value {
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| {
                    let is_pod_name = name == "name" && value.as_str().is_some_and(is_generated);
                    (name.to_string(), if is_pod_name { json!("web-x") } else { mask(name, value) })
                });
                Value::Object(members.collect())
            }
            Value::Array(items) => Value::Array(items.iter().map(|item| mask("", item)).collect()),
            _ if is_count || is_identity || is_time => json!("masked"),
            other => other.clone(),
        }
    }

    /// Whether a name has a random suffix: of a pod, or of the volume of its token.
    fn is_generated(name: &str) -> bool {
        ["web-", "kube-api-access-"].iter().any(|prefix| name.starts_with(prefix))
    }

    /// The number of pods on each node.
    fn pods_per_node(cluster: &StoppedCluster) -> Vec<usize> {
        let mut nodes = BTreeMap::<String, usize>::new();
        for pod in cluster.objects("/registry/pods/") {
            let pod: Value = gantry_json::from_slice(&pod).unwrap();
            *nodes.entry(pod["spec"]["nodeName"].to_string()).or_default() += 1;
        }
        nodes.into_values().collect()
    }

    #[test]
    fn copies_equal_the_state_after_a_rollout() {
        // The managed fields would differ in the owner of a pod and the times.
        let omissions = Omissions { managed_fields: true, ..Omissions::default() };
        let (request, options) = (request(7), SimOptions { omissions, ..SimOptions::default() });
        let manifests = [web(7)];
        let (rolled, real) = simulate_and_stop(options.clone(), async |cluster| {
            let rolled = roll_out(cluster, &request, &manifests).await;
            cluster.settle().await;
            rolled
        });
        rolled.unwrap();
        let copied = RolledOut::by_copying(&request, &options, &manifests, 1).unwrap().unwrap();
        for prefix in ["/registry/pods/", "/registry/replicasets/", "/registry/deployments/"] {
            assert_eq!(masked(&copied.cluster, prefix), masked(&real, prefix));
        }
        assert_eq!(copied.cluster.objects("/registry/pods/").len(), 7);
        assert_eq!(pods_per_node(&copied.cluster), pods_per_node(&real));
        let start = SimOptions { start: copied.now, ..options };
        let writes = copied.cluster.start(start, async |cluster| {
            cluster.advance(Duration::from_mins(5)).await;
            cluster.writes()
        });
        assert_eq!(writes, 0, "nothing remains to be done");
    }

    #[test]
    fn pods_that_do_not_fit_or_do_not_stay_ready_are_not_copied() {
        let (request, options) = (request(7), SimOptions::default());
        let mut small = options.clone();
        small.capacity.pods = 2;
        assert!(RolledOut::by_copying(&request, &small, &[web(7)], 1).unwrap().is_none());
        let profile = Profile::read("default: {crash-after: 5, crash-percent: 20}").unwrap();
        let flaky = SimOptions { profile, ..options.clone() };
        assert!(RolledOut::by_copying(&request, &flaky, &[web(7)], 1).unwrap().is_none());
        assert!(
            RolledOut::by_copying(&request, &options, &[web(7)], 10).unwrap().is_none(),
            "few pods are not copied"
        );
    }
}
