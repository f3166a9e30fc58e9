//! The signs of life of simulated nodes: registered once, leases renewed, well-being reported.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_decide::Wake;
use gantry_decide::events::Subject;
use gantry_decide::queue::Outcome;
use gantry_model::patch::PatchForm;
use gantry_model::{Name, ObjectKey, RefusalKind, Timestamp};
use gantry_runtime::informer::{Cached as _, Plain, resource_of};
use gantry_runtime::{Api, Clock, DeleteParams, Informer, Queue, RequestError, ResourcePath};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1 as core;
use serde_json::{Value, json};

use crate::behaviour::Dice;
use crate::life;
use crate::machine::{self, Machine};
use crate::station::Station;

/// How often a lease is renewed; a kubelet's number, as the next.
const RENEW_EVERY: Duration = Duration::from_secs(10);
/// How often a node says that it is well when nothing has changed.
const REPORT_EVERY: Duration = Duration::from_mins(5);

/// A node in a cache.
type Seen = Plain<core::Node>;

/// The signs of life of all simulated nodes.
#[derive(Debug)]
pub(crate) struct Pulse {
    pub(crate) nodes: Informer<Seen>,
    pub(crate) pods: Informer<Plain<core::Pod>>,
    /// Where pods are put that go on because their node is back.
    pub(crate) pod_queue: Queue<ObjectKey>,
    pub(crate) stations: Arc<BTreeMap<String, Station>>,
    pub(crate) prefix: String,
    pub(crate) api: Api,
    pub(crate) clock: Clock,
    pub(crate) beats: Mutex<BTreeMap<Name, Beat>>,
}

/// How far a registered node has come. When to do what is by the clock that is never set.
#[derive(Clone, Debug)]
pub(crate) struct Beat {
    /// The lease as the server last returned it; none if it is to be asked for.
    lease: Option<Value>,
    renew_at: Timestamp,
    report_at: Timestamp,
}

impl Pulse {
    /// Does what is due for a node.
    pub(crate) async fn beat(&self, name: Name) -> (Outcome, Wake) {
        let done = match self.stations.get(name.as_str()) {
            Some(station) => self.advance(&name, station).await,
            None => self.retire(&name).await,
        };
        match done {
            Ok(wake) => (Outcome::Success, wake),
            Err(failure) if failure.kind() == RefusalKind::Conflict => {
                tracing::debug!(node = %name, %failure, "the node was changed by somebody; trying again");
                (Outcome::Failure, Wake::OnChange)
            }
            Err(failure) => {
                tracing::warn!(node = %name, %failure, "a node could not show that it is alive; trying again");
                (Outcome::Failure, Wake::OnChange)
            }
        }
    }

    /// Removes a node that an earlier, larger simulation has left behind: pods would be sent there in vain.
    async fn retire(&self, name: &Name) -> Result<Wake, RequestError> {
        let key = ObjectKey { namespace: "".into(), name: name.clone() };
        let seen = self.nodes.read().get(&key).cloned();
        let Some(seen) = seen.filter(|seen| machine::is_of_prefix(&seen.wire, &self.prefix)) else {
            return Ok(Wake::OnChange);
        };
        tracing::info!(node = %name, "removing a simulated node that is no longer asked for");
        let target = ResourcePath::object(self.nodes.resource(), None, name);
        let deletion = DeleteParams { uid: Some(seen.uid().clone()), ..DeleteParams::default() };
        match self.api.delete(&target, &deletion).await {
            Err(failure) if failure.kind() != RefusalKind::NotFound => Err(failure),
            _ => Ok(Wake::OnChange),
        }
    }

    async fn advance(&self, name: &Name, station: &Station) -> Result<Wake, RequestError> {
        let machine = &station.machine;
        let known = self.beats().get(name).cloned();
        let mut beat = match known {
            Some(beat) => beat,
            None => self.register(machine).await?,
        };
        self.beats().insert(name.clone(), beat.clone());
        let key = ObjectKey { namespace: "".into(), name: name.clone() };
        let seen = self.nodes.read().get(&key).cloned();
        // Not seen yet, or deleted: a node that somebody removed stays away until the next start.
        let Some(seen) = seen else { return Ok(Wake::OnChange) };
        let steady = self.clock.steady();
        if is_failed(station, &seen) {
            station.set_failed(true);
            return Ok(Wake::OnChange);
        }
        if station.set_failed(false) {
            tracing::info!(node = %name, "the node is back");
            beat.renew_at = steady;
            self.wake_pods(machine);
        }
        if let Some(kept) = machine::taints_of_a_ready_node(&seen.wire) {
            let version = seen.version().as_str();
            let body = json!({"metadata": {"resourceVersion": version}, "spec": {"taints": kept}});
            self.patch(&target(machine), &body).await?;
        }
        // A kubelet reports again when its node is said not to be ready.
        if beat.report_at <= steady || !machine::is_ready(&seen.wire) {
            let conditions = machine::heartbeat(seen.wire.status.as_ref(), self.clock.now());
            self.patch(&target(machine).part("status"), &json!({"status": {"conditions": conditions}}))
                .await?;
            beat.report_at = steady.plus(REPORT_EVERY);
        }
        if beat.renew_at <= steady {
            // Whatever goes wrong, the next try asks for the lease as it is.
            let known = self.beats().get_mut(name).and_then(|beat| beat.lease.take());
            let pause = if known.is_some() { RENEW_EVERY } else { first_pause(machine) };
            beat.lease = Some(self.renew(machine, &seen, known).await?);
            beat.renew_at = steady.plus(pause);
        }
        let next = beat.renew_at.min(beat.report_at).since(self.clock.steady());
        self.beats().insert(name.clone(), beat);
        Ok(Wake::After(next))
    }

