//! The configuration of a container.

use std::collections::BTreeMap;

use gantry_cri::wire;
use k8s_openapi::api::core::v1 as core;

use crate::expansion::expand;
use crate::{labels, resources, security};

/// The inputs of a container from its node.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContainerInputs {
    /// How often it was started before.
    pub(crate) attempt: u32,
    /// The label value of the cluster and the node.
    pub(crate) owner: String,
    /// Its environment.
    pub(crate) environment: Vec<(String, String)>,
    /// Its mounts.
    pub(crate) mounts: Vec<wire::Mount>,
    /// The reference of its image on the node.
    pub(crate) image_ref: String,
    /// The memory of the node in bytes.
    pub(crate) memory: i64,
    /// The ID of the container whose processes it shares, if it is an ephemeral container with a target.
    pub(crate) target: Option<String>,
}

/// Returns the configuration of a container.
pub(crate) fn container_config(
    pod: &core::Pod,
    container: &core::Container,
    inputs: ContainerInputs,
) -> wire::ContainerConfig {
    let fallback = core::PodSpec::default();
    let spec = pod.spec.as_ref().unwrap_or(&fallback);
    let variables: BTreeMap<String, String> = inputs.environment.iter().cloned().collect();
    let expanded = |texts: Option<&Vec<String>>| -> Vec<String> {
        texts.into_iter().flatten().map(|text| expand(text, &variables)).collect()
    };
    let mut security = security::container(spec, container);
    if let (Some(target), Some(namespaces)) = (inputs.target, &mut security.namespace_options) {
        namespaces.pid = wire::NamespaceMode::Target as i32;
        namespaces.target_id = target;
    }
    wire::ContainerConfig {
        metadata: Some(wire::ContainerMetadata { name: container.name.clone(), attempt: inputs.attempt }),
        image: Some(wire::ImageSpec {
            image: inputs.image_ref,
            user_specified_image: container.image.clone().unwrap_or_default(),
            ..wire::ImageSpec::default()
        }),
        command: expanded(container.command.as_ref()),
        args: expanded(container.args.as_ref()),
        working_dir: container.working_dir.clone().unwrap_or_default(),
        envs: inputs
            .environment
            .into_iter()
            .map(|(key, value)| wire::KeyValue { key, value: value.into() })
            .collect(),
        mounts: inputs.mounts,
        labels: labels::container_labels(pod, &container.name, &inputs.owner),
        annotations: BTreeMap::new(),
        log_path: format!("{}/{}.log", container.name, inputs.attempt),
        stdin: container.stdin == Some(true),
        stdin_once: container.stdin_once == Some(true),
        tty: container.tty == Some(true),
        linux: Some(wire::LinuxContainerConfig {
            resources: Some(resources::container_resources(container, spec, inputs.memory)),
            security_context: Some(security),
        }),
        ..wire::ContainerConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    #[test]
    fn commands_see_the_environment() {
        let pod: core::Pod = gantry_json::from_value(json!({
            "metadata": {"name": "web", "namespace": "shop", "uid": "u1"},
            "spec": {"containers": [{
                "name": "web", "command": ["sh", "-c"], "args": ["echo $(WHO) $(NONE)"],
                "securityContext": {"runAsUser": 7, "capabilities": {"drop": ["ALL"]}},
            }], "shareProcessNamespace": true},
        }))
        .unwrap();
        let container = &pod.spec.as_ref().unwrap().containers[0];
        let inputs = ContainerInputs {
            attempt: 2,
            environment: vec![("WHO".to_owned(), "me".to_owned())],
            ..ContainerInputs::default()
        };
        let config = container_config(&pod, container, inputs);
        assert_eq!(config.args, ["echo me $(NONE)"]);
        assert_eq!(config.log_path, "web/2.log");
        assert_eq!(config.labels["io.kubernetes.container.name"], "web");
        let security = config.linux.unwrap().security_context.unwrap();
        assert_eq!(security.run_as_user.unwrap().value, 7);
        assert_eq!(security.capabilities.unwrap().drop_capabilities, ["ALL"]);
        assert_eq!(security.namespace_options.unwrap().pid, wire::NamespaceMode::Pod as i32);
    }
}
