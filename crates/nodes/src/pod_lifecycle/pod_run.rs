//! The runtime state of a pod: the state that a kubelet would have from its container runtime.

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_model::{Event, Timestamp};
use gantry_rng::Rng;

use super::actions::{Eviction, PodRejection, RuntimeAction};
use super::container_run::{ContainerContext, ContainerRun, Phase, sync_interval};
use super::dependencies::{self, Reference, ReferenceKind};
use super::exits::ExitCause;
use super::pod::{Container, Role};
use super::resize::PendingResize;
use super::{Completion, NodeContext, Pod, PodEvent, messages};

/// The runtime state of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRun {
    /// When the node first saw the pod.
    pub(super) started: Timestamp,
    pub(super) sandbox: Sandbox,
    /// One for each container of the pod, in the same order.
    pub(super) containers: Vec<ContainerRun>,
    /// Since when the pod is being stopped.
    pub(super) stopping: Option<Timestamp>,
    /// Why the node ends the pod, if it does.
    pub(super) ended_by: Option<PodEnd>,
    /// The status and transition time of each condition.
    pub(super) conditions: BTreeMap<String, (String, Timestamp)>,
    /// The number of sandboxes that the pod has had; simulated nodes do not count them.
    pub(super) sandboxes: u32,
    /// Whether the runtime reported something since the last sync.
    pub(super) has_new_reports: bool,
    /// Why the node does not allocate the resources of the spec.
    pub(super) pending_resize: Option<PendingResize>,
    /// Whether containers are being changed to the allocated resources.
    pub(super) is_resizing: bool,
    /// Events about reports since the last sync.
    pub(super) reported_events: Vec<PodEvent>,
}

/// The pod's network and volumes, which its containers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sandbox {
    /// It is created at `until`, if the volumes can be mounted, which has failed `failures` times.
    Pending {
        until: Timestamp,
        failures: u32,
    },
    /// The container runtime is creating it, which has failed `failures` times.
    Creating {
        failures: u32,
    },
    Ready,
    /// The container runtime is stopping it.
    Stopping,
    /// The container runtime has stopped it.
    Stopped,
}

/// Why a node ends a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PodEnd {
    /// Its active deadline has passed.
    Deadline,
    /// Its use of a resource.
    Evicted(Eviction),
    /// The node did not accept it.
    Rejected(PodRejection),
}

impl PodEnd {
    /// Returns the reason and message of the pod's status.
    pub(super) fn status(&self) -> (&'static str, String) {
        match self {
            Self::Deadline => (messages::DEADLINE_EXCEEDED, messages::DEADLINE_MESSAGE.to_owned()),
            Self::Evicted(eviction) => (messages::EVICTED, eviction.message.clone()),
            Self::Rejected(rejection) => {
                (rejection.reason, format!("Pod was rejected: {}", rejection.message))
            }
        }
    }
}

/// The events, pulled images and actions of one sync.
#[derive(Debug, Default)]
pub(super) struct SyncOutput {
    pub(super) events: Vec<PodEvent>,
    pub(super) actions: Vec<RuntimeAction>,
    pub(super) pulled: Vec<String>,
}

/// The minimum and maximum duration of creating the sandbox of a simulated pod.
const SANDBOX_MILLIS: (u64, u64) = (100, 200);
/// The duration for a pod whose containers start at once. It is not zero, so that a pod without a sandbox is reported first,
/// as a kubelet does.
const SANDBOX_AT_ONCE: Duration = Duration::from_millis(1);
/// The initial backoff of mounts, doubled after each failure ...
const MOUNT_BACK_OFF: Duration = Duration::from_millis(500);
/// ... up to this maximum, as in a kubelet.
const MOUNT_BACK_OFF_MAX: Duration = Duration::from_secs(122);

impl PodRun {
    /// Creates the run of a pod that its node sees for the first time.
    pub fn begin(pod: &Pod, now: Timestamp) -> Self {
        let (least, most) = SANDBOX_MILLIS;
        let takes = if pod.is_real() {
            Duration::ZERO
        } else if pod.starts_at_once() {
            SANDBOX_AT_ONCE
        } else {
            Duration::from_millis(least + Rng::keyed(&pod.uid, "sandbox").below(most - least))
        };
        Self {
            started: now,
            sandbox: Sandbox::Pending { until: now.plus(takes), failures: 0 },
            containers: pod.containers.iter().map(|_| ContainerRun::default()).collect(),
            stopping: None,
            ended_by: None,
            conditions: BTreeMap::new(),
            sandboxes: 0,
            has_new_reports: false,
            pending_resize: None,
            is_resizing: false,
            reported_events: Vec::new(),
        }
    }

