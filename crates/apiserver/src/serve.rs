//! Serves a request whose body is not read yet: size limit, timeout, panics.
//!
//! The rest of a too large body is discarded up to a limit, because clients that still send when the connection closes
//! do not see the response. A panic fails only the request that caused it.

use std::fmt::Display;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use gantry_registry::Refusal;
use http::header::EXPECT;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};

use crate::response::ApiResponse;
use crate::{ApiServer, Body, handlers, request_timeout};

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// The most bytes of a too large body that are discarded, and the timeout of each read.
const DISCARDED_BYTES_MAX: usize = 64 << 20;
const DISCARD_PATIENCE: Duration = Duration::from_secs(1);

impl ApiServer {
    /// Serves one request, reading its body.
    pub async fn serve<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Display,
    {
        let (parts, body) = request.into_parts();
        let audit_id = parts.headers.get(AUDIT_ID).cloned();
        let mut response = match request_timeout::parse(&parts) {
            Ok(allowed) => {
                let answered = tokio::time::timeout(allowed, async {
                    match read(&parts.headers, body).await {
                        Ok(body) => self.handle(Request::from_parts(parts, body)).await,
                        Err(refusal) => refused(&refusal),
                    }
                });
                let answered = surviving(answered).await;
                answered.map_or_else(
                    || refused(&panicked()),
                    |answered| answered.unwrap_or_else(|_| refused(&request_timeout::exceeded())),
                )
            }
            Err(refusal) => refused(&refusal),
        };
        if !response.headers().contains_key(AUDIT_ID) {
            let id = audit_id.or_else(|| HeaderValue::from_str(&self.environment.uid()).ok());
            response.headers_mut().extend(id.map(|id| (AUDIT_ID, id)));
        }
        response
    }
}

/// Returns the output of a future; `None` if it panicked.
async fn surviving<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    // State of the future is dropped with it; the store has transactions.
    let polled = poll_fn(move |context| {
        catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context).map(Some)))
            .unwrap_or(Poll::Ready(None))
    });
    polled.await
}

fn panicked() -> Refusal {
    Refusal {
        code: 500,
        reason: "InternalError",
        message: "Internal error occurred: this request made the server panic; its log says where".to_owned(),
        details: None,
    }
}

fn refused(refusal: &Refusal) -> Response<Body> {
    ApiResponse::refused(refusal).into_response()
}

/// Reads a body up to the size limit.
async fn read<B>(headers: &HeaderMap, body: B) -> Result<Bytes, Refusal>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Display,
{
    let limit = handlers::BODY_BYTES_MAX;
    let mut body = pin!(body);
    if body.size_hint().lower() > limit as u64 {
        // A client that expects `100 Continue` has not started to send.
        if !headers.contains_key(EXPECT) {
            discard(body).await;
        }
        return Err(handlers::too_large());
    }
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        let Ok(data) = frame.map_err(|error| broken_off(&error))?.into_data() else { continue };
        if first.len() + all.len() + data.len() > limit {
            discard(body).await;
            return Err(handlers::too_large());
        }
        // Most bodies arrive in one piece, which needs no copy.
        if first.is_empty() && all.is_empty() {
            first = data;
            continue;
        }
        all.extend_from_slice(&std::mem::take(&mut first));
        all.extend_from_slice(&data);
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

/// Discards the rest of a body.
async fn discard<B>(mut body: Pin<&mut B>)
where
    B: http_body::Body<Data = Bytes>,
{
    let mut discarded = 0;
    while discarded <= DISCARDED_BYTES_MAX {
        let frame = poll_fn(|context| body.as_mut().poll_frame(context));
        // Too slow or too much: the connection closes while the client may still send.
        let Ok(Some(Ok(frame))) = tokio::time::timeout(DISCARD_PATIENCE, frame).await else { return };
        discarded += frame.data_ref().map_or(0, Bytes::len);
    }
}

fn broken_off(error: &impl Display) -> Refusal {
    Refusal {
        code: 400,
        reason: "BadRequest",
        message: format!("the body of the request could not be read: {error}"),
        details: None,
    }
}
