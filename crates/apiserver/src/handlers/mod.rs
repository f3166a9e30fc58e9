//! From a request to an answer.

pub(crate) mod bootstrap;
mod call;
mod delete;
mod discovery;
mod patch;
mod read;
mod rendering;
mod scale;
mod stored;
mod watch;
mod write;

use bytes::Bytes;
use gantry_registry::Refusal;
use gantry_registry::kinds::{Kind, Verb, kinds};
use gantry_registry::target::{Objects as Path, Target};
use http::Method;
use http::request::Parts;

use crate::ApiServer;
use crate::answer::Answer;
use crate::query::unescape;
use call::Call;

/// The largest body that is read.
const BODY_BYTES_MAX: usize = 3 << 20;

/// Answers a request.
pub(crate) async fn dispatch(server: &ApiServer, parts: &Parts, body: Bytes) -> Result<Answer, Refusal> {
    if body.len() > BODY_BYTES_MAX {
        return Err(Refusal {
            code: 413,
            reason: "RequestEntityTooLarge",
            message: format!("Request entity too large: limit is {BODY_BYTES_MAX}"),
            details: None,
        });
    }
    let path = unescape(parts.uri.path());
    match Target::parse(&path) {
        Target::Path(path) => discovery::path(path, parts),
        Target::Groups => discovery::groups(parts),
        Target::Group { group, version } => discovery::group(group, version, parts),
        Target::Objects(path) => objects(server, &path, parts, body).await,
    }
}

async fn objects(server: &ApiServer, path: &Path<'_>, parts: &Parts, body: Bytes) -> Result<Answer, Refusal> {
    let Some(kind) = kinds().resource(path.group, path.version, path.resource) else {
        let is_known_group = path.group.is_empty() || kinds().group(path.group).is_some();
        return if is_known_group { Err(no_such_resource()) } else { Ok(discovery::nowhere()) };
    };
    let call = Call::new(server, kind, path, parts, body)?;
    match (&parts.method, path.name, path.part) {
        (&Method::GET, None, None) => read::collection(&call).await,
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
        (_, Some(_), Some(part)) if kind.subresource(part).is_none() => Err(no_such_resource()),
        _ => Err(method_not_allowed()),
    }
}

fn allowed(kind: &Kind, verb: Verb) -> Result<(), Refusal> {
    if kind.allows(verb) { Ok(()) } else { Err(method_not_allowed()) }
}

fn no_such_resource() -> Refusal {
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
