//! Registers simulated nodes, renews their leases and reports their conditions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_decide::Wake;
use gantry_decide::events::Subject;
use gantry_decide::queue::Outcome;
use gantry_json::{Value, json};
use gantry_model::patch::PatchForm;
use gantry_model::{Name, ObjectKey, RefusalKind, Timestamp};
use gantry_rng::Rng;
use gantry_runtime::informer::{Cached as _, Plain, resource_of};
use gantry_runtime::{Api, Clock, DeleteParams, Informer, NoneIf as _, Queue, RequestError, ResourcePath};
use k8s_openapi::api::core::v1 as core;

use crate::lease::{self, REPORT_EVERY};
use crate::node_spec::{self, NodeSpec};
use crate::node_state::NodeState;
use crate::pod_lifecycle;

/// A node in the informer's cache.
type CachedNode = Plain<core::Node>;

/// The heartbeats of all simulated nodes.
#[derive(Debug)]
pub(crate) struct Heartbeats {
    pub(crate) nodes: Informer<CachedNode>,
    pub(crate) pods: Informer<Plain<core::Pod>>,
    /// Receives the pods of nodes that recover from a failure.
    pub(crate) pod_queue: Queue<ObjectKey>,
    pub(crate) node_states: Arc<BTreeMap<String, NodeState>>,
    pub(crate) prefix: String,
    pub(crate) renew_every: Duration,
    pub(crate) api: Api,
    pub(crate) clock: Clock,
    pub(crate) states: Mutex<BTreeMap<Name, HeartbeatState>>,
}

/// The heartbeat of one registered node. Its times are those of the steady clock.
#[derive(Clone, Debug)]
pub(crate) struct HeartbeatState {
    /// The lease as the server last returned it; `None` if it must be read first.
    lease: Option<Value>,
    renew_at: Timestamp,
    report_at: Timestamp,
}

impl Heartbeats {
    /// Sends the heartbeats of a node that are due, or deletes a node that is no longer configured.
    pub(crate) async fn sync_node(&self, name: Name) -> (Outcome, Wake) {
        let done = match self.node_states.get(name.as_str()) {
            Some(node) => self.advance(&name, node).await,
            None => self.remove_leftover(&name).await,
        };
        match done {
            Ok(wake) => (Outcome::Success, wake),
            Err(failure) if failure.kind() == RefusalKind::Conflict => {
                tracing::debug!(node = %name, %failure, "the node was changed by another client, retrying");
                (Outcome::Failure, Wake::OnChange)
            }
            Err(failure) => {
                tracing::warn!(node = %name, %failure, "cannot send the heartbeat of a node, retrying");
                (Outcome::Failure, Wake::OnChange)
            }
        }
    }

    /// Deletes a node of a previous, larger simulation, so that no pods are scheduled to it.
    async fn remove_leftover(&self, name: &Name) -> Result<Wake, RequestError> {
        let key = ObjectKey { namespace: "".into(), name: name.clone() };
        let object = self.nodes.read().get(&key).cloned();
        let Some(object) = object.filter(|object| node_spec::is_simulated(&object.wire, &self.prefix)) else {
            return Ok(Wake::OnChange);
        };
        tracing::info!(node = %name, "deleting a simulated node beyond the configured number");
        let target = ResourcePath::object(self.nodes.resource(), None, name);
        let deletion = DeleteParams { uid: Some(object.uid().clone()), ..DeleteParams::default() };
        self.api.delete(&target, &deletion).await.none_if_absent()?;
        Ok(Wake::OnChange)
    }

