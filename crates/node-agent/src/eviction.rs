//! Evicts pods that exceed their limits of disk usage, and pods of a node that is short of memory or disk, as a kubelet
//! does: if the disk is short, unused images are removed first; then the pod is evicted that exceeds its requests most.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_formats::quantity::parse_billionths;
use gantry_model::Timestamp;
use gantry_nodes::pod_lifecycle::{Eviction, PodRejection, RuntimeReport};
use gantry_nodes::{CachedPod, is_over};
use gantry_runtime::informer::Cached as _;
use gantry_runtime::{Informer, Shutdown};
use k8s_openapi::api::core::v1 as core;

use crate::agent::Agent;
use crate::housekeeping;
use crate::options::AgentOptions;
use crate::pressure::{
    EvictionThresholds, ExceededThreshold, MEMORY_PRESSURE, Measured, Pressures, Signal, measure, shown_bytes,
};
use crate::resources::QualityOfService;
use crate::soft_eviction::{BelowSince, SoftEviction};
use crate::storage_limits;
use crate::usage::{PodUsage, pod_usages};

/// How often the machine is measured, as by a kubelet.
const EVERY: Duration = Duration::from_secs(10);
/// Pods of this priority are neither evicted nor rejected.
const CRITICAL_PRIORITY: i32 = 2_000_000_000;
/// The toleration of pods without requests that are accepted although memory is short.
const MEMORY_TAINT: &str = "node.kubernetes.io/memory-pressure";

/// When pods are evicted, and the pressure conditions of the node.
#[derive(Debug)]
pub(crate) struct Evictions {
    hard: EvictionThresholds,
    soft: SoftEviction,
    /// How long a condition is reported after it has ended.
    transition: Duration,
    state: Mutex<EvictionState>,
}

#[derive(Debug, Default)]
struct EvictionState {
    pressures: Pressures,
    below_since: BelowSince,
}

/// A threshold that requires an eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DueEviction {
    exceeded: ExceededThreshold,
    /// The maximum grace period of the pod.
    grace: Duration,
}

impl Evictions {
    pub(crate) fn new(options: &AgentOptions) -> Self {
        Self {
            hard: options.eviction_hard.clone(),
            soft: options.eviction_soft.clone(),
            transition: options.pressure_transition,
            state: Mutex::default(),
        }
    }

    /// Records measurements, and returns the threshold that requires an eviction now.
    fn observe(&self, measured: &BTreeMap<Signal, Measured>, now: Timestamp) -> Option<DueEviction> {
        let (hard, soft) = (self.hard.exceeded(measured), self.soft.thresholds().exceeded(measured));
        let mut state = self.state();
        state.pressures.observe(&hard, self.transition, now);
        state.pressures.observe(&soft, self.transition, now);
        let soft = self.soft.due(soft, &mut state.below_since, now);
        let hard = hard.into_iter().map(|exceeded| DueEviction { exceeded, grace: Eviction::GRACE });
        let soft = soft.into_iter().map(|exceeded| DueEviction { exceeded, grace: self.soft.pod_grace_max });
        // Memory comes before disk, and hard thresholds come before soft ones.
        hard.chain(soft).min_by_key(|due| due.exceeded.0)
    }

    fn state(&self) -> MutexGuard<'_, EvictionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the pressure conditions of the node.
    pub(crate) fn conditions(&self) -> Vec<&'static str> {
        self.state().pressures.conditions()
    }

    /// Returns the rejection of a new pod, if it is rejected.
    pub(crate) fn rejection(&self, pod: &core::Pod) -> Option<PodRejection> {
        let conditions = self.conditions();
        let fallback = core::PodSpec::default();
        refuses(&conditions, pod.spec.as_ref().unwrap_or(&fallback)).then(|| PodRejection {
            reason: "Evicted",
            message: format!("The node had condition: [{}]. ", conditions.join(" ")),
        })
    }
}

/// Whether a node with these conditions rejects a new pod.
fn refuses(conditions: &[&str], pod: &core::PodSpec) -> bool {
    if conditions.is_empty() || is_critical(pod) {
        return false;
    }
    let tolerates = |toleration: &core::Toleration| {
        toleration.key.as_deref().is_none_or(|key| key.is_empty() || key == MEMORY_TAINT)
            && toleration.effect.as_deref().is_none_or(|effect| effect.is_empty() || effect == "NoSchedule")
    };
    let is_only_memory = conditions == [MEMORY_PRESSURE];
    let may_run = QualityOfService::of(pod) != QualityOfService::BestEffort
        || pod.tolerations.iter().flatten().any(tolerates);
    !(is_only_memory && may_run)
}

