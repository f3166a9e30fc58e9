//! Deployments and ReplicaSets: parsed objects, and the objects as they are stored, from which full updates are made.

use std::sync::Arc;

use bytes::Bytes;
use gantry_client::{ApiResponse, RequestBody};
use gantry_decide::gc::Resource;
use gantry_model::{
    Annotations, Deployment, DeploymentEdit, DeploymentStatus, Name, Namespace, ObjectKey, ParseError,
    ReplicaSet, ReplicaSetEdit, ReplicaSetStatus, ResourceVersion, Template, Uid, keys, protobuf,
};
use k8s_openapi::api::apps::v1 as apps;

use super::cached::{Cached, ParsedFrom, Typed as _};
use super::templates::{decode_object, decode_template};
use crate::request::Form;
use crate::wire::Wire;

/// A type of `gantry-model` that is parsed from protobuf, too.
pub trait ParsedFromProtobuf<W>: ParsedFrom<W> {
    /// Parses the message of an object.
    fn parse_protobuf(message: &[u8], decode: protobuf::DecodeTemplate<'_>) -> Result<Self, ParseError>;
    /// Its template.
    fn template(&self) -> &Template;
}

/// A parsed object and the object as it is stored, from which a full update is made.
#[derive(Clone, Debug)]
pub struct Stored<N, W> {
    /// The parsed object.
    pub parsed: N,
    content: Content<W>,
}

#[derive(Debug)]
enum Content<W> {
    Decoded(Arc<W>),
    /// The message, without managed fields.
    Protobuf(Bytes),
}

/// A Deployment in a cache.
pub type CachedDeployment = Stored<Deployment, apps::Deployment>;
/// A ReplicaSet in a cache.
pub type CachedReplicaSet = Stored<ReplicaSet, apps::ReplicaSet>;

impl<N, W> Stored<N, W>
where
    N: ParsedFromProtobuf<W>,
    W: Wire + Clone + Sync + k8s_openapi::Resource<Scope: 'static>,
{
    /// Parses a response. Decoded parts of the object's previous state are reused.
    pub fn of_response(response: &ApiResponse, previous: Option<&Self>) -> Result<Self, ParseError> {
        if response.is_protobuf {
            return Self::of_message(protobuf::open(&response.body)?, previous);
        }
        let wire = W::decode_observed(&response.body).map_err(ParseError::malformed)?;
        Self::parse(&Self::resource(), &Arc::new(wire))
    }

    fn of_message(message: &[u8], previous: Option<&Self>) -> Result<Self, ParseError> {
        let message = protobuf::without_managed_fields(message)?;
        let decode = |template: &[u8]| match previous {
            Some(previous) if previous.has_template(template) => Ok(previous.parsed.template().clone()),
            _ => decode_template(template),
        };
        let parsed = N::parse_protobuf(&message, &decode)?;
        Ok(Self { parsed, content: Content::Protobuf(message.into()) })
    }

    /// Whether its template is encoded as these bytes.
    fn has_template(&self, template: &[u8]) -> bool {
        match &self.content {
            Content::Protobuf(message) => protobuf::template_of(message) == Ok(template),
            Content::Decoded(_) => false,
        }
    }

    /// The body of an update: the object with a change, which may be applied to its message if it has one.
    fn changed(
        &self,
        change: impl FnOnce(&mut W),
        change_message: impl FnOnce(&[u8]) -> Option<Result<Vec<u8>, ParseError>>,
    ) -> Result<RequestBody, ParseError> {
        let mut wire = match &self.content {
            Content::Decoded(wire) => W::clone(wire),
            Content::Protobuf(message) => {
                if let Some(changed) = change_message(message) {
                    let body = protobuf::envelope(W::API_VERSION, W::KIND, &changed?);
                    return Ok(RequestBody::protobuf(body));
                }
                let object = decode_object(W::API_VERSION, W::KIND, message)?;
                W::decode_value(&object).map_err(ParseError::malformed)?
            }
        };
        change(&mut wire);
        wire.to_body().map_err(ParseError::malformed)
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
            |wire| {
                wire.status = Some(status.render());
                if let Some(annotations) = &annotations {
                    wire.metadata.annotations = Some(Annotations::clone(annotations));
                }
            },
            |message| Some(status.replace_in_protobuf(message, annotations.as_ref())),
        )
    }

