//! Serves a request whose body is not read yet: timeout, panics.
//!
//! A panic fails only the request that caused it. A write continues after its timeout, and after its client has
//! disconnected.

use std::fmt::Display;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use http::{Request, Response};

use crate::error::ApiError;
use crate::request_body::ReadBody;
use crate::request_info::RequestInfo;
use crate::{ApiServer, Body, request_body, request_timeout, response_filters};

impl ApiServer {
    /// Serves one request, and reads its body. The body of a proxied request is passed on while it arrives, without a
    /// timeout.
    pub async fn serve<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Display + Send,
    {
        let (parts, body) = request.into_parts();
        let info = RequestInfo::parse(parts);
        if info.is_proxied() {
            let body = pin!(std::future::ready(Ok(ReadBody::streamed(body))));
            let response = catch_panic(self.respond(info.clone(), body)).await;
            return response.unwrap_or_else(|| {
                response_filters::apply(Err(ApiError::Panic), &info, self.environment.as_ref())
            });
        }
        let result = match request_timeout::of(&info) {
            Ok(timeout) => {
                let mut body = pin!(body);
                let mut is_read = false;
                let response = tokio::time::timeout(timeout, async {
                    let read = async {
                        is_read = true;
                        self.body_memory.read(&info.headers, body.as_mut()).await
                    };
                    let response = self.respond(info.clone(), pin!(read)).await;
                    if !is_read {
                        request_body::discard(&info.headers, body).await;
                    }
                    response
                });
                match catch_panic(response).await {
                    Some(Ok(response)) => Ok(response),
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
