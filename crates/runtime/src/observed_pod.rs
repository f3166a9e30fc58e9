//! Pods in JSON: what the rules look at is a small part of a pod, and only that is decoded.
//!
//! It is decoded into the type of the whole pod, so that the meaning of a field is in one place: `gantry_model::Pod::parse`. The same part of
//! protobuf is in `gantry_model::protobuf`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as wire;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use serde::Deserialize;

use crate::informer::without_managed_fields;
use crate::wire::Decode as _;

/// Decodes what the rules look at of a pod. What cannot be decoded so is left to the decoder of whole pods, which knows more forms.
pub(crate) fn decode(json: &[u8]) -> gantry_json::Result<wire::Pod> {
    match gantry_json::from_slice::<PodPart>(json) {
        Ok(part) => Ok(part.into_pod()),
        Err(_) => wire::Pod::decode(&without_managed_fields(json)),
    }
}

#[derive(Deserialize)]
struct PodPart {
    metadata: MetadataPart,
    spec: Option<SpecPart>,
    status: Option<StatusPart>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetadataPart {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    generation: Option<i64>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    labels: Option<BTreeMap<String, String>>,
    annotations: Option<BTreeMap<String, String>>,
    owner_references: Option<Vec<OwnerReference>>,
    finalizers: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecPart {
    #[serde(default)]
    containers: Vec<ContainerPart>,
    init_containers: Option<Vec<ContainerPart>>,
    node_name: Option<String>,
    hostname: Option<String>,
    subdomain: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContainerPart {
    name: String,
    ports: Option<Vec<wire::ContainerPort>>,
    restart_policy: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatusPart {
    phase: Option<String>,
    conditions: Option<Vec<ConditionPart>>,
    #[serde(rename = "podIP")]
    pod_ip: Option<String>,
    #[serde(rename = "podIPs")]
    pod_ips: Option<Vec<wire::PodIP>>,
    container_statuses: Option<Vec<ContainerStatusPart>>,
    init_container_statuses: Option<Vec<ContainerStatusPart>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConditionPart {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    last_transition_time: Option<Time>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContainerStatusPart {
    name: String,
    restart_count: i32,
}

impl PodPart {
    fn into_pod(self) -> wire::Pod {
        wire::Pod {
            metadata: self.metadata.into_metadata(),
            spec: self.spec.map(SpecPart::into_spec),
            status: self.status.map(StatusPart::into_status),
        }
    }
}

impl MetadataPart {
    fn into_metadata(self) -> ObjectMeta {
        ObjectMeta {
            name: self.name,
            namespace: self.namespace,
            uid: self.uid,
            resource_version: self.resource_version,
            generation: self.generation,
            creation_timestamp: self.creation_timestamp,
            deletion_timestamp: self.deletion_timestamp,
            labels: self.labels,
            annotations: self.annotations,
            owner_references: self.owner_references,
            finalizers: self.finalizers,
            ..ObjectMeta::default()
        }
    }
}

impl SpecPart {
    fn into_spec(self) -> wire::PodSpec {
        wire::PodSpec {
            containers: self.containers.into_iter().map(ContainerPart::into_container).collect(),
            init_containers: all(self.init_containers, ContainerPart::into_container),
            node_name: self.node_name,
            hostname: self.hostname,
            subdomain: self.subdomain,
            ..wire::PodSpec::default()
        }
    }
}

impl ContainerPart {
    fn into_container(self) -> wire::Container {
        let Self { name, ports, restart_policy } = self;
        wire::Container { name, ports, restart_policy, ..wire::Container::default() }
    }
}

impl StatusPart {
    fn into_status(self) -> wire::PodStatus {
        wire::PodStatus {
            phase: self.phase,
            conditions: all(self.conditions, ConditionPart::into_condition),
            pod_ip: self.pod_ip,
            pod_ips: self.pod_ips,
            container_statuses: all(self.container_statuses, ContainerStatusPart::into_status),
            init_container_statuses: all(self.init_container_statuses, ContainerStatusPart::into_status),
            ..wire::PodStatus::default()
        }
    }
}

impl ConditionPart {
    fn into_condition(self) -> wire::PodCondition {
        let Self { kind, status, last_transition_time } = self;
        wire::PodCondition { type_: kind, status, last_transition_time, ..wire::PodCondition::default() }
    }
}

impl ContainerStatusPart {
    fn into_status(self) -> wire::ContainerStatus {
        let Self { name, restart_count } = self;
        wire::ContainerStatus { name, restart_count, ..wire::ContainerStatus::default() }
    }
}

fn all<P, W>(parts: Option<Vec<P>>, convert: fn(P) -> W) -> Option<Vec<W>> {
    parts.map(|parts| parts.into_iter().map(convert).collect())
}

#[cfg(test)]
mod tests {
    use gantry_model::Pod;

    use super::*;

    fn recorded() -> gantry_json::Value {
        gantry_json::from_slice(include_bytes!("../tests/recorded/pod.json")).unwrap()
    }

    /// The pod that the rules see, and the metadata that the garbage collector sees.
    fn parsed(pod: &wire::Pod) -> (Pod, gantry_model::ObjectMetadata) {
        let metadata = gantry_model::ObjectMetadata::parse("v1", "Pod", &pod.metadata).unwrap();
        (Pod::parse(pod).unwrap(), metadata)
    }

    #[test]
    fn the_rules_see_the_same_pod() {
        let mut pods = vec![recorded()];
        let pod = |pods: &mut Vec<gantry_json::Value>| {
            pods.push(recorded());
            pods.len() - 1
        };
        let bare = pod(&mut pods);
        pods[bare]["status"] = gantry_json::Value::Null;
        let unknown = pod(&mut pods);
        pods[unknown]["status"]["conditions"][0]["lastTransitionTime"] = gantry_json::Value::Null;
        let sidecar = pod(&mut pods);
        pods[sidecar]["spec"]["initContainers"] =
            gantry_json::json!([{"name": "s", "restartPolicy": "Always", "ports": [{"containerPort": 9}]}]);
        pods[sidecar]["status"]["initContainerStatuses"] = gantry_json::json!(
            [{"name": "s", "restartCount": 3, "ready": true, "image": "i", "imageID": ""}]
        );
        for pod in pods {
            let json = pod.to_string();
            let whole = wire::Pod::decode(json.as_bytes()).unwrap();
            assert_eq!(parsed(&decode(json.as_bytes()).unwrap()), parsed(&whole), "{json}");
        }
    }

    #[test]
    fn what_is_not_looked_at_is_not_decoded() {
        let mut pod = recorded();
        pod["spec"]["volumes"] = "of another form".into();
        let json = pod.to_string();
        assert!(wire::Pod::decode(json.as_bytes()).is_err());
        let decoded = decode(json.as_bytes()).unwrap();
        assert_eq!((decoded.spec.unwrap().volumes, decoded.metadata.managed_fields), (None, None));
    }
}
