//! What is served, and whether the server is well.

use gantry_registry::Refusal;
use gantry_registry::kinds::discovery as render;
use gantry_registry::kinds::kinds;
use http::header::{ACCEPT, HOST, HeaderName};
use http::request::Parts;
use http::{Method, header};
use serde_json::json;

use super::{method_not_allowed, no_such_resource};
use crate::accept::{Offer, View, negotiate};
use crate::answer::Answer;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// A path that is about no objects.
pub(super) fn path(path: &str, parts: &Parts) -> Result<Answer, Refusal> {
    match path.trim_end_matches('/') {
        "/healthz" | "/livez" | "/readyz" => Ok(Answer::text(200, "ok")),
        "/version" => {
            reading(parts)?;
            Ok(Answer::value(200, &version()))
        }
        _ => Ok(nowhere()),
    }
}

/// The list of groups, or all of them in one document.
pub(super) fn groups(parts: &Parts) -> Result<Answer, Refusal> {
    reading(parts)?;
    Ok(match view(parts)? {
        View::Discovery => aggregated(&render::aggregated_groups(kinds())),
        _ => Answer::value(200, &render::group_list(kinds())),
    })
}

/// One group, or the resources of one version of it.
pub(super) fn group(group: &str, version: Option<&str>, parts: &Parts) -> Result<Answer, Refusal> {
    reading(parts)?;
    let view = view(parts)?;
    match version {
        None if group.is_empty() && view == View::Discovery => {
            Ok(aggregated(&render::aggregated_core(kinds())))
        }
        None if group.is_empty() => {
            let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
            Ok(Answer::value(200, &render::legacy_root(host)))
        }
        None => Ok(render::group(kinds(), group).map_or_else(nowhere, |group| Answer::value(200, &group))),
        Some(version) => match render::resource_list(kinds(), group, version) {
            Some(list) => Ok(Answer::value(200, &list)),
            None if group.is_empty() || kinds().group(group).is_some() => Err(no_such_resource()),
            None => Ok(nowhere()),
        },
    }
}

/// Nothing is there at all.
pub(super) fn nowhere() -> Answer {
    let header = HeaderName::from_static("x-content-type-options");
    Answer::text(404, "404 page not found\n").with(header, "nosniff".to_owned())
}

fn aggregated(document: &serde_json::Value) -> Answer {
    Answer::value(200, document).of_type(AGGREGATED).with(header::VARY, "Accept".to_owned())
}

fn view(parts: &Parts) -> Result<View, Refusal> {
    let accept = parts.headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    negotiate(accept, Offer::Discovery)
}

fn reading(parts: &Parts) -> Result<(), Refusal> {
    if parts.method == Method::GET { Ok(()) } else { Err(method_not_allowed()) }
}

fn version() -> serde_json::Value {
    json!({
        "major": "1", "minor": "37", "gitVersion": "v1.37.0", "gitCommit": "gantry", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "rustc", "platform": "linux/amd64",
    })
}
