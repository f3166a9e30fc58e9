//! The client of a component: reads and writes of objects, with a field manager and metrics.

use std::time::Duration;

use gantry_client::{
    ApiClient, ApiRequest, ApiResponse, ApiTransport, RequestBody, RequestError, WatchLines, WriteFence,
};
use gantry_json::Value;
use gantry_model::patch::PatchForm;
use http::StatusCode;

use crate::log_throttle::LogThrottle;
use crate::metrics::Metrics;
use crate::request::{DeleteParams, Encoding, Form, ResourcePath};
use crate::wire::{Decode, Encode};

/// The timeout of a request, and of a watch until it begins.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// A client with a field manager.
#[derive(Clone)]
pub struct Api {
    client: ApiClient,
    manager: &'static str,
    metrics: Metrics,
    log_throttle: LogThrottle,
}

impl Api {
    /// The field manager is recorded in `metadata.managedFields`.
    pub fn new(transport: ApiTransport, manager: &'static str, metrics: Metrics) -> Self {
        let counted = metrics.clone();
        let client =
            ApiClient::new(transport).with_timeout(REQUEST_TIMEOUT).with_observer(move |method, code| {
                let code = code.as_ref().map_or("<error>", StatusCode::as_str);
                let labels = [("code", code), ("method", method.as_str())];
                counted.count("rest_client_requests_total", &labels);
            });
        Self { client, manager, metrics, log_throttle: LogThrottle::default() }
    }

    /// Waits for responses as long as the configuration of the connection allows.
    #[must_use]
    pub fn without_timeout(self) -> Self {
        Self { client: self.client.without_timeout(), ..self }
    }

    /// Sends writes only while the fence is open.
    #[must_use]
    pub fn with_fence(self, fence: WriteFence) -> Self {
        Self { client: self.client.with_fence(fence), ..self }
    }

    /// The metrics in which this client counts its requests.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Limits the log lines about repeated events.
    pub(crate) fn log_throttle(&self) -> &LogThrottle {
        &self.log_throttle
    }

    /// Reads an object live, bypassing every cache.
    pub async fn get<T: Decode>(&self, path: &ResourcePath) -> Result<T, RequestError> {
        self.send(path.get(Form::Whole)).await
    }

    /// Reads the metadata of an object live, bypassing every cache.
    pub async fn get_metadata<T: Decode>(&self, path: &ResourcePath) -> Result<T, RequestError> {
        self.send(path.get(Form::Metadata)).await
    }

    /// Requests discovery, aggregated if the server supports it.
    pub async fn get_discovery<T: Decode>(&self, path: &ResourcePath) -> Result<T, RequestError> {
        self.send(path.discovery()).await
    }

    /// Lists a collection in one response.
    pub async fn list<T: Decode>(
        &self,
        path: &ResourcePath,
        form: Form,
        query: &[(&'static str, &str)],
    ) -> Result<T, RequestError> {
        self.send(path.list(form, query)).await
    }

    /// Lists a collection in one response, which is not decoded.
    pub(crate) async fn list_raw(
        &self,
        path: &ResourcePath,
        (form, encoding): (Form, Encoding),
        query: &[(&'static str, &str)],
    ) -> Result<ApiResponse, RequestError> {
        self.client.send(&encoding.request(path.list(form, query))).await
    }

    /// Creates an object and returns it as stored.
    pub async fn create<T>(&self, path: &ResourcePath, object: &impl Encode) -> Result<T, RequestError>
    where
        T: Decode,
    {
        self.send(path.create(self.manager, encoded(object)?)).await
    }

    /// Replaces an object or a subresource, with its resource version as precondition.
    pub async fn replace<T>(&self, path: &ResourcePath, object: &impl Encode) -> Result<T, RequestError>
    where
        T: Decode,
    {
        self.send(path.replace(self.manager, encoded(object)?)).await
    }

    /// Patches an object.
    pub async fn patch<T>(
        &self,
        path: &ResourcePath,
        form: PatchForm,
        body: &Value,
    ) -> Result<T, RequestError>
    where
        T: Decode,
    {
        self.send(path.patch(self.manager, form, body)).await
    }

    /// Server-side apply of a configuration; takes over fields that others own.
    pub async fn apply<T>(&self, path: &ResourcePath, object: &impl Encode) -> Result<T, RequestError>
    where
        T: Decode,
    {
        self.send(path.apply(self.manager, encoded(object)?)).await
    }

    /// Deletes an object, or a collection.
    pub async fn delete(&self, path: &ResourcePath, params: &DeleteParams) -> Result<(), RequestError> {
        self.send(path.delete(params)).await
    }

    /// Starts a watch. It has to begin within the timeout; the server ends it.
    pub(crate) async fn watch(&self, request: &ApiRequest) -> Result<WatchLines, RequestError> {
        self.client.watch(request).await
    }

    async fn send<T: Decode>(&self, request: ApiRequest) -> Result<T, RequestError> {
        let request = if T::READS_PROTOBUF { request.preferring_protobuf() } else { request };
        T::decode_response(&self.client.send(&request).await?)
    }
}

fn encoded(object: &impl Encode) -> Result<RequestBody, RequestError> {
    object.to_body().map_err(RequestError::unanswered)
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").field("manager", &self.manager).finish_non_exhaustive()
    }
}
