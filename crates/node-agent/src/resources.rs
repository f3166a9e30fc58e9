//! The resources of a container as limits of its cgroup.

use std::collections::BTreeMap;

use gantry_cri::wire;
use gantry_formats::quantity::parse_billionths;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

pub(crate) const PERIOD_MICROSECONDS: i64 = 100_000;
const QUOTA_MIN: i64 = 1000;
/// The value with which the kernel represents no limit.
const UNLIMITED: i64 = -1;
pub(crate) const SHARES_PER_CORE: i64 = 1024;
pub(crate) const SHARES_MIN: i64 = 2;
pub(crate) const SHARES_MAX: i64 = 262_144;
/// The adjustments of the out-of-memory killer, by quality of service.
const OOM_GUARANTEED: i64 = -997;
const OOM_BEST_EFFORT: i64 = 1000;

/// The quality of service of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QualityOfService {
    Guaranteed,
    Burstable,
    BestEffort,
}

impl QualityOfService {
    /// Determines the quality of service: guaranteed if every container has equal requests and limits of CPU and memory.
    /// If the pod itself has requests or limits, these count instead.
    pub(crate) fn of(pod: &core::PodSpec) -> Self {
        let containers = || pod.init_containers.iter().flatten().chain(&pod.containers);
        let own = pod.resources.as_ref().filter(|own| own.requests.is_some() || own.limits.is_some());
        let all: Vec<Option<&core::ResourceRequirements>> = match own {
            Some(own) => vec![Some(own)],
            None => containers().map(|container| container.resources.as_ref()).collect(),
        };
        let amounts = |resources: Option<&core::ResourceRequirements>, name: &str| {
            let limit = resources.and_then(|resources| amount(resources.limits.as_ref(), name));
            let request = resources.and_then(|resources| amount(resources.requests.as_ref(), name));
            (request.or(limit), limit)
        };
        let names = ["cpu", "memory"];
        if all.iter().all(|it| names.iter().all(|name| amounts(*it, name) == (None, None))) {
            return Self::BestEffort;
        }
        let is_equal = |resources: Option<&core::ResourceRequirements>| {
            names.iter().all(|name| {
                let (request, limit) = amounts(resources, name);
                limit.is_some() && request == limit
            })
        };
        if all.into_iter().all(is_equal) { Self::Guaranteed } else { Self::Burstable }
    }
}

/// Returns the limits of a container's cgroup. `memory` is the capacity of the node.
pub(crate) fn container_resources(
    container: &core::Container,
    pod: &core::PodSpec,
    memory: i64,
) -> wire::LinuxContainerResources {
    let resources = container.resources.as_ref();
    let limits = resources.and_then(|resources| resources.limits.as_ref());
    let requests = resources.and_then(|resources| resources.requests.as_ref());
    let (cpu_limit, memory_limit) = (amount(limits, "cpu"), amount(limits, "memory"));
    let cpu_request = amount(requests, "cpu").or(cpu_limit).unwrap_or(0);
    let memory_request = amount(requests, "memory").or(memory_limit).unwrap_or(0);
    let quota = cpu_limit.map(quota_of);
    wire::LinuxContainerResources {
        cpu_period: if quota.is_some() { PERIOD_MICROSECONDS } else { 0 },
        cpu_quota: quota.unwrap_or(0),
        cpu_shares: shares_of(cpu_request),
        memory_limit_in_bytes: memory_limit.map_or(0, bytes),
        oom_score_adj: oom_score_adjustment(QualityOfService::of(pod), bytes(memory_request), memory),
        ..wire::LinuxContainerResources::default()
    }
}

