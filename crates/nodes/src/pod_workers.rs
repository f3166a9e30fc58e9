//! Syncs the pods of all simulated nodes, when they change and when their next step is due.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_decide::Wake;
use gantry_decide::events::Subject;
use gantry_decide::queue::Outcome;
use gantry_model::patch::PatchForm;
use gantry_model::{ObjectKey, RefusalKind, ResourceVersion, Timestamp};
use gantry_runtime::informer::{Cached as _, Plain};
use gantry_runtime::{Api, Clock, DeleteParams, Informer, RequestError, ResourcePath, StoredRef};
use k8s_openapi::api::core::v1 as core;

use crate::behaviour::Profile;
use crate::lookups::Lookups;
use crate::node_state::NodeState;
use crate::pod_lifecycle::{self, Completion, NodeContext, Pod, PodRun, PodSyncResult, References};
use crate::status_patch;

/// The component that events name as their source.
const EVENT_SOURCE: &str = "kubelet";

/// A pod in the informer's cache.
type CachedPod = Plain<core::Pod>;

/// The workers of the pods on all simulated nodes.
#[derive(Debug)]
pub(crate) struct PodWorkers {
    pub(crate) pods: Informer<CachedPod>,
    pub(crate) node_states: Arc<BTreeMap<String, NodeState>>,
    pub(crate) api: Api,
    pub(crate) lookups: Lookups,
    pub(crate) resolution: Duration,
    pub(crate) clock: Clock,
    pub(crate) profile: Profile,
    pub(crate) workers: Mutex<BTreeMap<ObjectKey, PodWorker>>,
}

/// The state of one pod on one of the nodes.
#[derive(Debug)]
pub(crate) struct PodWorker {
    /// The object as last synced.
    object: Arc<CachedPod>,
    node: String,
    address: Ipv4Addr,
    pod: Pod,
    run: PodRun,
    /// The status that was written last, or that others have written since.
    reported: core::PodStatus,
    /// The resource version of the last written status.
    written_version: Option<ResourceVersion>,
    /// When the next step is due.
    wake: Option<Timestamp>,
    /// Whether the terminated pod was deleted from the API.
    is_deleted: bool,
}

impl PodWorkers {
    /// Syncs a pod. Does nothing on a failed node, or if the pod was deleted already.
    ///
    /// The queue never yields a key twice at a time, so the worker is taken out of the map during the sync.
    pub(crate) async fn sync_pod(&self, key: ObjectKey) -> (Outcome, Wake) {
        let object = self.pods.read().get(&key).cloned();
        let mut previous = self.workers().remove(&key);
        if let (Some(object), Some(worker)) = (&object, &mut previous)
            && worker.is_own_write(object)
            && worker.wake.is_none_or(|wake| wake > self.clock.now())
        {
            worker.object = object.clone();
            let wake = self.wake(worker.wake);
            self.workers().extend(previous.map(|worker| (key, worker)));
            return (Outcome::Success, wake);
        }
        let Some((node, mut worker)) = self.find_or_create(object, previous) else {
            return (Outcome::Success, Wake::OnChange);
        };
        let result = if node.is_failed() || worker.is_deleted {
            (Outcome::Success, Wake::OnChange)
        } else {
            // The same time for both calls: a step that is due only for the second would miss its references.
            let now = self.clock.now();
            let needed = pod_lifecycle::needed(&worker.pod, &worker.run, now);
            match self.lookups.find(&key.namespace, needed).await {
                Ok(references) => self.advance(&key, node, &mut worker, &references, now).await,
                Err(failure) => after_failure(&key, &failure),
            }
        };
        self.workers().insert(key, worker);
        result
    }

    /// Carries out the steps that are due, and writes the resulting status and events.
    async fn advance(
        &self,
        key: &ObjectKey,
        node: &NodeState,
        worker: &mut PodWorker,
        references: &References,
        now: Timestamp,
    ) -> (Outcome, Wake) {
        let context = NodeContext {
            address: &node.spec.address().to_string(),
            pod_address: &worker.address.to_string(),
            images: &node.images(),
            references,
        };
        let synced = pod_lifecycle::sync(&worker.pod, worker.run.clone(), &context, now);
        let subject = subject(&worker.object);
        for event in &synced.events {
            node.events.record(EVENT_SOURCE, subject.clone(), event.event.clone());
        }
        node.add_images(synced.pulled.iter().cloned());
        let written = self.write(key, worker, &synced).await;
        worker.run = synced.run;
        match written {
            Ok(version) => {
                worker.written_version = version.or(worker.written_version.take());
                worker.reported = synced.status;
                worker.is_deleted = synced.completion == Completion::Remove;
                worker.wake = synced.wake;
                (Outcome::Success, self.wake(synced.wake))
            }
            Err(failure) => after_failure(key, &failure),
        }
    }

