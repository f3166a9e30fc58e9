//! The connection of one client: passes requests to the server in process, with faults, and records them.

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};
use gantry_check::PodRequest;
use gantry_cluster::ApiService;
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use tower_service::Service;

use super::discovery;
use super::faults::{Delivery, Fault};
use super::network::{Component, Network, RequestInfo};
use super::options::SimScope;

pub(super) type AnyBody = UnsyncBoxBody<Bytes, Infallible>;

/// The maximum number of frames of a watch that are delivered at once.
const FRAMES_MAX: usize = 256;

/// The connection of one client.
#[derive(Clone)]
pub(super) struct Transport {
    service: ApiService,
    component: Component,
    network: Arc<Network>,
}

/// The connection ended before the response.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionClosed;

/// Reports the response to a request about a pod as lost, unless it is delivered.
struct ResponseGuard<'a> {
    network: &'a Network,
    request: Option<PodRequest>,
}

impl Transport {
    pub(super) fn new(service: ApiService, component: Component, network: Arc<Network>) -> Self {
        Self { service, component, network }
    }

    /// Passes a request to the server.
    pub(super) async fn pass(self, request: Request<Bytes>) -> Result<Response<AnyBody>, ConnectionClosed> {
        let is_watch = is_watch(&request);
        let shown = self.network.is_traced().then(|| shown(self.component, &request));
        let response = self.with_faults(request, is_watch).await;
        let Some(shown) = shown else { return response };
        match response {
            Ok(response) => Ok(self.recorded(shown, is_watch, response).await),
            Err(closed) => {
                self.network.record(&format!("{shown} -> closed"));
                Err(closed)
            }
        }
    }

    async fn with_faults(
        &self,
        request: Request<Bytes>,
        is_watch: bool,
    ) -> Result<Response<AnyBody>, ConnectionClosed> {
        let method = request.method();
        let is_update = method == Method::PUT || method == Method::PATCH;
        let guard = ResponseGuard { network: &self.network, request: pod_request(&request) };
        let faults = self.network.draw_faults(self.component, is_update);
        wait(faults.before).await;
        if let Some(Fault::Refused(code)) = faults.fault {
            guard.disarm();
            return Ok(refused(code));
        }
        if faults.fault == Some(Fault::Silence { takes_effect: false }) {
            guard.disarm();
            return std::future::pending().await;
        }
        let response = self.call_server(request).await;
        wait(faults.after).await;
        let response = match faults.fault {
            Some(Fault::Lost(code)) => return Ok(refused(code)),
            Some(Fault::Closed) => return Err(ConnectionClosed),
            Some(Fault::Silence { .. }) => return std::future::pending().await,
            Some(Fault::Refused(_)) | None => response,
        };
        guard.disarm();
        if is_watch && response.status().is_success() && self.component != Component::User {
            let (parts, body) = response.into_parts();
            let lines = deliver(self.network.clone(), self.component, body.into_data_stream());
            return Ok(Response::from_parts(parts, StreamBody::new(Box::pin(lines)).boxed_unsync()));
        }
        Ok(response)
    }

    /// The response to a discovery request of a controller that discovers the kinds of workloads only.
    fn limited_discovery(&self, request: &Request<Bytes>) -> Option<Bytes> {
        let is_limited =
            matches!(self.component, Component::Controllers(_)) && self.network.scope == SimScope::Workloads;
        if is_limited { discovery::limited_document(request.uri().path()) } else { None }
    }

    async fn call_server(&self, request: Request<Bytes>) -> Response<AnyBody> {
        if let Some(document) = self.limited_discovery(&request) {
            return response(StatusCode::OK, document);
        }
        let info = info(self.component, &request);
        let call = self.service.clone().call(request.map(Full::new));
        let mut call = pin!(call);
        let served = poll_fn(|context| self.network.on_behalf_of(info, || call.as_mut().poll(context))).await;
        let (parts, body) = served.unwrap_or_else(|never| match never {}).into_parts();
        Response::from_parts(parts, body.boxed_unsync())
    }

    /// Records a response, and the lines of a watch when they are delivered.
    async fn recorded(
        self,
        request: String,
        is_watch: bool,
        response: Response<AnyBody>,
    ) -> Response<AnyBody> {
        let (parts, body) = response.into_parts();
        let network = self.network;
        let status = parts.status.as_u16();
        if is_watch && parts.status.is_success() {
            network.record(&format!("{request} -> {status}"));
            let lines = body.into_data_stream().map(move |line| {
                if let Ok(line) = &line {
                    network.record(&format!("{request} <- {}", String::from_utf8_lossy(line).trim_end()));
                }
                line.map(http_body::Frame::data)
            });
            return Response::from_parts(parts, StreamBody::new(Box::pin(lines)).boxed_unsync());
        }
        let bytes = body.collect().await.unwrap_or_else(|never| match never {}).to_bytes();
        network.record(&format!("{request} -> {status} {}", String::from_utf8_lossy(&bytes).trim_end()));
        Response::from_parts(parts, Full::new(bytes).boxed_unsync())
    }
}

