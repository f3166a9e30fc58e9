//! Reads the bodies of requests: up to the size limit each, and up to another limit in total.
//!
//! The rest of a body that is not read is discarded up to a limit, because clients that still send when the connection
//! closes do not see the response. The body of a proxied request is not read but passed on.

use std::fmt::Display;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::EXPECT;
use http_body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ApiError;
use crate::handlers::BODY_BYTES_MAX;

/// The maximum number of bytes of a body that are discarded, the timeout of each read, and the timeout of all of them.
const DISCARDED_BYTES_MAX: usize = 64 << 20;
const DISCARD_READ_TIMEOUT: Duration = Duration::from_secs(1);
const DISCARD_TIMEOUT: Duration = Duration::from_secs(10);
/// Smaller bodies are not counted.
const COUNTED_FROM: usize = 16 << 10;
/// How long a body waits for memory.
const MEMORY_TIMEOUT: Duration = Duration::from_secs(1);
/// The unit in which bodies are counted.
const UNIT: usize = 1 << 10;

/// The memory for the bodies of all requests in progress.
#[derive(Clone, Debug)]
pub(crate) struct BodyMemory {
    units: Arc<Semaphore>,
}

/// The body of a request that is passed on while it arrives.
pub struct RequestStream(Pin<Box<dyn http_body::Body<Data = Bytes, Error = String> + Send>>);

/// A body with errors as text.
struct WithTextErrors<B>(Pin<Box<B>>);

/// A body in memory.
struct InMemory(Option<Bytes>);

/// A body, and its share of the memory.
pub(crate) struct ReadBody {
    pub(crate) bytes: Bytes,
    #[expect(dead_code, reason = "dropping it frees the memory")]
    memory: Option<OwnedSemaphorePermit>,
    /// The body, if it is passed on unread.
    stream: Option<RequestStream>,
}

impl ReadBody {
    /// A body that was in memory before.
    pub(crate) fn in_memory(bytes: Bytes) -> Self {
        Self { bytes, memory: None, stream: None }
    }

    /// A body that is passed on while it arrives.
    pub(crate) fn streamed<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Display,
    {
        let stream = RequestStream(Box::pin(WithTextErrors(Box::pin(body))));
        Self { bytes: Bytes::new(), memory: None, stream: Some(stream) }
    }

    /// The body as a stream, whether it was read or not.
    pub(crate) fn into_stream(self) -> RequestStream {
        let Self { bytes, stream, .. } = self;
        let in_memory = || RequestStream(Box::pin(InMemory(Some(bytes).filter(|bytes| !bytes.is_empty()))));
        stream.unwrap_or_else(in_memory)
    }
}

impl BodyMemory {
    /// Memory for this many bytes.
    pub(crate) fn of(bytes: usize) -> Self {
        Self { units: Arc::new(Semaphore::new(bytes / UNIT)) }
    }

    /// Reads a body. Returns 413 if it is too large, and 429 if there is no memory for it.
    pub(crate) async fn read<B>(&self, headers: &HeaderMap, body: B) -> Result<ReadBody, ApiError>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Display,
    {
        let mut body = pin!(body);
        if body.size_hint().lower() > BODY_BYTES_MAX as u64 {
            discard(headers, body).await;
            return Err(ApiError::BodyTooLarge);
        }
        let mut memory = None;
        let mut first = Bytes::new();
        let mut all = BytesMut::new();
        while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
            let Ok(data) = frame.map_err(unreadable)?.into_data() else { continue };
            let length = first.len() + all.len() + data.len();
            if length > BODY_BYTES_MAX {
                discard(headers, body).await;
                return Err(ApiError::BodyTooLarge);
            }
            self.reserve(length, &mut memory).await?;
            // Most bodies arrive in one piece, which needs no copy.
            if first.is_empty() && all.is_empty() {
                first = data;
                continue;
            }
            all.extend_from_slice(&std::mem::take(&mut first));
            all.extend_from_slice(&data);
        }
        Ok(ReadBody { bytes: if all.is_empty() { first } else { all.freeze() }, memory, stream: None })
    }

    /// Reserves memory for a body that has this length so far.
    async fn reserve(
        &self,
        length: usize,
        memory: &mut Option<OwnedSemaphorePermit>,
    ) -> Result<(), ApiError> {
        let has = memory.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let needs = if length > COUNTED_FROM { length.div_ceil(UNIT) } else { 0 };
        let Ok(missing @ 1..) = u32::try_from(needs.saturating_sub(has)) else { return Ok(()) };
        let waiting = Arc::clone(&self.units).acquire_many_owned(missing);
        match tokio::time::timeout(MEMORY_TIMEOUT, waiting).await {
            Ok(Ok(more)) => match memory {
                Some(memory) => memory.merge(more),
                None => *memory = Some(more),
            },
            _ => return Err(ApiError::TooManyRequests),
        }
        Ok(())
    }
}

impl RequestStream {
    /// No body.
    pub fn empty() -> Self {
        Self(Box::pin(InMemory(None)))
    }
}

type FrameOrText = Option<Result<Frame<Bytes>, String>>;

impl http_body::Body for RequestStream {
    type Data = Bytes;
    type Error = String;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<FrameOrText> {
        self.0.as_mut().poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl<B> http_body::Body for WithTextErrors<B>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Display,
{
    type Data = Bytes;
    type Error = String;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<FrameOrText> {
        let frame = self.0.as_mut().poll_frame(context);
        frame.map(|frame| frame.map(|frame| frame.map_err(|error| error.to_string())))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl http_body::Body for InMemory {
    type Data = Bytes;
    type Error = String;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<FrameOrText> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// Discards the rest of a body.
pub(crate) async fn discard<B>(headers: &HeaderMap, mut body: Pin<&mut B>)
where
    B: http_body::Body<Data = Bytes>,
{
    // A client that expects `100 Continue` has not started to send.
    if headers.contains_key(EXPECT) {
        return;
    }
    let discarding = async {
        let mut discarded = 0;
        while discarded <= DISCARDED_BYTES_MAX {
            let frame = poll_fn(|context| body.as_mut().poll_frame(context));
            let Ok(Some(Ok(frame))) = tokio::time::timeout(DISCARD_READ_TIMEOUT, frame).await else { return };
            discarded += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // Too slow or too large: the connection closes while the client may still send.
    let _ = tokio::time::timeout(DISCARD_TIMEOUT, discarding).await;
}

fn unreadable(error: impl Display) -> ApiError {
    ApiError::bad_request(format!("the body of the request could not be read: {error}"))
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    fn body(length: usize) -> Full<Bytes> {
        Full::new(vec![b' '; length].into())
    }

    /// Bodies beyond the memory of all requests are refused until others are done; small ones are never refused.
    #[tokio::test(start_paused = true)]
    async fn bodies_share_a_memory_limit() {
        let memory = BodyMemory::of(2 << 20);
        let headers = HeaderMap::new();
        let first = memory.read(&headers, body(1 << 20)).await.unwrap();
        let second = memory.read(&headers, body(1 << 20)).await.unwrap();
        assert!(matches!(memory.read(&headers, body(1 << 20)).await, Err(ApiError::TooManyRequests)));
        assert_eq!(memory.read(&headers, body(1000)).await.unwrap().bytes.len(), 1000);
        drop(first);
        assert_eq!(memory.read(&headers, body(1 << 20)).await.unwrap().bytes.len(), 1 << 20);
        drop(second);
    }
}
