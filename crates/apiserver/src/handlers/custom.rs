//! Checks requests for custom kinds; Kubernetes has different messages for them than for built-in kinds.

use gantry_registry::target::Objects as Path;
use gantry_schema::kinds::{Kind, Nature, Scope};

use super::discovery::page_not_found;
use crate::error::{ApiError, ObjectName};
use crate::objects::ObjectRef;
use crate::response::ApiResponse;

/// Returns the response to an unsupported request for a custom kind; `None` if it is supported.
pub(super) fn check_request(
    kind: &Kind,
    path: &Path,
    verb: &'static str,
) -> Option<Result<ApiResponse, ApiError>> {
    if !matches!(kind.nature, Nature::Custom(_)) {
        return None;
    }
    // The old watch form supports no other verb, regardless of the method.
    let verb = if path.watch { "watch" } else { verb };
    let is_elsewhere = match (kind.scope, &path.namespace) {
        (Scope::Cluster, namespace) => namespace.is_some(),
        (Scope::Namespaced, None) => !matches!(verb, "list" | "watch"),
        (Scope::Namespaced, Some(_)) => false,
    };
    if is_elsewhere {
        return Some(Ok(page_not_found()));
    }
    let error = match (path.part.as_deref(), verb) {
        (Some(part), _) if kind.subresource(part).is_none() => ApiError::not_found(ObjectRef {
            kind,
            namespace: path.namespace.as_deref(),
            name: path.name.as_deref().unwrap_or_default(),
        }),
        (Some(_), "get" | "update" | "patch") => return None,
        (None, "update" | "patch") if path.name.is_none() => ApiError::bad_request("name must be provided"),
        (Some(_), verb) | (None, verb @ "") => {
            let resource = ObjectName { group: kind.group, resource: kind.resource, name: String::new() };
            ApiError::VerbNotSupported { verb, resource }
        }
        (None, _) => return None,
    };
    Some(Err(error))
}
