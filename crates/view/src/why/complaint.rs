//! What a pod suffers from, if anything.

use std::time::Duration;

use gantry_model::{EventType, Phase, Timestamp};

use super::reason::{Probed, Reason};
use super::report::Weight;
use crate::snapshot::{
    Container, ContainerRole, ContainerState, EventSeen, PodSeen, Probe, Scheduling, Snapshot,
};

/// How long nobody may say anything about a pod before that is worth a word.
const SILENCE: Duration = Duration::from_secs(30);
/// After how many restarts a container that runs again is still taken for one that crashes.
const RESTARTS_OF_A_LOOP: i32 = 3;

/// What is wrong with a pod, what that means, and what the cluster says about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Complaint {
    pub(crate) reason: Reason,
    pub(crate) weight: Weight,
    pub(crate) message: String,
}

/// What this pod suffers from; `None` if it serves, or is about to as far as anybody can tell.
pub(crate) fn complaint(now: Timestamp, snapshot: &Snapshot, seen: &PodSeen) -> Option<Complaint> {
    if seen.pod.phase == Phase::Failed {
        let word = seen.reason.clone().unwrap_or_else(|| "Failed".to_owned());
        let message = seen.message.clone().unwrap_or_default();
        // The ReplicaSet makes another one.
        return Some(Complaint { reason: Reason::PodFailed { word }, weight: Weight::Notes, message });
    }
    if seen.pod.is_ready() || !seen.pod.is_active() {
        return None;
    }
    let looker = Looker { now, snapshot, seen };
    looker
        .scheduling()
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
            Scheduling::Unschedulable(message) => Some(blocks(Reason::Unschedulable, message)),
            Scheduling::Gated(gates) => Some(blocks(Reason::SchedulingGate { gates: gates.clone() }, "")),
            Scheduling::Awaited if age > SILENCE => Some(blocks(Reason::NoScheduler { waited: age }, "")),
            Scheduling::Awaited | Scheduling::Assigned => None,
        }
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
                let reason = Reason::ImagePull { container: name, image: container.image.clone() };
                Some(blocks(reason, message))
            }
            "CreateContainerConfigError"
            | "CreateContainerError"
            | "RunContainerError"
            | "PreCreateHookError"
            | "PreStartHookError"
            | "PostStartHookError" => {
                let reason = Reason::ContainerConfig { container: name, word: word.to_owned() };
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
            return blocks(Reason::OutOfMemory { container: name, restarts }, message);
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
        let mut complaint = blocks(Reason::CrashLoop { container: name, restarts, exit }, &left);
        if restarts == 0 {
            // The first end may be an accident; the node starts it again.
            complaint.weight = Weight::Waits;
        }
        complaint
    }

    fn startup(&self, container: &Container, since: Option<Timestamp>) -> Option<Complaint> {
        let probe = container.startup_probe.as_ref().filter(|_| !container.started)?;
        let event = self.unhealthy("Startup");
        if container.restarts == 0 && (event.is_none() || !self.is_beyond(since, probe)) {
            return None;
        }
        let message = event.map(|event| event.message.clone()).unwrap_or_default();
        let reason = probe_failing(Probed::Startup, container.name.clone(), Some(probe));
        Some(blocks(reason, &message))
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
        Some(blocks(Reason::PodSetup { word: event.reason.clone() }, &event.message))
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