    /// Has all pods of a node looked at.
    fn wake_pods(&self, machine: &Machine) {
        let is_here = |pod: &core::Pod| {
            pod.spec.as_ref().is_some_and(|spec| spec.node_name.as_deref() == Some(machine.name.as_str()))
        };
        let pods: Vec<_> =
            self.pods.read().iter().filter(|pod| is_here(&pod.wire)).map(|pod| pod.key()).collect();
        for pod in pods {
            self.pod_queue.add(pod);
        }
    }

    /// Creates a node, or takes over the one that has its name.
    async fn register(&self, machine: &Machine) -> Result<Beat, RequestError> {
        let now = self.clock.now();
        match self.api.get::<core::Node>(&target(machine)).await {
            // A node that is to fail does not come back because its process does.
            Ok(node) if machine::is_failed(&node) == Ok(true) => {}
            Ok(node) => {
                self.patch(&target(machine), &json!({"metadata": {"labels": machine.labels()}})).await?;
                let status = machine.status(node.status.as_ref(), now);
                self.patch(&target(machine).part("status"), &json!({"status": status})).await?;
            }
            Err(failure) if failure.kind() == RefusalKind::NotFound => {
                let nodes = ResourcePath::collection(&resource_of::<core::Node>(), None);
                self.api.create::<Value>(&nodes, &machine.object(now)).await?;
            }
            Err(failure) => return Err(failure),
        }
        let steady = self.clock.steady();
        Ok(Beat { lease: None, renew_at: steady, report_at: steady.plus(REPORT_EVERY) })
    }

    /// Renews a lease, and returns it as stored.
    async fn renew(
        &self,
        machine: &Machine,
        node: &Seen,
        known: Option<Value>,
    ) -> Result<Value, RequestError> {
        let (resource, namespace) = (resource_of::<Lease>(), "kube-node-lease".into());
        let target = ResourcePath::object(&resource, Some(&namespace), &machine.name.as_str().into());
        let fresh = machine.lease(node.uid(), self.clock.now());
        let known = match known {
            Some(known) => Some(known),
            None => match self.api.get::<Value>(&target).await {
                Ok(lease) => Some(lease),
                Err(failure) if failure.kind() == RefusalKind::NotFound => None,
                Err(failure) => return Err(failure),
            },
        };
        match known {
            Some(mut lease) => {
                lease["spec"] = fresh["spec"].clone();
                lease["metadata"]["ownerReferences"] = fresh["metadata"]["ownerReferences"].clone();
                self.api.replace(&target, &lease).await
            }
            None => self.api.create(&ResourcePath::collection(&resource, Some(&namespace)), &fresh).await,
        }
    }

    async fn patch(&self, target: &ResourcePath, body: &Value) -> Result<(), RequestError> {
        self.api.patch::<Value>(target, PatchForm::StrategicMerge, body).await.map(drop)
    }

    fn beats(&self) -> MutexGuard<'_, BTreeMap<Name, Beat>> {
        self.beats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an annotation makes this node fail. One that makes no sense is ignored, and told about.
fn is_failed(station: &Station, node: &Seen) -> bool {
    let failed = machine::is_failed(&node.wire);
    if let Err(problem) = &failed {
        station.events.record("kubelet", subject(node), life::invalid_annotation(problem));
    }
    failed.unwrap_or(false)
}

fn subject(node: &Seen) -> Subject {
    Subject {
        api_version: "v1".into(),
        kind: "Node".into(),
        namespace: None,
        name: node.key().name,
        uid: node.uid().clone(),
        resource_version: node.version().clone(),
    }
}

/// Nodes that start together must not renew their leases together ever after.
fn first_pause(machine: &Machine) -> Duration {
    let most = u64::try_from(RENEW_EVERY.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(Dice::of(&machine.name, "lease").below(most))
}

fn target(machine: &Machine) -> ResourcePath {
    ResourcePath::object(&resource_of::<core::Node>(), None, &machine.name.as_str().into())
}
