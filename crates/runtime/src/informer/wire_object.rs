//! An object of a source, shared by all informers of its resource.

use std::sync::Arc;

use bytes::Bytes;
use gantry_model::{ResourceVersion, protobuf};

use crate::wire::AnyWire;

/// An object as it was received.
#[derive(Clone)]
pub(super) enum WireObject {
    /// From JSON, decoded once for all informers.
    Decoded(Arc<dyn AnyWire>),
    /// The message of an object, from which each informer decodes the fields that it needs.
    Protobuf(Bytes),
}

impl WireObject {
    pub(super) fn version(&self) -> ResourceVersion {
        match self {
            Self::Decoded(object) => object.version(),
            Self::Protobuf(message) => protobuf::version_of(message).unwrap_or_else(|_| "".into()),
        }
    }

    /// Its namespace and name, for messages.
    pub(super) fn describe(&self) -> String {
        let (namespace, name) = match self {
            Self::Decoded(object) => {
                let meta = object.meta();
                (meta.namespace.clone().unwrap_or_default(), meta.name.clone().unwrap_or_default())
            }
            Self::Protobuf(message) => (
                protobuf::namespace_of(message).unwrap_or_default(),
                protobuf::name_of(message).unwrap_or_default(),
            ),
        };
        format!("{namespace}/{name}")
    }
}
