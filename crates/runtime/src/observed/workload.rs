//! Deployments and ReplicaSets in JSON: the fields that the rules need, and the text, from which updates are made.
//!
//! The template is most of such an object and seldom changes. It is not decoded here, because an informer has decoded
//! most templates before.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use gantry_json::Value;
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use serde::de::Error as _;

use super::metadata;
use crate::informer::without_managed_fields;
use crate::json_reader::JsonReader;
use crate::json_text::with_member;
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
        let text = without_managed_fields(json.trim_ascii_end());
        if let Some(read) = Self::read(parts, &text) {
            return Ok(read);
        }
        // Another form of JSON than that of API servers.
        let object: Value = gantry_json::from_slice(&text)?;
        let text = object.to_string();
        let read = Self::read(parts, &without_managed_fields(text.as_bytes()));
        read.ok_or_else(|| gantry_json::Error::custom(format!("not a {}", W::KIND)))
    }

    fn read(parts: &Parts<W>, text: &[u8]) -> Option<Self> {
        let (mut object, mut template) = (W::default(), 0..0);
        let (mut has_kind, mut has_version) = (false, false);
        let mut reader = JsonReader::new(text);
        reader.object(|reader, name| {
            match name {
                b"kind" => has_kind = reader.skip().is_some(),
                b"apiVersion" => has_version = reader.skip().is_some(),
                b"metadata" => *object.meta_mut() = metadata(reader)?,
                b"spec" => template = (parts.spec)(reader, &mut object)?,
                b"status" => (parts.status)(reader, &mut object)?,
                _ => reader.skip()?,
            }
            Some(())
        })?;
        let mut text = reader.is_at_end().then_some(Cow::Borrowed(text))?;
        // An item of a list has no type, and an update needs one. Members are added at the end, so the template keeps its place.
        for (name, value, is_present) in
            [("kind", W::KIND, has_kind), ("apiVersion", W::API_VERSION, has_version)]
        {
            if !is_present {
                text = with_member(&text, &[name], Some(format!("\"{value}\"").as_bytes()))?.into();
            }
        }
        Some(Self { object, text: text.into_owned().into(), template })
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
        if let Some((metadata, items)) = read_list(json) {
            let items = items.into_iter().map(|item| Self::decode(&json[item]));
            return Ok(ObjectList { metadata, items: items.collect::<Result<_, _>>()? });
        }
        // Another form of JSON than that of API servers.
        let list: ObjectList<Value> = gantry_json::from_slice(json)?;
        let items = list.items.iter().map(|item| Self::decode(item.to_string().as_bytes()));
        Ok(ObjectList { metadata: list.metadata, items: items.collect::<Result<_, _>>()? })
    }
    /// Managed fields are removed in any case.
    fn decode_observed(json: &[u8]) -> gantry_json::Result<Self> {
        Self::decode(json)
    }
}

