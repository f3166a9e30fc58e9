//! Objects as the server sends them, and how each type of them is decoded and encoded.
//!
//! The functions are not generic on purpose. The derived code of a Kubernetes type is large, and generic code is compiled
//! again in every crate that uses it; these are compiled here, once.

use std::any::Any;
use std::fmt;

use gantry_client::{ApiResponse, RequestBody, RequestError};
use gantry_json::Value;
use gantry_model::{Name, ParseError, ResourceVersion, protobuf};
use k8s_openapi::api::{
    apps::v1 as apps, certificates::v1 as certificates, coordination::v1 as coordination, core::v1 as core,
    discovery::v1 as discovery, policy::v1 as policy, rbac::v1 as rbac, storage::v1 as storage,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta};
use k8s_openapi::apimachinery::pkg::version::Info;
use serde::{Deserialize, Serialize};

use crate::informer::without_managed_fields;
use crate::json_reader::JsonReader;
use crate::{observed, zero_times};

/// A type that a response can be decoded to.
pub trait Decode: Sized + Send + 'static {
    /// Whether it can be decoded from protobuf, too, so that protobuf is requested.
    const READS_PROTOBUF: bool = false;

    /// Decodes JSON.
    fn decode(json: &[u8]) -> gantry_json::Result<Self>;

    /// Decodes a protobuf message.
    fn decode_protobuf(_: &[u8]) -> Result<Self, ParseError> {
        Err(ParseError::malformed("protobuf was not requested"))
    }

    /// Decodes a response.
    fn decode_response(response: &ApiResponse) -> Result<Self, RequestError> {
        let unreadable = |error: &dyn fmt::Display| RequestError::unreadable(response.code, error);
        if response.is_protobuf {
            let message = protobuf::open(&response.body);
            return message.and_then(Self::decode_protobuf).map_err(|error| unreadable(&error));
        }
        Self::decode(&response.body).map_err(|error| unreadable(&error))
    }

    /// Decodes a JSON value.
    fn decode_value(value: &Value) -> gantry_json::Result<Self> {
        Self::decode(&gantry_json::to_vec(value)?)
    }
}

/// A type that can be sent.
pub trait Encode: Sync {
    /// Encodes as JSON.
    fn encode(&self) -> gantry_json::Result<Vec<u8>>;

    /// The body of a request.
    fn to_body(&self) -> gantry_json::Result<RequestBody> {
        Ok(self.encode()?.into())
    }
}

/// An encoded body, which can be sent several times.
impl Encode for RequestBody {
    fn encode(&self) -> gantry_json::Result<Vec<u8>> {
        Ok(self.as_bytes().to_vec())
    }
    fn to_body(&self) -> gantry_json::Result<RequestBody> {
        Ok(self.clone())
    }
}

/// An object as the server sends it.
pub trait Wire: Decode + Encode {
    /// Its metadata.
    fn meta(&self) -> &ObjectMeta;
    /// Its metadata, to be changed.
    fn meta_mut(&mut self) -> &mut ObjectMeta;
    /// Its resource version.
    fn version(&self) -> ResourceVersion {
        self.meta().resource_version.as_deref().unwrap_or_default().into()
    }
    /// Decodes a list of such objects.
    fn decode_list(json: &[u8]) -> gantry_json::Result<ObjectList<Self>>;
    /// Decodes the fields that the rules need, which may be a small part of the object. Managed fields are not among
    /// them.
    fn decode_observed(json: &[u8]) -> gantry_json::Result<Self> {
        Self::decode(&without_managed_fields(json))
    }
}

/// An object of any wire type, so that code that does not use the fields of objects is compiled once.
pub(crate) trait AnyWire: Any + Send + Sync {
    /// Its metadata.
    fn meta(&self) -> &ObjectMeta;
    /// Its resource version.
    fn version(&self) -> ResourceVersion;
}

impl<W: Wire + Sync> AnyWire for W {
    fn meta(&self) -> &ObjectMeta {
        Wire::meta(self)
    }
    fn version(&self) -> ResourceVersion {
        Wire::version(self)
    }
}

/// A list of objects, or a page of it.
#[derive(Clone, Debug, Deserialize)]
pub struct ObjectList<W> {
    /// The version of the list, and the token for the next page.
    #[serde(default)]
    pub metadata: ListMeta,
    /// The objects.
    #[serde(default = "Vec::new")]
    pub items: Vec<W>,
}

/// The name and the version of an object that was stored; the rest of the response is not decoded.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredRef {
    metadata: StoredRefMetadata,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredRefMetadata {
    name: String,
    resource_version: String,
}

impl StoredRef {
    /// The name.
    pub fn name(&self) -> Name {
        self.metadata.name.as_str().into()
    }

