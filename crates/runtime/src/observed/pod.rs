//! Pods in JSON: the rules need a small part of a pod, and only that is decoded.
//!
//! It is decoded into the type of the whole pod, so that the fields are interpreted in one place:
//! `gantry_model::Pod::parse`. The same part of protobuf is in `gantry_model::protobuf`.

use k8s_openapi::api::core::v1 as wire;

use super::metadata;
use crate::informer::without_managed_fields;
use crate::json_reader::JsonReader;
use crate::wire::Decode as _;

/// Decodes the fields of a pod that the rules need. If that fails, the whole pod is decoded, which allows other forms.
pub(crate) fn decode(json: &[u8]) -> gantry_json::Result<wire::Pod> {
    match pod(&mut JsonReader::new(json)) {
        Some(pod) => Ok(pod),
        None => wire::Pod::decode(&without_managed_fields(json)),
    }
}

fn pod(reader: &mut JsonReader<'_>) -> Option<wire::Pod> {
    decode!(reader, pod: wire::Pod, {
        b"metadata" => pod.metadata = metadata(reader)?,
        b"spec" => pod.spec = reader.optional(spec)?,
        b"status" => pod.status = reader.optional(status)?,
    })
}

fn spec(reader: &mut JsonReader<'_>) -> Option<wire::PodSpec> {
    decode!(reader, spec: wire::PodSpec, {
        b"containers" => spec.containers = reader.array(container)?,
        b"initContainers" => spec.init_containers = reader.optional(|all| all.array(container))?,
        b"nodeName" => spec.node_name = reader.optional(JsonReader::string)?,
        b"hostname" => spec.hostname = reader.optional(JsonReader::string)?,
        b"subdomain" => spec.subdomain = reader.optional(JsonReader::string)?,
    })
}

fn container(reader: &mut JsonReader<'_>) -> Option<wire::Container> {
    decode!(reader, container: wire::Container, {
        b"name" => container.name = reader.string()?,
        b"ports" => container.ports = reader.value()?,
        b"restartPolicy" => container.restart_policy = reader.optional(JsonReader::string)?,
    })
}

fn status(reader: &mut JsonReader<'_>) -> Option<wire::PodStatus> {
    decode!(reader, status: wire::PodStatus, {
        b"phase" => status.phase = reader.optional(JsonReader::string)?,
        b"conditions" => status.conditions = reader.optional(|all| all.array(condition))?,
        b"podIP" => status.pod_ip = reader.optional(JsonReader::string)?,
        b"podIPs" => status.pod_ips = reader.value()?,
        b"containerStatuses" => {
            status.container_statuses = reader.optional(|all| all.array(container_status))?;
        }
        b"initContainerStatuses" => {
            status.init_container_statuses = reader.optional(|all| all.array(container_status))?;
        }
    })
}

fn condition(reader: &mut JsonReader<'_>) -> Option<wire::PodCondition> {
    decode!(reader, condition: wire::PodCondition, {
        b"type" => condition.type_ = reader.string()?,
        b"status" => condition.status = reader.string()?,
        b"lastTransitionTime" => condition.last_transition_time = reader.value()?,
    })
}

fn container_status(reader: &mut JsonReader<'_>) -> Option<wire::ContainerStatus> {
    decode!(reader, status: wire::ContainerStatus, {
        b"name" => status.name = reader.string()?,
        b"restartCount" => status.restart_count = reader.value()?,
    })
}

#[cfg(test)]
mod tests {
    use gantry_model::Pod;

    use super::*;

    fn recorded() -> gantry_json::Value {
        gantry_json::from_slice(include_bytes!("../../tests/recorded/pod.json")).unwrap()
    }

    /// The pod that the rules use, and the metadata that the garbage collector uses.
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
