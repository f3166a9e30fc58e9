//! All the reasons there are, with a code for machines. `sentence` has the words for people, `advice` what to do.

use std::time::Duration;

use gantry_model::{Name, Timestamp};

use super::missing::Missing;
use super::scheduling::Obstacle;
use crate::snapshot::Exit;

/// A reason for a rollout to be where it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// An image cannot be pulled.
    ImagePull {
        /// Which container wants it.
        container: String,
        /// The image.
        image: String,
        /// The node's word for it, such as `ErrImagePull`.
        word: String,
    },
    /// A container ends again and again.
    CrashLoop {
        /// Which one.
        container: String,
        /// How often it was started again, in the worst pod.
        restarts: i32,
        /// How it last ended.
        exit: Option<Exit>,
        /// Its memory limit, if it was killed and may have run into that.
        memory_limit: Option<String>,
    },
    /// A container is killed for using more memory than it may.
    OutOfMemory {
        /// Which one.
        container: String,
        /// How often it was started again, in the worst pod.
        restarts: i32,
        /// Its memory limit, if it has one.
        limit: Option<String>,
    },
    /// A container cannot be made from what the template says: a missing ConfigMap, Secret or key.
    ContainerConfig {
        /// Which one.
        container: String,
        /// The node's word for it.
        word: String,
        /// What is missing, if the node says so.
        missing: Option<Missing>,
    },
    /// A node cannot set up a pod: a volume, a network.
    PodSetup {
        /// The node's word for it.
        word: String,
        /// What is missing, if the node says so.
        missing: Option<Missing>,
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
    /// A pod waits for conditions that another controller has to set.
    ReadinessGate {
        /// Which ones.
        gates: Vec<String>,
    },
    /// No node takes a pod.
    Unschedulable {
        /// What the scheduler says against the nodes.
        obstacles: Vec<Obstacle>,
    },
    /// A pod may not be scheduled yet.
    SchedulingGate {
        /// Before these gates are removed.
        gates: Vec<String>,
    },
    /// No scheduler has looked for a node for a pod.
    NoScheduler {
        /// For how long.
        waited: Duration,
        /// The scheduler that the pod asks for, if it is not the cluster's own.
        scheduler: Option<String>,
    },
    /// A node has not said anything about a pod that it was given.
    NodeSilent {
        /// For how long.
        waited: Duration,
    },
    /// The node of a pod is not ready.
    NodeNotReady {
        /// Its name.
        node: String,
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
    /// Pods cannot be created because their service account does not exist.
    ServiceAccount {
        /// Its name.
        name: String,
    },
    /// Pods cannot be created, for another reason.
    CreateRefused {
        /// The controller's word for it.
        word: String,
    },
    /// The new ReplicaSet cannot be created.
    SetRefused,
    /// The selector also matches what belongs to other objects.
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
    /// The Deployment, or one of its ReplicaSets, is being deleted.
    Deleting {
        /// Which of the two kinds.
        kind: &'static str,
        /// What has to be removed from it first.
        finalizers: Vec<String>,
        /// For how long, if that is long.
        waited: Option<Duration>,
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
            Self::Unschedulable { .. } => "Unschedulable",
            Self::SchedulingGate { .. } => "SchedulingGate",
            Self::NoScheduler { .. } => "NoScheduler",
            Self::NodeSilent { .. } => "NodeSilent",
            Self::NodeNotReady { .. } => "NodeNotReady",
            Self::PodFailed { .. } => "PodFailed",
            Self::Starting => "Starting",
            Self::MinReady { .. } => "MinReadySeconds",
            Self::Terminating { .. } => "Terminating",
            Self::OldPods { .. } => "OldPods",
            Self::Quota { .. } => "Quota",
            Self::ServiceAccount { .. } => "ServiceAccount",
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

    /// Whether containers end that should run.
    pub(super) fn is_crash(&self) -> bool {
        matches!(self, Self::CrashLoop { .. } | Self::OutOfMemory { .. })
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
                Self::CrashLoop { container, restarts, exit, memory_limit },
                Self::CrashLoop { container: c, restarts: r, exit: e, memory_limit: m },
            ) if container == c => {
                if r > restarts {
                    *restarts = *r;
                    exit.clone_from(e);
                    memory_limit.clone_from(m);
                }
                true
            }
            (
                Self::OutOfMemory { container, restarts, .. },
                Self::OutOfMemory { container: c, restarts: r, .. },
            ) if container == c => {
                *restarts = (*restarts).max(*r);
                true
            }
            (Self::NoScheduler { waited, scheduler }, Self::NoScheduler { waited: w, scheduler: s })
                if scheduler == s =>
            {
                *waited = (*waited).max(*w);
                true
            }
            (Self::NodeSilent { waited }, Self::NodeSilent { waited: w }) => {
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

/// A name for a message about an owner, such as `deployment/other`.
pub(super) fn owner_name(kind: &str, name: &Name) -> String {
    format!("{}/{name}", kind.to_lowercase())
}