/// Returns the limits to change a running container to. Unset limits would be left unchanged, so the absence of a limit
/// is stated explicitly.
pub(crate) fn changed_resources(resources: wire::LinuxContainerResources) -> wire::LinuxContainerResources {
    let or_unlimited = |amount: i64| if amount == 0 { UNLIMITED } else { amount };
    wire::LinuxContainerResources {
        cpu_period: PERIOD_MICROSECONDS,
        cpu_quota: or_unlimited(resources.cpu_quota),
        memory_limit_in_bytes: or_unlimited(resources.memory_limit_in_bytes),
        ..resources
    }
}

/// Returns the OOM score adjustment of a container: the more memory it requests, the lower.
fn oom_score_adjustment(quality: QualityOfService, request: i64, memory: i64) -> i64 {
    match quality {
        QualityOfService::Guaranteed => OOM_GUARANTEED,
        QualityOfService::BestEffort => OOM_BEST_EFFORT,
        QualityOfService::Burstable => {
            let adjustment = 1000 - request.saturating_mul(1000) / memory.max(1);
            // Between the others, so that a guaranteed container is killed later and a best-effort one sooner.
            adjustment.clamp(1000 + OOM_GUARANTEED, OOM_BEST_EFFORT - 1)
        }
    }
}

/// Returns the weight of a request of CPU in billionths.
pub(crate) fn shares_of(cpu: i128) -> i64 {
    (millis(cpu).saturating_mul(SHARES_PER_CORE) / 1000).clamp(SHARES_MIN, SHARES_MAX)
}

/// Returns the microseconds in each period of a limit of CPU in billionths.
pub(crate) fn quota_of(cpu: i128) -> i64 {
    (millis(cpu).saturating_mul(PERIOD_MICROSECONDS) / 1000).max(QUOTA_MIN)
}

fn millis(billionths: i128) -> i64 {
    i64::try_from(billionths / 1_000_000).unwrap_or(i64::MAX)
}

/// Returns an amount of memory in bytes, given in billionths.
pub(crate) fn bytes(billionths: i128) -> i64 {
    i64::try_from(billionths / 1_000_000_000).unwrap_or(i64::MAX)
}

/// Returns an amount in billionths, unless it is zero.
pub(crate) fn amount(list: Option<&BTreeMap<String, Quantity>>, name: &str) -> Option<i128> {
    list?.get(name).and_then(|quantity| parse_billionths(&quantity.0)).filter(|amount| *amount > 0)
}

#[cfg(test)]
mod tests {
    use gantry_json::{Value, json};

    use super::*;

    fn resources(resources: &Value) -> (QualityOfService, wire::LinuxContainerResources) {
        let spec: core::PodSpec =
            gantry_json::from_value(json!({"containers": [{"name": "web", "resources": resources}]}))
                .unwrap();
        (QualityOfService::of(&spec), container_resources(&spec.containers[0], &spec, 1 << 30))
    }

    #[test]
    fn resources_become_limits_of_the_cgroup() {
        let (quality, limits) = resources(
            &json!({"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"cpu": "500m", "memory": "512Mi"}}),
        );
        assert_eq!(quality, QualityOfService::Burstable);
        assert_eq!((limits.cpu_shares, limits.cpu_quota, limits.cpu_period), (256, 50_000, 100_000));
        assert_eq!((limits.memory_limit_in_bytes, limits.oom_score_adj), (512 << 20, 750));
    }

    #[test]
    fn equal_requests_and_limits_are_guaranteed() {
        let (quality, limits) = resources(&json!({"limits": {"cpu": "1", "memory": "64Mi"}}));
        assert_eq!((quality, limits.oom_score_adj), (QualityOfService::Guaranteed, -997));
        assert_eq!(limits.cpu_shares, 1024);
    }

    #[test]
    fn without_resources_a_container_has_the_least_share() {
        let (quality, limits) = resources(&json!({}));
        assert_eq!((quality, limits.oom_score_adj), (QualityOfService::BestEffort, 1000));
        assert_eq!((limits.cpu_shares, limits.cpu_quota, limits.memory_limit_in_bytes), (2, 0, 0));
    }
}
