//! Pods in protobuf: the rules need a small part of a pod.

use gantry_formats::protobuf::{FieldValue, fields, find};
use k8s_openapi::api::core::v1 as wire;

use super::{METADATA, SPEC, STATUS, nonempty, time};
use crate::{Meta, ParseError, Pod};

impl Pod {
    /// Parses a Pod in protobuf.
    pub fn parse_protobuf(message: &[u8]) -> Result<Self, ParseError> {
        let mut meta = &[][..];
        let (mut spec, mut status) = (wire::PodSpec::default(), wire::PodStatus::default());
        for field in fields(message) {
            let field = field?;
            match field.number {
                METADATA => meta = field.value.bytes(),
                SPEC => spec = pod_spec(field.value)?,
                STATUS => status = pod_status(field.value)?,
                _ => {}
            }
        }
        Ok(Self::of_parts(Meta::parse_protobuf(meta)?, &spec, &status))
    }
}

fn pod_spec(value: FieldValue<'_>) -> Result<wire::PodSpec, ParseError> {
    decode!(value, spec: wire::PodSpec, {
        2 => spec.containers.push(container(value, Role::Main)?),
        10 => spec.node_name = nonempty(value),
        16 => spec.hostname = nonempty(value),
        17 => spec.subdomain = nonempty(value),
        20 => spec.init_containers.get_or_insert_default().push(container(value, Role::Init)?),
    })
}

/// The name of an init container is needed to recognize sidecars; those of main containers are not decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Main,
    Init,
}

fn container(value: FieldValue<'_>, role: Role) -> Result<wire::Container, ParseError> {
    decode!(value, container: wire::Container, {
        1 if role == Role::Init => container.name = value.text(),
        6 => container.ports.get_or_insert_default().push(port(value)?),
        24 => container.restart_policy = Some(value.text()),
    })
}

fn port(value: FieldValue<'_>) -> Result<wire::ContainerPort, ParseError> {
    decode!(value, port: wire::ContainerPort, {
        1 => port.name = nonempty(value),
        3 => port.container_port = value.int32(),
        4 => port.protocol = nonempty(value),
    })
}

fn pod_status(value: FieldValue<'_>) -> Result<wire::PodStatus, ParseError> {
    decode!(value, status: wire::PodStatus, {
        1 => status.phase = nonempty(value),
        // Other conditions are not decoded.
        2 if find(value.bytes(), 1)?.bytes() == b"Ready" => {
            status.conditions.get_or_insert_default().push(condition(value)?);
        }
        6 => status.pod_ip = nonempty(value),
        8 => {
            let statuses = status.container_statuses.get_or_insert_default();
            statuses.push(container_status(value, Role::Main)?);
        }
        10 => {
            let statuses = status.init_container_statuses.get_or_insert_default();
            statuses.push(container_status(value, Role::Init)?);
        }
        12 => status.pod_ips.get_or_insert_default().push(pod_ip(value)?),
    })
}

fn condition(value: FieldValue<'_>) -> Result<wire::PodCondition, ParseError> {
    decode!(value, condition: wire::PodCondition, {
        1 => condition.type_ = value.text(),
        2 => condition.status = value.text(),
        4 => condition.last_transition_time = time(value)?,
    })
}

fn container_status(value: FieldValue<'_>, role: Role) -> Result<wire::ContainerStatus, ParseError> {
    decode!(value, status: wire::ContainerStatus, {
        1 if role == Role::Init => status.name = value.text(),
        5 => status.restart_count = value.int32(),
    })
}

fn pod_ip(value: FieldValue<'_>) -> Result<wire::PodIP, ParseError> {
    let mut address = wire::PodIP::default();
    for field in fields(value.bytes()) {
        let field = field?;
        if field.number == 1 {
            address.ip = field.value.text();
        }
    }
    Ok(address)
}
