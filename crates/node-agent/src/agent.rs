//! The runtime port of pods on a container runtime: actions become calls, and their results become reports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gantry_cri::Runtime;
use gantry_decide::events::Subject;
use gantry_model::{Event, ObjectKey, Timestamp};
use gantry_nodes::pod_lifecycle::{
    FoundPod, NodeCapacity, Pod, PodRun, ResourceCapacity, RuntimeAction, RuntimeReport,
};
use gantry_nodes::{CachedPod, NodeRuntime, is_over};
use gantry_runtime::informer::{Cached as _, Plain};
use gantry_runtime::{Clock, EventRecorder, Informer, Queue, Shutdown};
use gantry_service_proxy::ServiceProxy;
use k8s_openapi::api::core::v1 as core;
use tokio::sync::{Notify, Semaphore};

use crate::cgroups::Cgroups;
use crate::downward_api::PodFacts;
use crate::eviction::Evictions;
use crate::known_pods::{KnownPod, KnownPods};
use crate::node_object::NodeFacts;
use crate::objects::PodObjects;
use crate::pod_files::PodFiles;
use crate::sandbox_config::{SandboxSettings, log_directory_name};

/// The component that events name as their source.
const EVENT_SOURCE: &str = "kubelet";

/// Amounts of resources are computed in billionths.
const BILLION: i128 = 1_000_000_000;

/// The agent of one node.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) cri: Runtime,
    /// The name of the runtime, as in the IDs of containers.
    pub(crate) runtime_name: String,
    pub(crate) facts: Arc<NodeFacts>,
    pub(crate) settings: SandboxSettings,
    /// The cgroups of pods, if they have some.
    pub(crate) cgroups: Option<Cgroups>,
    /// The directory of pods.
    pub(crate) root: PathBuf,
    pub(crate) objects: PodObjects,
    pub(crate) services: Informer<Plain<core::Service>>,
    /// Routes connections to Services, if another proxy does not.
    pub(crate) proxy: Option<ServiceProxy>,
    pub(crate) events: EventRecorder,
    pub(crate) clock: Clock,
    pub(crate) queue: Queue<ObjectKey>,
    pub(crate) pods: KnownPods,
    /// The pods that the runtime had when the agent started, by uid, until they are accepted.
    pub(crate) found: Mutex<BTreeMap<String, (KnownPod, FoundPod)>>,
    /// When pods are evicted.
    pub(crate) evictions: Arc<Evictions>,
    /// Limits the pulls at a time.
    pub(crate) pulls: Semaphore,
    /// Wakes the task that removes the remains of deleted pods.
    pub(crate) cleanup: Notify,
}

/// A pod on this node.
#[derive(Clone, Debug)]
pub(crate) struct AgentPodResources {
    uid: String,
    is_host_network: bool,
}

impl Agent {
    /// Returns the directory of a pod.
    pub(crate) fn files(&self, uid: &str) -> PodFiles {
        PodFiles::new(&self.root, uid)
    }

    /// Returns the node's state of the pod.
    pub(crate) fn pod_facts(&self, pod: &core::Pod) -> PodFacts {
        let uid = pod.metadata.uid.as_deref().unwrap_or_default();
        let is_host = pod.spec.as_ref().is_some_and(|spec| spec.host_network == Some(true));
        let pod_ips = if is_host {
            vec![self.facts.address.clone()]
        } else {
            self.pods.get(uid).map(|known| known.ips).unwrap_or_default()
        };
        let allocatable = gantry_json::from_value(self.facts.resources()).unwrap_or_default();
        PodFacts { pod_ips, host_ip: self.facts.address.clone(), allocatable }
    }

    /// Passes a report on to the worker of its pod.
    pub(crate) fn report(&self, uid: &str, report: RuntimeReport) {
        if let Some(key) = self.pods.report(uid, report) {
            self.queue.add(key);
        }
    }

    /// Records an event about a container of a pod.
    pub(crate) fn record_event(&self, pod: &CachedPod, event: Event) {
        self.events.record(EVENT_SOURCE, gantry_nodes::subject(pod), event);
    }
}

/// The runtime port: a handle of the agent.
#[derive(Debug)]
pub(crate) struct AgentRuntime {
    pub(crate) agent: Arc<Agent>,
    /// Ends the actions that are being carried out. The next agent repeats them, and this one must not stop a pod when its
    /// proxy does not route any more.
    pub(crate) shutdown: Shutdown,
}

