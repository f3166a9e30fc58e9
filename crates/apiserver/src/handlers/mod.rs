//! Dispatches requests to handlers.

mod call;
mod custom;
mod delete;
mod discovery;
mod health;
mod issuer;
mod metrics;
mod namespaces;
mod openapi;
mod patch;
mod pods;
mod read;
mod render;
mod reviews;
mod scale;
mod token;
mod update;
mod watch;
mod write;

use bytes::Bytes;
use gantry_registry::kinds::{Kind, Verb, kinds};
use gantry_registry::target::{Objects as Path, Target};
use gantry_registry::{Refusal, strategies};
use http::Method;
use http::request::Parts;

use crate::ApiServer;
use crate::query::unescape_path;
use crate::response::ApiResponse;
use call::Call;

pub(crate) use discovery::DiscoveryDocuments;
pub(crate) use openapi::OpenApiCache;
pub(crate) use update::reset_fields;

/// The size limit of request bodies.
pub(crate) const BODY_BYTES_MAX: usize = 3 << 20;

/// Handles an authorized request.
pub(crate) async fn dispatch(server: &ApiServer, parts: &Parts, body: Bytes) -> Result<ApiResponse, Refusal> {
    if body.len() > BODY_BYTES_MAX {
        return Err(too_large());
    }
    let path = unescape_path(parts.uri.path());
    match Target::parse(&path) {
        Target::Path(path) => match issuer::document(server, path, parts).await {
            Some(answer) => answer,
            None => discovery::path(server, path, parts).await,
        },
        Target::Groups => discovery::groups(server.catalogue().await.as_ref(), parts),
        Target::Group { group, version } => {
            discovery::group(server.catalogue().await.as_ref(), group, version, parts)
        }
        Target::Objects(path) => objects(server, &path, parts, body).await,
    }
}

async fn objects(
    server: &ApiServer,
    path: &Path<'_>,
    parts: &Parts,
    body: Bytes,
) -> Result<ApiResponse, Refusal> {
    let Some(kind) = server.kind(path.group, path.version, path.resource).await else {
        let is_built_in = kinds().group(path.group).is_some();
        return if is_built_in { Err(resource_not_found()) } else { Ok(discovery::page_not_found()) };
    };
    let kind = &kind;
    if let Some(answer) = custom::check_request(kind, path, &parts.method) {
        return answer;
    }
    let call = Call::new(server, kind, path, parts, body)?;
    call.check_scope()?;
    let answer = match (&parts.method, path.name, path.part) {
        // The old watch form supports only GET.
        (method, _, None) if path.watch && *method != Method::GET => Err(method_not_allowed()),
        (&Method::GET, None, None) => read::collection(&call).await,
        (&Method::GET, Some(_), None) if path.watch => read::collection(&call).await,
        (&Method::POST, None, None) if call.is_review() => call.review().await,
        (&Method::POST, None, None) if kind.kind == "Binding" && call.namespace.is_some() => {
            call.bind().await
        }
        (&Method::POST, None, None) => allowed(kind, Verb::Create).map(|()| call)?.create().await,
        (&Method::DELETE, None, None) => {
            allowed(kind, Verb::DeleteCollection).map(|()| call)?.delete_collection().await
        }
        (&Method::GET, Some(_), None) => read::object(&call).await,
        (&Method::PUT, Some(_), None) => call.put(write::Part::Main).await,
        (&Method::PATCH, Some(_), None) => call.patch(write::Part::Main).await,
        (&Method::DELETE, Some(_), None) => call.delete().await,
        (method, Some(_), Some("status")) if kind.has_status() => match *method {
            Method::GET => read::object(&call).await,
            Method::PUT => call.put(write::Part::Status).await,
            Method::PATCH => call.patch(write::Part::Status).await,
            _ => Err(method_not_allowed()),
        },
        (method, Some(_), Some("scale")) if kind.subresource("scale").is_some() => call.scale(method).await,
        (&Method::POST, Some(_), Some("token")) if kind.subresource("token").is_some() => {
            call.create_token().await
        }
        (method, Some(_), Some("finalize")) if call.is_namespace() => call.finalize(method).await,
        (_, Some(_), Some(part)) if pods::handles(kind, part) => pods::part(&call, parts, part).await,
        (_, Some(_), Some(part)) if kind.subresource(part).is_none() => Err(resource_not_found()),
        _ => Err(method_not_allowed()),
    };
    if answer.is_ok() && parts.method != Method::GET {
        // The write is done; a failure here is retried and reported by the periodic reconciliation.
        let _ = server.follow_write(kind).await;
    }
    answer
        .map(|answer| (strategies::of(kind).deprecation)(kind).into_iter().fold(answer, ApiResponse::warning))
}

fn allowed(kind: &Kind, verb: Verb) -> Result<(), Refusal> {
    if kind.allows(verb) { Ok(()) } else { Err(method_not_allowed()) }
}

/// Returns 413.
pub(crate) fn too_large() -> Refusal {
    Refusal {
        code: 413,
        reason: "RequestEntityTooLarge",
        message: format!("Request entity too large: limit is {BODY_BYTES_MAX}"),
        details: None,
    }
}

/// Returns 404 for a kind that is not served.
pub(crate) fn resource_not_found() -> Refusal {
    Refusal {
        code: 404,
        reason: "NotFound",
        message: "the server could not find the requested resource".to_owned(),
        details: Some(Box::default()),
    }
}

fn method_not_allowed() -> Refusal {
    Refusal {
        code: 405,
        reason: "MethodNotAllowed",
        message: "the server does not allow this method on the requested resource".to_owned(),
        details: Some(Box::default()),
    }
}
