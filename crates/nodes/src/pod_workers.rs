//! Syncs the pods of the nodes of this process, when they change and when their next step is due.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_decide::Wake;
use gantry_decide::events::Subject;
use gantry_decide::queue::Outcome;
use gantry_model::patch::PatchForm;
use gantry_model::{Event, ObjectKey, RefusalKind, ResourceVersion, Timestamp};
use gantry_runtime::informer::{Cached as _, Plain};
use gantry_runtime::{Api, Clock, DeleteParams, Informer, RequestError, ResourcePath, StoredRef};
use k8s_openapi::api::core::v1 as core;

use crate::lookups::Lookups;
use crate::options::Reports;
use crate::pod_lifecycle::{
    self, Completion, NodeCapacity, NodeContext, Pod, PodRun, PodSyncResult, References, RuntimeAction,
};
use crate::status_patch;

/// The maximum duration of a status that is not reported because another one follows.
const PASSING_MAX: Duration = Duration::from_secs(60);

/// A pod in the informer's cache.
pub type CachedPod = Plain<core::Pod>;

/// A runtime for the pods of the nodes of this process: a simulation, or a container runtime.
pub trait NodeRuntime: fmt::Debug + Send + Sync + 'static {
    /// The resources of a pod on its node, such as its address.
    type PodResources: fmt::Debug + Send;

    /// Parses a pod. Returns an event for each problem.
    fn parse(&self, pod: &core::Pod) -> (Pod, Vec<Event>);

    /// Begins or continues to run a pod that is new to this process; `None` if its node does not belong to this
    /// process, or if it [is over](is_over). `pods` are all pods of the cluster.
    fn accept(
        &self,
        object: &CachedPod,
        pod: &Pod,
        pods: &Informer<CachedPod>,
        now: Timestamp,
    ) -> Option<(Self::PodResources, PodRun)>;

    /// Releases the resources of a pod that was deleted or replaced.
    fn release(&self, resources: Self::PodResources);

    /// Whether the node has failed, so that its pods are not synced.
    fn is_failed(&self, resources: &Self::PodResources) -> bool;

    /// Returns the address of the node and that of the pod.
    fn addresses(&self, resources: &Self::PodResources) -> (String, String);

    /// Returns the images that are known to be on the node.
    fn images(&self, resources: &Self::PodResources) -> BTreeSet<String>;

    /// Records that images were pulled to the node.
    fn add_images(&self, resources: &Self::PodResources, images: Vec<String>);

    /// Returns the capacity for a pod whose resources are changed; `None` if there is enough for any.
    fn capacity(&self, _pod: &CachedPod, _pods: &Informer<CachedPod>) -> Option<NodeCapacity> {
        None
    }

    /// Applies what was reported about the pod since its last sync.
    fn observe(&self, resources: &mut Self::PodResources, pod: &Pod, run: &mut PodRun, now: Timestamp);

    /// Carries out actions, without waiting for their results.
    fn carry_out(
        &self,
        resources: &mut Self::PodResources,
        object: &Arc<CachedPod>,
        actions: Vec<RuntimeAction>,
    );

    /// Records an event about the pod.
    fn record(&self, resources: &Self::PodResources, subject: Subject, event: Event);
}

/// The workers of the pods on the nodes of this process.
#[derive(Debug)]
pub struct PodWorkers<R: NodeRuntime> {
    pods: Informer<CachedPod>,
    runtime: Arc<R>,
    api: Api,
    lookups: Lookups,
    resolution: Duration,
    reports: Reports,
    clock: Clock,
    workers: Mutex<BTreeMap<ObjectKey, PodWorker<R::PodResources>>>,
}

/// The state of one pod on one of the nodes.
#[derive(Debug)]
struct PodWorker<P> {
    /// The object as last synced.
    object: Arc<CachedPod>,
    resources: P,
    pod: Pod,
    run: PodRun,
    /// The status that was written last, or that other clients have written since.
    reported: core::PodStatus,
    /// The resource version of the last written status.
    written_version: Option<ResourceVersion>,
    /// When the next step is due.
    wake: Option<Timestamp>,
    /// Whether the terminated pod was deleted from the API.
    is_deleted: bool,
}

impl<R: NodeRuntime> PodWorkers<R> {
    /// Creates the workers of the pods that this runtime accepts. Their steps happen at multiples of `resolution`.
    pub fn new(
        pods: Informer<CachedPod>,
        runtime: Arc<R>,
        api: Api,
        clock: Clock,
        resolution: Duration,
    ) -> Self {
        let lookups = Lookups::new(api.clone(), clock.clone());
        let reports = Reports::default();
        Self { pods, runtime, api, lookups, resolution, reports, clock, workers: Mutex::default() }
    }