    /// Carries out all steps that are due.
    pub(super) fn advance(
        &mut self,
        pod: &Pod,
        node: &NodeContext<'_>,
        now: Timestamp,
        output: &mut SyncOutput,
    ) {
        output.events.append(&mut self.reported_events);
        self.has_new_reports = false;
        // Ephemeral containers may have been added.
        self.containers.resize_with(pod.containers.len(), ContainerRun::default);
        self.allocate(pod, node, output);
        self.mount(pod, node, now, output);
        if self.stopping.is_none() {
            if self.ended_by.is_some() {
                self.begin_stop(now);
            } else if self.deadline(pod).is_some_and(|deadline| deadline <= now) {
                self.ended_by = Some(PodEnd::Deadline);
                output.events.push(messages::deadline_exceeded());
                self.begin_stop(now);
            } else if pod.deletion.is_some() {
                self.begin_stop(now);
            }
        }
        // A step of one container may allow the next one to start or to be stopped.
        loop {
            self.stop_containers(pod, node, now, output);
            if !(0..self.containers.len()).any(|at| self.step(at, pod, node, now, output)) {
                break;
            }
        }
        self.end_resize(pod, output);
        self.stop_sandbox(pod, output);
    }

    /// Returns the objects that a sync now would read.
    pub(super) fn needed(&self, pod: &Pod, now: Timestamp) -> Vec<Reference> {
        if pod.deletion.is_some() || self.stopping.is_some() {
            return Vec::new();
        }
        let volumes = match self.sandbox {
            Sandbox::Pending { until, .. } if until > now => return Vec::new(),
            Sandbox::Pending { .. } => pod.volumes.as_slice(),
            Sandbox::Creating { .. } | Sandbox::Stopping | Sandbox::Stopped => return Vec::new(),
            Sandbox::Ready => &[],
        };
        let created: Vec<_> = pod
            .containers
            .iter()
            .zip(&self.containers)
            .filter(|(container, container_run)| container_run.may_be_created(container, pod, now))
            .collect();
        let secrets = if created.is_empty() { &[] } else { pod.pull_secrets.as_slice() };
        let secrets =
            secrets.iter().map(|name| Reference { kind: ReferenceKind::Secret, name: name.clone() });
        let environments =
            created.iter().flat_map(|(container, _)| container.environment.references().cloned());
        volumes.iter().flat_map(dependencies::Volume::references).chain(environments).chain(secrets).collect()
    }

    /// Mounts the volumes and creates the sandbox, if that is due.
    fn mount(&mut self, pod: &Pod, node: &NodeContext<'_>, now: Timestamp, output: &mut SyncOutput) {
        let Sandbox::Pending { until, failures } = self.sandbox else { return };
        if until > now || pod.deletion.is_some() || self.ended_by.is_some() {
            return;
        }
        let problems = dependencies::mount_problems(&pod.volumes, &pod.namespace, node.references);
        let events = messages::mounts_failed(&problems);
        if events.is_empty() && pod.is_real() {
            output.actions.push(RuntimeAction::CreateSandbox { attempt: self.sandboxes });
            self.sandbox = Sandbox::Creating { failures };
            return;
        }
        if events.is_empty() {
            self.sandbox = Sandbox::Ready;
            return;
        }
        output.events.extend(events);
        // A kubelet checks claims once per sync of the pod, and retries other volumes one by one.
        let delay = if problems.contents.is_empty() { sync_interval(pod) } else { mount_back_off(failures) };
        self.sandbox = Sandbox::Pending { until: now.plus(delay), failures: failures.saturating_add(1) };
    }

    /// Returns when the active deadline of an active pod passes.
    fn deadline(&self, pod: &Pod) -> Option<Timestamp> {
        let is_active = self.stopping.is_none() && pod.deletion.is_none() && self.outcome(pod).is_none();
        pod.active_deadline.filter(|_| is_active).map(|deadline| self.started.plus(deadline))
    }

