//! Serves a request whose body is not read yet: size limit, timeout, panics.
//!
//! The rest of a too large body is discarded up to a limit, because clients that still send when the connection closes
//! do not see the response. A panic fails only the request that caused it. A write goes on after its timeout, and after
//! its client has gone.

use std::fmt::Display;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::EXPECT;
use http::{HeaderMap, Method, Request, Response};

use crate::error::ApiError;
use crate::request_info::RequestInfo;
use crate::{ApiServer, Body, handlers, request_timeout, response_filters};

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
        let parts = Arc::new(parts);
        let path = gantry_formats::percent::decode_path(parts.uri.path());
        let mut info = RequestInfo::parse(&parts, &path);
        let result = match request_timeout::of(&info) {
            Ok(timeout) => {
                let response = tokio::time::timeout(timeout, async {
                    let body = read(info.headers, body).await?;
                    if *info.method == Method::GET {
                        return Ok(self.respond(&mut info, body).await);
                    }
                    Ok(self.respond_to_write(&parts, body).await)
                });
                match catch_panic(response).await {
                    Some(Ok(result)) => result,
                    Some(Err(_elapsed)) => Err(ApiError::Timeout),
                    None => Err(ApiError::Panic),
                }
            }
            Err(error) => Err(error),
        };
        result.unwrap_or_else(|error| response_filters::apply(Err(error), &info, self.environment.as_ref()))
    }
}

/// Returns the output of a future; `None` if it panicked.
async fn catch_panic<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    // State of the future is dropped with it; the store has transactions.
    let polled = poll_fn(move |context| {
        catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context).map(Some)))
            .unwrap_or(Poll::Ready(None))
    });
    polled.await
}

/// Reads a body up to the size limit.
async fn read<B>(headers: &HeaderMap, body: B) -> Result<Bytes, ApiError>
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
        return Err(ApiError::BodyTooLarge);
    }
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        let Ok(data) = frame.map_err(unreadable)?.into_data() else { continue };
        if first.len() + all.len() + data.len() > limit {
            discard(body).await;
            return Err(ApiError::BodyTooLarge);
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

fn unreadable(error: impl Display) -> ApiError {
    ApiError::bad_request(format!("the body of the request could not be read: {error}"))
}
