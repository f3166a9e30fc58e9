//! The sandboxes and containers of this node's pods in the container runtime.

use std::collections::BTreeMap;

use gantry_cri::wire::{self, PodSandboxState, RuntimeContainerState};
use gantry_cri::{Runtime, RuntimeError};
use gantry_model::Timestamp;
use gantry_nodes::pod_lifecycle::{ContainerExit, ContainerIdentity, FoundContainer};

use crate::labels;

/// The sandboxes and containers of this node, by the uid of their pod.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuntimePods(pub(crate) BTreeMap<String, RuntimePod>);

/// The sandboxes and containers of one pod, the latest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuntimePod {
    pub(crate) sandboxes: Vec<wire::PodSandbox>,
    pub(crate) containers: Vec<wire::RuntimeContainer>,
}

impl RuntimePods {
    /// Lists the sandboxes and containers with the label of this owner.
    pub(crate) async fn list(runtime: &Runtime, owner: &str) -> Result<Self, RuntimeError> {
        let mut pods: BTreeMap<String, RuntimePod> = BTreeMap::new();
        let uid = |labels: &BTreeMap<String, String>| {
            let is_ours = labels.get(labels::OWNER).is_some_and(|label| label == owner);
            is_ours.then(|| labels.get(labels::POD_UID).cloned()).flatten()
        };
        for sandbox in runtime.sandboxes().await? {
            if let Some(uid) = uid(&sandbox.labels) {
                pods.entry(uid).or_default().sandboxes.push(sandbox);
            }
        }
        for container in runtime.containers().await? {
            if let Some(uid) = uid(&container.labels) {
                pods.entry(uid).or_default().containers.push(container);
            }
        }
        for holdings in pods.values_mut() {
            holdings.sandboxes.sort_by_key(|sandbox| std::cmp::Reverse(sandbox.created_at));
            holdings.containers.sort_by_key(|container| std::cmp::Reverse(container.created_at));
        }
        Ok(Self(pods))
    }
}

impl RuntimePod {
    /// Returns the latest sandbox if it works.
    pub(crate) fn ready_sandbox(&self) -> Option<&wire::PodSandbox> {
        self.sandboxes.first().filter(|sandbox| sandbox.state() == PodSandboxState::Ready)
    }

    /// Returns the latest container of each name.
    pub(crate) fn latest(&self) -> BTreeMap<&str, &wire::RuntimeContainer> {
        let mut latest = BTreeMap::new();
        for container in &self.containers {
            latest.entry(container_name(container)).or_insert(container);
        }
        latest
    }

    /// Returns the ended containers that are no longer needed: all but the latest two of each name.
    pub(crate) fn superfluous(&self) -> Vec<&wire::RuntimeContainer> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let mut superfluous = Vec::new();
        for container in &self.containers {
            let count = seen.entry(container_name(container)).or_default();
            *count += 1;
            if *count > 2 && container.state() == RuntimeContainerState::Exited {
                superfluous.push(container);
            }
        }
        superfluous
    }
}

fn container_name(container: &wire::RuntimeContainer) -> &str {
    container.labels.get(labels::CONTAINER_NAME).map_or("", String::as_str)
}

/// Returns the ID, with the name of the runtime, and the image of a container.
pub(crate) fn identity(status: &wire::ContainerStatus, runtime: &str) -> ContainerIdentity {
    ContainerIdentity {
        id: format!("{runtime}://{}", status.id),
        image: status.image.clone().unwrap_or_default().image,
        image_id: status.image_ref.clone(),
    }
}

/// Returns the exit of a container; `None` if it is running. `message` is its termination message.
pub(crate) fn exit(
    status: &wire::ContainerStatus,
    runtime: &str,
    message: impl FnOnce() -> Option<String>,
) -> Option<ContainerExit> {
    if status.state() != RuntimeContainerState::Exited {
        return None;
    }
    let reported = Some(status.message.clone()).filter(|message| !message.is_empty());
    let finished = Timestamp::from_nanos(status.finished_at);
    Some(ContainerExit {
        id: format!("{runtime}://{}", status.id),
        code: status.exit_code,
        reason: status.reason.clone(),
        message: message().or(reported),
        // A container that could not be started has no start time.
        started: if status.started_at == 0 {
            Timestamp::EPOCH
        } else {
            Timestamp::from_nanos(status.started_at)
        },
        finished,
    })
}

/// Returns the state of a container that a restarted agent finds.
pub(crate) fn found(
    status: &wire::ContainerStatus,
    runtime: &str,
    message: impl FnOnce() -> Option<String>,
) -> FoundContainer {
    let metadata = status.metadata.clone().unwrap_or_default();
    FoundContainer {
        name: metadata.name,
        attempt: i32::try_from(metadata.attempt).unwrap_or(i32::MAX),
        identity: identity(status, runtime),
        started: Timestamp::from_nanos(status.started_at),
        exit: exit(status, runtime, message),
    }
}
