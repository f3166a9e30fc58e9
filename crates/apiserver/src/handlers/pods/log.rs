//! Pod logs.

use gantry_registry::pods;
use gantry_registry::pods::logs::LogOptions;
use gantry_schema::kinds::kinds;

use super::super::call::Call;
use crate::error::ApiError;
use crate::logs::{LogChunks, LogRequest};
use crate::metadata::Metadata;
use crate::objects::ObjectRef;
use crate::response::ApiResponse;

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
        let Some(logs) = &self.server.settings.logs else {
            self.check_node(node).await?;
            return Err(ApiError::Unavailable(format!(
                "the logs of pod {} cannot be read: no node agent answers for node {node}",
                object_ref.name
            )));
        };
        let wanted = LogRequest {
            node,
            namespace: self.namespace.unwrap_or_default(),
            pod: object_ref.name,
            uid: Metadata::of(&pod).uid(),
            container,
            options: &options,
        };
        let stream = logs.open(wanted).await?;
        Ok(ApiResponse::stream(LogChunks(stream)).of_type("text/plain"))
    }

    /// Returns 404 if the node does not exist.
    pub(super) async fn check_node(&self, name: &str) -> Result<(), ApiError> {
        let kind = kinds().resource("", "v1", "nodes").ok_or(ApiError::ResourceNotFound)?;
        self.server.objects.fetch(ObjectRef { kind, namespace: None, name }).await.map(drop)
    }
}
