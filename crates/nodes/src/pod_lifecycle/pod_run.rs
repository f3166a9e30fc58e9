//! The runtime state of a pod: what a kubelet would know from its container runtime.

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_model::{Event, Timestamp};
use gantry_rng::Rng;

use super::container_run::{ContainerContext, ContainerRun, Phase, sync_interval};
use super::dependencies::{self, Reference, ReferenceKind};
use super::exits::ExitCause;
use super::pod::{Container, Role};
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
    /// Whether the pod is stopped because its active deadline has passed.
    pub(super) deadline_exceeded: bool,
    /// The status and transition time of each condition.
    pub(super) conditions: BTreeMap<String, (String, Timestamp)>,
}

/// The pod's network and volumes, which its containers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sandbox {
    /// It is created at `until`, if the volumes can be mounted, which has failed `failures` times.
    Pending {
        until: Timestamp,
        failures: u32,
    },
    Ready,
}

/// The events and pulled images of one sync.
#[derive(Debug, Default)]
pub(super) struct SyncOutput {
    pub(super) events: Vec<PodEvent>,
    pub(super) pulled: Vec<String>,
}

/// The minimum and maximum duration of creating the sandbox.
const SANDBOX_MILLIS: (u64, u64) = (100, 200);
/// The initial backoff of mounts, doubled after each failure ...
const MOUNT_BACK_OFF: Duration = Duration::from_millis(500);
/// ... up to this maximum, as in a kubelet.
const MOUNT_BACK_OFF_MAX: Duration = Duration::from_secs(122);

impl PodRun {
    /// Creates the run of a pod that its node sees for the first time.
    pub fn begin(pod: &Pod, now: Timestamp) -> Self {
        let (least, most) = SANDBOX_MILLIS;
        let takes = Duration::from_millis(least + Rng::keyed(&pod.uid, "sandbox").below(most - least));
        Self {
            started: now,
            sandbox: Sandbox::Pending { until: now.plus(takes), failures: 0 },
            containers: pod.containers.iter().map(|_| ContainerRun::default()).collect(),
            stopping: None,
            deadline_exceeded: false,
            conditions: BTreeMap::new(),
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
        self.mount(pod, node, now, output);
        if self.stopping.is_none() {
            if self.deadline(pod).is_some_and(|deadline| deadline <= now) {
                self.deadline_exceeded = true;
                output.events.push(messages::deadline_exceeded());
                self.stop(pod, now, output);
            } else if pod.deletion.is_some() {
                self.stop(pod, now, output);
            }
        }
        // A step of one container may allow the next one to start.
        while (0..self.containers.len()).any(|at| self.step(at, pod, node, now, output)) {}
    }

    /// Returns the objects that a sync now would read.
    pub(super) fn needed(&self, pod: &Pod, now: Timestamp) -> Vec<Reference> {
        if pod.deletion.is_some() || self.stopping.is_some() {
            return Vec::new();
        }
        let volumes = match self.sandbox {
            Sandbox::Pending { until, .. } if until > now => return Vec::new(),
            Sandbox::Pending { .. } => pod.volumes.as_slice(),
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
        if until > now || pod.deletion.is_some() {
            return;
        }
        let problems = dependencies::mount_problems(&pod.volumes, &pod.namespace, node.references);
        let events = messages::mounts_failed(&problems);
        if events.is_empty() {
            self.sandbox = Sandbox::Ready;
            return;
        }
        output.events.extend(events);
        // A kubelet checks claims once per sync of the pod, and retries other volumes one by one.
        let delay = if problems.contents.is_empty() {
            sync_interval(pod)
        } else {
            MOUNT_BACK_OFF.saturating_mul(1 << failures.min(10)).min(MOUNT_BACK_OFF_MAX)
        };
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
            Sandbox::Pending { until, .. } => Some(until),
            Sandbox::Ready => None,
        };
        let containers = pod.containers.iter().zip(&self.containers);
        containers
            .filter_map(|(container, container_run)| container_run.wake(container, pod, self.stopping, now))
            .chain(sandbox)
            .chain(self.deadline(pod))
            .min()
    }

    /// Returns whether the pod has finished, and whether it is to be removed.
    pub(super) fn completion(&self, pod: &Pod) -> Completion {
        let stopped = self.stopping.is_some()
            && self.containers.iter().all(|container_run| !container_run.is_running());
        match pod.deletion {
            // Without a grace period the server removes the object itself, once it has no finalizers.
            Some(deletion) if stopped && deletion.grace.is_zero() => Completion::Finished,
            Some(_) if stopped => Completion::Remove,
            None if self.outcome(pod).is_some() => Completion::Finished,
            _ => Completion::Active,
        }
    }

    /// Returns how the pod ended, if it did: by itself, or stopped after a container had run.
    pub(super) fn outcome(&self, pod: &Pod) -> Option<Outcome> {
        let ended = self.stopping.is_some()
            && self.containers.iter().all(|container_run| !container_run.is_running());
        if self.deadline_exceeded {
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

    /// Stops all containers.
    fn stop(&mut self, pod: &Pod, now: Timestamp, output: &mut SyncOutput) {
        self.stopping = Some(now);
        for (container, container_run) in pod.containers.iter().zip(&mut self.containers) {
            if container_run.is_running() {
                output.record(container, messages::killing(&container.name));
            }
            container_run.stop_restarting();
        }
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
        let may_start =
            self.sandbox == Sandbox::Ready && self.stopping.is_none() && self.may_start(at, pod, now);
        let no_longer_needed = container.role == Role::Sidecar
            && self
                .of_role(pod, Role::Main)
                .all(|container_run| matches!(container_run.phase, Phase::Done(_)));
        let context = ContainerContext { container, pod, node, stopping: self.stopping, now };
        let Some(container_run) = self.containers.get_mut(at) else { return false };
        if no_longer_needed && container_run.is_running() {
            container_run.exit(0, ExitCause::Exit, now);
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
        let before = pod.containers.iter().zip(&self.containers).take(at);
        before.filter(|(container, _)| container.role != Role::Main).all(|(container, container_run)| {
            match container.role {
                Role::Sidecar => container_run.is_started(container, now),
                _ => matches!(&container_run.phase, Phase::Done(exit) if exit.code == 0),
            }
        })
    }
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
