//! Deployments and ReplicaSets in JSON: the fields that the rules need, and the text, from which updates are made.
//!
//! The template is most of such an object and seldom changes. It is not decoded here, because an informer has decoded
//! most templates before.

use std::ops::Range;

use bytes::Bytes;
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::Error as _;

use super::metadata;
use crate::informer::without_managed_fields;
use crate::json_reader::JsonReader;
use crate::wire::{Decode, Encode, ObjectList, Wire};

/// A Deployment or ReplicaSet in JSON.
#[derive(Clone, Debug)]
pub struct WorkloadText<W> {
    /// The fields that the rules need, without the template.
    pub(crate) object: W,
    /// The whole object without managed fields, as API servers write it: without whitespace.
    pub(crate) text: Bytes,
    /// The template in the text.
    pub(crate) template: Range<usize>,
}

/// How the parts of a kind are read into an object.
struct Parts<W> {
    /// Returns the place of the template in the text.
    spec: fn(&mut JsonReader<'_>, &mut W) -> Option<Range<usize>>,
    status: fn(&mut JsonReader<'_>, &mut W) -> Option<()>,
}

impl<W: Wire + Sync + Default + k8s_openapi::Resource> WorkloadText<W> {
    fn decode_by(parts: &Parts<W>, json: &[u8]) -> gantry_json::Result<Self> {
        let text = without_managed_fields(json);
        if let Some(read) = Self::read(parts, &text) {
            return Ok(read);
        }
        // Another form of JSON than that of API servers.
        let mut whole = W::decode(&text)?;
        whole.meta_mut().managed_fields = None;
        let read = Self::read(parts, &whole.encode()?);
        read.ok_or_else(|| gantry_json::Error::custom(format!("not a {}", W::KIND)))
    }

    fn read(parts: &Parts<W>, text: &[u8]) -> Option<Self> {
        let (mut object, mut template, mut has_type) = (W::default(), 0..0, false);
        JsonReader::new(text).object(|reader, name| {
            match name {
                b"kind" => {
                    has_type = true;
                    reader.skip()?;
                }
                b"metadata" => *object.meta_mut() = metadata(reader)?,
                b"spec" => template = (parts.spec)(reader, &mut object)?,
                b"status" => (parts.status)(reader, &mut object)?,
                _ => reader.skip()?,
            }
            Some(())
        })?;
        if has_type {
            return Some(Self { object, text: Bytes::copy_from_slice(text), template });
        }
        // An item of a list has no type, and an update needs one.
        let head = format!(r#"{{"kind":"{}","apiVersion":"{}","#, W::KIND, W::API_VERSION);
        let moved = |at: usize| at + head.len() - 1;
        let template = moved(template.start)..moved(template.end);
        Some(Self { object, text: [head.as_bytes(), &text[1..]].concat().into(), template })
    }
}

macro_rules! decode_by {
    ($($kind:ty: $spec:path, $status:path;)*) => {
        $(impl Decode for WorkloadText<$kind> {
            fn decode(json: &[u8]) -> gantry_json::Result<Self> {
                Self::decode_by(&Parts { spec: $spec, status: $status }, json)
            }
        })*
    };
}

decode_by! {
    apps::Deployment: deployment_spec, deployment_status;
    apps::ReplicaSet: replica_set_spec, replica_set_status;
}

fn deployment_spec(reader: &mut JsonReader<'_>, deployment: &mut apps::Deployment) -> Option<Range<usize>> {
    let mut template = 0..0;
    deployment.spec = decode!(reader, spec: apps::DeploymentSpec, {
        b"replicas" => spec.replicas = reader.value()?,
        b"selector" => spec.selector = reader.value()?,
        b"template" => template = reader.place()?,
        b"strategy" => spec.strategy = reader.value()?,
        b"minReadySeconds" => spec.min_ready_seconds = reader.value()?,
        b"revisionHistoryLimit" => spec.revision_history_limit = reader.value()?,
        b"paused" => spec.paused = reader.value()?,
        b"progressDeadlineSeconds" => spec.progress_deadline_seconds = reader.value()?,
    })?;
    Some(template)
}

fn deployment_status(reader: &mut JsonReader<'_>, deployment: &mut apps::Deployment) -> Option<()> {
    deployment.status = reader.value()?;
    Some(())
}

fn replica_set_spec(reader: &mut JsonReader<'_>, set: &mut apps::ReplicaSet) -> Option<Range<usize>> {
    let mut template = 0..0;
    set.spec = decode!(reader, spec: apps::ReplicaSetSpec, {
        b"replicas" => spec.replicas = reader.value()?,
        b"selector" => spec.selector = reader.value()?,
        b"template" => template = reader.place()?,
        b"minReadySeconds" => spec.min_ready_seconds = reader.value()?,
    })?;
    Some(template)
}

fn replica_set_status(reader: &mut JsonReader<'_>, set: &mut apps::ReplicaSet) -> Option<()> {
    set.status = reader.value()?;
    Some(())
}

impl<W: Sync> Encode for WorkloadText<W> {
    fn encode(&self) -> gantry_json::Result<Vec<u8>> {
        Ok(self.text.to_vec())
    }
}

impl<W: Wire + Sync> Wire for WorkloadText<W>
where
    Self: Decode,
{
    fn meta(&self) -> &ObjectMeta {
        self.object.meta()
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.object.meta_mut()
    }
    fn decode_list(json: &[u8]) -> gantry_json::Result<ObjectList<Self>> {
        let list: ObjectList<gantry_json::Value> = gantry_json::from_slice(json)?;
        let items = list.items.iter().map(|item| Self::decode(item.to_string().as_bytes()));
        Ok(ObjectList { metadata: list.metadata, items: items.collect::<Result<_, _>>()? })
    }
}

impl<W: k8s_openapi::Resource> k8s_openapi::Resource for WorkloadText<W> {
    const API_VERSION: &'static str = W::API_VERSION;
    const GROUP: &'static str = W::GROUP;
    const KIND: &'static str = W::KIND;
    const VERSION: &'static str = W::VERSION;
    const URL_PATH_SEGMENT: &'static str = W::URL_PATH_SEGMENT;
    type Scope = W::Scope;
}

impl<W: k8s_openapi::Metadata<Ty = ObjectMeta>> k8s_openapi::Metadata for WorkloadText<W> {
    type Ty = ObjectMeta;

    fn metadata(&self) -> &ObjectMeta {
        self.object.metadata()
    }
    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        self.object.metadata_mut()
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::{Value, json};

    use super::*;

    fn recorded() -> Value {
        gantry_json::from_slice(include_bytes!("../../tests/recorded/replica_set.json")).unwrap()
    }

    fn read(json: &str) -> WorkloadText<apps::ReplicaSet> {
        WorkloadText::decode(json.as_bytes()).unwrap()
    }

    fn template(set: &WorkloadText<apps::ReplicaSet>) -> Value {
        gantry_json::from_slice(&set.text[set.template.clone()]).unwrap()
    }

    #[test]
    fn the_fields_are_those_of_the_whole_object() {
        let set = read(&recorded().to_string());
        let mut whole = apps::ReplicaSet::decode(recorded().to_string().as_bytes()).unwrap();
        whole.metadata.managed_fields = None;
        whole.metadata.self_link = None;
        whole.spec.template = None;
        assert_eq!(set.object, whole);
        assert_eq!(template(&set), recorded()["spec"]["template"]);
    }

    /// Whatever the form of the text, updates are made from a text with a type and without managed fields.
    #[test]
    fn text_of_another_form_is_the_same_object() {
        let expected = read(&recorded().to_string());
        let mut item = recorded();
        item.as_object_mut().unwrap().remove("kind");
        item.as_object_mut().unwrap().remove("apiVersion");
        let list = json!({"metadata": {"resourceVersion": "7"}, "items": [item]}).to_string();
        let listed = WorkloadText::<apps::ReplicaSet>::decode_list(list.as_bytes()).unwrap();
        assert_eq!(listed.metadata.resource_version.as_deref(), Some("7"));
        let pretty = gantry_json::to_string_pretty(&recorded()).unwrap();
        for set in [read(&pretty), read(&item.to_string()), listed.items[0].clone()] {
            assert_eq!(set.object, expected.object);
            assert_eq!(template(&set), template(&expected));
            let text: Value = gantry_json::from_slice(&set.text).unwrap();
            assert_eq!(
                (&text["kind"], &text["metadata"]["managedFields"]),
                (&json!("ReplicaSet"), &Value::Null)
            );
        }
    }

    #[test]
    fn what_is_not_a_workload_is_an_error() {
        for json in ["", "[]", r#"{"metadata":3}"#, r#"{"spec":{"replicas":"three"}}"#] {
            assert!(WorkloadText::<apps::ReplicaSet>::decode(json.as_bytes()).is_err(), "{json}");
        }
    }
}