    /// Returns when the next step is due.
    pub(super) fn wake(&self, pod: &Pod, now: Timestamp) -> Option<Timestamp> {
        let sandbox = match self.sandbox {
            Sandbox::Pending { until, .. } if self.stopping.is_none() => Some(until),
            _ => None,
        };
        let containers = pod.containers.iter().zip(&self.containers);
        containers
            .filter(|(container, container_run)| self.may_step(container, container_run))
            .filter_map(|(container, container_run)| container_run.wake(container, pod, self.stopping, now))
            .chain(sandbox)
            .chain(self.deadline(pod))
            .chain(self.resize_wake(pod, now))
            .min()
    }

    /// Returns whether the pod has finished, and whether it is to be removed.
    pub(super) fn completion(&self, pod: &Pod) -> Completion {
        let stopped = self.stopping.is_some()
            && self.containers.iter().all(|container_run| !container_run.is_active())
            && (!pod.is_real() || self.sandbox == Sandbox::Stopped);
        match pod.deletion {
            // Without a grace period the server removes the object, once it has no finalizers.
            Some(deletion) if stopped && deletion.grace.is_zero() => Completion::Finished,
            Some(_) if stopped => Completion::Remove,
            None if self.outcome(pod).is_some() => Completion::Finished,
            _ => Completion::Active,
        }
    }

    /// Returns how the pod ended, if it did: on its own, or stopped after a container had run.
    pub(super) fn outcome(&self, pod: &Pod) -> Option<Outcome> {
        let ended =
            self.stopping.is_some() && self.containers.iter().all(|container_run| !container_run.is_active());
        if self.ended_by.is_some() {
            return ended.then_some(Outcome::Failed);
        }
        let stopped =
            ended && self.containers.iter().any(|container_run| container_run.last_exit().is_some());
        let mains = || self.of_role(pod, Role::Main);
        let failed_init = self
            .of_role(pod, Role::Init)
            .any(|container_run| matches!(&container_run.phase, Phase::Done(exit) if exit.code != 0));
        let all_done = mains().all(|container_run| matches!(container_run.phase, Phase::Done(_)));
        let sidecars_stopped =
            self.of_role(pod, Role::Sidecar).all(|container_run| !container_run.is_running());
        if !(stopped || (failed_init && self.stopping.is_none()) || (all_done && sidecars_stopped)) {
            return None;
        }
        let well = !failed_init
            && mains().all(|container_run| container_run.last_exit().is_some_and(|exit| exit.code == 0));
        Some(if well { Outcome::Succeeded } else { Outcome::Failed })
    }

    pub(super) fn of_role<'a>(&'a self, pod: &'a Pod, role: Role) -> impl Iterator<Item = &'a ContainerRun> {
        let pairs = pod.containers.iter().zip(&self.containers);
        pairs.filter(move |(container, _)| container.role == role).map(|(_, container_run)| container_run)
    }

    /// Begins to stop the pod: nothing is started any more.
    fn begin_stop(&mut self, now: Timestamp) {
        self.stopping = Some(now);
        self.containers.iter_mut().for_each(ContainerRun::stop_restarting);
    }

    /// Stops the containers of a pod that is being stopped: sidecars after those that they serve.
    fn stop_containers(
        &mut self,
        pod: &Pod,
        node: &NodeContext<'_>,
        now: Timestamp,
        output: &mut SyncOutput,
    ) {
        let Some(stopping) = self.stopping else { return };
        let grace = pod.deletion.map_or(pod.grace, |deletion| deletion.grace);
        let grace = match &self.ended_by {
            Some(PodEnd::Evicted(eviction)) => grace.min(eviction.grace),
            _ => grace,
        };
        for (at, container) in pod.containers.iter().enumerate() {
            let may_stop = self.may_stop(at, pod);
            let container_run = &mut self.containers[at];
            let context = ContainerContext { container, pod, node, stopping: self.stopping, now };
            if !container_run.is_running() {
                continue;
            }
            if container_run.stopping.is_some() {
                container_run.hasten_stop(context, output);
            } else if may_stop {
                output.record(container, messages::killing(&container.name));
                container_run.stop(grace.saturating_sub(now.since(stopping)), context, output);
            }
        }
    }

