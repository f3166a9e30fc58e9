//! Connections to pods through the agents of their nodes.

use std::future::poll_fn;
use std::pin::Pin;

use bytes::Bytes;
use gantry_formats::percent;
use gantry_registry::pods;
use gantry_schema::kinds::kinds;
use http::header::HOST;
use http::{Request, Response};

use super::super::call::Call;
use super::super::proxy::without_credentials;
use crate::error::ApiError;
use crate::node_connector::{NodeEndpoint, NodeError, NodeTarget};
use crate::objects::ObjectRef;
use crate::response::{ApiResponse, Body};

/// The parameters of a client, and their names in requests to a kubelet.
const STREAM_PARAMETERS: [(&str, &str); 6] = [
    ("stdin", "input"),
    ("stdout", "output"),
    ("stderr", "error"),
    ("tty", "tty"),
    ("command", "command"),
    ("ports", "port"),
];

impl Call<'_> {
    /// `exec`, `attach` and `portforward`, which upgrade the connection.
    pub(super) async fn stream(&self, part: &str) -> Result<ApiResponse, ApiError> {
        let pod = self.server.objects.get(self.object_ref()).await?;
        let name = self.object_ref().name;
        let container = match part {
            "portforward" => None,
            _ => Some(pods::container(&pod, self.info.query.first("container").unwrap_or_default())?),
        };
        let Some(node) = pods::node(&pod) else {
            return Err(ApiError::bad_request(format!("pod {name} does not have a host assigned")));
        };
        let endpoint = self.node_endpoint(node).await?;
        if !self.info.is_upgrade() {
            return Err(ApiError::bad_request("Upgrade request required"));
        }
        let namespace = self.namespace.unwrap_or_default();
        let path = match container {
            Some(container) => format!("/{part}/{namespace}/{name}/{container}"),
            None => format!("/portForward/{namespace}/{name}"),
        };
        let request = self.stream_request(&path)?;
        let Some(response) = self.send_to_node(NodeTarget { endpoint, pod: &pod }, request).await? else {
            return Err(ApiError::NotImplemented(format!(
                "{part} of pod {name} is not supported: no node agent answers for node {node}"
            )));
        };
        let (parts, body) = response.into_parts();
        Ok(ApiResponse::forwarded(parts.status, parts.headers, body))
    }

    /// The client's request as it is sent to the agent, with the client's connection but without its credentials.
    fn stream_request(&self, path: &str) -> Result<Request<()>, ApiError> {
        let renamed =
            |name: &str| STREAM_PARAMETERS.iter().find(|(ours, _)| *ours == name).map(|(_, theirs)| *theirs);
        let parameters = self.info.query.0.iter();
        let parameters =
            parameters.filter_map(|(name, value)| Some((renamed(name)?, flag_as_number(name, value))));
        let mut request = Request::builder().method(&self.info.method).uri(with_query(path, parameters));
        for (name, value) in &without_credentials(&self.info.headers) {
            if *name != HOST {
                request = request.header(name, value);
            }
        }
        let mut request = request.body(()).map_err(|error| ApiError::Internal(error.to_string()))?;
        *request.extensions_mut() = self.info.extensions.clone();
        Ok(request)
    }

    /// Returns the endpoint of a node's agent, if it has one. Returns 404 if the node does not exist.
    pub(super) async fn node_endpoint(&self, name: &str) -> Result<Option<NodeEndpoint>, ApiError> {
        let kind = kinds().resource("", "v1", "nodes").ok_or(ApiError::ResourceNotFound)?;
        let node = self.server.objects.get(ObjectRef { kind, namespace: None, name }).await?;
        Ok(NodeEndpoint::of(&node))
    }

    /// Sends a request to the agent of a pod's node; `None` if there is no agent.
    pub(super) async fn send_to_node(
        &self,
        target: NodeTarget<'_>,
        request: Request<()>,
    ) -> Result<Option<Response<Body>>, ApiError> {
        let Some(connector) = &self.server.settings.nodes else { return Ok(None) };
        match connector.send(target, request).await {
            Ok(response) => Ok(Some(response)),
            Err(NodeError::NoAgent) => Ok(None),
            Err(NodeError::AddressNotAllowed) => Err(ApiError::bad_request("address not allowed")),
            Err(NodeError::Failed(message)) => Err(ApiError::Internal(message)),
        }
    }
}

/// Kubelets expect `1` instead of the `true` of API clients.
fn flag_as_number<'a>(name: &str, value: &'a str) -> &'a str {
    match (name, value) {
        ("stdin" | "stdout" | "stderr" | "tty", "true") => "1",
        _ => value,
    }
}

/// A path with parameters.
pub(super) fn with_query<'a>(path: &str, parameters: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let query: Vec<String> =
        parameters.map(|(name, value)| format!("{name}={}", percent::encode(value))).collect();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) }
}

/// Reads the body of an error response, up to a few kilobytes.
pub(super) async fn text(mut body: Body) -> String {
    const BYTES_MAX: usize = 4096;
    let mut text = Vec::new();
    while text.len() < BYTES_MAX {
        let frame = poll_fn(|context| http_body::Body::poll_frame(Pin::new(&mut body), context)).await;
        let Some(Ok(frame)) = frame else { break };
        text.extend_from_slice(frame.data_ref().map_or(&[], Bytes::as_ref));
    }
    String::from_utf8_lossy(&text).trim_end().to_owned()
}