impl AgentRuntime {
    /// Returns the capacity of the node for a pod, besides the other pods that it has accepted.
    fn free_resources(&self, pod: &CachedPod, pods: &Informer<CachedPod>) -> NodeCapacity {
        let (mut cpu, mut memory) = (0, 0);
        let is_other = |other: &&Arc<CachedPod>| {
            other.uid() != pod.uid() && !is_over(&other.wire) && self.agent.pods.is_known(&other.uid().text())
        };
        for other in pods.read().iter().filter(is_other) {
            let (of_cpu, of_memory) = Pod::parse_real(&other.wire).requests();
            cpu += of_cpu;
            memory += of_memory;
        }
        let machine = &self.agent.facts.machine;
        let cpus = i128::try_from(machine.cpus).unwrap_or(0) * BILLION;
        let bytes = i128::from(machine.memory / 1024 * 1024) * BILLION;
        NodeCapacity {
            cpu: ResourceCapacity { allocatable: cpus, used: cpu },
            memory: ResourceCapacity { allocatable: bytes, used: memory },
        }
    }
}

impl NodeRuntime for AgentRuntime {
    type PodResources = AgentPodResources;

    fn parse(&self, pod: &core::Pod) -> (Pod, Vec<Event>) {
        (Pod::parse_real(pod), Vec::new())
    }

    fn accept(
        &self,
        object: &CachedPod,
        pod: &Pod,
        pods: &Informer<CachedPod>,
        now: Timestamp,
    ) -> Option<(AgentPodResources, PodRun)> {
        let spec = object.wire.spec.as_ref()?;
        if spec.node_name.as_deref() != Some(&self.agent.facts.name) || is_over(&object.wire) {
            return None;
        }
        let uid = object.uid().to_string();
        let found = self.agent.found.lock().unwrap_or_else(PoisonError::into_inner).remove(&uid);
        let is_new = found.is_none() && object.wire.status.as_ref().is_none_or(|it| it.start_time.is_none());
        let (known, found) = found.unwrap_or_default();
        self.agent.pods.insert(&uid, KnownPod { key: Some(object.key()), ..known });
        let fallback = core::PodStatus::default();
        let status = object.wire.status.as_ref().unwrap_or(&fallback);
        let mut run = PodRun::resume(pod, status, &found, now);
        if is_new {
            let rejection = self.agent.evictions.rejection(&object.wire);
            let rejection = rejection.or_else(|| pod.rejection(&self.free_resources(object, pods)));
            if let Some(rejection) = rejection {
                run.receive(pod, RuntimeReport::Rejected(rejection), now);
            }
        }
        Some((AgentPodResources { uid, is_host_network: spec.host_network == Some(true) }, run))
    }

    fn release(&self, resources: AgentPodResources) {
        if let Some(key) = self.agent.pods.get(&resources.uid).and_then(|known| known.key) {
            // A pod whose sandbox could never be created has an empty one; others are removed with their sandbox.
            let name = log_directory_name(key.namespace.as_str(), key.name.as_str(), &resources.uid);
            let _ = std::fs::remove_dir(Path::new(&self.agent.settings.logs).join(name));
        }
        self.agent.pods.remove(&resources.uid);
        self.agent.objects.forget(&resources.uid);
        self.agent.cleanup.notify_one();
    }

    fn is_failed(&self, _: &AgentPodResources) -> bool {
        false
    }

    fn addresses(&self, resources: &AgentPodResources) -> (String, String) {
        let node = self.agent.facts.address.clone();
        if resources.is_host_network {
            return (node.clone(), node);
        }
        let known = self.agent.pods.get(&resources.uid).unwrap_or_default();
        (node, known.ips.into_iter().next().unwrap_or_default())
    }

    fn images(&self, _: &AgentPodResources) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn add_images(&self, _: &AgentPodResources, _: Vec<String>) {}

    fn capacity(&self, pod: &CachedPod, pods: &Informer<CachedPod>) -> Option<NodeCapacity> {
        Some(self.free_resources(pod, pods))
    }

    fn observe(&self, resources: &mut AgentPodResources, pod: &Pod, run: &mut PodRun, now: Timestamp) {
        for report in self.agent.pods.take_reports(&resources.uid) {
            let exited = match &report {
                RuntimeReport::Exited { exit, .. } => Some(exit.id.clone()),
                _ => None,
            };
            let is_news = run.receive(pod, report, now);
            if let Some(id) = exited.filter(|_| is_news) {
                self.agent.pods.change(&resources.uid, |known| known.handle_exit(id));
            }
        }
    }

    fn carry_out(&self, _: &mut AgentPodResources, object: &Arc<CachedPod>, actions: Vec<RuntimeAction>) {
        for action in actions {
            let carry_out = self.agent.clone().carry_out(object.clone(), action);
            let shutdown = self.shutdown.clone();
            tokio::spawn(async move { shutdown.unless(carry_out).await });
        }
    }

    fn record(&self, _: &AgentPodResources, subject: Subject, event: Event) {
        self.agent.events.record(EVENT_SOURCE, subject, event);
    }
}
