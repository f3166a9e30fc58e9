//! The cgroup of a pod, computed from the state of the pod that the agent keeps.

use std::io;

use gantry_cri::wire;
use gantry_nodes::pod_lifecycle::ContainerAmounts;
use k8s_openapi::api::core::v1 as core;

use crate::agent::Agent;
use crate::pod_limits::CgroupLimits;
use crate::resources::QualityOfService;
use crate::sandbox_config::sandbox_config;

impl Agent {
    /// Returns the configuration of a pod's sandbox, with its cgroup.
    pub(crate) fn sandbox_config(&self, pod: &core::Pod, attempt: u32) -> wire::PodSandboxConfig {
        let mut config = sandbox_config(pod, attempt, &self.settings);
        let uid = pod.metadata.uid.as_deref().unwrap_or_default();
        if let Some(linux) = &mut config.linux {
            linux.resources = Some(self.pod_limits(pod, uid).render());
            if let Some(cgroups) = &self.cgroups {
                linux.cgroup_parent = cgroups.name(uid, quality(pod));
            }
        }
        config
    }

    /// Creates the cgroup of a pod.
    pub(crate) fn create_cgroup(&self, pod: &core::Pod, uid: &str) -> io::Result<()> {
        let Some(cgroups) = &self.cgroups else { return Ok(()) };
        cgroups.set_pod(uid, quality(pod), &self.pod_limits(pod, uid))
    }

    /// Changes the limits of a pod's cgroup, if it has one.
    pub(crate) fn change_cgroup(&self, pod: &core::Pod, uid: &str, limits: CgroupLimits) -> io::Result<()> {
        match &self.cgroups {
            Some(cgroups) if cgroups.has_pod(uid, quality(pod)) => {
                cgroups.set_pod(uid, quality(pod), &limits)
            }
            _ => Ok(()),
        }
    }

    /// Returns the limits of a pod's cgroup, from the current resources of its containers, which differ from those in
    /// the spec while a resize is pending.
    pub(crate) fn pod_limits(&self, pod: &core::Pod, uid: &str) -> CgroupLimits {
        let mut spec = pod.spec.clone().unwrap_or_default();
        let known = self.pods.get(uid).map(|known| known.amounts).unwrap_or_default();
        let statuses = pod.status.iter().flat_map(|status| {
            status.init_container_statuses.iter().flatten().chain(status.container_statuses.iter().flatten())
        });
        let reported: Vec<&core::ContainerStatus> = statuses.collect();
        let containers = spec.init_containers.iter_mut().flatten().chain(&mut spec.containers);
        for container in containers {
            let status = reported.iter().find(|status| status.name == container.name);
            let reported = status.and_then(|status| status.resources.clone());
            let has = known.get(&container.name).map(ContainerAmounts::render).or(reported);
            container.resources = has.or(container.resources.take());
        }
        CgroupLimits::of_pod(&spec, quality(pod))
    }
}

fn quality(pod: &core::Pod) -> QualityOfService {
    pod.spec.as_ref().map_or(QualityOfService::BestEffort, QualityOfService::of)
}
