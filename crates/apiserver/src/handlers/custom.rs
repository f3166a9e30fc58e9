//! Checks requests for custom kinds; Kubernetes has different messages for them than for built-in kinds.

use gantry_registry::kinds::{Kind, Nature, Scope};
use gantry_registry::target::Objects as Path;
use gantry_registry::{Details, Refusal};
use http::Method;

use super::discovery::page_not_found;
use crate::objects::{ObjectRef, not_found};
use crate::response::ApiResponse;

/// Returns the response to an unsupported request for a custom kind; `None` if it is supported.
pub(super) fn check_request(
    kind: &Kind,
    path: &Path<'_>,
    method: &Method,
) -> Option<Result<ApiResponse, Refusal>> {
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
        return Some(Ok(page_not_found()));
    }
    let refusal = match (path.part, verb) {
        (Some(part), _) if kind.subresource(part).is_none() => {
            not_found(ObjectRef { kind, namespace: path.namespace, name: path.name.unwrap_or_default() })
        }
        (Some(_), "get" | "update" | "patch") => return None,
        (None, "update" | "patch") if path.name.is_none() => Refusal::bad_request("name must be provided"),
        (Some(_), verb) | (None, verb @ "") => not_supported(kind, verb),
        (None, _) => return None,
    };
    Some(Err(refusal))
}

/// The verb of a request; empty if unknown.
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