    fn wake(&self, next: Option<Timestamp>) -> Wake {
        let next = next.map(|next| round_up(next, self.resolution));
        next.map_or(Wake::OnChange, |next| Wake::After(next.since(self.clock.now())))
    }

    /// Returns the worker of a pod on one of the nodes: the previous one, if it is still the same pod, or a new one.
    fn find_or_create(
        &self,
        object: Option<Arc<CachedPod>>,
        previous: Option<PodWorker>,
    ) -> Option<(&NodeState, PodWorker)> {
        let node = object.as_ref().and_then(|object| object.wire.spec.as_ref()?.node_name.clone());
        // Another client may have ended the pod; then the worker's state no longer counts.
        let ended = |object: &CachedPod| object.wire.status.as_ref().is_some_and(is_terminated);
        let is_same = |worker: &PodWorker| {
            let object = object.as_ref().filter(|object| object.uid() == worker.object.uid());
            object.is_some_and(|object| !ended(object) || is_terminated(&worker.reported))
        };
        let previous = match previous {
            Some(worker) if is_same(&worker) => Some(worker),
            Some(worker) => {
                self.node_states.get(&worker.node).inspect(|node| node.release_address(worker.address));
                None
            }
            None => None,
        };
        let (object, name) = (object?, node?);
        let node = self.node_states.get(&name)?;
        let worker = match previous {
            Some(worker) if worker.object.version() == object.version() => worker,
            Some(worker) => worker.updated(object, &self.profile),
            None => self.create(node, object, name)?,
        };
        Some((node, worker))
    }

    /// Creates the worker of a pod that is new to this process; its run continues from its reported status.
    fn create(&self, node: &NodeState, object: Arc<CachedPod>, node_name: String) -> Option<PodWorker> {
        let reported = object.wire.status.clone().unwrap_or_default();
        let (pod, problems) = Pod::parse(&object.wire, &self.profile);
        node.add_images(pulled_images(&object.wire, &reported));
        let must_be_removed =
            object.wire.metadata.deletion_grace_period_seconds.is_some_and(|grace| grace > 0);
        if is_terminated(&reported) && !must_be_removed {
            return None;
        }
        for problem in problems {
            node.events.record(EVENT_SOURCE, subject(&object), problem);
        }
        let run = PodRun::recover(&pod, &reported, self.clock.now());
        let existing = || self.pod_addresses(&node_name);
        let address = node.allocate_address(reported.pod_ip.as_deref(), existing);
        Some(PodWorker {
            object,
            node: node_name,
            address,
            pod,
            run,
            reported,
            written_version: None,
            wake: None,
            is_deleted: false,
        })
    }

    /// Returns the reported addresses of the pods on a node.
    fn pod_addresses(&self, node: &str) -> Vec<String> {
        let pods = self.pods.read();
        let pods = pods
            .iter()
            .filter(|pod| pod.wire.spec.as_ref().is_some_and(|spec| spec.node_name.as_deref() == Some(node)));
        pods.filter_map(|pod| pod.wire.status.as_ref()?.pod_ip.clone()).collect()
    }

    /// Writes the status if it changed, and deletes the pod if it is to be removed. Returns the written version.
    async fn write(
        &self,
        key: &ObjectKey,
        worker: &PodWorker,
        synced: &PodSyncResult,
    ) -> Result<Option<ResourceVersion>, RequestError> {
        let mut version = None;
        let uid = worker.object.uid();
        let target = ResourcePath::object(self.pods.resource(), Some(&key.namespace), &key.name);
        if status_patch::is_needed(&worker.reported, &synced.status) {
            let body = status_patch::patch(uid.as_str(), &synced.status);
            let stored: StoredRef =
                self.api.patch(&target.part("status"), PatchForm::StrategicMerge, &body).await?;
            version = Some(stored.version());
        }
        if synced.completion == Completion::Remove {
            let deletion =
                DeleteParams { uid: Some(uid.clone()), grace_seconds: Some(0), ..DeleteParams::default() };
            self.api.delete(&target, &deletion).await?;
        }
        Ok(version)
    }

