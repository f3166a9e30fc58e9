//! Exact amounts of resources that pods request and nodes offer.

use std::collections::BTreeMap;

use gantry_formats::quantity::parse_billionths;
use k8s_openapi::api::core::v1::{self as wire, Container, PodSpec, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

pub(super) const PODS: &str = "pods";
pub(super) const CPU: &str = "cpu";
pub(super) const MEMORY: &str = "memory";

/// The request that scoring assumes for a pod without one: a tenth of a core, 200 MiB.
const CPU_DEFAULT: i128 = 100_000_000;
const MEMORY_DEFAULT: i128 = 200 * 1024 * 1024 * 1_000_000_000;

/// For amounts that exceed the type: more than any node has.
const AMOUNT_MAX: i128 = i128::MAX / 1024;

/// Amounts by resource name, in billionths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ResourceList(BTreeMap<String, i128>);

/// The amounts that one pod uses of its node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PodRequest {
    pub(super) requests: ResourceList,
    /// The CPU request, or a default if there is none; for scoring.
    pub(super) cpu_scored: i128,
    /// The memory request, or a default if there is none; for scoring.
    pub(super) memory_scored: i128,
}

type Quantities = BTreeMap<String, Quantity>;

impl ResourceList {
    pub(super) fn parse(written: Option<&Quantities>) -> Self {
        let entries = written.into_iter().flatten();
        Self(entries.map(|(name, amount)| (name.clone(), nanos(amount))).collect())
    }

    pub(super) fn of(&self, resource: &str) -> i128 {
        self.0.get(resource).copied().unwrap_or(0)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, i128)> {
        self.0.iter().map(|(name, amount)| (name.as_str(), *amount))
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let sum = self.entry(name);
            *sum = sum.saturating_add(*amount);
        }
    }

    pub(super) fn subtract(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let difference = self.entry(name);
            *difference = difference.saturating_sub(*amount);
        }
    }

    fn entry(&mut self, name: &str) -> &mut i128 {
        self.0.entry(name.to_owned()).or_default()
    }

    /// Takes the larger amount of each resource.
    fn take_max(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let max = self.entry(name);
            *max = (*max).max(*amount);
        }
    }
}

impl PodRequest {
    pub(super) fn parse(spec: &PodSpec) -> Self {
        let requests = requests(spec);
        let scored = |resource, assumed| match requests.of(resource) {
            0 => assumed,
            requested => requested,
        };
        let (cpu_scored, memory_scored) = (scored(CPU, CPU_DEFAULT), scored(MEMORY, MEMORY_DEFAULT));
        Self { requests, cpu_scored, memory_scored }
    }
}

/// The peak of a pod: all containers at once, or one init container beside the sidecars started before it.
fn requests(spec: &PodSpec) -> ResourceList {
    let mut total = ResourceList::default();
    for container in &spec.containers {
        total.add(&requested(container.resources.as_ref()));
    }
    let mut sidecars = ResourceList::default();
    let mut starting = ResourceList::default();
    for container in spec.init_containers.iter().flatten() {
        let mut peak = requested(container.resources.as_ref());
        if is_sidecar(container) {
            sidecars.add(&peak);
            peak = sidecars.clone();
        } else {
            peak.add(&sidecars);
        }
        starting.take_max(&peak);
    }
    total.add(&sidecars);
    total.take_max(&starting);
    // Pod-level requests replace the sum over containers.
    total.0.extend(requested(spec.resources.as_ref()).0);
    total.add(&ResourceList::parse(spec.overhead.as_ref()));
    total
}

fn requested(resources: Option<&ResourceRequirements>) -> ResourceList {
    ResourceList::parse(resources.and_then(|resources| resources.requests.as_ref()))
}

/// The amounts that a pod uses of its node, by resource, in billionths.
pub fn requested_amounts(pod: &wire::Pod) -> BTreeMap<String, i128> {
    pod.spec.as_ref().map(|spec| requests(spec).0).unwrap_or_default()
}

fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

fn nanos(amount: &Quantity) -> i128 {
    parse_billionths(&amount.0).unwrap_or(AMOUNT_MAX).clamp(-AMOUNT_MAX, AMOUNT_MAX)
}
