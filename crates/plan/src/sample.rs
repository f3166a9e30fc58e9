//! The rolled-out state of many replicas, made from a sample of them.
//!
//! Rolling out a thousand pods before the change takes as long as the change itself. Where all pods of a template behave alike, a few
//! are rolled out, and the rest are copies of these: with names, uids and addresses of their own, on the same nodes. What might
//! make pods differ (crashes, requests that do not fit, constraints of scheduling, quotas) is rolled out in full.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use bytes::Bytes;
use gantry_decide::deployment::Limits;
use gantry_formats::quantity::parse_billionths;
use gantry_json::{Value, json};
use gantry_kubectl::Manifest;
use gantry_model::{Deployment, keys};
use gantry_nodes::Capacity;
use gantry_nodes::behaviour::Profile;
use gantry_rng::Rng;
use gantry_runtime::Decode as _;
use gantry_sim::StoppedCluster;
use k8s_openapi::api::apps::v1 as apps;

use crate::assumptions::Assumptions;

/// Deployments of fewer replicas are rolled out in full.
const REPLICAS_MIN: u64 = 100;
/// Traits that all healthy pods may have.
const HARMLESS: [&str; 4] = ["pull-seconds", "start-seconds", "ready-seconds", "terminate-seconds"];
/// Kinds among the objects that do not limit pods.
const KINDS: [&str; 5] = ["Deployment", "ConfigMap", "Secret", "ServiceAccount", "Namespace"];
/// Fields of a pod's spec that say on which nodes it may run, or depend on how many others there are.
const CONSTRAINTS: [&str; 9] = [
    "affinity",
    "hostNetwork",
    "nodeName",
    "nodeSelector",
    "overhead",
    "resourceClaims",
    "resources",
    "schedulerName",
    "topologySpreadConstraints",
];
/// The volumes that any number of pods on any node may have.
const VOLUMES: [&str; 5] = ["configMap", "downwardAPI", "emptyDir", "projected", "secret"];
/// The counts of a Deployment and a ReplicaSet that all are the number of replicas once it is rolled out.
const COUNTS: [&str; 5] =
    ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "fullyLabeledReplicas"];

/// A sample of the objects before a change.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// The objects, with fewer replicas.
    pub(crate) manifests: Vec<Manifest>,
    /// The number of replicas in the sample.
    size: u64,
    /// The number of replicas that are wanted.
    replicas: u64,
    namespace: String,
    name: String,
}

impl Sample {
    /// A sample of these objects with a pod for each node; `None` if they are to be rolled out in full.
    pub(crate) fn of(manifests: &[Manifest], namespace: &str, assumptions: &Assumptions) -> Option<Self> {
        let is_deployment = |it: &&Manifest| it.object["kind"] == "Deployment";
        let deployments: Vec<_> = manifests.iter().filter(is_deployment).collect();
        let [deployment] = deployments[..] else { return None };
        let (meta, spec) = (&deployment.object["metadata"], &deployment.object["spec"]);
        let replicas = spec["replicas"].as_u64().filter(|replicas| *replicas >= REPLICAS_MIN)?;
        let size = u64::try_from(assumptions.nodes).ok().filter(|nodes| (1..replicas).contains(nodes))?;
        let alike = manifests.iter().all(|it| KINDS.iter().any(|kind| it.object["kind"] == *kind))
            && is_harmless(assumptions)
            && are_alike(&spec["template"])
            && fit(&spec["template"], replicas.div_ceil(size), &assumptions.capacity);
        if !alike {
            return None;
        }
        let reduced = manifests.iter().cloned().map(|mut manifest| {
            if is_deployment(&&manifest) {
                manifest.object["spec"]["replicas"] = json!(size);
            }
            manifest
        });
        Some(Self {
            manifests: reduced.collect(),
            size,
            replicas,
            namespace: meta["namespace"].as_str().unwrap_or(namespace).to_owned(),
            name: meta["name"].as_str()?.to_owned(),
        })
    }

