//! A transport between client and server that records requests, and can reject writes.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use gantry_apiserver::ApiService;
use gantry_json::{Value, json};
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use tower::Service;

type AnyBody = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;

/// A request as it was sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) content: String,
    pub(crate) body: Value,
}

/// The transport.
#[derive(Clone)]
pub(crate) struct Wire {
    service: ApiService,
    sent: Arc<Mutex<Vec<Sent>>>,
    conflicts: Arc<Mutex<usize>>,
}

impl Wire {
    pub(crate) fn to(service: ApiService) -> Self {
        Self { service, sent: Arc::default(), conflicts: Arc::default() }
    }

    /// Drops the recorded requests.
    pub(crate) fn forget(&self) {
        self.sent.lock().unwrap().clear();
    }

    /// The requests since the last `forget`.
    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }

    /// The writes since the last `forget`.
    pub(crate) fn writes(&self) -> Vec<Sent> {
        self.sent().into_iter().filter(|sent| sent.method != "GET").collect()
    }

    /// Makes the next writes return a conflict.
    pub(crate) fn conflict(&self, times: usize) {
        *self.conflicts.lock().unwrap() = times;
    }

    async fn pass(self, request: Request<Full<Bytes>>) -> Response<AnyBody> {
        let (parts, body) = request.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let content = parts.headers.get("content-type").map_or("", |value| value.to_str().unwrap());
        self.sent.lock().unwrap().push(Sent {
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            content: content.to_owned(),
            body: gantry_json::from_slice(&bytes).unwrap_or_default(),
        });
        if parts.method != Method::GET && self.refuses() {
            let status =
                json!({"kind": "Status", "reason": "Conflict", "message": "it was modified", "code": 409});
            let mut response = Response::new(Full::new(Bytes::from(status.to_string())).boxed_unsync());
            *response.status_mut() = http::StatusCode::CONFLICT;
            return response;
        }
        let request = Request::from_parts(parts, Full::from(bytes));
        let (parts, body) = self.service.clone().call(request).await.unwrap().into_parts();
        Response::from_parts(parts, body.boxed_unsync())
    }

    fn refuses(&self) -> bool {
        let mut conflicts = self.conflicts.lock().unwrap();
        let refuses = *conflicts > 0;
        *conflicts = conflicts.saturating_sub(1);
        refuses
    }
}

impl Service<Request<Full<Bytes>>> for Wire {
    type Response = Response<AnyBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let wire = self.clone();
        Box::pin(async move { Ok(wire.pass(request).await) })
    }
}
