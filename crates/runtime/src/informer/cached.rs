//! The entries of informers: objects parsed once, with the fields of their indexes.

use std::any::TypeId;
use std::sync::Arc;

use bytes::Bytes;
use gantry_decide::gc::{Resource, ResourceScope};
use gantry_model::{
    ClusterRole, DisruptionBudget, EndpointSlice, Endpoints, Labels, Meta, ObjectKey, ObjectMetadata,
    ParseError, Pod, ReplicaSet, ResourceVersion, Service, Uid,
};
use k8s_openapi::api::{
    core::v1 as core, discovery::v1 as discovery, policy::v1 as policy, rbac::v1 as rbac,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::Informer;
use super::wire_object::WireObject;
use crate::request::Form;
use crate::wire::{PartialMetadata, Wire};

/// An object that an informer can hold.
pub trait Cached: Send + Sync + Sized + 'static {
    /// Its wire type.
    type Wire: Wire;
    /// How much of it is requested.
    const FORM: Form;
    /// Whether it can be parsed from protobuf, too.
    const READS_PROTOBUF: bool = false;
    /// Whether it needs more of the wire object than [`Wire::decode_observed`] decodes.
    const NEEDS_WHOLE: bool = true;

    /// Parses an object of this resource. The wire object is shared with other informers.
    fn parse(resource: &Resource, wire: &Arc<Self::Wire>) -> Result<Self, ParseError>;
    /// Parses an object of this resource whose previous state is in the cache. Decoded parts of that may be reused.
    fn parse_next(
        resource: &Resource,
        wire: &Arc<Self::Wire>,
        _previous: PreviousState<'_, Self>,
    ) -> Result<Self, ParseError> {
        Self::parse(resource, wire)
    }
    /// Parses the message of an object of this resource. Decoded parts of its previous state may be reused.
    fn parse_protobuf(
        _resource: &Resource,
        _message: &Bytes,
        _previous: PreviousState<'_, Self>,
    ) -> Result<Self, ParseError> {
        Err(ParseError::malformed("protobuf was not requested"))
    }
    /// Its key; the namespace of cluster-scoped objects is empty.
    fn key(&self) -> ObjectKey;
    /// Its uid.
    fn uid(&self) -> &Uid;
    /// Its resource version.
    fn version(&self) -> &ResourceVersion;
    /// The uid of its controller; `None` if its kind is not indexed by controller.
    fn controller(&self) -> Option<&Uid> {
        None
    }
    /// Its labels; `None` if its kind is not indexed by labels.
    fn labels(&self) -> Option<&Labels> {
        None
    }
}

/// Looks up the state of an object in the cache.
pub type PreviousState<'a, T> = &'a dyn Fn(&ObjectKey) -> Option<Arc<T>>;

/// An object whose resource is known from its wire type.
pub trait Typed: Cached {
    /// Its resource.
    fn resource() -> Resource;
}

impl<T> Typed for T
where
    T: Cached,
    T::Wire: k8s_openapi::Resource<Scope: 'static>,
{
    fn resource() -> Resource {
        resource_of::<T::Wire>()
    }
}

/// A type of `gantry-model` that is parsed from this wire type.
pub trait ParsedFrom<W>: Send + Sync + Sized + 'static {
    /// Parses an object.
    fn parse(wire: W) -> Result<Self, ParseError>;
    /// Its metadata.
    fn meta(&self) -> &Meta;
    /// The labels to index it by; `None` if its kind is not looked up by labels.
    fn labels(&self) -> Option<&Labels> {
        None
    }
}

/// A parsed object and its wire object, from which a full update is made.
#[derive(Clone, Debug)]
pub struct Object<N, W> {
    /// The parsed object.
    pub parsed: N,
    /// The wire object.
    pub wire: Arc<W>,
}

/// An object of a kind without a type in `gantry-model`.
#[derive(Clone, Debug)]
pub struct Plain<W> {
    /// The wire object.
    pub wire: Arc<W>,
    key: ObjectKey,
    uid: Uid,
    version: ResourceVersion,
}

/// The metadata of an object of any kind.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataOnly(pub ObjectMetadata);

/// A ReplicationController in a cache.
pub type CachedReplicationController = Object<ReplicaSet, core::ReplicationController>;
/// A PodDisruptionBudget in a cache.
pub type CachedDisruptionBudget = Object<DisruptionBudget, policy::PodDisruptionBudget>;
/// An Endpoints object in a cache.
pub type CachedEndpoints = Object<Endpoints, core::Endpoints>;
/// An EndpointSlice in a cache.
pub type CachedEndpointSlice = Object<EndpointSlice, discovery::EndpointSlice>;

/// The resource of a kind that is known at compile time.
pub fn resource_of<W: k8s_openapi::Resource<Scope: 'static>>() -> Resource {
    let is_cluster = TypeId::of::<W::Scope>() == TypeId::of::<k8s_openapi::ClusterResourceScope>();
    Resource {
        api_version: W::API_VERSION.to_owned(),
        kind: W::KIND.to_owned(),
        plural: W::URL_PATH_SEGMENT.to_owned(),
        scope: if is_cluster { ResourceScope::Cluster } else { ResourceScope::Namespaced },
    }
}

