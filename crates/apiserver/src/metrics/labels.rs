//! The labels of request metrics.
//!
//! Every value is from a fixed set or a table, so that clients cannot create series.

use gantry_registry::target::{Objects, Target};
use gantry_schema::kinds::{Kind, Scope};
use http::Method;

use crate::catalogue::Catalogues;
use crate::request_info::RequestInfo;

/// The labels of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Labels {
    verb: &'static str,
    group: &'static str,
    version: &'static str,
    resource: &'static str,
    subresource: &'static str,
    scope: &'static str,
    dry_run: &'static str,
    pub(super) lifetime: Lifetime,
}

/// Whether a request is long-running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Lifetime {
    Short,
    LongRunning,
}

/// Non-resource paths with separate series.
const PATHS: [&str; 10] = [
    "/healthz",
    "/livez",
    "/readyz",
    "/version",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/api",
    "/apis",
    "/",
];

impl Labels {
    pub(super) fn of(info: &RequestInfo, catalogues: &Catalogues) -> Self {
        if let Target::Objects(objects) = &info.target
            && let Some(kind) = catalogues.known(&objects.group, &objects.version, &objects.resource)
        {
            return Self::of_objects(&kind, objects, info);
        }
        let known = PATHS.iter().find(|known| info.path.starts_with(**known)).copied();
        Self {
            verb: method_name(&info.method),
            group: "",
            version: "",
            resource: "",
            subresource: known.unwrap_or_default(),
            scope: "",
            dry_run: "",
            lifetime: Lifetime::Short,
        }
    }

    fn of_objects(kind: &Kind, objects: &Objects, info: &RequestInfo) -> Self {
        let subresource =
            objects.subresource().and_then(|part| kind.subresource(part)).map_or("", |found| found.name);
        let verb = match (&info.method, info.verb) {
            (&Method::GET, "watch") => "WATCH",
            (&Method::GET, "list") => "LIST",
            (_, "deletecollection") => "DELETECOLLECTION",
            (_, "patch") if info.content_type.starts_with("application/apply-patch") => "APPLY",
            (method, _) => method_name(method),
        };
        let scope = match (&objects.name, &objects.namespace, kind.scope) {
            (Some(_), ..) => "resource",
            (None, Some(_), _) => "namespace",
            (None, None, Scope::Cluster | Scope::Namespaced) => "cluster",
        };
        let streams = matches!(subresource, "log" | "exec" | "attach" | "portforward" | "proxy");
        Self {
            verb,
            group: kind.group,
            version: kind.version,
            resource: kind.resource,
            subresource,
            scope,
            dry_run: if info.query.first("dryRun").is_some() { "All" } else { "" },
            lifetime: if info.verb == "watch" || streams { Lifetime::LongRunning } else { Lifetime::Short },
        }
    }

    /// Whether the resource is served, if there is one.
    pub(super) fn are_served(&self, catalogues: &Catalogues) -> bool {
        self.resource.is_empty() || catalogues.known(self.group, self.version, self.resource).is_some()
    }

    /// Returns the labels without the resource.
    pub(super) fn by_verb_only(self) -> Self {
        Self { group: "", version: "", resource: "", subresource: "", scope: "", dry_run: "", ..self }
    }

    #[cfg(test)]
    pub(super) fn of_kind(
        verb: &'static str,
        group: &'static str,
        version: &'static str,
        resource: &'static str,
    ) -> Self {
        let (subresource, scope, dry_run, lifetime) = ("", "resource", "", Lifetime::Short);
        Self { verb, group, version, resource, subresource, scope, dry_run, lifetime }
    }

    pub(super) fn is_mutating(&self) -> bool {
        !matches!(self.verb, "GET" | "LIST" | "WATCH" | "HEAD" | "OPTIONS")
    }

    pub(super) fn all(&self) -> [(&'static str, &'static str); 8] {
        [
            ("component", "apiserver"),
            ("dry_run", self.dry_run),
            ("group", self.group),
            ("resource", self.resource),
            ("scope", self.scope),
            ("subresource", self.subresource),
            ("verb", self.verb),
            ("version", self.version),
        ]
    }

    pub(super) fn with<'a>(&self, name: &'static str, value: &'a str) -> Vec<(&'static str, &'a str)> {
        self.all()
            .into_iter()
            .map(|(name, value): (_, &'a str)| (name, value))
            .chain([(name, value)])
            .collect()
    }
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