/// The metadata of a list, and the places of its items in the text.
fn read_list(json: &[u8]) -> Option<(ListMeta, Vec<Range<usize>>)> {
    let (mut metadata, mut items) = (ListMeta::default(), None);
    JsonReader::new(json).object(|reader, name| {
        match name {
            b"metadata" => metadata = reader.value()?,
            b"items" => items = reader.optional(|reader| reader.array(JsonReader::place))?,
            _ => reader.skip()?,
        }
        Some(())
    })?;
    Some((metadata, items.unwrap_or_default()))
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
    use gantry_json::json;
    use k8s_openapi::api::core::v1 as core;

    use super::*;

    fn recorded() -> Value {
        gantry_json::from_slice(include_bytes!("../../tests/recorded/replica_set.json")).unwrap()
    }

    fn recorded_deployment() -> Value {
        gantry_json::from_slice(include_bytes!("../../tests/recorded/deployment.json")).unwrap()
    }

    fn read(json: &str) -> WorkloadText<apps::ReplicaSet> {
        WorkloadText::decode(json.as_bytes()).unwrap()
    }

    fn template<W>(workload: &WorkloadText<W>) -> Value {
        gantry_json::from_slice(&workload.text[workload.template.clone()]).unwrap()
    }

    fn without_type(mut object: Value) -> Value {
        object.as_object_mut().unwrap().retain(|name, _| !matches!(name.as_str(), "kind" | "apiVersion"));
        object
    }

    #[test]
    fn the_fields_of_a_set_are_those_of_the_whole_object() {
        let set = read(&recorded().to_string());
        let mut whole = apps::ReplicaSet::decode(recorded().to_string().as_bytes()).unwrap();
        whole.metadata.managed_fields = None;
        whole.spec.template = None;
        assert_eq!(set.object, whole);
        assert_eq!(template(&set), recorded()["spec"]["template"]);
    }

    #[test]
    fn the_fields_of_a_deployment_are_those_of_the_whole_object() {
        let mut recorded = recorded_deployment();
        recorded["spec"]["paused"] = true.into();
        recorded["status"]["collisionCount"] = 3.into();
        let deployment = WorkloadText::<apps::Deployment>::decode(recorded.to_string().as_bytes()).unwrap();
        let mut whole = apps::Deployment::decode(recorded.to_string().as_bytes()).unwrap();
        whole.metadata.managed_fields = None;
        whole.spec.template = core::PodTemplateSpec::default();
        assert_eq!(deployment.object, whole);
        assert_eq!(template(&deployment), recorded["spec"]["template"]);
    }

    /// Updates are made from a text with a type and without managed fields, whatever the form of the response.
    #[test]
    fn text_of_another_form_is_the_same_object() {
        let expected = read(&recorded().to_string());
        let item = without_type(recorded());
        let mut without_kind = recorded();
        without_kind.as_object_mut().unwrap().remove("kind");
        let pretty = gantry_json::to_string_pretty(&recorded()).unwrap();
        let texts = [
            pretty,
            item.to_string(),
            without_kind.to_string(),
            format!("{}\n", recorded()),
            format!(" {}", recorded()),
        ];
        for set in texts.iter().map(|text| read(text)) {
            assert_eq!(set.object, expected.object);
            assert_eq!(template(&set), template(&expected));
            let mut text = recorded();
            text["metadata"].as_object_mut().unwrap().remove("managedFields");
            assert_eq!(gantry_json::from_slice::<Value>(&set.text).unwrap(), text);
        }
    }

    #[test]
    fn a_list_is_read_in_any_form_of_json() {
        let expected = read(&recorded().to_string());
        let list = json!({"metadata": {"resourceVersion": "7"}, "items": [without_type(recorded())]});
        for text in [list.to_string(), gantry_json::to_string_pretty(&list).unwrap()] {
            let listed = WorkloadText::<apps::ReplicaSet>::decode_list(text.as_bytes()).unwrap();
            assert_eq!(listed.metadata.resource_version.as_deref(), Some("7"));
            assert_eq!(listed.items.len(), 1);
            assert_eq!(listed.items[0].object, expected.object);
            assert_eq!(template(&listed.items[0]), template(&expected));
        }
        for empty in
            [r#"{"metadata":{},"items":[]}"#, r#"{"metadata":{},"items":null}"#, r#"{"metadata":{}}"#]
        {
            let listed = WorkloadText::<apps::ReplicaSet>::decode_list(empty.as_bytes()).unwrap();
            assert!(listed.items.is_empty(), "{empty}");
        }
    }

    #[test]
    fn what_is_not_a_workload_is_an_error() {
        let table =
            ["", "[]", r#"{"metadata":3}"#, r#"{"spec":{"replicas":"three"}}"#, r#"{"metadata":{}}more"#];
        for json in table {
            assert!(WorkloadText::<apps::ReplicaSet>::decode(json.as_bytes()).is_err(), "{json}");
        }
    }
}
