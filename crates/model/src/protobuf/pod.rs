//! Pods in protobuf: what the rules look at is a small part of a pod.

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
    let mut spec = wire::PodSpec::default();
    for field in fields(value.bytes()) {
        let field = field?;
        match field.number {
            2 => spec.containers.push(container(field.value, Role::Main)?),
            10 => spec.node_name = nonempty(field.value),
            16 => spec.hostname = nonempty(field.value),
            17 => spec.subdomain = nonempty(field.value),
            20 => spec.init_containers.get_or_insert_default().push(container(field.value, Role::Init)?),
            _ => {}
        }
    }
    Ok(spec)
}

/// The names of init containers tell sidecars from others; those of main containers are not looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Main,
    Init,
}

fn container(value: FieldValue<'_>, role: Role) -> Result<wire::Container, ParseError> {
    let mut container = wire::Container::default();
    for field in fields(value.bytes()) {
        let field = field?;
        match field.number {
            1 if role == Role::Init => container.name = field.value.text(),
            6 => container.ports.get_or_insert_default().push(port(field.value)?),
            24 => container.restart_policy = Some(field.value.text()),
            _ => {}
        }
    }
    Ok(container)
}

fn port(value: FieldValue<'_>) -> Result<wire::ContainerPort, ParseError> {
    let mut port = wire::ContainerPort::default();
    for field in fields(value.bytes()) {
        let field = field?;
        match field.number {
            1 => port.name = nonempty(field.value),
            3 => port.container_port = field.value.int32(),
            4 => port.protocol = nonempty(field.value),
            _ => {}
        }
    }
    Ok(port)
}

fn pod_status(value: FieldValue<'_>) -> Result<wire::PodStatus, ParseError> {
    let mut status = wire::PodStatus::default();
    for field in fields(value.bytes()) {
        let field = field?;
        match field.number {
            1 => status.phase = nonempty(field.value),
            // The others are not looked at.
            2 if find(field.value.bytes(), 1)?.bytes() == b"Ready" => {
                status.conditions.get_or_insert_default().push(condition(field.value)?);
            }
            6 => status.pod_ip = nonempty(field.value),
            8 => {
                let statuses = status.container_statuses.get_or_insert_default();
                statuses.push(container_status(field.value, Role::Main)?);
            }
            10 => {
                let statuses = status.init_container_statuses.get_or_insert_default();
                statuses.push(container_status(field.value, Role::Init)?);
            }
            12 => status.pod_ips.get_or_insert_default().push(pod_ip(field.value)?),
            _ => {}
        }
    }
    Ok(status)
}

fn condition(value: FieldValue<'_>) -> Result<wire::PodCondition, ParseError> {
    let mut condition = wire::PodCondition::default();
    for field in fields(value.bytes()) {
        let field = field?;
        match field.number {
            1 => condition.type_ = field.value.text(),
            2 => condition.status = field.value.text(),
            4 => condition.last_transition_time = time(field.value)?,
            _ => {}
        }
    }
    Ok(condition)
}

fn container_status(value: FieldValue<'_>, role: Role) -> Result<wire::ContainerStatus, ParseError> {
    let mut status = wire::ContainerStatus::default();
    for field in fields(value.bytes()) {
        let field = field?;
        match field.number {
            1 if role == Role::Init => status.name = field.value.text(),
            5 => status.restart_count = field.value.int32(),
            _ => {}
        }
    }
    Ok(status)
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
