//! Dispatches requests to handlers.

mod call;
mod custom;
mod delete;
mod discovery;
mod health;
mod issuer;
mod list_body;
mod metrics;
mod namespaces;
mod openapi;
mod patch;
mod pods;
mod proxy;
mod read;
mod render;
mod reviews;
mod scale;
mod token;
mod update;
mod watch;
mod websocket;
mod write;

use bytes::Bytes;
use gantry_registry::strategies::{self, OnCreate};
use gantry_registry::target::{Objects as Path, Target};
use gantry_schema::kinds::{Kind, Verb, kinds};
use http::Method;

use crate::ApiServer;
use crate::error::ApiError;
use crate::request_info::RequestInfo;
use crate::response::ApiResponse;
use call::Call;

pub(crate) use discovery::DiscoveryDocuments;
pub(crate) use openapi::OpenApiCache;
pub(crate) use proxy::proxy;
pub(crate) use update::reset_fields;

/// The size limit of request bodies.
pub(crate) const BODY_BYTES_MAX: usize = 3 << 20;

/// Handles an authorized request.
pub(crate) async fn dispatch(
    server: &ApiServer,
    info: &RequestInfo,
    body: Bytes,
) -> Result<ApiResponse, ApiError> {
    if body.len() > BODY_BYTES_MAX {
        return Err(ApiError::BodyTooLarge);
    }
    match &info.target {
        Target::Path => match issuer::document(server, &info.path, info).await {
            Some(response) => response,
            None => discovery::path(server, &info.path, info).await,
        },
        Target::Groups => discovery::groups(server.catalogue().await.as_ref(), info),
        Target::Group { group, version } => {
            discovery::group(server.catalogue().await.as_ref(), group, version.as_deref(), info)
        }
        Target::Objects(path) => objects(server, path, info, body).await,
    }
}

async fn objects(
    server: &ApiServer,
    path: &Path,
    info: &RequestInfo,
    body: Bytes,
) -> Result<ApiResponse, ApiError> {
    let Some(kind) = server.kind(&path.group, &path.version, &path.resource).await else {
        let is_built_in = kinds().group(&path.group).is_some();
        return if is_built_in { Err(ApiError::ResourceNotFound) } else { Ok(discovery::page_not_found()) };
    };
    let kind = &kind;
    if let Some(response) = custom::check_request(kind, path, info.verb) {
        return response;
    }
    let call = Call::new(server, kind, path, info, body)?;
    call.check_scope()?;
    let response = match (&info.method, path.name.as_deref(), path.part.as_deref()) {
        // The old watch form supports only GET.
        (method, _, None) if path.watch && *method != Method::GET => Err(ApiError::MethodNotAllowed),
        (&Method::GET, None, None) => read::collection(&call).await,
        (&Method::GET, Some(_), None) if path.watch => read::collection(&call).await,
        (&Method::POST, None, None) => match strategies::of(kind).on_create {
            OnCreate::Review(review) => call.review(review).await,
            OnCreate::Bind if call.namespace.is_some() => call.bind().await,
            OnCreate::Bind | OnCreate::Store => {
                require_verb(kind, Verb::Create).map(|()| call)?.create().await
            }
        },
        (&Method::DELETE, None, None) => {
            require_verb(kind, Verb::DeleteCollection).map(|()| call)?.delete_collection().await
        }
        (&Method::GET, Some(_), None) => read::object(&call).await,
        (&Method::PUT, Some(_), None) => call.put(write::Part::Main).await,
        (&Method::PATCH, Some(_), None) => call.patch(write::Part::Main).await,
        (&Method::DELETE, Some(_), None) => call.delete().await,
        (method, Some(_), Some("status")) if kind.has_status() => match *method {
            Method::GET => read::object(&call).await,
            Method::PUT => call.put(write::Part::Status).await,
            Method::PATCH => call.patch(write::Part::Status).await,
            _ => Err(ApiError::MethodNotAllowed),
        },
        (method, Some(_), Some("scale")) if kind.subresource("scale").is_some() => call.scale(method).await,
        (&Method::POST, Some(_), Some("token")) if kind.subresource("token").is_some() => {
            call.create_token().await
        }
        (method, Some(_), Some("approval")) if kind.subresource("approval").is_some() => {
            call.read_or_write_part(method, write::Part::Approval).await
        }
        (method, Some(_), Some("finalize")) if call.is_namespace() => call.finalize(method).await,
        (_, Some(_), Some(part)) if pods::handles(kind, part) => pods::part(&call, part).await,
        (_, Some(_), Some(part)) if kind.subresource(part).is_none() => Err(ApiError::ResourceNotFound),
        _ => Err(ApiError::MethodNotAllowed),
    };
    if response.is_ok() && info.method != Method::GET {
        // The write is done; a failure here is retried and reported by the periodic reconciliation.
        let _ = server.follow_write(kind).await;
    }
    // Errors carry the warning as well.
    match (strategies::of(kind).deprecation)(kind) {
        Some(warning) => Ok(response.unwrap_or_else(|error| ApiResponse::error(&error)).warning(warning)),
        None => response,
    }
}

fn require_verb(kind: &Kind, verb: Verb) -> Result<(), ApiError> {
    if kind.allows(verb) { Ok(()) } else { Err(ApiError::MethodNotAllowed) }
}
