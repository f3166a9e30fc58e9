//! Changes of the resources of a running pod.
//!
//! The spec has the desired resources. A node allocates them if it has the capacity, and then changes its containers one by
//! one, or restarts them if their policy requires that. The allocated and the actual resources are reported until both
//! are the desired ones.

use std::collections::{BTreeMap, BTreeSet};

use gantry_formats::quantity::Quantity;
use gantry_model::Timestamp;
use k8s_openapi::api::core::v1 as wire;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as WireQuantity;

use super::actions::{PodRejection, RuntimeAction};
use super::container_run::{ContainerContext, ContainerRun, Phase, sync_interval};
use super::pod::{Container, Role};
use super::pod_run::{PodRun, SyncOutput};
use super::{NodeContext, Pod, messages};

/// The requests and limits of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerAmounts {
    /// The requests by resource.
    pub requests: BTreeMap<String, String>,
    /// The limits by resource.
    pub limits: BTreeMap<String, String>,
}

impl ContainerAmounts {
    /// Parses the resources of a container.
    pub fn parse(resources: Option<&wire::ResourceRequirements>) -> Self {
        Self {
            requests: amounts(resources.and_then(|resources| resources.requests.as_ref())),
            limits: amounts(resources.and_then(|resources| resources.limits.as_ref())),
        }
    }

    /// Returns them as resources of a container.
    pub fn render(&self) -> wire::ResourceRequirements {
        wire::ResourceRequirements {
            claims: None,
            limits: rendered(&self.limits),
            requests: rendered(&self.requests),
        }
    }

    /// Returns the resources in which two differ.
    fn changed<'a>(&'a self, other: &'a Self) -> BTreeSet<&'a str> {
        let differs = |name: &&String| {
            self.requests.get(*name) != other.requests.get(*name)
                || self.limits.get(*name) != other.limits.get(*name)
        };
        let names = [&self.requests, &self.limits, &other.requests, &other.limits];
        names.into_iter().flat_map(BTreeMap::keys).filter(differs).map(String::as_str).collect()
    }
}

fn amounts(list: Option<&BTreeMap<String, WireQuantity>>) -> BTreeMap<String, String> {
    list.into_iter().flatten().map(|(name, amount)| (name.clone(), amount.0.clone())).collect()
}

pub(super) fn rendered(list: &BTreeMap<String, String>) -> Option<BTreeMap<String, WireQuantity>> {
    let rendered: BTreeMap<_, _> =
        list.iter().map(|(name, amount)| (name.clone(), WireQuantity(amount.clone()))).collect();
    (!rendered.is_empty()).then_some(rendered)
}

/// The amounts of a resource on a node, in billionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceCapacity {
    /// The amount that pods may request.
    pub allocatable: i128,
    /// The amount that the other pods of the node request.
    pub used: i128,
}

/// The resources of a node for a pod whose resources are changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCapacity {
    /// CPU.
    pub cpu: ResourceCapacity,
    /// Memory.
    pub memory: ResourceCapacity,
}

/// Why a change of resources is not allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PendingResize {
    /// The resource that is short.
    pub(super) resource: &'static str,
    pub(super) message: String,
}

/// The resources of a real container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ObservedAmounts {
    /// The resources that the node has allocated; `None` before the first sync.
    pub(super) allocated: Option<ContainerAmounts>,
    /// The resources that the container was started with, or was changed to since; `None` if it was not started.
    pub(super) actual: Option<ContainerAmounts>,
    pub(super) change: AmountsChange,
}

/// How far the change of a running container is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum AmountsChange {
    #[default]
    None,
    /// The runtime is changing it to this.
    Changing(ContainerAmounts),
    /// It is stopped to be started with other resources, whatever its restart policy.
    Restarting,
    /// The runtime could not change it; this is retried.
    Failed { until: Timestamp, why: String },
}

impl ObservedAmounts {
    fn is_done(&self) -> bool {
        self.actual.is_none() || self.allocated.is_none() || self.actual == self.allocated
    }