    /// Whether a container of a pod that is being stopped may be stopped: a sidecar not before all main containers and the
    /// sidecars after it have ended.
    pub(super) fn may_stop(&self, at: usize, pod: &Pod) -> bool {
        let pairs = || pod.containers.iter().zip(&self.containers).enumerate();
        pod.containers[at].role != Role::Sidecar
            || pairs().all(|(other, (container, container_run))| {
                let is_first =
                    container.role == Role::Main || (container.role == Role::Sidecar && other > at);
                !(is_first && container_run.is_active())
            })
    }

    /// Stops the sandbox of a real pod that is being stopped or has ended.
    fn stop_sandbox(&mut self, pod: &Pod, output: &mut SyncOutput) {
        let is_over = self.stopping.is_some() || self.outcome(pod).is_some();
        let is_idle = matches!(self.sandbox, Sandbox::Ready | Sandbox::Pending { .. })
            && self.containers.iter().all(|container_run| !container_run.is_active());
        if pod.is_real() && is_over && is_idle {
            output.actions.push(RuntimeAction::StopSandbox);
            self.sandbox = Sandbox::Stopping;
        }
    }

    /// Whether a container may take a step: without a sandbox, a real one can only end.
    fn may_step(&self, container: &Container, container_run: &ContainerRun) -> bool {
        container.behaviour.is_some()
            || self.sandbox == Sandbox::Ready
            || self.stopping.is_some()
            || container_run.is_active()
    }

    /// Carries out one step of a container if one is due. Returns whether it did.
    fn step(
        &mut self,
        at: usize,
        pod: &Pod,
        node: &NodeContext<'_>,
        now: Timestamp,
        output: &mut SyncOutput,
    ) -> bool {
        let container = &pod.containers[at];
        if !self.may_step(container, &self.containers[at]) {
            return false;
        }
        let may_start =
            self.sandbox == Sandbox::Ready && self.stopping.is_none() && self.may_start(at, pod, now);
        let no_longer_needed = container.role == Role::Sidecar
            && self
                .of_role(pod, Role::Main)
                .all(|container_run| matches!(container_run.phase, Phase::Done(_)));
        // The containers of a pod that is being stopped are stopped with it.
        let may_stop = self.stopping.is_none() && no_longer_needed && self.may_stop(at, pod);
        let context = ContainerContext { container, pod, node, stopping: self.stopping, now };
        let Some(container_run) = self.containers.get_mut(at) else { return false };
        if no_longer_needed && container_run.is_running() && container.behaviour.is_some() {
            container_run.exit(0, ExitCause::Exit, now);
            container_run.stop_restarting();
            return true;
        }
        if may_stop && container_run.is_running() && container_run.stopping.is_none() {
            output.record(container, messages::killing(&container.name));
            container_run.stop(pod.grace, context, output);
        }
        if no_longer_needed && matches!(container_run.phase, Phase::Exited(_)) {
            container_run.stop_restarting();
            return true;
        }
        if matches!(container_run.phase, Phase::Pending) {
            if may_start {
                container_run.begin(context, output);
            }
            return may_start;
        }
        container_run.step(context, output)
    }

    /// Whether all init containers and sidecars before a container are done or started.
    fn may_start(&self, at: usize, pod: &Pod, now: Timestamp) -> bool {
        if pod.containers[at].role == Role::Ephemeral {
            return true;
        }
        let before = pod.containers.iter().zip(&self.containers).take(at);
        before.filter(|(container, _)| container.role != Role::Main).all(|(container, container_run)| {
            match container.role {
                Role::Sidecar => container_run.is_started(container, now),
                _ => matches!(&container_run.phase, Phase::Done(exit) if exit.code == 0),
            }
        })
    }
}

/// Returns how long to wait before volumes are mounted again, after this many failures before the last one.
pub(super) fn mount_back_off(failures: u32) -> Duration {
    MOUNT_BACK_OFF.saturating_mul(1 << failures.min(10)).min(MOUNT_BACK_OFF_MAX)
}

/// How a pod ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Succeeded,
    Failed,
}

impl SyncOutput {
    pub(super) fn record(&mut self, container: &Container, event: Event) {
        self.events.push(messages::container_event(container, event));
    }

    pub(super) fn record_all(&mut self, container: &Container, events: [Event; 2]) {
        self.events.extend(events.map(|event| messages::container_event(container, event)));
    }
}