fn is_critical(pod: &core::PodSpec) -> bool {
    pod.priority.is_some_and(|priority| priority >= CRITICAL_PRIORITY)
}

/// Measures and evicts pods until shutdown.
pub(crate) async fn run(agent: Arc<Agent>, pods: Informer<CachedPod>, shutdown: Shutdown) {
    loop {
        check(&agent, &pods).await;
        tokio::select! {
            () = shutdown.wait() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}

async fn check(agent: &Agent, pods: &Informer<CachedPod>) {
    let due = measure_now(agent).await;
    let active: Vec<_> = {
        let is_active = |pod: &&Arc<CachedPod>| {
            !is_over(&pod.wire)
                && pod.wire.metadata.deletion_timestamp.is_none()
                && agent.pods.is_known(&pod.uid().text())
        };
        pods.read().iter().filter(is_active).cloned().collect()
    };
    let active: Vec<_> = active.iter().map(|pod| &*pod.wire).collect();
    // Evicting pods that exceed their own limits may be enough.
    if evict_pods_over_their_limits(agent, &active).await {
        return;
    }
    let Some(due) = due else { return };
    let (signal, ..) = due.exceeded;
    tracing::warn!(signal = signal.name(), "the node is short of a resource");
    if signal.condition() == "DiskPressure" {
        if let Err(error) = housekeeping::remove_unused_images(agent, || false).await {
            tracing::warn!(%error, "unused images cannot be removed");
        }
        if measure_now(agent).await.is_none() {
            return;
        }
    }
    let Ok(usages) = pod_usages(agent).await else { return };
    let Some(victim) = rank(active.into_iter(), &usages, signal).into_iter().next() else {
        tracing::warn!("no pod can be evicted");
        return;
    };
    let usage = usages.get(uid(victim)).cloned().unwrap_or_default();
    let message = message(victim, &usage, &due.exceeded);
    evict(agent, victim, Eviction { message, grace: due.grace, is_disruption: true });
}

/// Evicts the pods that exceed their limits of disk usage, and returns whether there were any.
async fn evict_pods_over_their_limits(agent: &Agent, pods: &[&core::Pod]) -> bool {
    // Most pods have no such limit, and their usage is not measured.
    let limited: Vec<_> =
        pods.iter().filter(|pod| pod.spec.as_ref().is_some_and(storage_limits::is_limited)).collect();
    if limited.is_empty() {
        return false;
    }
    let Ok(usages) = pod_usages(agent).await else { return false };
    let mut ended = false;
    for pod in limited {
        let usage = usages.get(uid(pod));
        let exceeded =
            pod.spec.as_ref().zip(usage).and_then(|(spec, usage)| storage_limits::exceeded(spec, usage));
        if let Some(message) = exceeded {
            evict(agent, pod, Eviction { message, grace: Eviction::GRACE, is_disruption: false });
            ended = true;
        }
    }
    ended
}

fn evict(agent: &Agent, pod: &core::Pod, eviction: Eviction) {
    agent.report(uid(pod), RuntimeReport::Evicted(eviction));
}

fn uid(pod: &core::Pod) -> &str {
    pod.metadata.uid.as_deref().unwrap_or_default()
}

async fn measure_now(agent: &Agent) -> Option<DueEviction> {
    let images = agent.cri.image_file_systems().await.ok().and_then(|disks| disks.into_iter().next());
    let measured = measure(&agent.root, images.as_deref().map(Path::new));
    agent.evictions.observe(&measured, agent.clock.now())
}

/// Returns the pods that may be evicted, the first one first: those that use more than they request, then by priority,
/// then by how much more they use.
fn rank<'a>(
    pods: impl Iterator<Item = &'a core::Pod>,
    usages: &BTreeMap<String, PodUsage>,
    signal: Signal,
) -> Vec<&'a core::Pod> {
    let fallback = PodUsage::default();
    let key = |pod: &core::Pod| {
        let usage = usages.get(uid(pod)).unwrap_or(&fallback);
        let used = match signal {
            Signal::MemoryAvailable => usage.memory(),
            Signal::ProcessesAvailable => usage.processes,
            _ => usage.disk,
        };
        let beyond = i128::from(used) - i128::from(requests(pod, signal));
        let priority = pod.spec.as_ref().and_then(|spec| spec.priority).unwrap_or(0);
        (beyond <= 0, priority, -beyond)
    };
    let is_critical = |pod: &&core::Pod| pod.spec.as_ref().is_some_and(is_critical);
    let mut ranked: Vec<_> = pods.filter(|pod| !is_critical(pod)).collect();
    ranked.sort_by_key(|pod| key(pod));
    ranked
}