    async fn advance(&self, name: &Name, node: &NodeState) -> Result<Wake, RequestError> {
        let spec = &node.spec;
        let known = self.states().get(name).cloned();
        let mut state = match known {
            Some(state) => state,
            None => self.register(spec).await?,
        };
        self.states().insert(name.clone(), state.clone());
        let key = ObjectKey { namespace: "".into(), name: name.clone() };
        let object = self.nodes.read().get(&key).cloned();
        // Not in the cache yet, or deleted: a deleted node is not registered again before the next start.
        let Some(object) = object else { return Ok(Wake::OnChange) };
        let steady = self.clock.steady();
        if is_failed(node, &object) {
            node.set_failed(true);
            return Ok(Wake::OnChange);
        }
        if node.set_failed(false) {
            tracing::info!(node = %name, "the node has recovered");
            state.renew_at = steady;
            self.enqueue_pods(spec);
        }
        if let Some(kept) = node_spec::taints_without_not_ready(&object.wire) {
            let version = object.version().as_str();
            let body = json!({"metadata": {"resourceVersion": version}, "spec": {"taints": kept}});
            self.patch(&target(spec), &body).await?;
        }
        // As a kubelet, it also reports at once when another client set its node to not ready.
        if state.report_at <= steady || !node_spec::is_ready(&object.wire) {
            let conditions = node_spec::healthy_conditions(object.wire.status.as_ref(), self.clock.now());
            self.patch(&target(spec).part("status"), &json!({"status": {"conditions": conditions}})).await?;
            state.report_at = steady.plus(REPORT_EVERY);
        }
        if state.renew_at <= steady {
            // If the renewal fails, the next one reads the lease first.
            let known = self.states().get_mut(name).and_then(|state| state.lease.take());
            let interval =
                if known.is_some() { self.renew_every } else { first_interval(spec, self.renew_every) };
            let renewed = lease::renew(&self.api, &spec.name, object.uid(), known, self.clock.now());
            state.lease = Some(renewed.await?);
            state.renew_at = steady.plus(interval);
        }
        let next = state.renew_at.min(state.report_at).since(self.clock.steady());
        self.states().insert(name.clone(), state);
        Ok(Wake::After(next))
    }

    /// Enqueues all pods of a node.
    fn enqueue_pods(&self, spec: &NodeSpec) {
        let is_here = |pod: &core::Pod| {
            pod.spec.as_ref().is_some_and(|pod| pod.node_name.as_deref() == Some(spec.name.as_str()))
        };
        let pods: Vec<_> =
            self.pods.read().iter().filter(|pod| is_here(&pod.wire)).map(|pod| pod.key()).collect();
        for pod in pods {
            self.pod_queue.add(pod);
        }
    }

    /// Creates a node, or takes over the existing one of its name.
    async fn register(&self, spec: &NodeSpec) -> Result<HeartbeatState, RequestError> {
        let now = self.clock.now();
        match self.api.get::<core::Node>(&target(spec)).await.none_if_absent()? {
            // A failed node stays failed across restarts of the simulation.
            Some(node) if node_spec::is_failed(&node) == Ok(true) => {}
            Some(node) => {
                self.patch(&target(spec), &json!({"metadata": {"labels": spec.labels()}})).await?;
                let status = spec.status(node.status.as_ref(), now);
                self.patch(&target(spec).part("status"), &json!({"status": status})).await?;
            }
            None => {
                let nodes = ResourcePath::collection(&resource_of::<core::Node>(), None);
                self.api.create::<()>(&nodes, &spec.object(now)).await?;
            }
        }
        let steady = self.clock.steady();
        Ok(HeartbeatState { lease: None, renew_at: steady, report_at: steady.plus(REPORT_EVERY) })
    }

    async fn patch(&self, target: &ResourcePath, body: &Value) -> Result<(), RequestError> {
        self.api.patch(target, PatchForm::StrategicMerge, body).await
    }

    fn states(&self) -> MutexGuard<'_, BTreeMap<Name, HeartbeatState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an annotation makes this node fail. An invalid one is ignored and reported by an event.
fn is_failed(node: &NodeState, object: &CachedNode) -> bool {
    let failed = node_spec::is_failed(&object.wire);
    if let Err(problem) = &failed {
        node.events.record("kubelet", subject(object), pod_lifecycle::invalid_annotation(problem));
    }
    failed.unwrap_or(false)
}

fn subject(node: &CachedNode) -> Subject {
    Subject {
        api_version: "v1".into(),
        kind: "Node".into(),
        namespace: None,
        name: node.key().name,
        uid: node.uid().clone(),
        resource_version: node.version().clone(),
    }
}

/// Returns a random interval, so that nodes that start together do not keep renewing their leases at the same time.
fn first_interval(spec: &NodeSpec, renew_every: Duration) -> Duration {
    let most = u64::try_from(renew_every.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(Rng::keyed(&spec.name, "lease").below(most))
}

fn target(spec: &NodeSpec) -> ResourcePath {
    ResourcePath::object(&resource_of::<core::Node>(), None, &spec.name.as_str().into())
}
