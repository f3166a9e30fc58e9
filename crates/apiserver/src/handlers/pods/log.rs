//! Pod logs, which the agents of nodes have.

use gantry_registry::pods;
use gantry_registry::pods::logs::LogOptions;
use http::Request;

use super::super::call::Call;
use super::super::websocket;
use crate::error::ApiError;
use crate::node_connector::NodeTarget;
use crate::response::ApiResponse;

/// The parameters that are passed on to the agent.
const PARAMETERS: [&str; 8] =
    ["follow", "previous", "timestamps", "sinceSeconds", "sinceTime", "tailLines", "limitBytes", "stream"];

impl Call<'_> {
    pub(super) async fn log(&self) -> Result<ApiResponse, ApiError> {
        let object_ref = self.object_ref();
        let options = LogOptions::read(&self.info.query.0, object_ref.name)?;
        let pod = self.server.objects.get(object_ref).await?;
        let container = pods::container(&pod, &options.container)?;
        let Some(node) = pods::node(&pod) else {
            // An unbound pod has no logs.
            return Ok(ApiResponse::text(204, ""));
        };
        let endpoint = self.node_endpoint(node).await?;
        let parameters = self.info.query.0.iter().filter(|(name, _)| PARAMETERS.contains(&name.as_str()));
        let parameters = parameters.map(|(name, value)| (name.as_str(), value.as_str()));
        let namespace = self.namespace.unwrap_or_default();
        let path = format!("/containerLogs/{namespace}/{}/{container}", object_ref.name);
        let request = Request::get(super::connect::with_query(&path, parameters)).body(());
        let request = request.map_err(|error| ApiError::Internal(error.to_string()))?;
        let Some(response) = self.send_to_node(NodeTarget { endpoint, pod: &pod }, request).await? else {
            return Err(ApiError::Unavailable(format!(
                "the logs of pod {} cannot be read: no node agent answers for node {node}",
                object_ref.name
            )));
        };
        let (parts, body) = response.into_parts();
        if parts.status.is_success() {
            return Ok(if websocket::is_requested(self.info) {
                websocket::response(self.info, body)
            } else {
                ApiResponse::of_body(200, "text/plain", body)
            });
        }
        let message = super::connect::text(body).await;
        Err(match parts.status.as_u16() {
            400 => ApiError::bad_request(message),
            _ => ApiError::Internal(message),
        })
    }
}