    /// Reports these statuses.
    #[must_use]
    pub fn reporting(self, reports: Reports) -> Self {
        Self { reports, ..self }
    }

    /// Syncs a pod. Does nothing on a failed node, or if the pod was deleted already.
    ///
    /// The queue never yields a key twice at a time, so the worker is taken out of the map during the sync.
    pub async fn sync_pod(&self, key: ObjectKey) -> (Outcome, Wake) {
        let object = self.pods.read().get(&key).cloned();
        let mut previous = self.workers().remove(&key);
        if let Some(worker) = &mut previous {
            self.runtime.observe(&mut worker.resources, &worker.pod, &mut worker.run, self.clock.now());
        }
        if let (Some(object), Some(worker)) = (&object, &mut previous)
            && !worker.run.has_new_reports()
            && worker.is_own_write(object)
            && worker.wake.is_none_or(|wake| wake > self.clock.now())
        {
            worker.object = object.clone();
            let wake = self.wake(worker.wake);
            self.workers().extend(previous.map(|worker| (key, worker)));
            return (Outcome::Success, wake);
        }
        let Some(mut worker) = self.find_or_create(object, previous) else {
            return (Outcome::Success, Wake::OnChange);
        };
        // The same time for all calls: a step that is due only for the second would miss its references.
        let now = self.clock.now();
        // Due until it is synced and reported: the worker has the object already, so the next sync could mistake it for
        // its own write.
        worker.wake = Some(now);
        let result = if self.runtime.is_failed(&worker.resources) || worker.is_deleted {
            (Outcome::Success, Wake::OnChange)
        } else {
            let needed = pod_lifecycle::needed(&worker.pod, &worker.run, now);
            match self.lookups.find(&key.namespace, needed).await {
                Ok(references) => self.advance(&key, &mut worker, &references, now).await,
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
        worker: &mut PodWorker<R::PodResources>,
        references: &References,
        now: Timestamp,
    ) -> (Outcome, Wake) {
        let (address, pod_address) = self.runtime.addresses(&worker.resources);
        let context = NodeContext {
            address: &address,
            pod_address: &pod_address,
            images: &self.runtime.images(&worker.resources),
            references,
            capacity: if worker.run.is_resize_wanted(&worker.pod) {
                self.runtime.capacity(&worker.object, &self.pods)
            } else {
                None
            },
        };
        let mut synced = pod_lifecycle::sync(&worker.pod, worker.run.clone(), &context, now);
        let subject = subject(&worker.object);
        for event in &synced.events {
            self.runtime.record(&worker.resources, subject.clone(), event.event.clone());
        }
        self.runtime.add_images(&worker.resources, std::mem::take(&mut synced.pulled));
        let actions = std::mem::take(&mut synced.actions);
        self.runtime.carry_out(&mut worker.resources, &worker.object, actions);
        let is_omitted = self.reports == Reports::Decisive && is_passing(worker, &synced, now);
        let written = self.write(key, worker, &synced, is_omitted).await;
        worker.run = synced.run;
        match written {
            Ok(version) => {
                worker.written_version = version.or(worker.written_version.take());
                if !is_omitted {
                    worker.reported = status_patch::with_addresses(synced.status, &worker.reported);
                }
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
        previous: Option<PodWorker<R::PodResources>>,
    ) -> Option<PodWorker<R::PodResources>> {
        // Another client may have ended the pod; then the worker's state no longer counts.
        let ended = |object: &CachedPod| object.wire.status.as_ref().is_some_and(is_terminated);
        let is_same = |worker: &PodWorker<R::PodResources>| {
            let object = object.as_ref().filter(|object| object.uid() == worker.object.uid());
            object.is_some_and(|object| !ended(object) || is_terminated(&worker.reported))
        };
        let previous = match previous {
            Some(worker) if is_same(&worker) => Some(worker),
            Some(worker) => {
                self.runtime.release(worker.resources);
                None
            }
            None => None,
        };
        let object = object?;
        match previous {
            Some(worker) if worker.object.version() == object.version() => Some(worker),
            Some(worker) => Some(worker.updated(object, |object| self.runtime.parse(object).0)),
            None => self.create(object),
        }
    }

    /// Creates the worker of a pod that is new to this process; its run continues from its reported status.
    fn create(&self, object: Arc<CachedPod>) -> Option<PodWorker<R::PodResources>> {
        let reported = object.wire.status.clone().unwrap_or_default();
        let (pod, problems) = self.runtime.parse(&object.wire);
        let (resources, run) = self.runtime.accept(&object, &pod, &self.pods, self.clock.now())?;
        for problem in problems {
            self.runtime.record(&resources, subject(&object), problem);
        }
        Some(PodWorker {
            object,
            resources,
            pod,
            run,
            reported,
            written_version: None,
            wake: None,
            is_deleted: false,
        })
    }

    /// Writes the status if it changed and is not omitted, and deletes the pod if it is to be removed. Returns the written version.
    async fn write(
        &self,
        key: &ObjectKey,
        worker: &PodWorker<R::PodResources>,
        synced: &PodSyncResult,
        is_omitted: bool,
    ) -> Result<Option<ResourceVersion>, RequestError> {
        let mut version = None;
        let uid = worker.object.uid();
        let target = ResourcePath::object(self.pods.resource(), Some(&key.namespace), &key.name);
        if !is_omitted && status_patch::is_needed(&worker.reported, &synced.status) {
            let body = status_patch::patch(&uid.text(), &worker.reported, &synced.status);
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

    fn workers(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, PodWorker<R::PodResources>>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P> PodWorker<P> {
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
    /// An object that is newer than the last written status was written by other clients. Its status is then the one to
    /// compare with, so that what the node controller wrote about a failed node is corrected.
    fn updated(self, object: Arc<CachedPod>, parse: impl FnOnce(&core::Pod) -> Pod) -> Self {
        let is_by_others = self.written_version.as_ref().is_some_and(|written| {
            // The informer may show both writes at once, without the own one in between.
            let is_newer = object.version().has_reached(written) == Some(true) && object.version() != written;
            is_newer || written == self.object.version()
        });
        let stored = object.wire.status.as_ref();
        let stored = stored.filter(|status| is_by_others && !is_terminated(status));
        let reported = stored.cloned().unwrap_or(self.reported);
        Self { pod: parse(&object.wire), object, reported, ..self }
    }
}

/// Whether nothing can depend on a status, because another one or the removal of the pod follows soon.
fn is_passing<P>(worker: &PodWorker<P>, synced: &PodSyncResult, now: Timestamp) -> bool {
    let is_followed = synced.wake.is_some_and(|wake| wake.since(now) <= PASSING_MAX);
    synced.completion == Completion::Remove
        || is_followed && status_patch::is_passing(&worker.reported, &synced.status)
}

/// Whether a pod has ended and does not have to be removed by its node.
pub fn is_over(pod: &core::Pod) -> bool {
    let must_be_removed = pod.metadata.deletion_grace_period_seconds.is_some_and(|grace| grace > 0);
    pod.status.as_ref().is_some_and(is_terminated) && !must_be_removed
}

fn is_terminated(status: &core::PodStatus) -> bool {
    matches!(status.phase.as_deref(), Some("Succeeded" | "Failed"))
}

/// The next multiple of the resolution.
fn round_up(at: Timestamp, resolution: Duration) -> Timestamp {
    let step = i64::try_from(resolution.as_nanos()).unwrap_or(i64::MAX);
    match at.as_nanos().checked_rem_euclid(step) {
        None | Some(0) => at,
        Some(beyond) => Timestamp::from_nanos(at.as_nanos().saturating_add(step - beyond)),
    }
}

/// Decides how to continue after a failed request.
fn after_failure(key: &ObjectKey, failure: &RequestError) -> (Outcome, Wake) {
    match failure.kind() {
        // The pod was deleted or replaced; the informer will deliver the change.
        RefusalKind::NotFound => {
            tracing::debug!(pod = %key, %failure, "the pod has changed in the meantime");
            (Outcome::Success, Wake::OnChange)
        }
        RefusalKind::Invalid => {
            if failure.to_string().contains("metadata.uid") {
                tracing::debug!(pod = %key, %failure, "the pod was replaced in the meantime");
            } else {
                tracing::warn!(pod = %key, %failure, "the status of a pod is refused");
            }
            (Outcome::Success, Wake::OnChange)
        }
        // The pod was replaced, or the server has given up on a patch because of concurrent writes: neither changes
        // anything.
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

/// Returns a pod as the subject of events.
pub fn subject(pod: &CachedPod) -> Subject {
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
