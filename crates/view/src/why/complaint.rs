//! What a pod suffers from, if anything.

use std::time::Duration;

use gantry_model::{EventType, Phase, Timestamp};

use super::missing::Missing;
use super::reason::{Probed, Reason};
use super::report::Weight;
use super::scheduling;
use crate::snapshot::{
    Container, ContainerRole, ContainerState, EventSeen, PodSeen, Probe, Scheduling, Snapshot,
};

/// How long a scheduler or node may be silent about a pod before that counts as a problem.
const SILENCE: Duration = Duration::from_secs(30);
/// After how many restarts a container that runs again is still taken for one that crashes.
const RESTARTS_OF_A_LOOP: i32 = 3;
/// How long after a crash a container that runs is still taken for one that crashes: a kubelet forgets its back-off then.
const CALM: Duration = Duration::from_secs(600);
/// The exit code of a container that was killed by SIGKILL.
const KILLED: i32 = 137;

/// What is wrong with a pod, what that means, and what the cluster says about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Complaint {
    pub(crate) reason: Reason,
    pub(crate) weight: Weight,
    pub(crate) message: String,
}

/// What this pod suffers from; `None` if it serves, or starts without errors.
pub(crate) fn complaint(now: Timestamp, snapshot: &Snapshot, seen: &PodSeen) -> Option<Complaint> {
    if seen.pod.phase == Phase::Failed {
        let word = seen.reason.clone().unwrap_or_else(|| "Failed".to_owned());
        let message = seen.message.clone().unwrap_or_default();
        // The ReplicaSet makes another one.
        return Some(Complaint { reason: Reason::PodFailed { word }, weight: Weight::Notes, message });
    }
    if !seen.pod.is_active() {
        return None;
    }
    let looker = Looker { now, snapshot, seen };
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

struct Looker<'a> {
    now: Timestamp,
    snapshot: &'a Snapshot,
    seen: &'a PodSeen,
}

