//! The actions of a container runtime for a pod, and its reports.

use std::time::Duration;

use gantry_model::Timestamp;

use super::pod::KILLED;
use super::resize::ContainerAmounts;

/// An action that a container runtime carries out. Its result is a [`RuntimeReport`](super::RuntimeReport).
///
/// Simulated nodes have none: the result of an action is computed from the behaviour of the container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuntimeAction {
    /// Mount the volumes and create the sandbox.
    CreateSandbox {
        /// How many sandboxes the pod has had before.
        attempt: u32,
    },
    /// Stop the sandbox and unmount the volumes; neither need exist.
    StopSandbox,
    /// Find out whether the image of a container is on the node.
    InspectImage {
        /// The name of the container.
        container: String,
    },
    /// Pull the image of a container.
    PullImage {
        /// The name of the container.
        container: String,
    },
    /// Create and start a container, and run its hook.
    StartContainer {
        /// The name of the container.
        container: String,
        /// How many times it was started before.
        attempt: i32,
        /// The resources that the node has allocated for it.
        amounts: ContainerAmounts,
    },
    /// Change the resources of a running container.
    ResizeContainer {
        /// The name of the container.
        container: String,
        /// The container's ID, which the report repeats.
        id: String,
        /// The new resources.
        amounts: ContainerAmounts,
    },
    /// Run the hook of a container, signal it, and kill it if it still runs after the grace period.
    StopContainer {
        /// The name of the container.
        container: String,
        /// The grace period.
        grace: Duration,
    },
    /// Run a probe.
    Probe {
        /// The name of the container.
        container: String,
        /// Which of its probes.
        probe: ContainerProbe,
        /// The container's ID, which the report repeats.
        id: String,
    },
}

gantry_formats::text_enum! {
    /// A probe of a container.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ContainerProbe {
        /// The startup probe.
        Startup = "startup",
        /// The readiness probe.
        Readiness = "readiness",
        /// The liveness probe.
        Liveness = "liveness",
    }

    pub(super) const ALL: [Self; 3];
    /// Returns its name in messages.
    pub fn name(self) -> &'static str;
}

impl ContainerProbe {
    /// Returns its name at the beginning of messages.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Startup => "Startup",
            Self::Readiness => "Readiness",
            Self::Liveness => "Liveness",
        }
    }
}

/// Why a node ends a pod for its use of a resource, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// A kubelet's message.
    pub message: String,
    /// How long the containers have to end, at most.
    pub grace: Duration,
    /// Whether the node has too little of the resource; otherwise the pod uses more than its own limit.
    pub is_disruption: bool,
}

impl Eviction {
    /// How long the containers have to end if the node cannot wait.
    pub const GRACE: Duration = Duration::from_secs(1);
}

/// A report of a container runtime about a pod: the result of an action, or an event without one, such as an exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuntimeReport {
    /// A sandbox was created or could not be created.
    Sandbox(Result<(), SandboxFailure>),
    /// The sandbox does not work any more, for example because the machine was restarted.
    SandboxLost,
    /// The sandbox was stopped and the volumes were unmounted.
    SandboxStopped,
    /// Whether an image is on the node.
    Image {
        /// The name of the container.
        container: String,
        /// Whether its image is present.
        present: bool,
    },
    /// An image was pulled, or could not be pulled.
    Pulled {
        /// The name of the container.
        container: String,
        /// The runtime's message if it failed.
        result: Result<PulledImage, String>,
    },
    /// A container was started, or could not be started.
    Started {
        /// The name of the container.
        container: String,
        /// The started container.
        result: Result<StartedContainer, StartFailure>,
    },
    /// A container has exited.
    Exited {
        /// The name of the container.
        container: String,
        /// The exit.
        exit: ContainerExit,
    },
    /// The node ends the pod for its use of a resource.
    Evicted(Eviction),
    /// The node does not accept the pod, and has started nothing of it.
    Rejected(PodRejection),
    /// The resources of a container were changed, or could not be changed.
    Resized {
        /// The name of the container.
        container: String,
        /// The ID that the action named.
        id: String,
        /// The runtime's message if it failed.
        result: Result<(), String>,
    },
    /// A probe has run.
    Probed {
        /// The name of the container.
        container: String,
        /// The ID that the action named.
        id: String,
        /// Which probe.
        probe: ContainerProbe,
        /// Its result.
        result: ProbeResult,
    },
}

/// Why a node does not accept a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRejection {
    /// The reason of its status and of the event.
    pub reason: &'static str,
    /// The message of the event.
    pub message: String,
}

/// Why a sandbox could not be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SandboxFailure {
    /// Volumes could not be mounted: each with the reason.
    Mounts(Vec<(String, String)>),
    /// The runtime's message.
    Runtime(String),
}

/// A pulled image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PulledImage {
    /// How long the pull took.
    pub took: Duration,
    /// How long it took, including the time of waiting for other pulls.
    pub with_waiting: Duration,
    /// The size in bytes.
    pub bytes: u64,
}

/// A container that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedContainer {
    /// Its identity in the status.
    pub identity: ContainerIdentity,
    /// When it was started.
    pub since: Timestamp,
}

/// The ID and the image of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerIdentity {
    /// Its ID with the name of the runtime: `containerd://abc`.
    pub id: String,
    /// Its image as the runtime names it.
    pub image: String,
    /// The ID of its image.
    pub image_id: String,
}

/// The exit of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerExit {
    /// Its ID with the name of the runtime.
    pub id: String,
    /// The exit code.
    pub code: i32,
    /// The runtime's reason.
    pub reason: String,
    /// Its termination message.
    pub message: Option<String>,
    /// When it was started.
    pub started: Timestamp,
    /// When it ended.
    pub finished: Timestamp,
}

impl ContainerExit {
    /// Returns the exit of a container that the runtime does not have any more.
    pub fn unknown(id: String, now: Timestamp) -> Self {
        let message = "The container could not be located when the pod was terminated".to_owned();
        Self {
            id,
            code: KILLED,
            reason: "ContainerStatusUnknown".to_owned(),
            message: Some(message),
            started: now,
            finished: now,
        }
    }
}

/// Why a container could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartFailure {
    /// The step that failed.
    pub step: StartStep,
    /// The reason.
    pub message: String,
}

/// A step of starting a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartStep {
    /// Computation of its configuration from the pod.
    Configuration,
    /// Its creation.
    Create,
    /// Its start, after which it exists; then its identity and its exit are known.
    Start(ContainerIdentity, Option<ContainerExit>),
    /// Its hook after the start, for which it was killed.
    PostStartHook(ContainerIdentity, Option<ContainerExit>),
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeResult {
    /// It passed.
    Success,
    /// It failed, with this output.
    Failure(String),
    /// It could not be run, which counts as neither.
    Unknown(String),
}
