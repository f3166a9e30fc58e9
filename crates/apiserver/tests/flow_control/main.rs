//! API priority and fairness: its objects as in Kubernetes 1.37, and which requests execute.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "../harness/mod.rs"]
mod harness;

mod dispatch;
mod limits;
mod objects;

use gantry_apiserver::{ApiServer, AuthenticatedUser};
use gantry_json::Value;
use gantry_registry::access::User;
use http::{Method, Request};
use http_body_util::BodyExt as _;

use harness::ReceivedResponse;
use harness::gated_store::StoreCall;

const FLOW_CONTROL: &str = "/apis/flowcontrol.apiserver.k8s.io/v1";

/// Holds every list of ConfigMaps.
fn lists_config_maps(call: &StoreCall<'_>) -> bool {
    matches!(call, StoreCall::List(request) if request.prefix.as_bytes().starts_with(b"/registry/configmaps/default/"))
}

/// A user with these groups.
fn user(name: &str, groups: &[&str]) -> User {
    let groups = groups.iter().copied().chain(["system:authenticated"]).map(str::to_owned).collect();
    User { name: name.to_owned(), groups, ..User::default() }
}

/// Sends a request as a user, and reads the whole response.
async fn round_trip_as(
    server: &ApiServer,
    user: User,
    method: Method,
    path: &str,
    body: &Value,
) -> ReceivedResponse {
    let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let kind = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let mut request = Request::builder().method(method).uri(path).header("content-type", kind);
    request = request.header("content-length", bytes.len());
    let mut request = request.body(bytes.into()).unwrap();
    request.extensions_mut().insert(AuthenticatedUser(user));
    let (parts, body) = server.handle(request).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    ReceivedResponse { status: parts.status.as_u16(), headers: parts.headers, body }
}

async fn get_as(server: &ApiServer, name: &str, path: &str) -> ReceivedResponse {
    round_trip_as(server, user(name, &[]), Method::GET, path, &Value::Null).await
}
