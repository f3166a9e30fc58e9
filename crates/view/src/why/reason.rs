//! All the reasons there are, with a code for machines, a sentence for people, and what to do about it.

use std::time::Duration;

use gantry_model::{Name, Timestamp};

use crate::snapshot::Exit;
use crate::words::{count, span};

/// A reason for a rollout to be where it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// An image cannot be pulled.
    ImagePull {
        /// Which container wants it.
        container: String,
        /// The image.
        image: String,
    },
    /// A container ends again and again.
    CrashLoop {
        /// Which one.
        container: String,
        /// How often it was started again, in the worst pod.
        restarts: i32,
        /// How it last ended.
        exit: Option<Exit>,
    },
    /// A container is killed for using more memory than it may.
    OutOfMemory {
        /// Which one.
        container: String,
        /// How often it was started again, in the worst pod.
        restarts: i32,
    },
    /// A container cannot be made from what the template says: a missing ConfigMap, Secret or key.
    ContainerConfig {
        /// Which one.
        container: String,
        /// The node's word for it.
        word: String,
    },
    /// A node cannot set up a pod: a volume, a network.
    PodSetup {
        /// The node's word for it.
        word: String,
    },
    /// A probe says no.
    ProbeFailing {
        /// Which probe.
        probe: Probed,
        /// Of which container.
        container: String,
        /// What is asked.
        question: String,
    },
    /// A pod waits for conditions that somebody outside has to set.
    ReadinessGate {
        /// Which ones.
        gates: Vec<String>,
    },
    /// No node takes a pod.
    Unschedulable,
    /// Somebody has to let a pod be scheduled.
    SchedulingGate {
        /// By removing these gates.
        gates: Vec<String>,
    },
    /// Nobody has looked for a node for a pod.
    NoScheduler {
        /// For how long.
        waited: Duration,
    },
    /// A node has not said anything about a pod that it was given.
    NodeSilent {
        /// For how long.
        waited: Duration,
    },
    /// Pods ended and were given up, for instance evicted.
    PodFailed {
        /// One word, such as `Evicted`.
        word: String,
    },
    /// Pods are starting and do not complain.
    Starting,
    /// Pods are ready, but not for long enough yet.
    MinReady {
        /// How long they must be.
        seconds: i32,
        /// When the first of them has been.
        next: Option<Timestamp>,
    },
    /// Pods of this set are on their way out.
    Terminating {
        /// How long the slowest is past its time.
        overdue: Option<Duration>,
        /// Who has to agree before they go.
        finalizers: Vec<String>,
    },
    /// `Recreate` waits until no old pod is left.
    OldPods {
        /// How many are.
        remaining: i64,
    },
    /// A quota does not allow any more.
    Quota {
        /// Its name.
        quota: String,
    },
    /// Pods cannot be created, for another reason.
    CreateRefused {
        /// The controller's word for it.
        word: String,
    },
    /// The new ReplicaSet cannot be created.
    SetRefused,
    /// The selector also means what belongs to somebody else.
    SelectorConflict {
        /// Who that is, such as `deployment/other`.
        with: Vec<String>,
    },
    /// A field that cannot be followed.
    InvalidField {
        /// Which one.
        field: &'static str,
    },
    /// As many pods as the surge allows are there.
    SurgeLimit {
        /// Pods wanted over all sets.
        total: i64,
        /// The most there may be.
        limit: i64,
    },
    /// No old pod may go before a new one is available.
    AvailabilityFloor {
        /// Pods available.
        available: i64,
        /// The fewest there may be.
        minimum: i64,
    },
    /// `Recreate` with several sets cannot be scaled.
    ScalingRecreate {
        /// How many sets are active.
        active: usize,
    },
    /// A controller has not reacted to a change yet.
    NotSeen {
        /// To a change of what.
        kind: &'static str,
        /// For how long.
        waited: Option<Duration>,
    },
    /// A controller is about to do something.
    OwnWrites,
    /// The Deployment is paused.
    Paused,
    /// The Deployment is being deleted.
    Deleting {
        /// Who has to agree first.
        finalizers: Vec<String>,
    },
}

/// What a probe finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probed {
    /// Whether a container has started.
    Startup,
    /// Whether it serves.
    Readiness,
    /// Whether it lives.
    Liveness,
}

impl Probed {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Readiness => "readiness",
            Self::Liveness => "liveness",
        }
    }
}

