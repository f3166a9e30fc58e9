//! Sends requests: timeouts, and the retries that a server requests.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderMap, Method, Response, StatusCode, header};
use http_body_util::BodyExt as _;

use crate::error::RequestError;
use crate::lines::WatchLines;
use crate::request::{ApiRequest, PROTOBUF};
use crate::spdy::StreamConnection;
use crate::transport::{ApiTransport, ResponseBody};
use crate::write_fence::WriteFence;

/// How often a request is repeated because the server requested it; as in client-go.
const RETRIES_MAX: u32 = 10;
/// The delay if a busy server does not give one.
const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(1);

/// A client of one API server. Cheap to clone.
#[derive(Clone)]
pub struct ApiClient {
    transport: ApiTransport,
    timeout: Option<Duration>,
    observer: Option<Observer>,
    fence: Option<WriteFence>,
}

type Observer = Arc<dyn Fn(&Method, Option<StatusCode>) + Send + Sync>;

/// How long a response takes to arrive.
#[derive(Clone, Copy)]
enum Length {
    /// It ends soon.
    Short,
    /// It is a stream, which may last.
    Streamed,
}

/// The response to a request that succeeded.
#[derive(Clone, Debug)]
pub struct ApiResponse {
    /// The HTTP status.
    pub code: u16,
    /// The body.
    pub body: Bytes,
    /// Whether the body is in protobuf.
    pub is_protobuf: bool,
    /// The texts of the `Warning` headers.
    pub warnings: Vec<String>,
}

/// A response that is read while it arrives.
pub struct ResponseChunks {
    body: ResponseBody,
    /// The texts of the `Warning` headers.
    pub warnings: Vec<String>,
}

impl ResponseChunks {
    /// The next bytes; `None` at the end.
    pub async fn next(&mut self) -> Option<Result<Bytes, RequestError>> {
        loop {
            match self.body.frame().await? {
                Ok(frame) => match frame.into_data() {
                    Ok(data) => return Some(Ok(data)),
                    Err(_trailers) => {}
                },
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl fmt::Debug for ResponseChunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseChunks")
    }
}

impl ApiClient {
    /// A client without a separate timeout.
    pub fn new(transport: ApiTransport) -> Self {
        Self { transport, timeout: None, observer: None, fence: None }
    }

    /// Sets the timeout of requests, and of a watch until its response begins.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Waits for responses as long as the configuration of the connection allows.
    #[must_use]
    pub fn without_timeout(self) -> Self {
        Self { timeout: None, ..self }
    }

    /// Calls this function with the status of every response, and with `None` if there was none.
    #[must_use]
    pub fn with_observer(
        self,
        observer: impl Fn(&Method, Option<StatusCode>) + Send + Sync + 'static,
    ) -> Self {
        Self { observer: Some(Arc::new(observer)), ..self }
    }

    /// Sends writes only while the fence is open, and does not wait for their responses after it closes.
    #[must_use]
    pub fn with_fence(self, fence: WriteFence) -> Self {
        Self { fence: Some(fence), ..self }
    }

    /// The namespace of the client's configuration.
    pub fn default_namespace(&self) -> &str {
        self.transport.default_namespace()
    }

    /// Sends a request. Repeats it if the server requests that, as in client-go.
    ///
    /// The future is boxed so that it is compiled here, not in each crate that awaits it.
    pub fn send<'a>(&'a self, request: &'a ApiRequest) -> BoxFuture<'a, Result<ApiResponse, RequestError>> {
        Box::pin(self.send_with_retries(request))
    }

    async fn send_with_retries(&self, request: &ApiRequest) -> Result<ApiResponse, RequestError> {
        let mut tries = 0;
        loop {
            let timeout = self.timeout_of(request)?;
            let error = match in_time(timeout, self.send_once(request)).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            let wait = match (error.code, error.retry_after) {
                (Some(429), wait) => wait.unwrap_or(RETRY_AFTER_DEFAULT),
                (Some(500..=599), Some(wait)) => wait,
                _ => return Err(error),
            };
            tries += 1;
            if tries > RETRIES_MAX {
                return Err(error);
            }
            tracing::debug!(path = request.path(), ?wait, "the server requests a delay");
            tokio::time::sleep(wait).await;
        }
    }

    /// Starts a watch, which the server ends.
    pub fn watch<'a>(&'a self, request: &'a ApiRequest) -> BoxFuture<'a, Result<WatchLines, RequestError>> {
        let started = async {
            let response = self.respond(request, Length::Streamed).await?;
            let (warnings, is_protobuf) = (warnings(response.headers()), is_protobuf(response.headers()));
            Ok(WatchLines::new(response.into_body().into_data_stream(), is_protobuf, warnings))
        };
        Box::pin(in_time(self.timeout, started))
    }

    /// Sends a request whose response is read while it arrives.
    pub fn chunks<'a>(
        &'a self,
        request: &'a ApiRequest,
    ) -> BoxFuture<'a, Result<ResponseChunks, RequestError>> {
        Box::pin(async {
            let response = self.respond(request, Length::Streamed).await?;
            let warnings = warnings(response.headers());
            Ok(ResponseChunks { body: response.into_body(), warnings })
        })
    }

