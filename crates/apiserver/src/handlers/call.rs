//! One request for objects, taken apart.

use bytes::Bytes;
use gantry_registry::Refusal;
use gantry_registry::decode::{Format, Gvk};
use gantry_registry::kinds::Kind;
use gantry_registry::target::Objects as Path;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::request::Parts;

use crate::ApiServer;
use crate::accept::{Offer, View, negotiate};
use crate::objects::Place;
use crate::query::Query;

/// One request for objects.
pub(super) struct Call<'a> {
    pub(super) server: &'a ApiServer,
    pub(super) kind: &'static Kind,
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
        kind: &'static Kind,
        path: &Path<'a>,
        parts: &Parts,
        body: Bytes,
    ) -> Result<Self, Refusal> {
        let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let content_type = header(CONTENT_TYPE).split(';').next().unwrap_or_default().trim().to_owned();
        Ok(Self {
            server,
            kind,
            namespace: path.namespace,
            name: path.name,
            query: Query::parse(parts.uri.query().unwrap_or_default()),
            view: negotiate(header(ACCEPT), Offer::Objects)?,
            content_type,
            user_agent: header(USER_AGENT).to_owned(),
            body,
            watch_by_path: path.watch,
        })
    }

    pub(super) fn gvk(&self) -> Gvk<'static> {
        Gvk::new(self.kind.group, self.kind.version, self.kind.kind)
    }

    /// The place of the object that the path names.
    pub(super) fn place(&self) -> Place<'_> {
        self.place_of(self.name.unwrap_or_default())
    }

    pub(super) fn place_of<'n>(&'n self, name: &'n str) -> Place<'n> {
        Place { kind: self.kind, namespace: self.namespace, name }
    }

    /// How the body of a create, update or delete is written.
    pub(super) fn format(&self) -> Result<Format, Refusal> {
        match self.content_type.as_str() {
            "" | "application/json" => Ok(Format::Json),
            "application/yaml" => Ok(Format::Yaml),
            "application/vnd.kubernetes.protobuf" => Ok(Format::Protobuf),
            _ => Err(Refusal {
                code: 415,
                reason: "UnsupportedMediaType",
                message: "the body of the request was in an unknown format - accepted media types include: \
                          application/json, application/yaml, application/vnd.kubernetes.protobuf"
                    .to_owned(),
                details: None,
            }),
        }
    }
}