impl Reason {
    /// A word for machines, which stays what it is.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ImagePull { .. } => "ImagePull",
            Self::CrashLoop { .. } => "CrashLoop",
            Self::OutOfMemory { .. } => "OutOfMemory",
            Self::ContainerConfig { .. } => "ContainerConfig",
            Self::PodSetup { .. } => "PodSetup",
            Self::ProbeFailing { probe: Probed::Startup, .. } => "StartupProbe",
            Self::ProbeFailing { probe: Probed::Readiness, .. } => "ReadinessProbe",
            Self::ProbeFailing { probe: Probed::Liveness, .. } => "LivenessProbe",
            Self::ReadinessGate { .. } => "ReadinessGate",
            Self::Unschedulable => "Unschedulable",
            Self::SchedulingGate { .. } => "SchedulingGate",
            Self::NoScheduler { .. } => "NoScheduler",
            Self::NodeSilent { .. } => "NodeSilent",
            Self::PodFailed { .. } => "PodFailed",
            Self::Starting => "Starting",
            Self::MinReady { .. } => "MinReadySeconds",
            Self::Terminating { .. } => "Terminating",
            Self::OldPods { .. } => "OldPods",
            Self::Quota { .. } => "Quota",
            Self::CreateRefused { .. } => "CreateRefused",
            Self::SetRefused => "ReplicaSetRefused",
            Self::SelectorConflict { .. } => "SelectorConflict",
            Self::InvalidField { .. } => "InvalidField",
            Self::SurgeLimit { .. } => "SurgeLimit",
            Self::AvailabilityFloor { .. } => "AvailabilityFloor",
            Self::ScalingRecreate { .. } => "ScalingRecreate",
            Self::NotSeen { .. } => "NotSeen",
            Self::OwnWrites => "OwnWrites",
            Self::Paused => "Paused",
            Self::Deleting { .. } => "Deleting",
        }
    }

    /// What it is, in a few words that begin in lower case.
    pub fn sentence(&self, now: Timestamp) -> String {
        match self {
            Self::ImagePull { container, image } => {
                format!("image {image} cannot be pulled (container {container})")
            }
            Self::CrashLoop { container, restarts, exit } => {
                let ending = exit.as_ref().map(|exit| format!(", last with {}", ending(exit)));
                let times = count((*restarts).into(), "restart");
                format!(
                    "container {container} crashes again and again: {times}{}",
                    ending.unwrap_or_default()
                )
            }
            Self::OutOfMemory { container, restarts } => {
                let times = count((*restarts).into(), "restart");
                format!("container {container} is killed for using too much memory (OOMKilled): {times}")
            }
            Self::ContainerConfig { container, word } => {
                format!("container {container} cannot be made: {word}")
            }
            Self::PodSetup { word } => format!("the node cannot set up the pod: {word}"),
            Self::ProbeFailing { probe, container, question } => {
                let question = Some(question).filter(|question| !question.is_empty());
                let asked = question.map(|question| format!(" ({question})")).unwrap_or_default();
                format!("the {} probe of container {container} fails{asked}", probe.as_str())
            }
            Self::ReadinessGate { gates } => format!("readiness gate {} is not met", gates.join(", ")),
            Self::Unschedulable => "no node takes the pod".to_owned(),
            Self::SchedulingGate { gates } => {
                format!("scheduling gate {} has not been removed", gates.join(", "))
            }
            Self::NoScheduler { waited } => {
                format!("nobody has looked for a node for {}: does a scheduler run?", span(*waited))
            }
            Self::NodeSilent { waited } => {
                format!("the node has not said anything about the pod for {}", span(*waited))
            }
            Self::PodFailed { word } => format!("the pod has failed: {word}"),
            Self::Starting => "starting, without complaints".to_owned(),
            Self::MinReady { seconds, next } => {
                let next = next.map(|next| format!("; the next counts in {}", span(next.since(now))));
                format!("ready, but must be for {seconds}s (minReadySeconds){}", next.unwrap_or_default())
            }
            Self::Terminating { overdue, finalizers } => match (overdue, finalizers.as_slice()) {
                (_, [_, ..]) => format!("still there, held by finalizer {}", finalizers.join(", ")),
                (Some(overdue), []) => format!("still there, {} past their time to go", span(*overdue)),
                (None, []) => "shutting down".to_owned(),
            },
            Self::OldPods { remaining } => {
                format!("Recreate: {} must be gone before new ones come", count(*remaining, "old pod"))
            }
            Self::Quota { quota } => format!("quota {quota} allows no more"),
            Self::CreateRefused { word } => format!("pods cannot be created ({word})"),
            Self::SetRefused => "the new ReplicaSet cannot be created".to_owned(),
            Self::SelectorConflict { with } => {
                format!("the selector also matches what belongs to {}", with.join(", "))
            }
            Self::InvalidField { field } => format!("{field} cannot be followed"),
            Self::SurgeLimit { total, limit } => {
                format!("no pod may be added: {total} wanted of at most {limit}")
            }
            Self::AvailabilityFloor { available, minimum } => {
                format!("no old pod may go: {available} available of at least {minimum}")
            }
            Self::ScalingRecreate { active } => {
                format!("{active} ReplicaSets are active, which the strategy Recreate cannot scale")
            }
            Self::NotSeen { kind, waited } => {
                let waited = waited.map(|waited| format!(" for {}", span(waited))).unwrap_or_default();
                format!("no controller has reacted to the {kind}'s last change{waited}")
            }
            Self::OwnWrites => "the controller is about to take the next step".to_owned(),
            Self::Paused => "the Deployment is paused".to_owned(),
            Self::Deleting { finalizers } if finalizers.is_empty() => {
                "the Deployment is being deleted".to_owned()
            }
            Self::Deleting { finalizers } => {
                format!("the Deployment is being deleted, and held by finalizer {}", finalizers.join(", "))
            }
        }
    }

    /// What would help, if a person can do something; `pod` is one that suffers from it.
    pub fn advice(&self, pod: Option<&Name>) -> Option<String> {
        let advice = match self {
            Self::ImagePull { image, .. } => {
                format!("correct the image {image}, push it, or give the pods a pull secret that may read it")
            }
            Self::CrashLoop { container, .. } => {
                let pod = pod.map_or("POD", Name::as_str);
                format!("read why it ends: kubectl logs {pod} -c {container} --previous")
            }
            Self::OutOfMemory { container, .. } => {
                format!("raise the memory limit of container {container}, or make it use less")
            }
            Self::ContainerConfig { container, .. } => {
                format!(
                    "create the ConfigMap, Secret or key that container {container} names, or correct the name"
                )
            }
            Self::PodSetup { .. } => "see that the volumes exist and the node can reach them".to_owned(),
            Self::ProbeFailing { probe, container, .. } => {
                let probe = probe.as_str();
                format!("make container {container} answer its {probe} probe, or correct the probe")
            }
            Self::ReadinessGate { gates } => {
                format!("see that whoever sets the condition {} is running", gates.join(", "))
            }
            Self::Unschedulable => {
                "add or free nodes, or ask for less: requests, node selector, affinity, tolerations"
                    .to_owned()
            }
            Self::SchedulingGate { gates } => {
                format!("see that whoever removes the gate {} is running", gates.join(", "))
            }
            Self::NoScheduler { .. } => "start a scheduler, or correct spec.schedulerName".to_owned(),
            Self::NodeSilent { .. } => "see whether the node is up".to_owned(),
            Self::Terminating { finalizers, .. } | Self::Deleting { finalizers }
                if !finalizers.is_empty() =>
            {
                format!("see that whoever removes the finalizer {} is running", finalizers.join(", "))
            }
            Self::Terminating { overdue: Some(_), .. } => {
                "see whether the node of these pods is up".to_owned()
            }
            Self::Quota { quota } => {
                format!(
                    "raise the quota {quota}, or make room: delete pods, or ask for fewer or smaller ones"
                )
            }
            Self::CreateRefused { .. } | Self::SetRefused => "do what the API's answer asks for".to_owned(),
            Self::InvalidField { field } => format!("correct {field}"),
            Self::ScalingRecreate { .. } => {
                "set the number of replicas back, or the strategy to RollingUpdate".to_owned()
            }
            Self::NotSeen { kind, .. } => format!("see that the {kind} controller is running"),
            _ => return None,
        };
        Some(advice)
    }

    /// The container concerned.
    pub fn container(&self) -> Option<&str> {
        match self {
            Self::ImagePull { container, .. }
            | Self::CrashLoop { container, .. }
            | Self::OutOfMemory { container, .. }
            | Self::ContainerConfig { container, .. }
            | Self::ProbeFailing { container, .. } => Some(container),
            _ => None,
        }
    }

    /// Takes over from the same reason of another pod what is worse there; `false` if it is another reason.
    pub(super) fn absorb(&mut self, other: &Self) -> bool {
        match (&mut *self, other) {
            (
                Self::CrashLoop { container, restarts, exit },
                Self::CrashLoop { container: c, restarts: r, exit: e },
            ) if container == c => {
                if r > restarts {
                    *restarts = *r;
                    exit.clone_from(e);
                }
                true
            }
            (Self::OutOfMemory { container, restarts }, Self::OutOfMemory { container: c, restarts: r })
                if container == c =>
            {
                *restarts = (*restarts).max(*r);
                true
            }
            (Self::NoScheduler { waited }, Self::NoScheduler { waited: w })
            | (Self::NodeSilent { waited }, Self::NodeSilent { waited: w }) => {
                *waited = (*waited).max(*w);
                true
            }
            (Self::MinReady { next, .. }, Self::MinReady { next: n, .. }) => {
                *next = [*next, *n].into_iter().flatten().min();
                true
            }
            (Self::Terminating { overdue, finalizers }, Self::Terminating { overdue: o, finalizers: f })
                if finalizers == f =>
            {
                *overdue = (*overdue).max(*o);
                true
            }
            (this, other) => *this == *other,
        }
    }
}

fn ending(exit: &Exit) -> String {
    match exit.reason.as_str() {
        "" | "Error" | "Completed" => format!("exit code {}", exit.code),
        reason => format!("exit code {} ({reason})", exit.code),
    }
}

/// A name for a message about an owner, such as `deployment/other`.
pub(super) fn owner_name(kind: &str, name: &Name) -> String {
    format!("{}/{name}", kind.to_lowercase())
}
