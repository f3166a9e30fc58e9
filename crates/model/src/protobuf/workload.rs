//! Deployments and ReplicaSets in protobuf. The template is decoded by the caller, who has decoded most of them before.

use gantry_formats::protobuf::{FieldValue, MessageWriter, fields, find, without};
use k8s_openapi::api::apps::v1 as wire;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::{
    ANNOTATIONS, MANAGED_FIELDS, METADATA, SPEC, STATUS, label_selector, nonempty, nonzero, time, write_time,
};
use crate::{
    Annotations, Deployment, DeploymentEdit, DeploymentStatus, Meta, ParseError, ReplicaSet, ReplicaSetEdit,
    ReplicaSetStatus, SetKind, Template,
};

/// The number of the template in the spec of a Deployment and of a ReplicaSet.
const TEMPLATE: u32 = 3;

/// Decodes a template in protobuf.
pub type DecodeTemplate<'a> = &'a dyn Fn(&[u8]) -> Result<Template, ParseError>;

/// Returns the encoded template of a Deployment or ReplicaSet.
pub fn template_of(message: &[u8]) -> Result<&[u8], ParseError> {
    Ok(find(find(message, SPEC)?.bytes(), TEMPLATE)?.bytes())
}

/// Returns an object without its managed fields.
pub fn without_managed_fields(message: &[u8]) -> Result<Vec<u8>, ParseError> {
    with_part(message, METADATA, |metadata| Ok(without(metadata, &[MANAGED_FIELDS])?))
}

impl Deployment {
    /// Parses a Deployment in protobuf.
    pub fn parse_protobuf(message: &[u8], decode: DecodeTemplate<'_>) -> Result<Self, ParseError> {
        let meta = Meta::parse_protobuf(find(message, METADATA)?.bytes())?;
        let (spec, template) = deployment_spec(find(message, SPEC)?)?;
        let status = deployment_status(find(message, STATUS)?)?;
        Ok(Self::of_parts(meta, spec, decode(template)?, status))
    }
}

impl ReplicaSet {
    /// Parses a ReplicaSet in protobuf.
    pub fn parse_protobuf(message: &[u8], decode: DecodeTemplate<'_>) -> Result<Self, ParseError> {
        let meta = Meta::parse_protobuf(find(message, METADATA)?.bytes())?;
        let (spec, template) = replica_set_spec(find(message, SPEC)?)?;
        let status = replica_set_status(find(message, STATUS)?)?;
        Ok(Self::of_parts(SetKind::ReplicaSet, meta, spec, decode(template)?, status))
    }
}

fn deployment_spec(value: FieldValue<'_>) -> Result<(wire::DeploymentSpec, &[u8]), ParseError> {
    decode!(value, spec: wire::DeploymentSpec, template: &[u8], {
        1 => spec.replicas = Some(value.int32()),
        2 => spec.selector = label_selector(value)?,
        TEMPLATE => template = value.bytes(),
        4 => spec.strategy = Some(strategy(value)?),
        5 => spec.min_ready_seconds = nonzero(value),
        6 => spec.revision_history_limit = Some(value.int32()),
        7 => spec.paused = value.bool().then_some(true),
        9 => spec.progress_deadline_seconds = Some(value.int32()),
    })
}

fn strategy(value: FieldValue<'_>) -> Result<wire::DeploymentStrategy, ParseError> {
    decode!(value, strategy: wire::DeploymentStrategy, {
        1 => strategy.type_ = nonempty(value),
        2 => strategy.rolling_update = Some(rolling_update(value)?),
    })
}

fn rolling_update(value: FieldValue<'_>) -> Result<wire::RollingUpdateDeployment, ParseError> {
    decode!(value, limits: wire::RollingUpdateDeployment, {
        1 => limits.max_unavailable = Some(int_or_string(value)?),
        2 => limits.max_surge = Some(int_or_string(value)?),
    })
}