type Frame = Result<http_body::Frame<Bytes>, Infallible>;

/// Delivers the frames of a watch: late, but in order, until the watch is cut.
fn deliver(
    network: Arc<Network>,
    component: Component,
    frames: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static,
) -> impl Stream<Item = Frame> + Send {
    let batches = Box::pin(frames.ready_chunks(FRAMES_MAX));
    let delivered = stream::unfold(Some(batches), move |batches| {
        let network = network.clone();
        async move {
            let mut batches = batches?;
            let batch = batches.next().await?;
            let frames = |batch: Vec<Result<Bytes, Infallible>>| -> Vec<Frame> {
                batch.into_iter().map(|frame| frame.map(http_body::Frame::data)).collect()
            };
            match network.delivery(component) {
                Delivery::After(delay) => {
                    wait(delay).await;
                    Some((frames(batch), Some(batches)))
                }
                Delivery::Cut => None,
                Delivery::Expired => Some((vec![Ok(http_body::Frame::data(expired()))], None)),
            }
        }
    });
    delivered.flat_map(stream::iter)
}

async fn wait(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}

fn is_watch(request: &Request<Bytes>) -> bool {
    request.method() == Method::GET && request.uri().query().is_some_and(|query| query.contains("watch=true"))
}

/// The creation or deletion of a pod, if the request is one.
fn pod_request(request: &Request<Bytes>) -> Option<PodRequest> {
    let path = request.uri().path();
    let is_pod = || path.rsplit('/').nth(1) == Some("pods");
    match *request.method() {
        Method::POST if path.ends_with("/pods") => Some(PodRequest::Create),
        Method::DELETE if is_pod() => Some(PodRequest::Delete),
        _ => None,
    }
}

fn info(component: Component, request: &Request<Bytes>) -> RequestInfo {
    let contains = |field: &[u8]| request.body().windows(field.len()).any(|part| part == field);
    if request.method() != Method::DELETE {
        return RequestInfo::of(component);
    }
    RequestInfo {
        component,
        is_delete: true,
        has_propagation: contains(b"\"propagationPolicy\""),
        has_grace: contains(b"\"gracePeriodSeconds\""),
    }
}

fn shown(component: Component, request: &Request<Bytes>) -> String {
    let body = String::from_utf8_lossy(request.body());
    format!("{component} {} {} {}", request.method(), request.uri(), body.trim_end())
}

/// A response with JSON.
fn response(code: StatusCode, body: Bytes) -> Response<AnyBody> {
    let mut response = Response::new(Full::new(body).boxed_unsync());
    *response.status_mut() = code;
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, json);
    response
}

/// The response of a server that refuses a request.
fn refused(code: u16) -> Response<AnyBody> {
    let reason = match code {
        409 => "Conflict",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "InternalError",
    };
    let status = format!(
        r#"{{"kind":"Status","apiVersion":"v1","status":"Failure","code":{code},"message":"a simulated fault","reason":"{reason}"}}"#
    );
    let mut refused = response(
        StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        Bytes::from(status),
    );
    if code == 429 {
        refused.headers_mut().insert("retry-after", http::HeaderValue::from_static("1"));
    }
    refused
}

/// The line of a watch whose version has expired.
fn expired() -> Bytes {
    Bytes::from_static(
        b"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":410,\"reason\":\"Expired\",\"message\":\"a simulated fault\"}}\n",
    )
}

impl ResponseGuard<'_> {
    fn disarm(mut self) {
        self.request = None;
    }
}

impl Drop for ResponseGuard<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request {
            self.network.lost_response(request);
        }
    }
}

impl fmt::Display for ConnectionClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the simulated connection was closed")
    }
}

impl std::error::Error for ConnectionClosed {}

impl Service<Request<Full<Bytes>>> for Transport {
    type Response = Response<AnyBody>;
    type Error = ConnectionClosed;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ConnectionClosed>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectionClosed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let transport = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            // The bodies of in-process clients are in memory, so this neither waits nor fails.
            let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
            transport.pass(Request::from_parts(parts, body)).await
        })
    }
}
