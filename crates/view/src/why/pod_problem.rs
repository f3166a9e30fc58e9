//! The problem of a pod, if it has one.

use std::time::Duration;

use gantry_model::{EventType, Phase, Timestamp};

use super::missing::Missing;
use super::reason::{ProbeKind, Reason};
use super::report::Severity;
use super::scheduling;
use crate::snapshot::{
    Container, ContainerRole, ContainerState, ObservedEvent, ObservedPod, Probe, Scheduling, Snapshot,
};

/// How long a scheduler or kubelet may report nothing about a pod before that counts as a problem.
const REPORT_TIMEOUT: Duration = Duration::from_secs(30);
/// After so many restarts a running container still counts as crashing.
const RESTARTS_OF_A_LOOP: i32 = 3;
/// How long after a crash a running container still counts as crashing: a kubelet resets its back-off then.
const CRASH_WINDOW: Duration = Duration::from_secs(600);
/// The exit code of a container that was killed by SIGKILL.
const KILLED: i32 = 137;

/// A problem of a pod, its severity, and the cluster's message about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PodProblem {
    pub(crate) reason: Reason,
    pub(crate) severity: Severity,
    pub(crate) message: String,
}

/// `None` if the pod is available, or starting without errors.
pub(crate) fn pod_problem(now: Timestamp, snapshot: &Snapshot, seen: &ObservedPod) -> Option<PodProblem> {
    if seen.pod.phase == Phase::Failed {
        let cluster_reason = seen.reason.clone().unwrap_or_else(|| "Failed".to_owned());
        let message = seen.message.clone().unwrap_or_default();
        // The ReplicaSet creates another one.
        return Some(PodProblem {
            reason: Reason::PodFailed { cluster_reason },
            severity: Severity::Notes,
            message,
        });
    }
    if !seen.pod.is_active() {
        return None;
    }
    let looker = Diagnosis { now, snapshot, seen };
    if seen.pod.is_ready() {
        return seen.containers.iter().find_map(|container| looker.restarting(container));
    }
    looker
        .scheduling()
        .or_else(|| looker.node())
        .or_else(|| seen.containers.iter().find_map(|container| looker.container(container)))
        .or_else(|| looker.set_up())
        .or_else(|| looker.readiness_gates())
        .or_else(|| looker.silence())
}

struct Diagnosis<'a> {
    now: Timestamp,
    snapshot: &'a Snapshot,
    seen: &'a ObservedPod,
}