    /// Makes the state with all replicas from that of the sample; `None` if the sample was not rolled out.
    pub(crate) fn complete(&self, cluster: &mut StoppedCluster) -> Option<()> {
        let key = format!("/registry/deployments/{}/{}", self.namespace, self.name);
        let (_, stored) = cluster.objects(&key).into_iter().find(|(found, _)| *found == key)?;
        let deployment = with_counts(&stored, self.size, self.replicas)?;
        let parsed = Deployment::parse(apps::Deployment::decode(deployment.as_bytes()).ok()?).ok()?;
        let uid = uid_of(&stored)?;
        let sets = owned(cluster, "replicasets", &self.namespace, &uid);
        let [(set_key, set)] = &sets[..] else { return None };
        let pods = owned(cluster, "pods", &self.namespace, &uid_of(set)?);
        let samples: Vec<_> = pods.iter().map(|(key, pod)| PodSample::of(key, pod)).collect::<Option<_>>()?;
        if u64::try_from(samples.len()).ok()? != self.size {
            return None;
        }
        let limits = Limits::of(&parsed);
        let set = with_counts(set, self.size, self.replicas)?;
        let set = with_annotation(&set, keys::DESIRED_REPLICAS, limits.desired)?;
        let set = with_annotation(&set, keys::MAX_REPLICAS, limits.ceiling())?;
        let (mut rng, mut names) = (Rng::keyed(&uid, "copies"), BTreeSet::new());
        for copy in self.size..self.replicas {
            let sample = &samples[usize::try_from(copy % self.size).ok()?];
            let (key, pod) = sample.copy(u32::try_from(copy / self.size).ok()?, &mut names, &mut rng);
            cluster.put(&key, pod);
        }
        cluster.put(set_key, Bytes::from(set));
        cluster.put(&key, Bytes::from(deployment));
        Some(())
    }
}

/// A pod that is copied.
struct PodSample {
    key: String,
    text: String,
    name: String,
    uid: String,
    address: Ipv4Addr,
}

impl PodSample {
    /// A pod that runs and is ready; `None` for others.
    fn of(key: &str, pod: &Bytes) -> Option<Self> {
        let parsed: Value = gantry_json::from_slice(pod).ok()?;
        let (meta, status) = (&parsed["metadata"], &parsed["status"]);
        let conditions = status["conditions"].as_array()?;
        conditions.iter().find(|it| it["type"] == "Ready" && it["status"] == "True")?;
        Some(Self {
            key: key.to_owned(),
            text: String::from_utf8(pod.to_vec()).ok()?,
            name: meta["name"].as_str()?.to_owned(),
            uid: meta["uid"].as_str()?.to_owned(),
            address: status["podIP"].as_str()?.parse().ok()?,
        })
    }

    /// The copy of a round: another name and uid, and as many addresses further.
    fn copy(&self, round: u32, names: &mut BTreeSet<String>, rng: &mut Rng) -> (String, Bytes) {
        let prefix = self.name.rsplit_once('-').map_or(self.name.as_str(), |(prefix, _)| prefix);
        let mut name = format!("{prefix}-{}", suffix(rng));
        while !names.insert(name.clone()) {
            name = format!("{prefix}-{}", suffix(rng));
        }
        let address = Ipv4Addr::from_bits(self.address.to_bits() + round);
        let text = self
            .text
            .replace(&self.name, &name)
            .replace(&self.uid, &uid(rng))
            .replace(&format!("\"{}\"", self.address), &format!("\"{address}\""));
        (self.key.replace(&self.name, &name), Bytes::from(text))
    }
}

/// The objects of a kind whose controller has this uid.
fn owned(cluster: &StoppedCluster, plural: &str, namespace: &str, owner: &str) -> Vec<(String, Bytes)> {
    let mut objects = cluster.objects(&format!("/registry/{plural}/{namespace}/"));
    objects.retain(|(_, object)| {
        let parsed: Value = gantry_json::from_slice(object).unwrap_or(Value::Null);
        parsed["metadata"]["ownerReferences"]
            .as_array()
            .is_some_and(|owners| owners.iter().any(|it| it["uid"] == owner && it["controller"] == true))
    });
    objects
}

