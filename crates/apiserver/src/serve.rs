//! A request as it comes off a connection: its body is still to be read, and it may take only so long.
//!
//! A body is given up where it becomes too large, and a request when its time is over. The rest of a body that is too large
//! is thrown away, within reason: who still sends when the connection closes would not hear why. A panic costs the request
//! that caused it, nothing else.

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

use crate::answer::Answer;
use crate::{ApiServer, Body, allowance, handlers};

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// How much of a body that is too large is still read, and how long a piece of it may take.
const DISCARDED_BYTES_MAX: usize = 64 << 20;
const DISCARD_PATIENCE: Duration = Duration::from_secs(1);

impl ApiServer {
    /// Answers one request whose body is still to be read.
    pub async fn serve<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Display,
    {
        let (parts, body) = request.into_parts();
        let audit_id = parts.headers.get(AUDIT_ID).cloned();
        let mut response = match allowance::of(&parts) {
            Ok(allowed) => {
                let answered = tokio::time::timeout(allowed, async {
                    match read(&parts.headers, body).await {
                        Ok(body) => self.answer(Request::from_parts(parts, body)).await,
                        Err(refusal) => refused(&refusal),
                    }
                });
                let answered = surviving(answered).await;
                answered.map_or_else(
                    || refused(&panicked()),
                    |answered| answered.unwrap_or_else(|_| refused(&allowance::exceeded())),
                )
            }
            Err(refusal) => refused(&refusal),
        };
        if !response.headers().contains_key(AUDIT_ID) {
            let id = audit_id.or_else(|| HeaderValue::from_str(&self.surroundings.uid()).ok());
            response.headers_mut().extend(id.map(|id| (AUDIT_ID, id)));
        }
        response
    }
}

/// What becomes of a future; `None` if it panicked.
async fn surviving<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    // What the future was about to change is dropped with it; the store has transactions, the rest is its own.
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
    Answer::refused(refusal).into_response()
}

/// Reads a body to its end, or as far as it is not too large.
async fn read<B>(headers: &HeaderMap, body: B) -> Result<Bytes, Refusal>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Display,
{
    let limit = handlers::BODY_BYTES_MAX;
    let mut body = pin!(body);
    if body.size_hint().lower() > limit as u64 {
        // Who asks first has not begun to send.
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
        // Most bodies come in one piece, which needs no copy.
        if first.is_empty() && all.is_empty() {
            first = data;
            continue;
        }
        all.extend_from_slice(&std::mem::take(&mut first));
        all.extend_from_slice(&data);
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

/// Throws away what is left of a body.
async fn discard<B>(mut body: Pin<&mut B>)
where
    B: http_body::Body<Data = Bytes>,
{
    let mut discarded = 0;
    while discarded <= DISCARDED_BYTES_MAX {
        let frame = poll_fn(|context| body.as_mut().poll_frame(context));
        // Too slow or too much: then it closes while somebody may still send.
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
