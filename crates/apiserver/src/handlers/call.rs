//! One request for objects, taken apart.

use std::sync::Arc;

use bytes::Bytes;
use gantry_registry::Refusal;
use gantry_registry::access::{Request, Target};
use gantry_registry::decode::{Format, Gvk};
use gantry_registry::kinds::{Kind, Nature, Scope};
use gantry_registry::target::Objects as Path;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::request::Parts;
use serde_json::Value;

use super::pods;
use crate::ApiServer;
use crate::accept::{Offer, View, negotiate};
use crate::guard::Caller;
use crate::objects::Place;
use crate::query::Query;

/// One request for objects.
pub(super) struct Call<'a> {
    pub(super) server: &'a ApiServer,
    pub(super) caller: Caller,
    pub(super) kind: &'a Arc<Kind>,
    pub(super) namespace: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    pub(super) query: Query,
    pub(super) view: View,
    pub(super) content_type: String,
    pub(super) user_agent: String,
    pub(super) body: Bytes,
    pub(super) watch_by_path: bool,
}

impl<'a> Call<'a> {
    pub(super) fn new(
        server: &'a ApiServer,
        kind: &'a Arc<Kind>,
        path: &Path<'a>,
        parts: &Parts,
        body: Bytes,
    ) -> Result<Self, Refusal> {
        let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let content_type =
            header(CONTENT_TYPE).split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Ok(Self {
            server,
            caller: Caller::of(parts),
            kind,
            namespace: path.namespace,
            name: path.name,
            query: Query::parse(parts.uri.query().unwrap_or_default()),
            view: if pods::answers_in_its_own_way(kind, path.part) {
                View::Plain
            } else {
                negotiate(header(ACCEPT), Offer::Objects)?
            },
            content_type,
            user_agent: header(USER_AGENT).to_owned(),
            body,
            watch_by_path: path.watch,
        })
    }

    pub(super) fn gvk(&self) -> Gvk<'static> {
        Gvk::new(self.kind.group, self.kind.version, self.kind.kind)
    }

    /// An object in a namespace is found there only, and one without a namespace in none.
    pub(super) fn check_scope(&self) -> Result<(), Refusal> {
        match (self.kind.scope, self.namespace, self.name) {
            (Scope::Namespaced, None, Some(_)) | (Scope::Cluster, Some(_), _) => {
                Err(super::no_such_resource())
            }
            _ => Ok(()),
        }
    }

    /// The place of the object that the path names.
    pub(super) fn place(&self) -> Place<'_> {
        self.place_of(self.name.unwrap_or_default())
    }

    pub(super) fn place_of<'n>(&'n self, name: &'n str) -> Place<'n> {
        Place { kind: self.kind, namespace: self.namespace, name }
    }

    /// Refuses a new object that the caller may not create, or that hands out more than they hold.
    ///
    /// Whoever posts was let in to create; whoever puts or applies what is not there yet was let in for something else.
    pub(super) fn check_creation(&self, object: &Value) -> Result<(), Refusal> {
        if let Some(name) = self.name {
            let target = Target::Resource {
                group: self.kind.group.to_owned(),
                resource: self.kind.resource.to_owned(),
                subresource: None,
                namespace: self.namespace.map(str::to_owned),
                name: Some(name.to_owned()),
            };
            self.caller.check(&Request { verb: "create".to_owned(), target })?;
        }
        self.check_handout(None, object)
    }

    /// A version of a custom kind that only a webhook knows how to store is not written.
    pub(super) fn check_conversion(&self) -> Result<(), Refusal> {
        match &self.kind.nature {
            Nature::Custom(custom) => {
                custom.check_conversion(self.kind.kind, self.kind.api_version, &custom.stored_as)
            }
            Nature::BuiltIn(_) => Ok(()),
        }
    }

    /// Refuses a role or binding that hands out more than the caller holds; of anything else it knows nothing.
    pub(super) fn check_handout(&self, old: Option<&Value>, new: &Value) -> Result<(), Refusal> {
        self.caller.check_handout(self.kind, self.namespace, self.name, old, new)
    }

    /// How the body of a create, update or delete is written.
    pub(super) fn format(&self) -> Result<Format, Refusal> {
        match self.content_type.as_str() {
            "" | "application/json" => Ok(Format::Json),
            "application/yaml" => Ok(Format::Yaml),
            "application/vnd.kubernetes.protobuf" => Ok(Format::Protobuf),
            _ => Err(Refusal::unknown_format(
                "application/json, application/yaml, application/vnd.kubernetes.protobuf",
            )),
        }
    }

    /// The same for an object of a custom kind, for which there are no protobuf messages.
    pub(super) fn text_format(&self) -> Result<Format, Refusal> {
        match self.format()? {
            Format::Protobuf => Err(Refusal::bad_request(format!(
                "{kind} in version \"{}\" cannot be handled as a {kind}: object *unstructured.Unstructured does not \
                 implement the protobuf marshalling interface and cannot be encoded to a protobuf message",
                self.kind.version,
                kind = self.kind.kind
            ))),
            format => Ok(format),
        }
    }
}