fn uid_of(object: &Bytes) -> Option<String> {
    let parsed: Value = gantry_json::from_slice(object).ok()?;
    parsed["metadata"]["uid"].as_str().map(str::to_owned)
}

/// The JSON of a workload of so many replicas with another number of them. The layout of what is stored stays as it is.
fn with_counts(stored: &Bytes, from: u64, to: u64) -> Option<String> {
    let mut text = String::from_utf8(stored.to_vec()).ok()?;
    for count in COUNTS {
        for end in [',', '}'] {
            text = text.replace(&format!("\"{count}\":{from}{end}"), &format!("\"{count}\":{to}{end}"));
            // What was last applied is written in an annotation, as text.
            text =
                text.replace(&format!("\\\"{count}\\\":{from}{end}"), &format!("\\\"{count}\\\":{to}{end}"));
        }
    }
    Some(text)
}

fn with_annotation(text: &str, name: &str, value: i64) -> Option<String> {
    let begin = format!("\"{name}\":\"");
    let start = text.find(&begin)? + begin.len();
    let end = start + text[start..].find('"')?;
    Some(format!("{}{value}{}", &text[..start], &text[end..]))
}

/// Whether no assumption makes pods before the change fail.
fn is_harmless(assumptions: &Assumptions) -> bool {
    let is_harmless = |text: &String| {
        let name = text.split('=').next().unwrap_or_default();
        HARMLESS.contains(&name) || text == "image-pull=works" || text == "image-pull=present"
    };
    assumptions.profile == Profile::built_in()
        && assumptions.room.is_none()
        && assumptions.all_pods.iter().all(is_harmless)
}

/// Whether pods of this template behave alike, wherever they run.
fn are_alike(template: &Value) -> bool {
    let annotations = template["metadata"]["annotations"].as_object();
    let is_simulated =
        annotations.is_some_and(|all| all.iter().any(|(name, _)| name.starts_with("sim.gantry.dev/")));
    let spec = &template["spec"];
    let has_ports = containers(spec).any(|it| {
        it["ports"].as_array().is_some_and(|ports| ports.iter().any(|port| !port["hostPort"].is_null()))
    });
    let is_anywhere = |volume: &Value| VOLUMES.iter().any(|source| !volume[*source].is_null());
    let volumes = spec["volumes"].as_array();
    let has_claims = volumes.is_some_and(|volumes| !volumes.iter().all(is_anywhere));
    !is_simulated && !has_ports && !has_claims && CONSTRAINTS.iter().all(|field| spec[*field].is_null())
}

/// Whether a node has room for so many pods of this template.
fn fit(template: &Value, pods: u64, capacity: &Capacity) -> bool {
    let requested = |resource: &str| -> Option<i128> {
        let amounts = containers(&template["spec"]).map(|it| {
            let resources = &it["resources"];
            let written = [&resources["requests"][resource], &resources["limits"][resource]];
            match written.into_iter().find(|it| !it.is_null()) {
                None => Some(0),
                Some(Value::String(text)) => parse_billionths(text),
                Some(other) => parse_billionths(&other.to_string()),
            }
        });
        amounts.sum()
    };
    let fits = |resource: &str, capacity: &str| {
        let (needed, there_is) = (requested(resource), parse_billionths(capacity));
        needed.zip(there_is).is_some_and(|(needed, there_is)| needed * i128::from(pods) <= there_is)
    };
    pods <= u64::from(capacity.pods) && fits("cpu", &capacity.cpu) && fits("memory", &capacity.memory)
}

fn containers(spec: &Value) -> impl Iterator<Item = &Value> {
    ["containers", "initContainers"]
        .into_iter()
        .flat_map(|field| spec[field].as_array().into_iter().flatten())
}

/// A suffix of a generated name.
fn suffix(rng: &mut Rng) -> String {
    const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    (0..5).map(|_| char::from(LETTERS[rng.index(LETTERS.len())])).collect()
}

fn uid(rng: &mut Rng) -> String {
    let parts = [8, 4, 4, 4, 12].map(|digits| rng.hex(digits));
    parts.join("-")
}