fn requests(pod: &core::Pod, signal: Signal) -> u64 {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    containers.map(|container| request(container, signal)).sum()
}

fn request(container: &core::Container, signal: Signal) -> u64 {
    let requests = container.resources.as_ref().and_then(|resources| resources.requests.as_ref());
    let amount = requests.and_then(|requests| requests.get(signal.resource()));
    let billionths = amount.and_then(|amount| parse_billionths(&amount.0)).unwrap_or(0);
    u64::try_from(billionths / 1_000_000_000).unwrap_or(0)
}

/// Returns a kubelet's message about an evicted pod.
fn message(pod: &core::Pod, usage: &PodUsage, (signal, found, least): &ExceededThreshold) -> String {
    let mut message = format!(
        "The node was low on resource: {}. Threshold quantity: {}, available: {}. ",
        signal.resource(),
        signal.shown(*least),
        signal.shown(found.available)
    );
    for container in pod.spec.iter().flat_map(|spec| &spec.containers) {
        let Some(of_container) = usage.containers.get(&container.name) else { continue };
        let (used, request) = (
            if *signal == Signal::MemoryAvailable { of_container.memory } else { of_container.disk },
            request(container, *signal),
        );
        if used > request {
            // Writing to a string cannot fail.
            let _ = write!(
                message,
                "Container {} was using {}, request is {}, has larger consumption of {}. ",
                container.name,
                shown_bytes(used),
                shown_bytes(request),
                signal.resource()
            );
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use gantry_json::{Value, json};

    use super::*;
    use crate::usage::ContainerUsage;

    fn pod(name: &str, spec: &Value) -> core::Pod {
        gantry_json::from_value(json!({"metadata": {"name": name, "uid": name}, "spec": spec})).unwrap()
    }

    fn web(request: &str) -> Value {
        json!([{"name": "web", "resources": {"requests": {"memory": request}}}])
    }

    fn using(memory: u64) -> PodUsage {
        let web = ContainerUsage { memory, ..ContainerUsage::default() };
        PodUsage { containers: BTreeMap::from([("web".to_owned(), web)]), ..PodUsage::default() }
    }

    #[test]
    fn the_pod_that_exceeds_its_requests_most_is_evicted() {
        let modest = pod("modest", &json!({"containers": web("100")}));
        let greedy = pod("greedy", &json!({"containers": web("10")}));
        let important = pod("important", &json!({"containers": web("10"), "priority": 7}));
        let critical = pod("critical", &json!({"containers": web("1"), "priority": CRITICAL_PRIORITY}));
        let usages = BTreeMap::from(
            [("modest", 90), ("greedy", 60), ("important", 600), ("critical", 900)]
                .map(|(name, memory)| (name.to_owned(), using(memory))),
        );
        let ranked =
            rank([&modest, &critical, &important, &greedy].into_iter(), &usages, Signal::MemoryAvailable);
        let names: Vec<_> = ranked.iter().filter_map(|pod| pod.metadata.name.as_deref()).collect();
        assert_eq!(names, ["greedy", "important", "modest"]);
    }

    #[test]
    fn the_message_has_the_available_and_the_used_amount() {
        let greedy = pod("greedy", &json!({"containers": web("1Mi")}));
        let exceeded =
            (Signal::MemoryAvailable, Measured { available: 50 << 20, capacity: 1 << 30 }, 100 << 20);
        assert_eq!(
            message(&greedy, &using(60 << 20), &exceeded),
            "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. \
             Container web was using 60Mi, request is 1Mi, has larger consumption of memory. "
        );
    }

    #[test]
    fn a_node_under_pressure_refuses_pods() {
        let best_effort = pod("a", &json!({"containers": [{"name": "web"}]})).spec.unwrap();
        let burstable = pod("b", &json!({"containers": web("10")})).spec.unwrap();
        let critical = pod("c", &json!({"containers": [], "priority": CRITICAL_PRIORITY})).spec.unwrap();
        let toleration = json!([{"key": MEMORY_TAINT, "operator": "Exists", "effect": "NoSchedule"}]);
        let tolerant =
            pod("d", &json!({"containers": [{"name": "web"}], "tolerations": toleration})).spec.unwrap();
        let refused = |conditions: &[&str]| {
            [&best_effort, &burstable, &critical, &tolerant].map(|pod| refuses(conditions, pod))
        };
        assert_eq!(refused(&[]), [false; 4]);
        assert_eq!(refused(&[MEMORY_PRESSURE]), [true, false, false, false]);
        assert_eq!(refused(&["DiskPressure"]), [true, true, false, true]);
    }
}