    /// Continues with the reported resources. The allocated ones are reported without limits.
    pub(super) fn recover(&mut self, wanted: &ContainerAmounts, reported: &wire::ContainerStatus) {
        let Some(resources) = &reported.resources else { return };
        let actual = ContainerAmounts::parse(Some(resources));
        let requests = amounts(reported.allocated_resources.as_ref());
        self.allocated = Some(if requests == wanted.requests {
            wanted.clone()
        } else {
            ContainerAmounts { requests, limits: actual.limits.clone() }
        });
        self.actual = Some(actual);
    }
}

impl PodRun {
    /// Whether a sync would allocate other resources, which depends on the capacity of the node.
    pub fn is_resize_wanted(&self, pod: &Pod) -> bool {
        pairs(pod, self).any(|(wanted, run)| {
            run.observed
                .as_ref()
                .and_then(|observed| observed.amounts.allocated.as_ref())
                .is_some_and(|allocated| allocated != wanted)
        })
    }

    /// Allocates the resources in the spec of a real pod, if the node has the capacity.
    pub(super) fn allocate(&mut self, pod: &Pod, node: &NodeContext<'_>, output: &mut SyncOutput) {
        if !pod.is_real() || self.stopping.is_some() {
            return;
        }
        let is_wanted = self.is_resize_wanted(pod);
        let refusal =
            if is_wanted { node.capacity.and_then(|capacity| refusal(pod, &capacity)) } else { None };
        if let Some(refusal) = refusal {
            if self.pending_resize.as_ref() != Some(&refusal) {
                output.events.push(messages::resize_deferred(pod, &refusal));
            }
            self.pending_resize = Some(refusal);
        } else {
            self.pending_resize = None;
        }
        let is_refused = self.pending_resize.is_some();
        for (container, run) in pod.containers.iter().zip(&mut self.containers) {
            let Some(wanted) = container.wanted() else { continue };
            let amounts = &mut run.observed_mut().amounts;
            if amounts.allocated.is_none() || !is_refused {
                amounts.allocated = Some(wanted.clone());
            }
        }
        let is_begun = !self.is_resizing && !self.are_resizes_done();
        if is_begun {
            self.is_resizing = true;
            output.events.push(messages::resize_started(pod));
        }
    }

    /// Ends a change of resources when all containers have the allocated ones.
    pub(super) fn end_resize(&mut self, pod: &Pod, output: &mut SyncOutput) {
        if self.is_resizing && self.are_resizes_done() {
            self.is_resizing = false;
            if self.stopping.is_none() {
                output.events.push(messages::resize_completed(pod));
            }
        }
    }

    fn are_resizes_done(&self) -> bool {
        self.containers
            .iter()
            .filter(|run| run.is_running())
            .filter_map(|run| run.observed.as_ref())
            .all(|observed| observed.amounts.is_done())
    }

    /// Returns why a container could not be changed.
    pub(super) fn resize_error(&self) -> Option<&str> {
        let changes = self.containers.iter().filter_map(|run| Some(&run.observed.as_ref()?.amounts.change));
        changes.into_iter().find_map(|change| match change {
            AmountsChange::Failed { why, .. } => Some(why.as_str()),
            _ => None,
        })
    }

    /// Returns when a change that was refused or failed is retried.
    pub(super) fn resize_wake(&self, pod: &Pod, now: Timestamp) -> Option<Timestamp> {
        let pending = self.pending_resize.as_ref().map(|_| now.plus(sync_interval(pod)));
        let changes = self.containers.iter().filter_map(|run| Some(&run.observed.as_ref()?.amounts.change));
        let retries = changes.filter_map(|change| match change {
            AmountsChange::Failed { until, .. } => Some(*until),
            _ => None,
        });
        retries.chain(pending).filter(|_| self.stopping.is_none()).min()
    }
}

impl Container {
    /// Returns the resources in the spec of a real container.
    pub(super) fn wanted(&self) -> Option<&ContainerAmounts> {
        self.requested.as_ref().map(|requested| &requested.amounts)
    }

