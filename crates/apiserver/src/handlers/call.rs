//! A resource request that is being handled.

use std::sync::Arc;

use bytes::Bytes;
use gantry_json::Value;
use gantry_primitives::Refusal;
use gantry_registry::access::{RequestAttributes, RequestTarget};
use gantry_registry::strategies::{self, OnCreate};
use gantry_registry::target::Objects as Path;
use gantry_schema::decode::{Format, Gvk};
use gantry_schema::kinds::{Kind, Nature, Scope, Verb};
use http::Method;

use super::patch::patch_kind;
use super::pods;
use crate::ApiServer;
use crate::accept::{Offer, View, negotiate};
use crate::authorization::NodeWrite;
use crate::error::ApiError;
use crate::objects::ObjectRef;
use crate::request_info::RequestInfo;

/// A resource request that is being handled.
pub(super) struct Call<'a> {
    pub(super) server: &'a ApiServer,
    pub(super) info: &'a RequestInfo,
    pub(super) kind: &'a Arc<Kind>,
    pub(super) namespace: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) view: View,
    pub(super) body: Bytes,
    pub(super) watch_by_path: bool,
}

impl<'a> Call<'a> {
    pub(super) fn new(
        server: &'a ApiServer,
        kind: &'a Arc<Kind>,
        path: &'a Path,
        info: &'a RequestInfo,
        body: Bytes,
    ) -> Result<Self, ApiError> {
        // The router of Kubernetes checks the type of a patch before the accepted types.
        if let (
            None | Some("approval" | "status" | "scale" | "ephemeralcontainers" | "resize"),
            &Method::PATCH,
        ) = (path.part.as_deref(), &info.method)
            && kind.allows(Verb::Patch)
            && kind.nature.message().is_some()
        {
            patch_kind(kind, info)?;
        }
        let view = match (path.part.as_deref(), &info.method) {
            (part, _) if pods::is_raw_response(kind, part) => View::Plain,
            (Some("binding" | "eviction" | "token"), &Method::POST)
            | (Some("ephemeralcontainers" | "resize"), &Method::GET | &Method::PUT | &Method::PATCH) => {
                negotiate(info.accept(), Offer::NoTables)?
            }
            _ if matches!(strategies::of(kind).on_create, OnCreate::Review(_)) => {
                negotiate(info.accept(), Offer::NoTables)?
            }
            _ => negotiate(info.accept(), Offer::Objects)?,
        };
        let (namespace, name) = (path.namespace.as_deref(), path.name.as_deref());
        Ok(Self { server, info, kind, namespace, name, view, body, watch_by_path: path.watch })
    }

    pub(super) fn gvk(&self) -> Gvk<'static> {
        Gvk::new(self.kind.group, self.kind.version, self.kind.kind)
    }

    /// Returns 404 if the path has a namespace and the kind has none, or the reverse.
    pub(super) fn check_scope(&self) -> Result<(), ApiError> {
        match (self.kind.scope, self.namespace, self.name) {
            (Scope::Namespaced, None, Some(_)) | (Scope::Cluster, Some(_), _) => {
                Err(ApiError::ResourceNotFound)
            }
            _ => Ok(()),
        }
    }

    /// The object that the path names.
    pub(super) fn object_ref(&self) -> ObjectRef<'_> {
        self.object_ref_of(self.name.unwrap_or_default())
    }

    pub(super) fn object_ref_of<'n>(&'n self, name: &'n str) -> ObjectRef<'n> {
        ObjectRef { kind: self.kind, namespace: self.namespace, name }
    }

    /// Returns 403 if the caller may not create the object, or if it grants more than the caller has.
    ///
    /// A POST was authorized as create; a PUT or apply that creates was authorized as update or patch.
    pub(super) fn check_creation(&self, object: &Value) -> Result<(), ApiError> {
        if let Some(name) = self.name {
            let target = RequestTarget::Resource {
                group: self.kind.group.to_owned(),
                resource: self.kind.resource.to_owned(),
                subresource: None,
                namespace: self.namespace.map(str::to_owned),
                name: Some(name.to_owned()),
            };
            self.info.caller.check(&RequestAttributes { verb: "create".to_owned(), target })?;
        }
        let object_ref = self.object_ref_of(self.name.unwrap_or_default());
        self.info.caller.check_node_write(object_ref, &NodeWrite::Create(object))?;
        self.check_escalation(None, object)
    }

    /// Returns an error if storing the object requires a conversion webhook.
    pub(super) fn check_conversion(&self) -> Result<(), ApiError> {
        match &self.kind.nature {
            Nature::Custom(custom) => {
                Ok(custom.check_conversion(self.kind.kind, self.kind.api_version, &custom.stored_as)?)
            }
            Nature::BuiltIn(_) => Ok(()),
        }
    }

    /// Returns 403 for a role or binding that grants more than the caller has; does nothing for other kinds.
    pub(super) fn check_escalation(&self, old: Option<&Value>, new: &Value) -> Result<(), ApiError> {
        self.info.caller.check_escalation(self.kind, self.namespace, self.name, old, new)
    }

    /// The format of the body of a create, update or delete.
    pub(super) fn format(&self) -> Result<Format, ApiError> {
        match &*self.info.content_type {
            "" | "application/json" => Ok(Format::Json),
            "application/yaml" => Ok(Format::Yaml),
            "application/vnd.kubernetes.protobuf" => Ok(Format::Protobuf),
            _ => Err(Refusal::unknown_format(
                "application/json, application/yaml, application/vnd.kubernetes.protobuf",
            )
            .into()),
        }
    }

    /// The format for custom kinds, which have no protobuf messages.
    pub(super) fn text_format(&self) -> Result<Format, ApiError> {
        match self.format()? {
            Format::Protobuf => Err(ApiError::bad_request(format!(
                "{kind} in version \"{}\" cannot be handled as a {kind}: object *unstructured.Unstructured does not \
                 implement the protobuf marshalling interface and cannot be encoded to a protobuf message",
                self.kind.version,
                kind = self.kind.kind
            ))),
            format => Ok(format),
        }
    }
}
