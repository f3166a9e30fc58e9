//! Imports the state of a running cluster into a simulation.
//!
//! It is created object by object in a simulated cluster without controllers and nodes, so that nothing acts on it
//! before it is complete. Then a cluster with them starts on the same store.

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_json::{Map, Value, json};
use gantry_sim::SimCluster;

/// The objects of rollouts on a running cluster.
#[derive(Clone, Debug, Default)]
pub struct ClusterObjects {
    /// The Deployments.
    pub deployments: Vec<Value>,
    /// Their ReplicaSets.
    pub sets: Vec<Value>,
    /// The pods of these.
    pub pods: Vec<Value>,
    /// The nodes; none if they cannot be read.
    pub nodes: Vec<Value>,
    /// The other pods of the cluster that can be read.
    pub other_pods: Vec<Value>,
    /// The LimitRanges of the namespaces of the Deployments.
    pub limit_ranges: Vec<Value>,
    /// The ResourceQuotas of these namespaces.
    pub quotas: Vec<Value>,
    /// The resources that could not be read for lack of permission, such as `nodes`.
    pub unread: Vec<String>,
}

/// The time between two creations, so that the order of creation is known afterwards.
const STEP: Duration = Duration::from_secs(1);

impl ClusterObjects {
    /// How long an import takes, in virtual time.
    pub(crate) fn import_time(&self) -> Duration {
        let limits = self.limit_ranges.len() + self.quotas.len();
        let objects = self.deployments.len() + self.sets.len() + self.pods.len() + limits;
        STEP * u32::try_from(objects).unwrap_or(u32::MAX)
    }

    /// Creates all objects; pods on nodes that the simulation does not have are distributed over those that it has.
    /// Fails if the API refuses an object.
    pub(crate) async fn import(&self, cluster: &SimCluster, nodes: Vec<String>) -> Result<(), String> {
        let mut uids = BTreeMap::new();
        let mut node_names = NodeNames { nodes, known: BTreeMap::new() };
        for deployment in &self.deployments {
            create(cluster, "/apis/apps/v1", "deployments", deployment, &mut uids).await?;
        }
        for set in in_order_of_creation(&self.sets) {
            create(cluster, "/apis/apps/v1", "replicasets", set, &mut uids).await?;
        }
        for pod in in_order_of_creation(&self.pods) {
            let mut pod = pod.clone();
            if let Some(node) = pod["spec"]["nodeName"].as_str() {
                let node = node_names.of(node);
                pod["spec"]["nodeName"] = json!(node);
            }
            create(cluster, "/api/v1", "pods", &pod, &mut uids).await?;
        }
        // After the pods, which exist whatever the limits are.
        for limits in &self.limit_ranges {
            create(cluster, "/api/v1", "limitranges", limits, &mut uids).await?;
        }
        for quota in self.remaining_quotas() {
            create(cluster, "/api/v1", "resourcequotas", &quota, &mut uids).await?;
        }
        Ok(())
    }
}

/// The names of simulated nodes for those of real ones.
struct NodeNames {
    nodes: Vec<String>,
    known: BTreeMap<String, String>,
}

impl NodeNames {
    fn of(&mut self, real: &str) -> String {
        if self.nodes.iter().any(|node| node == real) {
            return real.to_owned();
        }
        let next = self.nodes.get(self.known.len() % self.nodes.len().max(1)).cloned();
        self.known.entry(real.to_owned()).or_insert_with(|| next.unwrap_or_default()).clone()
    }
}

fn in_order_of_creation(objects: &[Value]) -> Vec<&Value> {
    let mut objects: Vec<_> = objects.iter().collect();
    objects.sort_by_key(|object| object["metadata"]["creationTimestamp"].as_str().map(str::to_owned));
    objects
}

/// Creates an object with its status, and records its new uid. Owners that were not created are left out.
async fn create(
    cluster: &SimCluster,
    api: &str,
    plural: &str,
    object: &Value,
    uids: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    cluster.advance(STEP).await;
    let meta = &object["metadata"];
    let mut new = object.clone();
    new["metadata"] = metadata(meta, uids);
    let namespace = meta["namespace"].as_str().unwrap_or("default");
    let path = format!("{api}/namespaces/{namespace}/{plural}");
    let mut created = accepted(cluster.try_send("POST", &path, &new).await)?;
    if let (Some(old), Some(uid)) = (meta["uid"].as_str(), created["metadata"]["uid"].as_str()) {
        uids.insert(old.to_owned(), uid.to_owned());
    }
    let name = created["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    if object["status"].is_null() || plural == "resourcequotas" {
        return Ok(());
    }
    created["status"] = object["status"].clone();
    // The generation counts from one again.
    if object["status"]["observedGeneration"] == meta["generation"] && !meta["generation"].is_null() {
        created["status"]["observedGeneration"] = created["metadata"]["generation"].clone();
    } else if created["status"]["observedGeneration"].is_number() {
        created["status"]["observedGeneration"] = json!(0);
    }
    accepted(cluster.try_send("PUT", &format!("{path}/{name}/status"), &created).await)?;
    if !meta["deletionTimestamp"].is_null() {
        accepted(cluster.try_send("DELETE", &format!("{path}/{name}"), &Value::Null).await)?;
    }
    Ok(())
}

/// The object of a response, or the message of an error.
fn accepted((code, body): (u16, Value)) -> Result<Value, String> {
    if code < 300 { Ok(body) } else { Err(body["message"].as_str().unwrap_or("unknown error").to_owned()) }
}

/// The metadata that a user can set, with the new uids of owners.
fn metadata(meta: &Value, uids: &BTreeMap<String, String>) -> Value {
    let mut kept = Map::new();
    for field in ["name", "namespace", "labels", "annotations"] {
        if !meta[field].is_null() {
            kept.insert(field, meta[field].clone());
        }
    }
    let owners = meta["ownerReferences"].as_array().into_iter().flatten();
    let owners = owners.filter_map(|owner| {
        let uid = uids.get(owner["uid"].as_str()?)?;
        let mut owner = owner.clone();
        owner["uid"] = json!(uid);
        Some(owner)
    });
    let owners: Vec<Value> = owners.collect();
    if !owners.is_empty() {
        kept.insert("ownerReferences", Value::Array(owners));
    }
    Value::Object(kept)
}
