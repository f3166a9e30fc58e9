//! A client of an API server: timeouts, retries that the server requests, and classified errors.

use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, TryStreamExt as _};
use gantry_model::patch::PatchForm;
use http::{Request, Response, header};
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::{Failure, chain};
use crate::log_throttle::LogThrottle;
use crate::metrics::Metrics;
use crate::request::{Deletion, Form, Target};

/// The timeout of a request, and of a watch until it begins.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a request is repeated because the server asked for it; as in client-go.
const RETRIES_MAX: u32 = 10;
/// The delay if a busy server does not give one.
const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(1);

/// A client with a field manager.
#[derive(Clone)]
pub struct Api {
    client: kube::Client,
    manager: &'static str,
    metrics: Metrics,
    log_throttle: LogThrottle,
}

impl Api {
    /// The field manager is what `metadata.managedFields` shows.
    pub fn new(client: kube::Client, manager: &'static str, metrics: Metrics) -> Self {
        Self { client, manager, metrics, log_throttle: LogThrottle::default() }
    }

    /// Where this writer counts its requests.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Limits the log lines about repeated events.
    pub(crate) fn log_throttle(&self) -> &LogThrottle {
        &self.log_throttle
    }

    /// Reads live, bypassing every cache.
    pub async fn get<T: DeserializeOwned>(&self, target: &Target) -> Result<T, Failure> {
        self.send(target.get(Form::Whole)).await
    }

    /// Reads the metadata live, bypassing every cache.
    pub async fn get_metadata<T: DeserializeOwned>(&self, target: &Target) -> Result<T, Failure> {
        self.send(target.get(Form::Metadata)).await
    }

    /// Requests discovery, aggregated if the server supports it.
    pub async fn get_discovery<T: DeserializeOwned>(&self, target: &Target) -> Result<T, Failure> {
        self.send(target.discovery()).await
    }

    /// Lists a collection in one response.
    pub async fn list<T: DeserializeOwned>(
        &self,
        target: &Target,
        form: Form,
        query: &[(&str, &str)],
    ) -> Result<T, Failure> {
        self.send(target.list(form, query)).await
    }

    /// Creates an object and returns it as stored.
    pub async fn create<T>(&self, target: &Target, object: &impl Serialize) -> Result<T, Failure>
    where
        T: DeserializeOwned,
    {
        self.send(target.create(self.manager, encoded(object)?)).await
    }

    /// Replaces an object or a subresource, with its resource version as precondition.
    pub async fn replace<T>(&self, target: &Target, object: &impl Serialize) -> Result<T, Failure>
    where
        T: DeserializeOwned,
    {
        self.send(target.replace(self.manager, encoded(object)?)).await
    }

    /// Patches an object.
    pub async fn patch<T>(&self, target: &Target, form: PatchForm, body: &Value) -> Result<T, Failure>
    where
        T: DeserializeOwned,
    {
        self.send(target.patch(self.manager, form, body)).await
    }

    /// Applies a configuration on the server's side: takes over the fields that others own.
    pub async fn apply<T>(&self, target: &Target, object: &impl Serialize) -> Result<T, Failure>
    where
        T: DeserializeOwned,
    {
        self.send(target.apply(self.manager, encoded(object)?)).await
    }

    /// Deletes an object, or a collection.
    pub async fn delete(&self, target: &Target, deletion: &Deletion) -> Result<(), Failure> {
        self.send::<Value>(target.delete(deletion)).await.map(drop)
    }

    /// Opens a stream of lines, for a watch. It has to begin within the timeout; the server ends it.
    pub(crate) async fn stream(
        &self,
        request: Request<Vec<u8>>,
    ) -> Result<impl Stream<Item = Result<Bytes, Failure>> + use<>, Failure> {
        let opened = async {
            let (parts, body) = self.answer(&request).await?.into_parts();
            if parts.status.is_success() {
                return Ok(body);
            }
            let body = body.collect().await.map_err(Failure::unanswered)?.to_bytes();
            Err(Failure::answered(parts.status.as_u16(), retry_after(&parts.headers), &body))
        };
        Ok(in_time(opened).await?.into_data_stream().map_err(Failure::unanswered))
    }

    async fn send<T: DeserializeOwned>(&self, request: Request<Vec<u8>>) -> Result<T, Failure> {
        let mut tries = 0;
        loop {
            let failure = match self.send_once(&request).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let wait = match (failure.code, failure.retry_after) {
                (Some(429), wait) => wait.unwrap_or(RETRY_AFTER_DEFAULT),
                (Some(500..=599), Some(wait)) => wait,
                _ => return Err(failure),
            };
            tries += 1;
            if tries > RETRIES_MAX {
                return Err(failure);
            }
            tracing::debug!(path = request.uri().path(), ?wait, "the server asks to wait");
            tokio::time::sleep(wait).await;
        }
    }

    async fn send_once<T: DeserializeOwned>(&self, request: &Request<Vec<u8>>) -> Result<T, Failure> {
        let whole = async {
            let (parts, body) = self.answer(request).await?.into_parts();
            let body = body.collect().await.map_err(Failure::unanswered)?.to_bytes();
            let code = parts.status.as_u16();
            if !parts.status.is_success() {
                return Err(Failure::answered(code, retry_after(&parts.headers), &body));
            }
            serde_json::from_slice(&body).map_err(|error| Failure::unreadable(code, error))
        };
        in_time(whole).await
    }

    async fn answer(&self, request: &Request<Vec<u8>>) -> Result<Response<Body>, Failure> {
        let method = request.method().as_str().to_owned();
        let answer = self.client.send(request.clone().map(Body::from)).await;
        let code =
            answer.as_ref().map_or("<error>".to_owned(), |answer| answer.status().as_u16().to_string());
        self.metrics.count("rest_client_requests_total", &[("code", &code), ("method", &method)]);
        answer.map_err(|error| Failure::unanswered(chain(&error)))
    }
}

/// The response, or a timeout.
async fn in_time<T>(answer: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let timed_out = || Failure::unanswered(format!("no answer within {} s", REQUEST_TIMEOUT.as_secs()));
    tokio::time::timeout(REQUEST_TIMEOUT, answer).await.unwrap_or_else(|_| Err(timed_out()))
}

fn encoded(object: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(object).map_err(Failure::unanswered)
}

fn retry_after(headers: &header::HeaderMap) -> Option<&str> {
    headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok())
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Api").field("manager", &self.manager).finish_non_exhaustive()
    }
}
