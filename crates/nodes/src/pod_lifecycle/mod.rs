//! The lifecycle of a pod on its node: what a kubelet would do now, what it would report, and when it would sync again.
//!
//! ```text
//! Pod (spec and behaviour) + PodRun (runtime state) + now ─► needed: objects to look up
//!    + what was found of them ─► sync ─► PodSyncResult: PodRun, status, events, actions, wake-up, completion
//! ```
//!
//! The pods of simulated nodes and those of container runtimes take the same steps. The result of a step is computed
//! from the behaviour of a simulated container; a container runtime gets a [`RuntimeAction`] and responds with a
//! [`RuntimeReport`], which [`PodRun::receive`] applies. See decision 0048.
//!
//! A [`PodRun`] begins when a node first sees a pod and can be recovered from the last reported status, so that no other
//! state is needed. A late sync carries out all overdue steps at its own time; times in the past are never reported.
//!
//! *Invariant:* no clock, no client, no randomness but that seeded by the pod's uid.

mod actions;
mod container_run;
mod dependencies;
mod exits;
mod image_name;
mod messages;
mod observed;
mod pod;
mod pod_run;
mod probes;
mod readiness;
mod receive;
mod recover;
mod resize;
mod resume;
mod simulated;
mod status;

#[cfg(test)]
mod tests;

pub use actions::{
    ContainerExit, ContainerIdentity, ContainerProbe, Eviction, PodRejection, ProbeResult, PulledImage,
    RuntimeAction, RuntimeReport, SandboxFailure, StartFailure, StartStep, StartedContainer,
};
pub use dependencies::{Lookup, Reference, ReferenceKind, References};
pub(crate) use messages::invalid_annotation;
pub use pod::{Pod, ephemeral_as_container};
pub use pod_run::PodRun;
pub use resize::{ContainerAmounts, NodeCapacity, ResourceCapacity};
pub use resume::{FoundContainer, FoundPod};
pub use status::simulated_container_id;
pub(crate) use status::{RESIZE_IN_PROGRESS, RESIZE_PENDING};

use std::collections::BTreeSet;

use gantry_model::{Event, Timestamp};
use k8s_openapi::api::core::v1::PodStatus;

/// The resources that a node provides to a pod.
#[derive(Clone, Copy, Debug)]
pub struct NodeContext<'a> {
    /// The node's own address.
    pub address: &'a str,
    /// The pod's address, unless it uses the host network.
    pub pod_address: &'a str,
    /// The images on the node.
    pub images: &'a BTreeSet<String>,
    /// The results of looking up the objects that [`needed`] lists.
    pub references: &'a References,
    /// The free resources of the node for a pod whose resources are changed; `None` if they do not matter.
    pub capacity: Option<NodeCapacity>,
}

/// The result of syncing a pod once.
#[derive(Clone, Debug)]
pub struct PodSyncResult {
    /// The new runtime state.
    pub run: PodRun,
    /// The status to report.
    pub status: PodStatus,
    /// The events to record.
    pub events: Vec<PodEvent>,
    /// The actions for the container runtime; none on simulated nodes.
    pub actions: Vec<RuntimeAction>,
    /// Images that were pulled to the node.
    pub pulled: Vec<String>,
    /// When to sync again if the pod does not change before; never if `None`.
    pub wake: Option<Timestamp>,
    /// Whether the pod has finished.
    pub completion: Completion,
}

/// An event, and the field of the pod that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodEvent {
    /// The event.
    pub event: Event,
    /// The field path, such as `spec.containers{web}`; `None` if it is about the whole pod.
    pub field: Option<String>,
}

/// Whether a pod has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// It has not.
    Active,
    /// All containers have ended; the object stays until it is deleted.
    Finished,
    /// All containers have ended because the object is being deleted; it is to be removed after the status was written.
    Remove,
}

/// Returns the objects that a sync at this time reads. They are looked up before, and passed with the [`NodeContext`].
pub fn needed(pod: &Pod, run: &PodRun, now: Timestamp) -> Vec<Reference> {
    run.needed(pod, now)
}

/// Carries out the steps that are due and computes the status to report.
pub fn sync(pod: &Pod, mut run: PodRun, node: &NodeContext<'_>, now: Timestamp) -> PodSyncResult {
    let mut output = pod_run::SyncOutput::default();
    run.advance(pod, node, now, &mut output);
    let status = status::status(pod, &mut run, node, now);
    let completion = run.completion(pod);
    let wake = if completion == Completion::Active { run.wake(pod, now) } else { None };
    let pod_run::SyncOutput { events, actions, pulled } = output;
    PodSyncResult { run, status, events, actions, pulled, wake, completion }
}
