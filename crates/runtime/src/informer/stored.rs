//! Deployments and ReplicaSets: parsed objects, and the objects as they are stored, from which full updates are made.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use gantry_client::{ApiResponse, RequestBody};
use gantry_decide::gc::Resource;
use gantry_model::{
    ChangedMember, Deployment, DeploymentEdit, DeploymentStatus, Meta, ObjectKey, ParseError, ReplicaSet,
    ReplicaSetEdit, ReplicaSetStatus, ResourceVersion, Template, Uid, keys, protobuf,
};
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::core::v1::PodTemplateSpec;

use super::cached::{Cached, PreviousState};
use super::templates::{decode_object, decode_template};
use crate::json_text::with_member;
use crate::observed::workload::WorkloadText;
use crate::request::Form;
use crate::wire::{Decode, Wire};

/// A type of `gantry-model` with a template, which is parsed before the rest of the object.
pub trait ParsedWorkload<W>: Send + Sync + Sized + 'static {
    /// Parses an object without its template.
    fn parse(object: W, template: Template) -> Result<Self, ParseError>;
    /// Parses the message of an object.
    fn parse_protobuf(message: &[u8], decode: protobuf::DecodeTemplate<'_>) -> Result<Self, ParseError>;
    /// Its metadata.
    fn meta(&self) -> &Meta;
    /// Its template.
    fn template(&self) -> &Template;
}

/// A parsed object and the object as it is stored, from which a full update is made.
#[derive(Clone, Debug)]
pub struct Stored<N, W> {
    /// The parsed object.
    pub parsed: N,
    content: Content,
    wire: PhantomData<fn() -> W>,
}

/// A Deployment in a cache.
pub type CachedDeployment = Stored<Deployment, apps::Deployment>;
/// A ReplicaSet in a cache.
pub type CachedReplicaSet = Stored<ReplicaSet, apps::ReplicaSet>;

/// The object as it was read, without managed fields.
#[derive(Clone, Debug)]
enum Content {
    /// The text, and the place of the template in it.
    Json(Bytes, Range<usize>),
    /// The message.
    Protobuf(Bytes),
}

impl<N, W> Stored<N, W>
where
    N: ParsedWorkload<W>,
    W: Wire + Clone + Sync + k8s_openapi::Resource<Scope: 'static>,
    WorkloadText<W>: Wire + k8s_openapi::Resource,
{
    /// Parses a response. Decoded parts of the object's previous state are reused.
    pub fn of_response(response: &ApiResponse, previous: Option<&Self>) -> Result<Self, ParseError> {
        if response.is_protobuf {
            return Self::of_message(protobuf::open(&response.body)?, previous);
        }
        let wire = WorkloadText::decode(&response.body).map_err(ParseError::malformed)?;
        Self::of_text(&wire, previous)
    }

    fn of_text(wire: &WorkloadText<W>, previous: Option<&Self>) -> Result<Self, ParseError> {
        let text = &wire.text[wire.template.clone()];
        let template = match previous {
            Some(previous) if previous.template_text() == Some(text) => previous.parsed.template().clone(),
            _ if matches!(text, b"" | b"null") => Template::parse(PodTemplateSpec::default()),
            _ => gantry_json::from_slice(text).map(Template::parse).map_err(ParseError::malformed)?,
        };
        let parsed = N::parse(wire.object.clone(), template)?;
        Ok(Self {
            parsed,
            content: Content::Json(wire.text.clone(), wire.template.clone()),
            wire: PhantomData,
        })
    }

    fn of_message(message: &[u8], previous: Option<&Self>) -> Result<Self, ParseError> {
        let message = protobuf::without_managed_fields(message)?;
        let decode = |template: &[u8]| match previous {
            Some(previous) if previous.template_message() == Some(template) => {
                Ok(previous.parsed.template().clone())
            }
            _ => decode_template(template),
        };
        let parsed = N::parse_protobuf(&message, &decode)?;
        Ok(Self { parsed, content: Content::Protobuf(message.into()), wire: PhantomData })
    }

    /// The JSON of its template, if it was read as JSON.
    fn template_text(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Json(text, template) => Some(&text[template.clone()]),
            Content::Protobuf(_) => None,
        }
    }

    /// The message of its template, if it was read as protobuf.
    fn template_message(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Json(..) => None,
            Content::Protobuf(message) => protobuf::template_of(message).ok(),
        }
    }

    /// The body of an update: the object with other values of some members. The change may be applied to its message if
    /// it has one; the members are rendered only for text.
    fn changed(
        &self,
        members: impl FnOnce() -> Vec<ChangedMember>,
        change_message: impl FnOnce(&[u8]) -> Option<Result<Vec<u8>, ParseError>>,
    ) -> Result<RequestBody, ParseError> {
        let mut text = match &self.content {
            Content::Json(text, _) => text.to_vec(),
            Content::Protobuf(message) => {
                if let Some(changed) = change_message(message) {
                    return Ok(RequestBody::protobuf(protobuf::envelope(W::API_VERSION, W::KIND, &changed?)));
                }
                decode_object(W::API_VERSION, W::KIND, message)?.to_string().into_bytes()
            }
        };
        for ChangedMember { path, value } in members() {
            let value = value.map(|value| value.to_string());
            text = with_member(&text, path, value.as_deref().map(str::as_bytes))
                .ok_or_else(|| ParseError::malformed(format!("its {} cannot be replaced", path.join("."))))?;
        }
        Ok(text.into())
    }
}