impl Diagnosis<'_> {
    fn scheduling(&self) -> Option<PodProblem> {
        let age = self.now.since(self.seen.pod.meta.created?);
        match &self.seen.scheduling {
            Scheduling::Unschedulable(message) => {
                let obstacles = scheduling::obstacles(message);
                Some(blocks(Reason::Unschedulable { obstacles }, message))
            }
            Scheduling::Gated(gates) => Some(blocks(Reason::SchedulingGate { gates: gates.clone() }, "")),
            Scheduling::Awaited if age > REPORT_TIMEOUT => {
                let scheduler = Some(self.seen.scheduler.clone()).filter(|name| !name.is_empty());
                Some(blocks(Reason::NoScheduler { waited: age, scheduler }, ""))
            }
            Scheduling::Awaited | Scheduling::Assigned => None,
        }
    }

    /// The pod's node is not ready, according to the node or to the pod's own condition.
    fn node(&self) -> Option<PodProblem> {
        let node = self.seen.pod.node.as_ref()?;
        let known = self.snapshot.nodes.iter().find(|seen| seen.name == *node);
        let serves = |container: &Container| container.role == ContainerRole::Init || container.ready;
        let is_down = known.map_or_else(
            || {
                let is_reported = self.warnings().any(|event| event.reason == "NodeNotReady");
                is_reported && self.seen.containers.iter().all(serves)
            },
            |known| !known.ready,
        );
        is_down.then(|| blocks(Reason::NodeNotReady { node: node.to_string() }, ""))
    }

    fn container(&self, container: &Container) -> Option<PodProblem> {
        let name = container.name.clone();
        match &container.state {
            ContainerState::WaitPolicy { reason, message } => self.waiting(container, reason, message),
            ContainerState::Ended(exit) if container.role == ContainerRole::Init && exit.code == 0 => None,
            ContainerState::Ended(_) => Some(self.crash(container, "")),
            ContainerState::Running { .. } if container.role == ContainerRole::Init => None,
            ContainerState::Running { .. } if container.ready => None,
            ContainerState::Running { since } => {
                let killed = self.unhealthy("Liveness").filter(|_| container.restarts > 0);
                if let Some(event) = killed {
                    let reason = probe_failing(ProbeKind::Liveness, name, None);
                    return Some(blocks(reason, &event.message));
                }
                self.startup(container, *since).or_else(|| self.readiness(container, *since))
            }
        }
    }

    fn waiting(&self, container: &Container, cluster_reason: &str, message: &str) -> Option<PodProblem> {
        let name = container.name.clone();
        match cluster_reason {
            "ErrImagePull"
            | "ImagePullBackOff"
            | "InvalidImageName"
            | "ErrImageNeverPull"
            | "ImageInspectError"
            | "RegistryUnavailable"
            | "SignatureValidationFailed" => {
                let (image, cluster_reason) = (container.image.clone(), cluster_reason.to_owned());
                let reason = Reason::ImagePull { container: name, image, cluster_reason };
                Some(blocks(reason, message))
            }
            "CreateContainerConfigError"
            | "CreateContainerError"
            | "RunContainerError"
            | "PreCreateHookError"
            | "PreStartHookError"
            | "PostStartHookError" => {
                let missing = Missing::in_message(message);
                let reason = Reason::ContainerConfig {
                    container: name,
                    cluster_reason: cluster_reason.to_owned(),
                    missing,
                };
                Some(blocks(reason, message))
            }
            "CrashLoopBackOff" => Some(self.crash(container, "")),
            _ => None,
        }
    }

    /// A crash, by its best known reason: memory, a failed probe, or its exit code.
    fn crash(&self, container: &Container, message: &str) -> PodProblem {
        let name = container.name.clone();
        let restarts = container.restarts;
        if container.out_of_memory() {
            let limit = container.memory_limit.clone();
            return blocks(Reason::OutOfMemory { container: name, restarts, limit }, message);
        }
        if let Some(event) = self.unhealthy("Startup").filter(|_| !container.started) {
            let reason = probe_failing(ProbeKind::Startup, name, container.startup_probe.as_ref());
            return blocks(reason, &event.message);
        }
        if let Some(event) = self.unhealthy("Liveness") {
            return blocks(probe_failing(ProbeKind::Liveness, name, None), &event.message);
        }
        let exit = container.exit().cloned();
        let left = exit.as_ref().map(|exit| exit.message.clone()).unwrap_or_default();
        let was_killed = exit.as_ref().is_some_and(|exit| exit.code == KILLED);
        let memory_limit = container.memory_limit.clone().filter(|_| was_killed);
        let reason = Reason::CrashLoop { container: name, restarts, exit, memory_limit };
        let mut pod_problem = blocks(reason, &left);
        if restarts == 0 {
            // The first exit may be an accident; the kubelet restarts the container.
            pod_problem.severity = Severity::Waits;
        }
        pod_problem
    }

    /// A container that runs now, but has crashed repeatedly.
    fn restarting(&self, container: &Container) -> Option<PodProblem> {
        let last = container.last_exit.as_ref().filter(|exit| exit.code != 0)?;
        let is_recent = last.at.is_some_and(|at| self.now.since(at) < CRASH_WINDOW);
        if container.restarts < RESTARTS_OF_A_LOOP || !is_recent {
            return None;
        }
        Some(PodProblem { severity: Severity::Notes, ..self.crash(container, "") })
    }

    fn startup(&self, container: &Container, since: Option<Timestamp>) -> Option<PodProblem> {
        let probe = container.startup_probe.as_ref().filter(|_| !container.started)?;
        let message = self.unhealthy("Startup").map(|event| event.message.clone());
        let reason = probe_failing(ProbeKind::Startup, container.name.clone(), Some(probe));
        if container.restarts > 0 || self.is_beyond(since, probe) {
            return Some(blocks(reason, &message.unwrap_or_default()));
        }
        // The probe has failed, but may still succeed in time.
        message.map(|message| PodProblem { reason, severity: Severity::Waits, message })
    }

    fn readiness(&self, container: &Container, since: Option<Timestamp>) -> Option<PodProblem> {
        if container.restarts >= RESTARTS_OF_A_LOOP {
            return Some(self.crash(container, ""));
        }
        let probe = container.readiness_probe.as_ref()?;
        if container.startup_probe.is_some() && !container.started {
            return None;
        }
        let message = self.unhealthy("Readiness").map(|event| event.message.clone());
        let is_beyond = self.is_beyond(since, probe);
        let reason = probe_failing(ProbeKind::Readiness, container.name.clone(), Some(probe));
        match message {
            Some(message) if is_beyond => Some(blocks(reason, &message)),
            // The probe has failed, but may still succeed in time.
            Some(message) => Some(PodProblem { reason, severity: Severity::Waits, message }),
            None => is_beyond.then(|| blocks(reason, "")),
        }
    }

    fn is_beyond(&self, since: Option<Timestamp>, probe: &Probe) -> bool {
        since.is_some_and(|since| self.now.since(since) > probe.failure_window)
    }

    /// A failure before any container is created, which is reported by events only.
    fn set_up(&self) -> Option<PodProblem> {
        const WORDS: [&str; 6] = [
            "FailedMount",
            "FailedAttachVolume",
            "FailedMapVolume",
            "FailedCreatePodSandBox",
            "NetworkNotReady",
            "FailedPreStopHook",
        ];
        let is_waiting = |container: &Container| matches!(container.state, ContainerState::WaitPolicy { .. });
        if !self.seen.containers.iter().any(is_waiting) {
            return None;
        }
        let event = self.warnings().find(|event| WORDS.contains(&event.reason.as_str()))?;
        let missing = Missing::in_message(&event.message);
        Some(blocks(Reason::PodSetup { cluster_reason: event.reason.clone(), missing }, &event.message))
    }

    fn readiness_gates(&self) -> Option<PodProblem> {
        let gates = self.seen.missing_gates.clone();
        let containers_ready = self
            .seen
            .containers
            .iter()
            .all(|container| container.role == ContainerRole::Init || container.ready);
        (!gates.is_empty() && containers_ready).then(|| blocks(Reason::ReadinessGate { gates }, ""))
    }

    /// The pod has a node, and the kubelet has not reported anything.
    fn silence(&self) -> Option<PodProblem> {
        let unheard = |container: &Container| matches!(&container.state, ContainerState::WaitPolicy { reason, .. } if reason.is_empty());
        let age = self.now.since(self.seen.pod.meta.created?);
        let is_silent =
            self.seen.scheduling == Scheduling::Assigned && self.seen.containers.iter().all(unheard);
        (is_silent && age > REPORT_TIMEOUT).then(|| blocks(Reason::NodeSilent { waited: age }, ""))
    }

    /// The last event about a failed probe.
    fn unhealthy(&self, probe: &str) -> Option<&ObservedEvent> {
        self.warnings().find(|event| {
            event.reason == "Unhealthy"
                && event.message.strip_prefix(probe).is_some_and(|rest| rest.starts_with(" probe"))
        })
    }

    /// Warnings about the pod, the last one first.
    fn warnings(&self) -> impl Iterator<Item = &ObservedEvent> {
        let events = self.snapshot.events_about(&self.seen.pod.meta.uid).rev();
        events.filter(|event| event.event_type == EventType::Warning)
    }
}

fn blocks(reason: Reason, message: &str) -> PodProblem {
    PodProblem { reason, severity: Severity::Blocks, message: message.to_owned() }
}

fn probe_failing(probe: ProbeKind, container: String, configured: Option<&Probe>) -> Reason {
    let check = configured.map(|configured| configured.check.clone()).unwrap_or_default();
    Reason::ProbeFailing { probe, container, check }
}
