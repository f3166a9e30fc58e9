//! Limits of a pod's disk usage: a pod that exceeds one is evicted, as by a kubelet.

use gantry_formats::quantity::{Quantity, parse_billionths};
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::api::resource;

use crate::pod_limits::total;
use crate::usage::PodUsage;

const RESOURCE: &str = "ephemeral-storage";

/// Returns a kubelet's message about the first limit that a pod exceeds: of a volume, of the pod, of a container.
pub(crate) fn exceeded(pod: &core::PodSpec, usage: &PodUsage) -> Option<String> {
    volume_exceeded(pod, usage)
        .or_else(|| pod_exceeded(pod, usage))
        .or_else(|| container_exceeded(pod, usage))
}

/// Whether a pod has any such limit.
pub(crate) fn is_limited(pod: &core::PodSpec) -> bool {
    let limits_volume =
        |volume: &core::Volume| volume.empty_dir.as_ref().is_some_and(|source| source.size_limit.is_some());
    let mut containers = pod.init_containers.iter().flatten().chain(&pod.containers);
    containers.any(|container| limit(container).is_some()) || pod.volumes.iter().flatten().any(limits_volume)
}

fn volume_exceeded(pod: &core::PodSpec, usage: &PodUsage) -> Option<String> {
    pod.volumes.iter().flatten().find_map(|volume| {
        let limit = volume.empty_dir.as_ref()?.size_limit.as_ref()?;
        let used = usage.volumes.get(&volume.name)?;
        let is_exceeded = bytes(limit) > 0 && i128::from(*used) > bytes(limit);
        is_exceeded.then(|| {
            format!("Usage of EmptyDir volume {:?} exceeds the limit {:?}. ", volume.name, canonical(limit))
        })
    })
}

/// The limit of a pod is that of the containers that run together.
fn pod_exceeded(pod: &core::PodSpec, usage: &PodUsage) -> Option<String> {
    let total = total(pod, |container| limit(container).map_or(0, bytes));
    let is_exceeded = total > 0 && i128::from(usage.disk) > total;
    is_exceeded.then(|| {
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        format!(
            "Pod ephemeral local storage usage exceeds the total limit of containers {}. ",
            crate::pressure::shown_bytes(total)
        )
    })
}

fn container_exceeded(pod: &core::PodSpec, usage: &PodUsage) -> Option<String> {
    pod.containers.iter().find_map(|container| {
        let limit = limit(container)?;
        let used = usage.containers.get(&container.name)?.disk;
        let is_exceeded = bytes(limit) > 0 && i128::from(used) > bytes(limit);
        is_exceeded.then(|| {
            let name = &container.name;
            format!("Container {name} exceeded its local ephemeral storage limit {:?}. ", canonical(limit))
        })
    })
}

fn limit(container: &core::Container) -> Option<&resource::Quantity> {
    container.resources.as_ref()?.limits.as_ref()?.get(RESOURCE)
}

fn bytes(quantity: &resource::Quantity) -> i128 {
    parse_billionths(&quantity.0).unwrap_or(0) / 1_000_000_000
}

fn canonical(quantity: &resource::Quantity) -> String {
    Quantity::parse(&quantity.0).map_or_else(|_| quantity.0.clone(), |quantity| quantity.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gantry_json::{Value, json};

    use super::*;
    use crate::usage::ContainerUsage;

    fn exceeded_by(spec: &Value, volume: u64, container: u64, disk: u64) -> Option<String> {
        let spec: core::PodSpec = gantry_json::from_value(spec.clone()).unwrap();
        let web = ContainerUsage { disk: container, ..ContainerUsage::default() };
        let usage = PodUsage {
            containers: BTreeMap::from([("web".to_owned(), web)]),
            volumes: BTreeMap::from([("cache".to_owned(), volume)]),
            disk,
            ..PodUsage::default()
        };
        exceeded(&spec, &usage)
    }

    #[test]
    fn a_volume_may_not_exceed_its_size() {
        let spec =
            json!({"containers": [], "volumes": [{"name": "cache", "emptyDir": {"sizeLimit": "1Mi"}}]});
        assert_eq!(exceeded_by(&spec, 1 << 20, 0, 0), None);
        let message = exceeded_by(&spec, (1 << 20) + 1, 0, 0).unwrap();
        assert_eq!(message, "Usage of EmptyDir volume \"cache\" exceeds the limit \"1Mi\". ");
        let unlimited = json!({"containers": [], "volumes": [{"name": "cache", "emptyDir": {}}]});
        assert_eq!(exceeded_by(&unlimited, 1 << 40, 0, 0), None);
    }

    #[test]
    fn containers_may_not_exceed_their_limit_together_or_alone() {
        let limits = json!({"limits": {"ephemeral-storage": "2Mi"}});
        let spec = json!({"containers": [{"name": "web", "resources": limits}, {"name": "log", "resources": limits}]});
        assert_eq!(exceeded_by(&spec, 0, 2 << 20, 4 << 20), None);
        assert_eq!(
            exceeded_by(&spec, 0, 0, (4 << 20) + 1).unwrap(),
            "Pod ephemeral local storage usage exceeds the total limit of containers 4Mi. "
        );
        assert_eq!(
            exceeded_by(&spec, 0, (2 << 20) + 1, 3 << 20).unwrap(),
            "Container web exceeded its local ephemeral storage limit \"2Mi\". "
        );
        assert_eq!(exceeded_by(&json!({"containers": [{"name": "web"}]}), 0, 1 << 40, 1 << 40), None);
    }
}