    fn is_restarted_for(&self, changed: &BTreeSet<&str>) -> bool {
        let policy = self.requested.as_ref().map(|requested| &requested.restarted_for);
        policy.is_some_and(|policy| changed.iter().any(|name| policy.contains(*name)))
    }
}

impl ContainerRun {
    /// Changes a running container to the allocated resources.
    pub(super) fn resize(&mut self, context: ContainerContext<'_>, output: &mut SyncOutput) {
        let ContainerContext { container, pod, now, .. } = context;
        let Phase::Running { since } = self.phase else { return };
        if container.behaviour.is_some() || self.stopping.is_some() {
            return;
        }
        let observed = self.observed_mut();
        let is_waiting = match &observed.amounts.change {
            AmountsChange::None => false,
            AmountsChange::Failed { until, .. } => *until > now,
            AmountsChange::Changing(_) | AmountsChange::Restarting => true,
        };
        if is_waiting || observed.amounts.is_done() {
            return;
        }
        let (Some(allocated), Some(actual)) = (&observed.amounts.allocated, &observed.amounts.actual) else {
            return;
        };
        let allocated = allocated.clone();
        if container.is_restarted_for(&allocated.changed(actual)) {
            observed.amounts.change = AmountsChange::Restarting;
            output.record(container, messages::resize_restart(&container.name));
            self.phase = Phase::Stopping { since, until: now, code: 0 };
            self.send_stop(pod.grace, context, output);
            return;
        }
        observed.amounts.change = AmountsChange::Changing(allocated.clone());
        let id = observed.current.identity.id.clone();
        output.actions.push(RuntimeAction::ResizeContainer {
            container: container.name.clone(),
            id,
            amounts: allocated,
        });
    }

    /// Applies the result of changing a container.
    pub(super) fn resized(
        &mut self,
        id: &str,
        result: Result<(), String>,
        pod: &Pod,
        now: Timestamp,
    ) -> bool {
        let observed = self.observed_mut();
        if observed.current.identity.id != id {
            return false;
        }
        let AmountsChange::Changing(amounts) = std::mem::take(&mut observed.amounts.change) else {
            return false;
        };
        match result {
            Ok(()) => observed.amounts.actual = Some(amounts),
            Err(why) => {
                observed.amounts.change = AmountsChange::Failed { until: now.plus(sync_interval(pod)), why };
            }
        }
        true
    }

    /// Whether it was stopped to be started with other resources.
    pub(super) fn is_restarted_for_resize(&self) -> bool {
        let change = self.observed.as_ref().map(|observed| &observed.amounts.change);
        change == Some(&AmountsChange::Restarting)
    }
}

fn pairs<'a>(
    pod: &'a Pod,
    run: &'a PodRun,
) -> impl Iterator<Item = (&'a ContainerAmounts, &'a ContainerRun)> {
    pod.containers.iter().zip(&run.containers).filter_map(|(container, run)| Some((container.wanted()?, run)))
}

/// Returns why a node does not allocate the requests of a pod, with a kubelet's message.
fn refusal(pod: &Pod, capacity: &NodeCapacity) -> Option<PendingResize> {
    let resources = [("cpu", capacity.cpu, 1_000_000), ("memory", capacity.memory, 1_000_000_000)];
    let short = resources
        .iter()
        .find(|(name, capacity, _)| request(pod, name) + capacity.used > capacity.allocatable);
    short.map(|(name, capacity, unit)| PendingResize {
        resource: name,
        message: format!(
            "Node didn't have enough resource: {name}, requested: {}, used: {}, capacity: {}",
            request(pod, name) / unit,
            capacity.used / unit,
            capacity.allocatable / unit
        ),
    })
}

/// Returns the amount of a resource that a pod requests, in billionths.
fn request(pod: &Pod, name: &str) -> i128 {
    let amounts = pod
        .containers
        .iter()
        .map(|container| container.wanted().and_then(|wanted| wanted.requests.get(name)));
    total(pod, amounts).billionths()
}

