//! All reasons, with a stable code. `summary_line` has the text, `advice` what to do.

use std::time::Duration;

use gantry_model::{Name, Timestamp};

use super::missing::Missing;
use super::scheduling::Obstacle;
use crate::snapshot::Exit;

/// A reason for the state of a rollout.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// An image cannot be pulled.
    ImagePull {
        /// The container.
        container: String,
        /// The image.
        image: String,
        /// The kubelet's reason, such as `ErrImagePull`.
        cluster_reason: String,
    },
    /// A container exits repeatedly.
    CrashLoop {
        /// The container.
        container: String,
        /// The number of restarts, in the worst pod.
        restarts: i32,
        /// Its last exit.
        exit: Option<Exit>,
        /// Its memory limit, if it was killed and may have exceeded that.
        memory_limit: Option<String>,
    },
    /// A container is OOM-killed.
    OutOfMemory {
        /// The container.
        container: String,
        /// The number of restarts, in the worst pod.
        restarts: i32,
        /// Its memory limit, if it has one.
        limit: Option<String>,
    },
    /// A container cannot be created: a missing ConfigMap, Secret or key.
    ContainerConfig {
        /// The container.
        container: String,
        /// The kubelet's reason.
        cluster_reason: String,
        /// What is missing, if the kubelet reports it.
        missing: Option<Missing>,
    },
    /// A kubelet cannot set up a pod: a volume, a network.
    PodSetup {
        /// The kubelet's reason.
        cluster_reason: String,
        /// What is missing, if the kubelet reports it.
        missing: Option<Missing>,
    },
    /// A probe fails.
    ProbeFailing {
        /// The kind of the probe.
        probe: ProbeKind,
        /// The container.
        container: String,
        /// What is probed.
        check: String,
    },
    /// Readiness gates without a true condition.
    ReadinessGate {
        /// The gates.
        gates: Vec<String>,
    },
    /// No node fits a pod.
    Unschedulable {
        /// The scheduler's reasons.
        obstacles: Vec<Obstacle>,
    },
    /// A pod has scheduling gates.
    SchedulingGate {
        /// The gates.
        gates: Vec<String>,
    },
    /// No scheduler has reported anything about a pod.
    NoScheduler {
        /// For how long.
        waited: Duration,
        /// The pod's scheduler, if it is not the default one.
        scheduler: Option<String>,
    },
    /// A kubelet has not reported anything about a pod.
    NodeSilent {
        /// For how long.
        waited: Duration,
    },
    /// The node of a pod is not ready.
    NodeNotReady {
        /// Its name.
        node: String,
    },
    /// Pods have failed, for instance because of an eviction.
    PodFailed {
        /// The reason, such as `Evicted`.
        cluster_reason: String,
    },
    /// Pods are starting, without errors.
    Starting,
    /// Pods are ready, but not for `minReadySeconds` yet.
    MinReady {
        /// `minReadySeconds`.
        seconds: i32,
        /// When the first of them becomes available.
        next: Option<Timestamp>,
    },
    /// Pods of this set are terminating.
    Terminating {
        /// How long the slowest is past its grace period.
        overdue: Option<Duration>,
        /// The finalizers that delay it.
        finalizers: Vec<String>,
    },
    /// `Recreate` waits until no old pod is left.
    OldPods {
        /// How many there are.
        remaining: i64,
    },
    /// A quota is exceeded.
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
        /// The controller's reason.
        cluster_reason: String,
    },
    /// The new ReplicaSet cannot be created.
    SetRefused,
    /// The selector also matches objects of other owners.
    SelectorConflict {
        /// The owners, such as `deployment/other`.
        with: Vec<String>,
    },
    /// A field with an invalid value.
    InvalidField {
        /// The field.
        field: &'static str,
    },
    /// The surge limit is reached.
    SurgeLimit {
        /// The sum of the sizes of all sets.
        total: i64,
        /// The maximum number of pods.
        limit: i64,
    },
    /// The availability floor is reached.
    AvailabilityFloor {
        /// Pods available.
        available: i64,
        /// The minimum number of available pods.
        minimum: i64,
    },
    /// `Recreate` with several sets cannot be scaled.
    ScalingRecreate {
        /// The number of active sets.
        active: usize,
    },
    /// A controller has not observed a change yet.
    NotSeen {
        /// The kind of the changed object.
        kind: &'static str,
        /// For how long.
        waited: Option<Duration>,
    },
    /// The next sync of a controller is about to change something.
    OwnWrites,
    /// The Deployment is paused.
    Paused,
    /// The Deployment, or one of its ReplicaSets, is being deleted.
    Deleting {
        /// The kind of the object that is being deleted.
        kind: &'static str,
        /// The finalizers that have to be removed first.
        finalizers: Vec<String>,
        /// For how long, if that is long.
        waited: Option<Duration>,
    },
}

gantry_model::text_enum! {
    /// The kind of a probe.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ProbeKind {
        /// Whether a container has started.
        Startup = "startup",
        /// Whether it is ready.
        Readiness = "readiness",
        /// Whether it must be restarted.
        Liveness = "liveness",
    }

    /// Its name in reports.
    pub fn as_str(self) -> &'static str;
}

impl Reason {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ImagePull { .. } => "ImagePull",
            Self::CrashLoop { .. } => "CrashLoop",
            Self::OutOfMemory { .. } => "OutOfMemory",
            Self::ContainerConfig { .. } => "ContainerConfig",
            Self::PodSetup { .. } => "PodSetup",
            Self::ProbeFailing { probe: ProbeKind::Startup, .. } => "StartupProbe",
            Self::ProbeFailing { probe: ProbeKind::Readiness, .. } => "ReadinessProbe",
            Self::ProbeFailing { probe: ProbeKind::Liveness, .. } => "LivenessProbe",
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

    /// Whether a container crashes.
    pub(super) fn is_crash(&self) -> bool {
        matches!(self, Self::CrashLoop { .. } | Self::OutOfMemory { .. })
    }

    /// The container of the reason, if any.
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

    /// Merges the same reason of another pod into this one; `false` if it is another reason.
    pub(super) fn merge(&mut self, other: &Self) -> bool {
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

/// An owner in a message, such as `deployment/other`.
pub(super) fn owner_name(kind: &str, name: &Name) -> String {
    format!("{}/{name}", kind.to_lowercase())
}