impl Looker<'_> {
    fn scheduling(&self) -> Option<Complaint> {
        let age = self.now.since(self.seen.pod.meta.created?);
        match &self.seen.scheduling {
            Scheduling::Unschedulable(message) => {
                let obstacles = scheduling::obstacles(message);
                Some(blocks(Reason::Unschedulable { obstacles }, message))
            }
            Scheduling::Gated(gates) => Some(blocks(Reason::SchedulingGate { gates: gates.clone() }, "")),
            Scheduling::Awaited if age > SILENCE => {
                let scheduler = Some(self.seen.scheduler.clone()).filter(|name| !name.is_empty());
                Some(blocks(Reason::NoScheduler { waited: age, scheduler }, ""))
            }
            Scheduling::Awaited | Scheduling::Assigned => None,
        }
    }

    /// The pod's node is not ready, by what it says or by what the controller of nodes noted on the pod.
    fn node(&self) -> Option<Complaint> {
        let node = self.seen.pod.node.as_ref()?;
        let known = self.snapshot.nodes.iter().find(|seen| seen.name == *node);
        let serves = |container: &Container| container.role == ContainerRole::Init || container.ready;
        let is_down = known.map_or_else(
            || {
                let is_told = self.warnings().any(|event| event.reason == "NodeNotReady");
                is_told && self.seen.containers.iter().all(serves)
            },
            |known| !known.ready,
        );
        is_down.then(|| blocks(Reason::NodeNotReady { node: node.to_string() }, ""))
    }

    fn container(&self, container: &Container) -> Option<Complaint> {
        let name = container.name.clone();
        match &container.state {
            ContainerState::Waiting { reason, message } => self.waiting(container, reason, message),
            ContainerState::Ended(exit) if container.role == ContainerRole::Init && exit.code == 0 => None,
            ContainerState::Ended(_) => Some(self.crash(container, "")),
            ContainerState::Running { .. } if container.role == ContainerRole::Init => None,
            ContainerState::Running { .. } if container.ready => None,
            ContainerState::Running { since } => {
                let killed = self.unhealthy("Liveness").filter(|_| container.restarts > 0);
                if let Some(event) = killed {
                    let reason = probe_failing(Probed::Liveness, name, None);
                    return Some(blocks(reason, &event.message));
                }
                self.startup(container, *since).or_else(|| self.readiness(container, *since))
            }
        }
    }

    fn waiting(&self, container: &Container, word: &str, message: &str) -> Option<Complaint> {
        let name = container.name.clone();
        match word {
            "ErrImagePull"
            | "ImagePullBackOff"
            | "InvalidImageName"
            | "ErrImageNeverPull"
            | "ImageInspectError"
            | "RegistryUnavailable"
            | "SignatureValidationFailed" => {
                let (image, word) = (container.image.clone(), word.to_owned());
                let reason = Reason::ImagePull { container: name, image, word };
                Some(blocks(reason, message))
            }
            "CreateContainerConfigError"
            | "CreateContainerError"
            | "RunContainerError"
            | "PreCreateHookError"
            | "PreStartHookError"
            | "PostStartHookError" => {
                let missing = Missing::in_message(message);
                let reason = Reason::ContainerConfig { container: name, word: word.to_owned(), missing };
                Some(blocks(reason, message))
            }
            "CrashLoopBackOff" => Some(self.crash(container, "")),
            _ => None,
        }
    }

    /// A crash, told by its best known reason: memory, a probe that had it killed, or its exit code.
    fn crash(&self, container: &Container, message: &str) -> Complaint {
        let name = container.name.clone();
        let restarts = container.restarts;
        if container.out_of_memory() {
            let limit = container.memory_limit.clone();
            return blocks(Reason::OutOfMemory { container: name, restarts, limit }, message);
        }
        if let Some(event) = self.unhealthy("Startup").filter(|_| !container.started) {
            let reason = probe_failing(Probed::Startup, name, container.startup_probe.as_ref());
            return blocks(reason, &event.message);
        }
        if let Some(event) = self.unhealthy("Liveness") {
            return blocks(probe_failing(Probed::Liveness, name, None), &event.message);
        }
        let exit = container.exit().cloned();
        let left = exit.as_ref().map(|exit| exit.message.clone()).unwrap_or_default();
        let was_killed = exit.as_ref().is_some_and(|exit| exit.code == KILLED);
        let memory_limit = container.memory_limit.clone().filter(|_| was_killed);
        let reason = Reason::CrashLoop { container: name, restarts, exit, memory_limit };
        let mut complaint = blocks(reason, &left);
        if restarts == 0 {
            // The first end may be an accident; the node starts it again.
            complaint.weight = Weight::Waits;
        }
        complaint
    }

    /// A container that serves now, but has crashed again and again lately.
    fn restarting(&self, container: &Container) -> Option<Complaint> {
        let last = container.last_exit.as_ref().filter(|exit| exit.code != 0)?;
        let is_recent = last.at.is_some_and(|at| self.now.since(at) < CALM);
        if container.restarts < RESTARTS_OF_A_LOOP || !is_recent {
            return None;
        }
        Some(Complaint { weight: Weight::Notes, ..self.crash(container, "") })
    }

    fn startup(&self, container: &Container, since: Option<Timestamp>) -> Option<Complaint> {
        let probe = container.startup_probe.as_ref().filter(|_| !container.started)?;
        let message = self.unhealthy("Startup").map(|event| event.message.clone());
        let reason = probe_failing(Probed::Startup, container.name.clone(), Some(probe));
        if container.restarts > 0 || self.is_beyond(since, probe) {
            return Some(blocks(reason, &message.unwrap_or_default()));
        }
        // It has failed, and still has time to pass.
        message.map(|message| Complaint { reason, weight: Weight::Waits, message })
    }

    fn readiness(&self, container: &Container, since: Option<Timestamp>) -> Option<Complaint> {
        if container.restarts >= RESTARTS_OF_A_LOOP {
            return Some(self.crash(container, ""));
        }
        let probe = container.readiness_probe.as_ref()?;
        if container.startup_probe.is_some() && !container.started {
            return None;
        }
        let message = self.unhealthy("Readiness").map(|event| event.message.clone());
        let is_beyond = self.is_beyond(since, probe);
        let reason = probe_failing(Probed::Readiness, container.name.clone(), Some(probe));
        match message {
            Some(message) if is_beyond => Some(blocks(reason, &message)),
            // It has answered badly, and still has time to answer well.
            Some(message) => Some(Complaint { reason, weight: Weight::Waits, message }),
            None => is_beyond.then(|| blocks(reason, "")),
        }
    }

    fn is_beyond(&self, since: Option<Timestamp>, probe: &Probe) -> bool {
        since.is_some_and(|since| self.now.since(since) > probe.patience)
    }

    /// Trouble before any container is made: the events are all there is to go by.
    fn set_up(&self) -> Option<Complaint> {
        const WORDS: [&str; 6] = [
            "FailedMount",
            "FailedAttachVolume",
            "FailedMapVolume",
            "FailedCreatePodSandBox",
            "NetworkNotReady",
            "FailedPreStopHook",
        ];
        let is_waiting = |container: &Container| matches!(container.state, ContainerState::Waiting { .. });
        if !self.seen.containers.iter().any(is_waiting) {
            return None;
        }
        let event = self.warnings().find(|event| WORDS.contains(&event.reason.as_str()))?;
        let missing = Missing::in_message(&event.message);
        Some(blocks(Reason::PodSetup { word: event.reason.clone(), missing }, &event.message))
    }

    fn readiness_gates(&self) -> Option<Complaint> {
        let gates = self.seen.missing_gates.clone();
        let containers_ready = self
            .seen
            .containers
            .iter()
            .all(|container| container.role == ContainerRole::Init || container.ready);
        (!gates.is_empty() && containers_ready).then(|| blocks(Reason::ReadinessGate { gates }, ""))
    }

    /// A node was chosen, and nothing was heard from it.
    fn silence(&self) -> Option<Complaint> {
        let unheard = |container: &Container| matches!(&container.state, ContainerState::Waiting { reason, .. } if reason.is_empty());
        let age = self.now.since(self.seen.pod.meta.created?);
        let is_silent =
            self.seen.scheduling == Scheduling::Assigned && self.seen.containers.iter().all(unheard);
        (is_silent && age > SILENCE).then(|| blocks(Reason::NodeSilent { waited: age }, ""))
    }

    /// The last bad answer to a probe.
    fn unhealthy(&self, probe: &str) -> Option<&EventSeen> {
        self.warnings().find(|event| {
            event.reason == "Unhealthy"
                && event.message.strip_prefix(probe).is_some_and(|rest| rest.starts_with(" probe"))
        })
    }

    /// Warnings about the pod, the last one first.
    fn warnings(&self) -> impl Iterator<Item = &EventSeen> {
        let events = self.snapshot.events_about(&self.seen.pod.meta.uid).rev();
        events.filter(|event| event.event_type == EventType::Warning)
    }
}

fn blocks(reason: Reason, message: &str) -> Complaint {
    Complaint { reason, weight: Weight::Blocks, message: message.to_owned() }
}

fn probe_failing(probe: Probed, container: String, asked: Option<&Probe>) -> Reason {
    let question = asked.map(|asked| asked.question.clone()).unwrap_or_default();
    Reason::ProbeFailing { probe, container, question }
}
