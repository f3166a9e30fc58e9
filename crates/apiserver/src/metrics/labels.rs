//! The labels of request metrics.
//!
//! Every value is from a fixed set or a table, so that clients cannot create series.

use gantry_registry::kinds::{Kind, Scope};
use gantry_registry::target::{Objects, Target};
use http::Method;
use http::header::CONTENT_TYPE;
use http::request::Parts;

use crate::catalogue::Catalogues;
use crate::query::{Query, unescape_path};
use crate::response_filters::header;

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

/// Non-resource paths with a series of their own.
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
    pub(super) fn of(parts: &Parts, catalogues: &Catalogues) -> Self {
        let path = unescape_path(parts.uri.path());
        let query = parts.uri.query().unwrap_or_default();
        if let Target::Objects(objects) = Target::parse(&path)
            && let Some(kind) = catalogues.known(objects.group, objects.version, objects.resource)
        {
            let labels = Self::of_objects(&kind, &objects, &parts.method, query);
            let applies =
                labels.verb == "PATCH" && header(parts, CONTENT_TYPE).starts_with("application/apply-patch");
            return Self { verb: if applies { "APPLY" } else { labels.verb }, ..labels };
        }
        let known = PATHS.iter().find(|known| path.starts_with(**known)).copied();
        Self {
            verb: verb_of(&parts.method),
            group: "",
            version: "",
            resource: "",
            subresource: known.unwrap_or_default(),
            scope: "",
            dry_run: "",
            lifetime: Lifetime::Short,
        }
    }

    fn of_objects(kind: &Kind, objects: &Objects<'_>, method: &Method, query: &str) -> Self {
        let says_more = query.contains("watch") || query.contains("dryRun");
        let query = if says_more { Query::parse(query) } else { Query::default() };
        let part = objects.part.and_then(|part| part.split('/').next());
        let subresource = part.and_then(|part| kind.subresource(part)).map_or("", |found| found.name);
        let watches = objects.name.is_none() && query.flag("watch") || objects.watch;
        let verb = match (method, objects.name) {
            (&Method::GET, _) if watches => "WATCH",
            (&Method::GET, None) => "LIST",
            (&Method::DELETE, None) => "DELETECOLLECTION",
            (method, _) => verb_of(method),
        };
        let scope = match (objects.name, objects.namespace, kind.scope) {
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
            dry_run: if query.first("dryRun").is_some() { "All" } else { "" },
            lifetime: if watches || streams { Lifetime::LongRunning } else { Lifetime::Short },
        }
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

fn verb_of(method: &Method) -> &'static str {
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