impl CachedDeployment {
    /// The body of an update of the status and, if it is given, of the revision.
    pub fn with_status(
        &self,
        status: &DeploymentStatus,
        revision: Option<&str>,
    ) -> Result<RequestBody, ParseError> {
        let annotations = revision.map(|revision| {
            let mut annotations = self.parsed.meta.annotations.clone();
            annotations.insert(keys::REVISION.to_owned(), revision.to_owned());
            annotations
        });
        self.changed(
            || status.changed_members(annotations.as_ref()),
            |message| Some(status.replace_in_protobuf(message, annotations.as_ref())),
        )
    }

    /// The body of an update by this edit.
    pub fn with_edit(&self, edit: &DeploymentEdit) -> Result<RequestBody, ParseError> {
        self.changed(|| edit.changed_members(), |message| edit.apply_to_protobuf(message))
    }
}

impl CachedReplicaSet {
    /// The body of an update of the status.
    pub fn with_status(&self, status: &ReplicaSetStatus) -> Result<RequestBody, ParseError> {
        self.changed(|| status.changed_members(), |message| Some(status.replace_in_protobuf(message)))
    }

    /// The body of an update by this edit.
    pub fn with_edit(&self, edit: &ReplicaSetEdit) -> Result<RequestBody, ParseError> {
        self.changed(|| edit.changed_members(), |message| Some(edit.apply_to_protobuf(message)))
    }
}

impl<N, W> Cached for Stored<N, W>
where
    N: ParsedWorkload<W>,
    W: Wire + Clone + Sync + k8s_openapi::Resource<Scope: 'static>,
    WorkloadText<W>: Wire + k8s_openapi::Resource,
{
    type Wire = WorkloadText<W>;
    const FORM: Form = Form::Whole;
    const READS_PROTOBUF: bool = true;

    fn parse(_: &Resource, wire: &Arc<WorkloadText<W>>) -> Result<Self, ParseError> {
        Self::of_text(wire, None)
    }
    fn parse_next(
        _: &Resource,
        wire: &Arc<WorkloadText<W>>,
        previous: PreviousState<'_, Self>,
    ) -> Result<Self, ParseError> {
        let meta = wire.meta();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let key = ObjectKey::new(text(&meta.namespace), text(&meta.name));
        Self::of_text(wire, previous(&key).as_deref())
    }
    fn parse_protobuf(
        _: &Resource,
        message: &Bytes,
        previous: PreviousState<'_, Self>,
    ) -> Result<Self, ParseError> {
        let key = ObjectKey::new(protobuf::namespace_of(message)?, protobuf::name_of(message)?);
        Self::of_message(message, previous(&key).as_deref())
    }
    fn key(&self) -> ObjectKey {
        self.parsed.meta().key()
    }
    fn uid(&self) -> &Uid {
        &self.parsed.meta().uid
    }
    fn version(&self) -> &ResourceVersion {
        &self.parsed.meta().resource_version
    }
    fn controller(&self) -> Option<&Uid> {
        self.parsed.meta().controller().map(|owner| &owner.uid)
    }
}

macro_rules! parsed_workload {
    ($($parsed:ty, $wire:ty;)*) => {
        $(impl ParsedWorkload<$wire> for $parsed {
            fn parse(object: $wire, template: Template) -> Result<Self, ParseError> {
                Self::parse_with_template(object, template)
            }
            fn parse_protobuf(
                message: &[u8],
                decode: protobuf::DecodeTemplate<'_>,
            ) -> Result<Self, ParseError> {
                Self::parse_protobuf(message, decode)
            }
            fn meta(&self) -> &Meta {
                &self.meta
            }
            fn template(&self) -> &Template {
                &self.template
            }
        })*
    };
}