    /// Sends a request that upgrades the connection to streams of this protocol.
    pub fn open_streams<'a>(
        &'a self,
        request: &'a ApiRequest,
        protocol: &'static str,
    ) -> BoxFuture<'a, Result<StreamConnection, RequestError>> {
        Box::pin(self.transport.open_streams(request.to_http(), protocol))
    }

    async fn send_once(&self, request: &ApiRequest) -> Result<ApiResponse, RequestError> {
        let (parts, body) = self.respond(request, Length::Short).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(ApiResponse {
            code: parts.status.as_u16(),
            body,
            is_protobuf: is_protobuf(&parts.headers),
            warnings: warnings(&parts.headers),
        })
    }

    /// The response, with the body unread if it is a success.
    async fn respond(
        &self,
        request: &ApiRequest,
        length: Length,
    ) -> Result<Response<ResponseBody>, RequestError> {
        let response = match length {
            Length::Short => self.transport.send(request.to_http()).await,
            Length::Streamed => self.transport.send_streamed(request.to_http()).await,
        };
        if let Some(observer) = &self.observer {
            observer(request.method(), response.as_ref().ok().map(Response::status));
        }
        let response = response?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (parts, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        let retry_after = parts.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
        let mut error = RequestError::answered(parts.status.as_u16(), retry_after, &body);
        error.warnings = warnings(&parts.headers).into();
        Err(error)
    }

    /// The timeout of a request, or an error if it must not be sent.
    fn timeout_of(&self, request: &ApiRequest) -> Result<Option<Duration>, RequestError> {
        let Some(fence) = self.fence.as_ref().filter(|_| request.method() != Method::GET) else {
            return Ok(self.timeout);
        };
        let left = fence.check().map_err(RequestError::unanswered)?;
        Ok(Some(self.timeout.map_or(left, |timeout| timeout.min(left))))
    }
}

async fn in_time<T>(
    timeout: Option<Duration>,
    response: impl Future<Output = Result<T, RequestError>>,
) -> Result<T, RequestError> {
    let Some(timeout) = timeout else { return response.await };
    let timed_out = || RequestError::unanswered(format!("no response within {} s", timeout.as_secs()));
    tokio::time::timeout(timeout, response).await.unwrap_or_else(|_| Err(timed_out()))
}

fn is_protobuf(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(PROTOBUF.as_bytes()))
}

/// The texts of the `Warning` headers of a response: `299 - "text"`.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let texts = headers.get_all(header::WARNING).iter().filter_map(|value| value.to_str().ok());
    texts.filter_map(quoted).collect()
}

fn quoted(warning: &str) -> Option<String> {
    let inside = warning.split_once('"')?.1;
    let mut text = String::new();
    let mut letters = inside.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Some(text),
            '\\' => text.extend(letters.next()),
            other => text.push(other),
        }
    }
    None
}

impl fmt::Debug for ApiClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiClient").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K1.7: the quotes around the text of a warning are removed.
    #[test]
    fn a_warning_is_unquoted() {
        assert_eq!(quoted(r#"299 - "say \"no\"""#).as_deref(), Some("say \"no\""));
        assert_eq!(quoted("299 - nothing"), None);
    }
}