/// Returns the amount of a resource that a pod has if its containers have these amounts: the most that is needed by
/// containers that run together.
fn total<'a>(pod: &Pod, amounts: impl Iterator<Item = Option<&'a String>>) -> Quantity {
    let larger =
        |one: Quantity, other: Quantity| if other.billionths() > one.billionths() { other } else { one };
    let (mut sidecars, mut init, mut mains) = (Quantity::ZERO, Quantity::ZERO, Quantity::ZERO);
    for (container, amount) in pod.containers.iter().zip(amounts) {
        let amount = amount.and_then(|amount| Quantity::parse(amount).ok()).unwrap_or(Quantity::ZERO);
        match container.role {
            Role::Init => init = larger(init, sidecars.plus(amount)),
            Role::Sidecar => {
                sidecars = sidecars.plus(amount);
                init = larger(init, sidecars);
            }
            Role::Main => mains = mains.plus(amount),
            Role::Ephemeral => {}
        }
    }
    larger(sidecars.plus(mains), init)
}

/// Returns the amounts of all resources that a real pod has if its containers have these amounts.
fn totals(pod: &Pod, amounts: &[&BTreeMap<String, String>]) -> BTreeMap<String, String> {
    let names: BTreeSet<_> = amounts.iter().flat_map(|amounts| amounts.keys()).collect();
    let of = |name: &String| total(pod, amounts.iter().map(|amounts| amounts.get(name))).to_string();
    names.into_iter().map(|name| (name.clone(), of(name))).collect()
}

/// Returns the allocated and the actual resources of a real pod.
pub(super) fn pod_amounts(pod: &Pod, run: &PodRun) -> (BTreeMap<String, String>, ContainerAmounts) {
    let nothing = ContainerAmounts::default();
    let pairs = || pod.containers.iter().zip(&run.containers);
    let allocated: Vec<_> =
        pairs().map(|(container, run)| run.allocated(container).unwrap_or(&nothing)).collect();
    let actual: Vec<_> = pairs().map(|(container, run)| run.actual(container).unwrap_or(&nothing)).collect();
    let of = |all: &[&ContainerAmounts], list: fn(&ContainerAmounts) -> &BTreeMap<String, String>| {
        let lists: Vec<_> = all.iter().map(|amounts| list(amounts)).collect();
        totals(pod, &lists)
    };
    let actual = ContainerAmounts {
        requests: of(&actual, |amounts| &amounts.requests),
        limits: of(&actual, |amounts| &amounts.limits),
    };
    (of(&allocated, |amounts| &amounts.requests), actual)
}

impl ContainerRun {
    /// Returns the resources that the node has allocated for a real container.
    pub(super) fn allocated<'a>(&'a self, container: &'a Container) -> Option<&'a ContainerAmounts> {
        let allocated = self.observed.as_ref().and_then(|observed| observed.amounts.allocated.as_ref());
        container.wanted().map(|wanted| allocated.unwrap_or(wanted))
    }

    /// Returns the resources that a real container has, or will have when it runs.
    pub(super) fn actual<'a>(&'a self, container: &'a Container) -> Option<&'a ContainerAmounts> {
        let actual = self.observed.as_ref().and_then(|observed| observed.amounts.actual.as_ref());
        actual.filter(|_| self.is_running()).or_else(|| self.allocated(container))
    }
}

impl Pod {
    /// Returns why a node with this capacity does not accept the pod.
    pub fn rejection(&self, capacity: &NodeCapacity) -> Option<PodRejection> {
        refusal(self, capacity).map(|refusal| PodRejection {
            reason: if refusal.resource == "cpu" { "OutOfcpu" } else { "OutOfmemory" },
            message: refusal.message,
        })
    }

    /// Returns the CPU and the memory that it requests, in billionths.
    pub fn requests(&self) -> (i128, i128) {
        (request(self, "cpu"), request(self, "memory"))
    }
}
