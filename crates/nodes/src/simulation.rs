//! The simulation of pods on simulated nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

use gantry_decide::events::Subject;
use gantry_model::{Event, Timestamp};
use gantry_runtime::Informer;
use k8s_openapi::api::core::v1 as core;

use crate::behaviour::Profile;
use crate::node_state::NodeState;
use crate::pod_lifecycle::{Pod, PodRun, RuntimeAction};
use crate::pod_workers::{CachedPod, NodeRuntime, is_over};

/// The component that events name as their source.
const EVENT_SOURCE: &str = "kubelet";

/// Runs pods on simulated nodes, according to their behaviour.
#[derive(Debug)]
pub(crate) struct Simulation {
    pub(crate) node_states: Arc<BTreeMap<String, NodeState>>,
    pub(crate) profile: Profile,
}

/// The node and the address of a pod.
#[derive(Debug)]
pub(crate) struct SimulatedPodResources {
    node: String,
    address: Ipv4Addr,
}

impl Simulation {
    fn node(&self, resources: &SimulatedPodResources) -> Option<&NodeState> {
        self.node_states.get(&resources.node)
    }
}

impl NodeRuntime for Simulation {
    type PodResources = SimulatedPodResources;

    fn parse(&self, pod: &core::Pod) -> (Pod, Vec<Event>) {
        Pod::parse(pod, &self.profile)
    }

    fn accept(
        &self,
        object: &CachedPod,
        pod: &Pod,
        pods: &Informer<CachedPod>,
        now: Timestamp,
    ) -> Option<(SimulatedPodResources, PodRun)> {
        let name = object.wire.spec.as_ref()?.node_name.clone()?;
        let node = self.node_states.get(&name)?;
        let fallback = core::PodStatus::default();
        let reported = object.wire.status.as_ref().unwrap_or(&fallback);
        node.add_images(pulled_images(&object.wire, reported));
        if is_over(&object.wire) {
            return None;
        }
        let address = node.allocate_address(reported.pod_ip.as_deref(), || pod_addresses(pods, &name));
        Some((SimulatedPodResources { node: name, address }, PodRun::recover(pod, reported, now)))
    }

    fn release(&self, resources: SimulatedPodResources) {
        if let Some(node) = self.node(&resources) {
            node.release_address(resources.address);
        }
    }

    fn is_failed(&self, resources: &SimulatedPodResources) -> bool {
        self.node(resources).is_some_and(NodeState::is_failed)
    }

    fn addresses(&self, resources: &SimulatedPodResources) -> (String, String) {
        let node = self.node(resources).map(|node| node.spec.address().to_string());
        (node.unwrap_or_default(), resources.address.to_string())
    }

    fn images(&self, resources: &SimulatedPodResources) -> BTreeSet<String> {
        self.node(resources).map(NodeState::images).unwrap_or_default()
    }

    fn add_images(&self, resources: &SimulatedPodResources, images: Vec<String>) {
        if let Some(node) = self.node(resources) {
            node.add_images(images);
        }
    }

    fn observe(&self, _: &mut SimulatedPodResources, _: &Pod, _: &mut PodRun, _: Timestamp) {}

    fn carry_out(&self, _: &mut SimulatedPodResources, _: &Arc<CachedPod>, _: Vec<RuntimeAction>) {}

    fn record(&self, resources: &SimulatedPodResources, subject: Subject, event: Event) {
        if let Some(node) = self.node(resources) {
            node.events.record(EVENT_SOURCE, subject, event);
        }
    }
}

/// Returns the reported addresses of the pods on a node.
fn pod_addresses(pods: &Informer<CachedPod>, node: &str) -> Vec<String> {
    let pods = pods.read();
    let pods = pods
        .iter()
        .filter(|pod| pod.wire.spec.as_ref().is_some_and(|spec| spec.node_name.as_deref() == Some(node)));
    pods.filter_map(|pod| pod.wire.status.as_ref()?.pod_ip.clone()).collect()
}

/// Returns the images of containers that have run, which are therefore on the node.
fn pulled_images(pod: &core::Pod, status: &core::PodStatus) -> Vec<String> {
    let spec = pod.spec.as_ref();
    let containers =
        spec.into_iter().flat_map(|spec| spec.init_containers.iter().flatten().chain(&spec.containers));
    let statuses: Vec<_> =
        status.init_container_statuses.iter().chain(&status.container_statuses).flatten().collect();
    let ran = |name: &str| statuses.iter().any(|status| status.name == name && !status.image_id.is_empty());
    containers
        .filter(|container| ran(&container.name))
        .filter_map(|container| container.image.clone())
        .collect()
}
