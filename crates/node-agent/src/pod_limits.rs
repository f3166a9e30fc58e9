//! The limits of a pod's cgroup, from the resources of its containers.

use gantry_cri::wire;
use k8s_openapi::api::core::v1 as core;

use crate::resources::{
    PERIOD_MICROSECONDS, QualityOfService, SHARES_MIN, amount, bytes, quota_of, shares_of,
};

/// The limits of a cgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CgroupLimits {
    /// The weight of its CPU time.
    pub(crate) cpu_shares: i64,
    /// The microseconds of CPU time in each tenth of a second; `None` without a limit.
    pub(crate) cpu_quota: Option<i64>,
    /// The bytes of memory; `None` without a limit.
    pub(crate) memory: Option<i64>,
}

impl CgroupLimits {
    /// Returns the limits of a pod: the sums of its containers, or those of the pod if it has any. Unless every
    /// container has a limit, the pod has none.
    pub(crate) fn of_pod(pod: &core::PodSpec, quality: QualityOfService) -> Self {
        if quality == QualityOfService::BestEffort {
            return Self { cpu_shares: SHARES_MIN, cpu_quota: None, memory: None };
        }
        Self {
            cpu_shares: shares_of(requested(pod, "cpu")),
            cpu_quota: limit(pod, "cpu").map(quota_of),
            memory: limit(pod, "memory").map(bytes),
        }
    }

    /// Returns the higher of each limit; no limit is the highest.
    pub(crate) fn widest(self, other: Self) -> Self {
        let wider = |one: Option<i64>, other: Option<i64>| one.zip(other).map(|(one, other)| one.max(other));
        Self {
            cpu_shares: self.cpu_shares.max(other.cpu_shares),
            cpu_quota: wider(self.cpu_quota, other.cpu_quota),
            memory: wider(self.memory, other.memory),
        }
    }

    /// Returns the limits as a container runtime expects them for a sandbox.
    pub(crate) fn render(self) -> wire::LinuxContainerResources {
        wire::LinuxContainerResources {
            cpu_period: PERIOD_MICROSECONDS,
            cpu_quota: self.cpu_quota.unwrap_or(0),
            cpu_shares: self.cpu_shares,
            memory_limit_in_bytes: self.memory.unwrap_or(0),
            ..wire::LinuxContainerResources::default()
        }
    }
}

/// Returns the request of a pod for a resource, in billionths.
pub(crate) fn requested(pod: &core::PodSpec, name: &str) -> i128 {
    let of = |resources: Option<&core::ResourceRequirements>| {
        amount(resources.and_then(|it| it.requests.as_ref()), name).or_else(|| limit_of(resources, name))
    };
    let own = of(pod.resources.as_ref());
    own.unwrap_or_else(|| total(pod, |container| of(container.resources.as_ref()).unwrap_or(0)))
        + overhead(pod, name)
}

/// Returns the limit of a pod in billionths; `None` if one of its containers has no limit.
fn limit(pod: &core::PodSpec, name: &str) -> Option<i128> {
    let of = |container: &core::Container| limit_of(container.resources.as_ref(), name);
    let own = limit_of(pod.resources.as_ref(), name);
    let mut all = pod.init_containers.iter().flatten().chain(&pod.containers);
    let sum = || {
        all.all(|container| of(container).is_some())
            .then(|| total(pod, |container| of(container).unwrap_or(0)))
    };
    own.or_else(sum).map(|limit| limit + overhead(pod, name))
}

fn limit_of(resources: Option<&core::ResourceRequirements>, name: &str) -> Option<i128> {
    amount(resources.and_then(|it| it.limits.as_ref()), name)
}

fn overhead(pod: &core::PodSpec, name: &str) -> i128 {
    amount(pod.overhead.as_ref(), name).unwrap_or(0)
}

/// Returns the maximum over time of the containers that run together: init containers run one after the other, with the
/// sidecars before them.
pub(crate) fn total(pod: &core::PodSpec, of: impl Fn(&core::Container) -> i128) -> i128 {
    let (mut sidecars, mut init) = (0, 0);
    for container in pod.init_containers.iter().flatten() {
        if container.restart_policy.as_deref() == Some("Always") {
            sidecars += of(container);
            init = init.max(sidecars);
        } else {
            init = init.max(sidecars + of(container));
        }
    }
    init.max(sidecars + pod.containers.iter().map(of).sum::<i128>())
}

#[cfg(test)]
mod tests {
    use gantry_json::{Value, json};

    use super::*;

    fn limits(spec: &Value) -> CgroupLimits {
        let spec: core::PodSpec = gantry_json::from_value(spec.clone()).unwrap();
        CgroupLimits::of_pod(&spec, QualityOfService::of(&spec))
    }

    fn container(cpu: &str, memory: &str) -> Value {
        json!({"name": "web", "resources": {"limits": {"cpu": cpu, "memory": memory}}})
    }

    #[test]
    fn the_limits_of_a_pod_are_the_sum_of_its_containers() {
        let limits = limits(&json!({
            "initContainers": [
                {"name": "one", "restartPolicy": "Always", "resources": {"limits": {"cpu": "100m", "memory": "10Mi"}}},
                container("1", "5Mi"),
            ],
            "containers": [container("250m", "64Mi"), container("250m", "64Mi")],
            "overhead": {"memory": "2Mi"},
        }));
        assert_eq!(
            limits,
            CgroupLimits { cpu_shares: 1126, cpu_quota: Some(110_000), memory: Some(140 << 20) }
        );
    }

    #[test]
    fn a_container_without_a_limit_leaves_its_pod_without_one() {
        let limits = limits(&json!({"containers": [
            container("500m", "64Mi"), {"name": "free", "resources": {"requests": {"cpu": "500m"}}},
        ]}));
        assert_eq!(limits, CgroupLimits { cpu_shares: 1024, cpu_quota: None, memory: None });
    }

    #[test]
    fn limits_of_the_pod_override_those_of_its_containers() {
        let limits = limits(&json!({
            "containers": [{"name": "free"}],
            "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "1", "memory": "64Mi"}},
        }));
        assert_eq!(
            limits,
            CgroupLimits { cpu_shares: 512, cpu_quota: Some(100_000), memory: Some(64 << 20) }
        );
    }

    #[test]
    fn a_pod_without_resources_has_the_least_weight() {
        let limits = limits(&json!({"containers": [{"name": "free"}]}));
        assert_eq!(limits, CgroupLimits { cpu_shares: 2, cpu_quota: None, memory: None });
    }

    #[test]
    fn the_widest_limits_have_the_maximum_of_each() {
        let one = CgroupLimits { cpu_shares: 2, cpu_quota: Some(5), memory: Some(1) };
        let other = CgroupLimits { cpu_shares: 9, cpu_quota: None, memory: Some(3) };
        assert_eq!(one.widest(other), CgroupLimits { cpu_shares: 9, cpu_quota: None, memory: Some(3) });
    }
}