parsed_workload! {
    Deployment, apps::Deployment;
    ReplicaSet, apps::ReplicaSet;
}

/// Objects recorded from Kubernetes 1.37 in both encodings.
#[cfg(test)]
mod tests {
    use gantry_json::{Value, json};
    use gantry_model::{Pod, Replicas};
    use k8s_openapi::api::core::v1 as core;

    use super::*;
    use crate::informer::{MetadataOnly, resource_of};

    macro_rules! recorded {
        ($name:literal) => {
            [
                include_bytes!(concat!("../../tests/recorded/", $name, ".json")).as_slice(),
                include_bytes!(concat!("../../tests/recorded/", $name, ".pb")).as_slice(),
            ]
        };
    }

    const DEPLOYMENT: [&[u8]; 2] = recorded!("deployment");
    const REPLICA_SET: [&[u8]; 2] = recorded!("replica_set");
    const POD: [&[u8]; 2] = recorded!("pod");

    fn response(body: &'static [u8], is_protobuf: bool) -> ApiResponse {
        ApiResponse { code: 200, body: Bytes::from_static(body), is_protobuf, warnings: Vec::new() }
    }

    fn both<N, W>([json, protobuf]: [&'static [u8]; 2]) -> [Stored<N, W>; 2]
    where
        N: ParsedWorkload<W>,
        W: Wire + Clone + Sync + k8s_openapi::Resource<Scope: 'static>,
        WorkloadText<W>: Wire + k8s_openapi::Resource,
    {
        let parse = |body, is_protobuf| Stored::of_response(&response(body, is_protobuf), None).unwrap();
        [parse(json, false), parse(protobuf, true)]
    }

    /// The object in the body of an update, without the fields that an informer does not keep.
    fn written<W: Wire + k8s_openapi::Resource>(body: &RequestBody) -> Value {
        let object = match protobuf::open(body.as_bytes()) {
            Ok(message) => decode_object(W::API_VERSION, W::KIND, message).unwrap(),
            Err(_) => gantry_json::from_slice(body.as_bytes()).unwrap(),
        };
        assert_eq!((&object["kind"], &object["apiVersion"]), (&W::KIND.into(), &W::API_VERSION.into()));
        let mut wire = W::decode_value(&object).unwrap();
        wire.meta_mut().managed_fields = None;
        Value::decode(&wire.encode().unwrap()).unwrap()
    }

    #[test]
    fn a_deployment_in_protobuf_is_the_one_in_json() {
        let [json, protobuf] = both::<Deployment, apps::Deployment>(DEPLOYMENT);
        assert_eq!(protobuf.parsed, json.parsed);
        assert_eq!(protobuf.parsed.template.render(), json.parsed.template.render());
    }

    #[test]
    fn a_set_in_protobuf_is_the_one_in_json() {
        let [json, protobuf] = both::<ReplicaSet, apps::ReplicaSet>(REPLICA_SET);
        assert_eq!(protobuf.parsed, json.parsed);
        assert_eq!(protobuf.parsed.template.render(), json.parsed.template.render());
    }

    #[test]
    fn a_pod_in_protobuf_is_the_one_in_json() {
        let [json, body] = POD;
        let message = protobuf::open(body).unwrap();
        let pod = core::Pod::decode(json).unwrap();
        assert_eq!(Pod::parse_protobuf(message).unwrap(), Pod::parse(&pod).unwrap());
        let resource = resource_of::<core::Pod>();
        let metadata = gantry_model::ObjectMetadata::parse("v1", "Pod", &pod.metadata).unwrap();
        let message = Bytes::copy_from_slice(message);
        assert_eq!(MetadataOnly::parse_protobuf(&resource, &message, &|_| None), Ok(MetadataOnly(metadata)));
    }

    #[test]
    fn an_update_in_protobuf_writes_what_one_in_json_writes() {
        let [json, protobuf] = both::<Deployment, apps::Deployment>(DEPLOYMENT);
        let mut status = json.parsed.status.clone();
        status.replicas = Replicas::ZERO;
        status.collision_count = Some(7);
        status.conditions.reverse();
        for revision in [None, Some("9")] {
            let written = |stored: &CachedDeployment| {
                written::<apps::Deployment>(&stored.with_status(&status, revision).unwrap())
            };
            assert_eq!(written(&protobuf), written(&json));
        }
        for template in [None, Some(json.parsed.template.with_hash("h"))] {
            let edit = DeploymentEdit { annotations: [("a".to_owned(), "b".to_owned())].into(), template };
            let written =
                |stored: &CachedDeployment| written::<apps::Deployment>(&stored.with_edit(&edit).unwrap());
            assert_eq!(written(&protobuf), written(&json));
        }
        let [json, protobuf] = both::<ReplicaSet, apps::ReplicaSet>(REPLICA_SET);
        let status = ReplicaSetStatus { terminating: None, ..json.parsed.status.clone() };
        let annotations = [("a".to_owned(), "b".to_owned())].into();
        for (replicas, min_ready_seconds) in [(Replicas::from(5), 9), (Replicas::ZERO, 0)] {
            let edit =
                ReplicaSetEdit { replicas, annotations: Clone::clone(&annotations), min_ready_seconds };
            for body in [CachedReplicaSet::with_edit(&protobuf, &edit), protobuf.with_status(&status)] {
                assert!(body.unwrap().as_bytes().starts_with(b"k8s\0"));
            }
            let written = |body: RequestBody| written::<apps::ReplicaSet>(&body);
            assert_eq!(written(protobuf.with_edit(&edit).unwrap()), written(json.with_edit(&edit).unwrap()));
        }
        let written = |body: RequestBody| written::<apps::ReplicaSet>(&body);
        assert_eq!(
            written(protobuf.with_status(&status).unwrap()),
            written(json.with_status(&status).unwrap())
        );
    }

    /// The members of the JSON of an update, without decoding them to types, which would drop unknown ones.
    fn written_json(body: &RequestBody) -> Value {
        gantry_json::from_slice(body.as_bytes()).unwrap()
    }

    #[test]
    fn an_update_writes_members_that_are_unknown_here_and_the_version_that_was_read() {
        let mut newer: Value = gantry_json::from_slice(REPLICA_SET[0]).unwrap();
        for path in ["", "/metadata", "/spec", "/spec/template/spec", "/status"] {
            newer.pointer_mut(path).unwrap()["fromTheFuture"] = json!({"a": [1, null]});
        }
        let body = format!("{newer}\n").into();
        let response = ApiResponse { code: 200, body, is_protobuf: false, warnings: Vec::new() };
        let set = CachedReplicaSet::of_response(&response, None).unwrap();
        let edit = ReplicaSetEdit {
            replicas: 5.into(),
            annotations: [("a".to_owned(), "b".to_owned())].into(),
            min_ready_seconds: 0,
        };
        let mut expected = newer.clone();
        expected["metadata"].as_object_mut().unwrap().remove("managedFields");
        expected["metadata"]["annotations"] = json!({"a": "b"});
        expected["spec"]["replicas"] = 5.into();
        expected["spec"].as_object_mut().unwrap().remove("minReadySeconds");
        assert_eq!(written_json(&set.with_edit(&edit).unwrap()), expected);
        assert_eq!(expected["metadata"]["resourceVersion"], newer["metadata"]["resourceVersion"]);
    }

    #[test]
    fn a_status_and_annotations_are_added_where_there_are_none() {
        let object = r#"{"metadata":{"name":"web","namespace":"shop","uid":"u","resourceVersion":"3"},"spec":{"selector":{},"template":null}}"#;
        let body = format!("{object}\n").into();
        let response = ApiResponse { code: 200, body, is_protobuf: false, warnings: Vec::new() };
        let deployment = CachedDeployment::of_response(&response, None).unwrap();
        let status = DeploymentStatus { replicas: 1.into(), ..deployment.parsed.status.clone() };
        let written = written_json(&deployment.with_status(&status, Some("2")).unwrap());
        assert_eq!(written["status"]["replicas"], json!(1));
        assert_eq!(written["metadata"]["annotations"][keys::REVISION], json!("2"));
        assert_eq!((&written["kind"], &written["apiVersion"]), (&json!("Deployment"), &json!("apps/v1")));
    }

    /// Most states of an object differ in its status only.
    #[test]
    fn a_template_that_is_known_is_not_decoded_again() {
        let first = both::<ReplicaSet, apps::ReplicaSet>(REPLICA_SET);
        for (first, (body, is_protobuf)) in first.iter().zip(REPLICA_SET.into_iter().zip([false, true])) {
            let next = Stored::of_response(&response(body, is_protobuf), Some(first)).unwrap();
            assert!(std::ptr::eq(next.parsed.template.written(), first.parsed.template.written()));
        }
    }

    #[test]
    fn a_message_that_is_cut_short_is_an_error() {
        let message = protobuf::open(REPLICA_SET[1]).unwrap();
        for end in [1, 10, message.len() / 2, message.len() - 1] {
            assert!(CachedReplicaSet::of_message(&message[..end], None).is_err(), "{end}");
            assert!(Pod::parse_protobuf(&message[..end]).is_err(), "{end}");
        }
    }
}
