//! Requests for custom kinds that make no sense. Kubernetes answers them in other words than those for its own kinds.

use gantry_registry::kinds::{Kind, Nature, Scope};
use gantry_registry::target::Objects as Path;
use gantry_registry::{Details, Refusal};
use http::Method;

use super::discovery::nowhere;
use crate::answer::Answer;
use crate::objects::{Place, not_found};

/// What a request for a custom kind gets if it makes no sense.
pub(super) fn misuse(kind: &Kind, path: &Path<'_>, method: &Method) -> Option<Result<Answer, Refusal>> {
    if !matches!(kind.nature, Nature::Custom(_)) {
        return None;
    }
    let verb = verb(path, method);
    let is_elsewhere = match (kind.scope, path.namespace) {
        (Scope::Cluster, namespace) => namespace.is_some(),
        (Scope::Namespaced, None) => !matches!(verb, "list" | "watch"),
        (Scope::Namespaced, Some(_)) => false,
    };
    if is_elsewhere {
        return Some(Ok(nowhere()));
    }
    let refusal = match (path.part, verb) {
        (Some(part), _) if kind.subresource(part).is_none() => {
            not_found(Place { kind, namespace: path.namespace, name: path.name.unwrap_or_default() })
        }
        (Some(_), "get" | "update" | "patch") => return None,
        (None, "update" | "patch") if path.name.is_none() => Refusal::bad_request("name must be provided"),
        (Some(_), verb) | (None, verb @ "") => not_supported(kind, verb),
        (None, _) => return None,
    };
    Some(Err(refusal))
}

/// What a request is about to do; empty for nothing that there is.
fn verb(path: &Path<'_>, method: &Method) -> &'static str {
    match (method, path.name) {
        _ if path.watch => "watch",
        (&Method::GET | &Method::HEAD, Some(_)) => "get",
        (&Method::GET | &Method::HEAD, None) => "list",
        (&Method::POST, _) => "create",
        (&Method::PUT, _) => "update",
        (&Method::PATCH, _) => "patch",
        (&Method::DELETE, Some(_)) => "delete",
        (&Method::DELETE, None) => "deletecollection",
        _ => "",
    }
}

fn not_supported(kind: &Kind, verb: &str) -> Refusal {
    let details =
        Details { group: kind.group.to_owned(), kind: kind.resource.to_owned(), ..Details::default() };
    Refusal {
        code: 405,
        reason: "MethodNotAllowed",
        message: format!("{verb} is not supported on resources of kind \"{}\"", kind.group_resource()),
        details: Some(Box::new(details)),
    }
}