    /// The body of an update by this edit.
    pub fn with_edit(&self, edit: &DeploymentEdit) -> Result<RequestBody, ParseError> {
        self.changed(|wire| edit.apply_to(wire), |message| edit.apply_to_protobuf(message))
    }
}

impl CachedReplicaSet {
    /// The body of an update of the status.
    pub fn with_status(&self, status: &ReplicaSetStatus) -> Result<RequestBody, ParseError> {
        self.changed(
            |wire| wire.status = Some(status.render()),
            |message| Some(status.replace_in_protobuf(message)),
        )
    }

    /// The body of an update by this edit.
    pub fn with_edit(&self, edit: &ReplicaSetEdit) -> Result<RequestBody, ParseError> {
        self.changed(|wire| edit.apply_to(wire), |message| Some(edit.apply_to_protobuf(message)))
    }
}

impl<N, W> Cached for Stored<N, W>
where
    N: ParsedFromProtobuf<W>,
    W: Wire + Clone + Sync + k8s_openapi::Resource<Scope: 'static>,
{
    type Wire = W;
    const FORM: Form = Form::Whole;
    const READS_PROTOBUF: bool = true;

    fn parse(_: &Resource, wire: &Arc<W>) -> Result<Self, ParseError> {
        Ok(Self { parsed: N::parse(W::clone(wire))?, content: Content::Decoded(wire.clone()) })
    }
    fn parse_protobuf(
        _: &Resource,
        message: &Bytes,
        previous: &dyn Fn(&ObjectKey) -> Option<Arc<Self>>,
    ) -> Result<Self, ParseError> {
        let key = ObjectKey {
            namespace: Namespace::from(protobuf::namespace_of(message)?),
            name: Name::from(protobuf::name_of(message)?),
        };
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

impl<W> Clone for Content<W> {
    fn clone(&self) -> Self {
        match self {
            Self::Decoded(wire) => Self::Decoded(wire.clone()),
            Self::Protobuf(message) => Self::Protobuf(message.clone()),
        }
    }
}

impl ParsedFromProtobuf<apps::Deployment> for Deployment {
    fn parse_protobuf(message: &[u8], decode: protobuf::DecodeTemplate<'_>) -> Result<Self, ParseError> {
        Self::parse_protobuf(message, decode)
    }
    fn template(&self) -> &Template {
        &self.template
    }
}

impl ParsedFromProtobuf<apps::ReplicaSet> for ReplicaSet {
    fn parse_protobuf(message: &[u8], decode: protobuf::DecodeTemplate<'_>) -> Result<Self, ParseError> {
        Self::parse_protobuf(message, decode)
    }
    fn template(&self) -> &Template {
        &self.template
    }
}

/// Objects recorded from Kubernetes 1.37 in both encodings.
#[cfg(test)]
mod tests {
    use gantry_json::Value;
    use gantry_model::{Pod, Replicas};
    use k8s_openapi::api::core::v1 as core;

    use super::*;
    use crate::informer::{MetadataOnly, resource_of};
    use crate::wire::Decode as _;

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
        N: ParsedFromProtobuf<W>,
        W: Wire + Clone + Sync + k8s_openapi::Resource<Scope: 'static>,
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

    /// Most states of an object differ in its status only.
    #[test]
    fn a_template_that_is_known_is_not_decoded_again() {
        let [_, first] = both::<ReplicaSet, apps::ReplicaSet>(REPLICA_SET);
        let next = Stored::of_response(&response(REPLICA_SET[1], true), Some(&first)).unwrap();
        assert!(std::ptr::eq(next.parsed.template.written(), first.parsed.template.written()));
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