impl<N, W> Cached for Object<N, W>
where
    N: ParsedFrom<W>,
    W: Wire + Clone,
{
    type Wire = W;
    const FORM: Form = Form::Whole;

    fn parse(_: &Resource, wire: &Arc<W>) -> Result<Self, ParseError> {
        Ok(Self { parsed: N::parse(W::clone(wire))?, wire: wire.clone() })
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
    fn labels(&self) -> Option<&Labels> {
        self.parsed.labels()
    }
}

macro_rules! parsed_from {
    ($($parsed:ty, $wire:ty: $parse:path;)*) => {
        $(impl ParsedFrom<$wire> for $parsed {
            fn parse(wire: $wire) -> Result<Self, ParseError> {
                $parse(wire)
            }
            fn meta(&self) -> &Meta {
                &self.meta
            }
        })*
    };
}

parsed_from! {
    ReplicaSet, core::ReplicationController: Self::parse_replication_controller;
    DisruptionBudget, policy::PodDisruptionBudget: Self::parse;
    Endpoints, core::Endpoints: Self::parse;
}

impl ParsedFrom<discovery::EndpointSlice> for EndpointSlice {
    fn parse(wire: discovery::EndpointSlice) -> Result<Self, ParseError> {
        Self::parse(wire)
    }
    fn meta(&self) -> &Meta {
        &self.meta
    }
    /// The Service of a slice is in a label.
    fn labels(&self) -> Option<&Labels> {
        Some(&self.meta.labels)
    }
}

/// Services are never written by controllers, so only the fields that the rules need are kept.
impl Cached for Service {
    type Wire = core::Service;
    const FORM: Form = Form::Whole;

    fn parse(_: &Resource, wire: &Arc<core::Service>) -> Result<Self, ParseError> {
        Self::parse(core::Service::clone(wire))
    }
    fn key(&self) -> ObjectKey {
        self.meta.key()
    }
    fn uid(&self) -> &Uid {
        &self.meta.uid
    }
    fn version(&self) -> &ResourceVersion {
        &self.meta.resource_version
    }
}

/// There are thousands of pods, so only the parsed part is kept.
impl Cached for Pod {
    type Wire = core::Pod;
    const FORM: Form = Form::Whole;
    const READS_PROTOBUF: bool = true;
    const NEEDS_WHOLE: bool = false;

    fn parse(_: &Resource, wire: &Arc<core::Pod>) -> Result<Self, ParseError> {
        Self::parse(wire)
    }
    fn parse_protobuf(_: &Resource, message: &Bytes, _: PreviousState<'_, Self>) -> Result<Self, ParseError> {
        Self::parse_protobuf(message)
    }
    fn key(&self) -> ObjectKey {
        self.meta.key()
    }
    fn uid(&self) -> &Uid {
        &self.meta.uid
    }
    fn version(&self) -> &ResourceVersion {
        &self.meta.resource_version
    }
    fn controller(&self) -> Option<&Uid> {
        self.meta.controller().map(|owner| &owner.uid)
    }
    fn labels(&self) -> Option<&Labels> {
        Some(&self.meta.labels)
    }
}

/// Whole roles are never written back, so only the fields that the rules need are kept.
impl Cached for ClusterRole {
    type Wire = rbac::ClusterRole;
    const FORM: Form = Form::Whole;

    fn parse(_: &Resource, wire: &Arc<rbac::ClusterRole>) -> Result<Self, ParseError> {
        Self::parse(rbac::ClusterRole::clone(wire))
    }
    fn key(&self) -> ObjectKey {
        ObjectKey::new("", self.name.clone())
    }
    fn uid(&self) -> &Uid {
        &self.uid
    }
    fn version(&self) -> &ResourceVersion {
        &self.resource_version
    }
}

impl<W: Wire> Cached for Plain<W> {
    type Wire = W;
    const FORM: Form = Form::Whole;

    fn parse(resource: &Resource, wire: &Arc<W>) -> Result<Self, ParseError> {
        let MetadataOnly(meta) = MetadataOnly::of(resource, wire.meta())?;
        let key = key_of(&meta);
        Ok(Self { wire: wire.clone(), key, uid: meta.identity.uid, version: meta.resource_version })
    }
    fn key(&self) -> ObjectKey {
        self.key.clone()
    }
    fn uid(&self) -> &Uid {
        &self.uid
    }
    fn version(&self) -> &ResourceVersion {
        &self.version
    }
}

impl MetadataOnly {
    /// The metadata of an object of any type.
    pub(super) fn of_any(informer: &Informer<Self>, object: &WireObject) -> Result<Self, ParseError> {
        match object {
            WireObject::Decoded(object) => Self::of(informer.resource(), object.meta()),
            WireObject::Protobuf(message) => Self::of_message(informer.resource(), message),
        }
    }

    fn of_message(resource: &Resource, message: &[u8]) -> Result<Self, ParseError> {
        ObjectMetadata::parse_protobuf(&resource.api_version, &resource.kind, message).map(Self)
    }

    fn of(resource: &Resource, meta: &ObjectMeta) -> Result<Self, ParseError> {
        ObjectMetadata::parse(&resource.api_version, &resource.kind, meta).map(Self)
    }
}

impl Cached for MetadataOnly {
    type Wire = PartialMetadata;
    const FORM: Form = Form::Metadata;
    const READS_PROTOBUF: bool = true;
    const NEEDS_WHOLE: bool = false;

    fn parse(resource: &Resource, wire: &Arc<Self::Wire>) -> Result<Self, ParseError> {
        Self::of(resource, wire.meta())
    }
    fn parse_protobuf(
        resource: &Resource,
        message: &Bytes,
        _: PreviousState<'_, Self>,
    ) -> Result<Self, ParseError> {
        Self::of_message(resource, message)
    }
    fn key(&self) -> ObjectKey {
        key_of(&self.0)
    }
    fn uid(&self) -> &Uid {
        &self.0.identity.uid
    }
    fn version(&self) -> &ResourceVersion {
        &self.0.resource_version
    }
}

fn key_of(meta: &ObjectMetadata) -> ObjectKey {
    let namespace = meta.identity.namespace.clone().unwrap_or_else(|| "".into());
    ObjectKey { namespace, name: meta.identity.name.clone() }
}
