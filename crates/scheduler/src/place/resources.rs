//! Amounts of resources, exactly: what pods ask for and nodes offer.

use std::collections::BTreeMap;

use gantry_model::quantity::in_nanos;
use k8s_openapi::api::core::v1::{Container, PodSpec, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// The resource that counts pods.
pub(super) const PODS: &str = "pods";
pub(super) const CPU: &str = "cpu";
pub(super) const MEMORY: &str = "memory";

/// What a pod without a request for it counts as when nodes are compared: a tenth of a core, 200 MiB.
const CPU_ASSUMED: i128 = 100_000_000;
const MEMORY_ASSUMED: i128 = 200 * 1024 * 1024 * 1_000_000_000;

/// An amount too large to write down is more than any node has.
const BOUNDLESS: i128 = i128::MAX / 1024;

/// Amounts by resource, in billionths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Amounts(BTreeMap<String, i128>);

/// What one pod takes of its node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// What it asked for.
    pub(super) requests: Amounts,
    /// Cores for the comparison of nodes.
    pub(super) cpu_weighed: i128,
    /// Memory for the comparison of nodes.
    pub(super) memory_weighed: i128,
}

type Written = BTreeMap<String, Quantity>;

impl Amounts {
    pub(super) fn parse(written: Option<&Written>) -> Self {
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
            let rest = self.entry(name);
            *rest = rest.saturating_sub(*amount);
        }
    }

    fn entry(&mut self, name: &str) -> &mut i128 {
        self.0.entry(name.to_owned()).or_default()
    }

    /// The larger of both, resource by resource.
    fn raise(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let most = self.entry(name);
            *most = (*most).max(*amount);
        }
    }
}

impl Demand {
    pub(super) fn parse(spec: &PodSpec) -> Self {
        let requests = requests(spec);
        let weighed = |resource, assumed| match requests.of(resource) {
            0 => assumed,
            asked => asked,
        };
        let (cpu_weighed, memory_weighed) = (weighed(CPU, CPU_ASSUMED), weighed(MEMORY, MEMORY_ASSUMED));
        Self { requests, cpu_weighed, memory_weighed }
    }
}

/// What a pod needs at its hungriest: all containers at once, or one init container beside the sidecars that run by then.
fn requests(spec: &PodSpec) -> Amounts {
    let mut total = Amounts::default();
    for container in &spec.containers {
        total.add(&asked(container.resources.as_ref()));
    }
    let mut sidecars = Amounts::default();
    let mut starting = Amounts::default();
    for container in spec.init_containers.iter().flatten() {
        let mut peak = asked(container.resources.as_ref());
        if is_sidecar(container) {
            sidecars.add(&peak);
            peak = sidecars.clone();
        } else {
            peak.add(&sidecars);
        }
        starting.raise(&peak);
    }
    total.add(&sidecars);
    total.raise(&starting);
    // What is asked for the pod as a whole replaces what its containers add up to.
    total.0.extend(asked(spec.resources.as_ref()).0);
    total.add(&Amounts::parse(spec.overhead.as_ref()));
    total
}

fn asked(resources: Option<&ResourceRequirements>) -> Amounts {
    Amounts::parse(resources.and_then(|resources| resources.requests.as_ref()))
}

fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

fn nanos(amount: &Quantity) -> i128 {
    in_nanos(&amount.0).unwrap_or(BOUNDLESS).clamp(-BOUNDLESS, BOUNDLESS)
}