fn int_or_string(value: FieldValue<'_>) -> Result<IntOrString, ParseError> {
    let (mut is_text, mut number, mut text) = (false, 0, String::new());
    for field in fields(value.bytes()) {
        let field = field?;
        match field.number {
            1 => is_text = field.value.bool(),
            2 => number = field.value.int32(),
            3 => text = field.value.text(),
            _ => {}
        }
    }
    Ok(if is_text { IntOrString::String(text) } else { IntOrString::Int(number) })
}

fn deployment_status(value: FieldValue<'_>) -> Result<wire::DeploymentStatus, ParseError> {
    decode!(value, status: wire::DeploymentStatus, {
        1 => status.observed_generation = Some(value.int64()).filter(|number| *number != 0),
        2 => status.replicas = nonzero(value),
        3 => status.updated_replicas = nonzero(value),
        4 => status.available_replicas = nonzero(value),
        5 => status.unavailable_replicas = nonzero(value),
        6 => status.conditions.get_or_insert_default().push(deployment_condition(value)?),
        7 => status.ready_replicas = nonzero(value),
        8 => status.collision_count = Some(value.int32()),
        9 => status.terminating_replicas = Some(value.int32()),
    })
}

fn deployment_condition(value: FieldValue<'_>) -> Result<wire::DeploymentCondition, ParseError> {
    decode!(value, condition: wire::DeploymentCondition, {
        1 => condition.type_ = Some(value.text()),
        2 => condition.status = Some(value.text()),
        4 => condition.reason = nonempty(value),
        5 => condition.message = nonempty(value),
        6 => condition.last_update_time = time(value)?,
        7 => condition.last_transition_time = time(value)?,
    })
}

fn replica_set_spec(value: FieldValue<'_>) -> Result<(wire::ReplicaSetSpec, &[u8]), ParseError> {
    decode!(value, spec: wire::ReplicaSetSpec, template: &[u8], {
        1 => spec.replicas = Some(value.int32()),
        2 => spec.selector = label_selector(value)?,
        TEMPLATE => template = value.bytes(),
        4 => spec.min_ready_seconds = nonzero(value),
    })
}

fn replica_set_status(value: FieldValue<'_>) -> Result<wire::ReplicaSetStatus, ParseError> {
    decode!(value, status: wire::ReplicaSetStatus, {
        1 => status.replicas = value.int32(),
        2 => status.fully_labeled_replicas = nonzero(value),
        3 => status.observed_generation = Some(value.int64()).filter(|number| *number != 0),
        4 => status.ready_replicas = nonzero(value),
        5 => status.available_replicas = nonzero(value),
        6 => status.conditions.get_or_insert_default().push(replica_set_condition(value)?),
        7 => status.terminating_replicas = Some(value.int32()),
    })
}

fn replica_set_condition(value: FieldValue<'_>) -> Result<wire::ReplicaSetCondition, ParseError> {
    decode!(value, condition: wire::ReplicaSetCondition, {
        1 => condition.type_ = Some(value.text()),
        2 => condition.status = Some(value.text()),
        3 => condition.last_transition_time = time(value)?,
        4 => condition.reason = nonempty(value),
        5 => condition.message = nonempty(value),
    })
}

// === Updates ===

impl DeploymentStatus {
    /// Returns a Deployment in protobuf with this status and, if they are given, these annotations.
    pub fn replace_in_protobuf(
        &self,
        message: &[u8],
        annotations: Option<&Annotations>,
    ) -> Result<Vec<u8>, ParseError> {
        let mut changed = without(message, &[STATUS])?;
        changed.bytes(STATUS, &encode_deployment_status(&self.render()));
        let changed = changed.into_bytes();
        match annotations {
            Some(annotations) => with_annotations(&changed, annotations),
            None => Ok(changed),
        }
    }
}

impl ReplicaSetStatus {
    /// Returns a ReplicaSet in protobuf with this status.
    pub fn replace_in_protobuf(&self, message: &[u8]) -> Result<Vec<u8>, ParseError> {
        let mut changed = without(message, &[STATUS])?;
        changed.bytes(STATUS, &encode_replica_set_status(&self.render()));
        Ok(changed.into_bytes())
    }
}