    /// The resource version.
    pub fn version(&self) -> ResourceVersion {
        self.metadata.resource_version.as_str().into()
    }
}

impl StoredRefMetadata {
    /// Reads an object up to its resource version.
    fn read(json: &[u8]) -> Option<Self> {
        let (mut name, mut version) = (None, None);
        let _stopped = JsonReader::new(json).object(|reader, member| match member {
            b"metadata" => reader.object(|reader, member| {
                match member {
                    b"name" => name = Some(reader.string()?),
                    b"resourceVersion" => version = Some(reader.string()?),
                    _ => reader.skip()?,
                }
                (name.is_none() || version.is_none()).then_some(())
            }),
            _ => reader.skip(),
        });
        Some(Self { name: name?, resource_version: version? })
    }
}

impl Decode for StoredRef {
    const READS_PROTOBUF: bool = true;

    /// The rest of the object is not read.
    fn decode(json: &[u8]) -> gantry_json::Result<Self> {
        match StoredRefMetadata::read(json) {
            Some(metadata) => Ok(Self { metadata }),
            None => gantry_json::from_slice(json),
        }
    }
    fn decode_protobuf(message: &[u8]) -> Result<Self, ParseError> {
        let (name, version) = (protobuf::name_of(message)?, protobuf::version_of(message)?);
        let resource_version = version.as_str().to_owned();
        Ok(Self { metadata: StoredRefMetadata { name, resource_version } })
    }
}

/// A response whose body does not matter.
impl Decode for () {
    const READS_PROTOBUF: bool = true;

    fn decode(_: &[u8]) -> gantry_json::Result<Self> {
        Ok(())
    }
    fn decode_protobuf(_: &[u8]) -> Result<Self, ParseError> {
        Ok(())
    }
}

/// A response that is decoded later, together with the known state of the object.
impl Decode for ApiResponse {
    const READS_PROTOBUF: bool = true;

    fn decode(json: &[u8]) -> gantry_json::Result<Self> {
        let body = json.to_vec().into();
        Ok(Self { code: 200, body, is_protobuf: false, warnings: Vec::new() })
    }
    fn decode_response(response: &ApiResponse) -> Result<Self, RequestError> {
        Ok(response.clone())
    }
}

/// The `PartialObjectMetadata` of an object of any kind.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PartialMetadata {
    metadata: ObjectMeta,
}

impl<W: Wire> Decode for ObjectList<W> {
    fn decode(json: &[u8]) -> gantry_json::Result<Self> {
        W::decode_list(json)
    }
}

macro_rules! decode {
    ($($kind:ty),* $(,)?) => {$(
        impl Decode for $kind {
            fn decode(json: &[u8]) -> gantry_json::Result<Self> {
                gantry_json::from_slice(json).or_else(|error| match zero_times::fill_in(json) {
                    Some(filled) => gantry_json::from_slice(&filled),
                    None => Err(error),
                })
            }
        }
    )*};
}

macro_rules! encode {
    ($($kind:ty),* $(,)?) => {$(
        impl Encode for $kind {
            fn encode(&self) -> gantry_json::Result<Vec<u8>> {
                gantry_json::to_vec(self)
            }
        }
    )*};
}

macro_rules! wire {
    ($($kind:ty $(: $decode_observed:path)?),* $(,)?) => {$(
        decode!($kind);
        encode!($kind);

        impl Wire for $kind {
            fn meta(&self) -> &ObjectMeta {
                &self.metadata
            }
            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.metadata
            }
            fn decode_list(json: &[u8]) -> gantry_json::Result<ObjectList<Self>> {
                gantry_json::from_slice(json).or_else(|error| match zero_times::fill_in(json) {
                    Some(filled) => gantry_json::from_slice(&filled),
                    None => Err(error),
                })
            }
            $(fn decode_observed(json: &[u8]) -> gantry_json::Result<Self> {
                $decode_observed(json)
            })?
        }
    )*};
}

decode!(Info, Value);
encode!(Value);

wire!(
    apps::Deployment,
    apps::ReplicaSet,
    apps::StatefulSet,
    certificates::CertificateSigningRequest,
    coordination::Lease,
    core::ConfigMap,
    core::Endpoints,
    core::Event,
    core::Namespace,
    core::Node,
    core::PersistentVolume,
    core::PersistentVolumeClaim,
    core::Pod: observed::pod::decode,
    core::ReplicationController,
    core::Secret,
    core::Service,
    core::ServiceAccount,
    discovery::EndpointSlice,
    policy::PodDisruptionBudget,
    rbac::ClusterRole,
    storage::StorageClass,
    PartialMetadata,
    storage::VolumeAttributesClass,
);