    fn workers(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, PodWorker>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PodWorker {
    /// Whether an object is the last synced one with the status that was written then, so that there is nothing to sync.
    fn is_own_write(&self, object: &CachedPod) -> bool {
        let (new, old) = (&object.wire, &self.object.wire);
        self.written_version.as_ref() == Some(object.version())
            && object.uid() == self.object.uid()
            && new.metadata.deletion_timestamp == old.metadata.deletion_timestamp
            && new.metadata.annotations == old.metadata.annotations
            && new.spec == old.spec
            && !self.pod.has_readiness_gates()
    }

    /// Returns the worker with a newer object.
    ///
    /// An object that is newer than the last written status was written by others. Its status is then the one to compare
    /// with, so that what the node controller wrote about a failed node is corrected.
    fn updated(self, object: Arc<CachedPod>, profile: &Profile) -> Self {
        let is_by_others = self.written_version.as_ref().is_some_and(|written| {
            // The informer may show both writes at once, so that the own one is never seen.
            let is_newer = object.version().has_reached(written) == Some(true) && object.version() != written;
            is_newer || written == self.object.version()
        });
        let stored = object.wire.status.as_ref();
        let stored = stored.filter(|status| is_by_others && !is_terminated(status));
        let reported = stored.cloned().unwrap_or(self.reported);
        Self { pod: Pod::parse(&object.wire, profile).0, object, reported, ..self }
    }
}

fn is_terminated(status: &core::PodStatus) -> bool {
    matches!(status.phase.as_deref(), Some("Succeeded" | "Failed"))
}

/// Decides how to continue after a failed request.
/// The next multiple of the resolution.
fn round_up(at: Timestamp, resolution: Duration) -> Timestamp {
    let step = i64::try_from(resolution.as_nanos()).unwrap_or(i64::MAX);
    match at.as_nanos().checked_rem_euclid(step) {
        None | Some(0) => at,
        Some(beyond) => Timestamp::from_nanos(at.as_nanos().saturating_add(step - beyond)),
    }
}

fn after_failure(key: &ObjectKey, failure: &RequestError) -> (Outcome, Wake) {
    match failure.kind() {
        // The pod was deleted or replaced; the informer will deliver the change.
        RefusalKind::NotFound | RefusalKind::Invalid => {
            tracing::debug!(pod = %key, %failure, "the pod has changed in the meantime");
            (Outcome::Success, Wake::OnChange)
        }
        // The pod was replaced, or the server has given up on a patch that others interrupted: that changes nothing.
        RefusalKind::Conflict => {
            tracing::debug!(pod = %key, %failure, "the pod has changed in the meantime, retrying");
            (Outcome::Failure, Wake::OnChange)
        }
        _ => {
            tracing::warn!(pod = %key, %failure, "cannot report the status of a pod, retrying");
            (Outcome::Failure, Wake::OnChange)
        }
    }
}

/// Returns the images of containers that have run, which are therefore on the node.
fn pulled_images(pod: &core::Pod, status: &core::PodStatus) -> Vec<String> {
    let spec = pod.spec.as_ref();
    let containers =
        spec.into_iter().flat_map(|spec| spec.init_containers.iter().flatten().chain(&spec.containers));
    let statuses: Vec<_> =
        status.init_container_statuses.iter().chain(&status.container_statuses).flatten().collect();
    let ran = |name: &str| statuses.iter().any(|status| status.name == name && !status.image_id.is_empty());
    containers
        .filter(|container| ran(&container.name))
        .filter_map(|container| container.image.clone())
        .collect()
}

fn subject(pod: &CachedPod) -> Subject {
    let key = pod.key();
    Subject {
        api_version: "v1".into(),
        kind: "Pod".into(),
        namespace: Some(key.namespace),
        name: key.name,
        uid: pod.uid().clone(),
        resource_version: pod.version().clone(),
    }
}