impl DeploymentEdit {
    /// Applies the update to the object in protobuf as it was read; `None` if the template changes, which has to be
    /// encoded as JSON.
    pub fn apply_to_protobuf(&self, message: &[u8]) -> Option<Result<Vec<u8>, ParseError>> {
        self.template.is_none().then(|| with_annotations(message, &self.annotations))
    }
}

impl ReplicaSetEdit {
    /// Applies the update to the object in protobuf as it was read.
    pub fn apply_to_protobuf(&self, message: &[u8]) -> Result<Vec<u8>, ParseError> {
        let changed = with_annotations(message, &self.annotations)?;
        with_part(&changed, SPEC, |spec| {
            let mut spec = without(spec, &[1, 4])?;
            spec.int32(1, self.replicas.render());
            spec.int32(4, self.min_ready_seconds);
            Ok(spec)
        })
    }
}

/// Returns an object with these annotations and no others.
fn with_annotations(message: &[u8], annotations: &Annotations) -> Result<Vec<u8>, ParseError> {
    with_part(message, METADATA, |metadata| {
        let mut metadata = without(metadata, &[ANNOTATIONS])?;
        for (key, value) in annotations {
            metadata.message(ANNOTATIONS, |entry| {
                entry.text(1, key);
                entry.text(2, value);
            });
        }
        Ok(metadata)
    })
}

/// Returns a message in which a part has another value; the part is moved to the end.
fn with_part(
    message: &[u8],
    part: u32,
    change: impl FnOnce(&[u8]) -> Result<MessageWriter, ParseError>,
) -> Result<Vec<u8>, ParseError> {
    let changed = change(find(message, part)?.bytes())?.into_bytes();
    let mut whole = without(message, &[part])?;
    whole.bytes(part, &changed);
    Ok(whole.into_bytes())
}

fn encode_deployment_status(status: &wire::DeploymentStatus) -> Vec<u8> {
    let mut writer = MessageWriter::default();
    writer.int64(1, status.observed_generation.unwrap_or_default());
    writer.int32(2, status.replicas.unwrap_or_default());
    writer.int32(3, status.updated_replicas.unwrap_or_default());
    writer.int32(4, status.available_replicas.unwrap_or_default());
    writer.int32(5, status.unavailable_replicas.unwrap_or_default());
    for condition in status.conditions.iter().flatten() {
        writer.message(6, |writer| {
            writer.text(1, condition.type_.as_deref().unwrap_or_default());
            writer.text(2, condition.status.as_deref().unwrap_or_default());
            writer.text(4, condition.reason.as_deref().unwrap_or_default());
            writer.text(5, condition.message.as_deref().unwrap_or_default());
            write_time(writer, 6, condition.last_update_time.as_ref());
            write_time(writer, 7, condition.last_transition_time.as_ref());
        });
    }
    writer.int32(7, status.ready_replicas.unwrap_or_default());
    if let Some(count) = status.collision_count {
        writer.int32(8, count);
    }
    if let Some(count) = status.terminating_replicas {
        writer.int32(9, count);
    }
    writer.into_bytes()
}

fn encode_replica_set_status(status: &wire::ReplicaSetStatus) -> Vec<u8> {
    let mut writer = MessageWriter::default();
    writer.int32(1, status.replicas);
    writer.int32(2, status.fully_labeled_replicas.unwrap_or_default());
    writer.int64(3, status.observed_generation.unwrap_or_default());
    writer.int32(4, status.ready_replicas.unwrap_or_default());
    writer.int32(5, status.available_replicas.unwrap_or_default());
    for condition in status.conditions.iter().flatten() {
        writer.message(6, |writer| {
            writer.text(1, condition.type_.as_deref().unwrap_or_default());
            writer.text(2, condition.status.as_deref().unwrap_or_default());
            write_time(writer, 3, condition.last_transition_time.as_ref());
            writer.text(4, condition.reason.as_deref().unwrap_or_default());
            writer.text(5, condition.message.as_deref().unwrap_or_default());
        });
    }
    if let Some(count) = status.terminating_replicas {
        writer.int32(7, count);
    }
    writer.into_bytes()
}
