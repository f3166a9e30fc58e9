//! Limits the memory of large responses that clients have not read yet.
//!
//! A large response is sent in chunks, and is held and counted as a whole until its last chunk is taken. When there is
//! no memory for another one, responses whose clients have stopped reading are cut off; if that is not enough, the new
//! one is refused with 429.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http::Response;
use tokio::time::Instant;

use crate::chunk_buffer::CHUNK_BYTES;
use crate::response::{Body, Chunks};

/// A client that takes no chunk for this long has stopped reading.
const STALLED_AFTER: Duration = Duration::from_secs(5);

/// The large responses that are being sent.
#[derive(Debug)]
pub(crate) struct UnsentResponses {
    bytes_max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bytes: usize,
    next_id: u64,
    /// By age.
    responses: BTreeMap<u64, Unsent>,
}

#[derive(Debug)]
struct Unsent {
    rest: Bytes,
    /// The size of the whole.
    bytes: usize,
    last_progress: Instant,
}

/// The body of a large response, or a large part of one.
pub(crate) struct LargeBody {
    id: u64,
    /// The bytes that are not sent, or will not be.
    remaining: usize,
    unsent: Arc<UnsentResponses>,
}

impl UnsentResponses {
    /// With this limit in bytes.
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, state: Mutex::default() }
    }

    /// Counts the response if it is large. Returns `None` if there is no memory for it.
    pub(crate) fn count(self: &Arc<Self>, response: Response<Body>) -> Option<Response<Body>> {
        let (head, body) = response.into_parts();
        let body = match body {
            Body::Whole(Some(bytes)) if bytes.len() > CHUNK_BYTES => {
                Body::Chunked(Box::pin(self.body(bytes)?))
            }
            other => other,
        };
        Some(Response::from_parts(head, body))
    }

    /// Counts bytes until they are sent. Returns `None` if there is no memory for them.
    pub(crate) fn body(self: &Arc<Self>, bytes: Bytes) -> Option<LargeBody> {
        let remaining = bytes.len();
        let id = self.add(bytes)?;
        Some(LargeBody { id, remaining, unsent: Arc::clone(self) })
    }

    fn add(&self, rest: Bytes) -> Option<u64> {
        let now = Instant::now();
        let mut state = self.lock();
        if state.bytes.saturating_add(rest.len()) > self.bytes_max {
            state.cut_off_stalled(now);
        }
        // One response is always accepted, whatever its size.
        if state.bytes > 0 && state.bytes.saturating_add(rest.len()) > self.bytes_max {
            return None;
        }
        let id = state.next_id;
        state.next_id += 1;
        let bytes = rest.len();
        state.bytes += bytes;
        state.responses.insert(id, Unsent { rest, bytes, last_progress: now });
        Some(id)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change of the state is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn cut_off_stalled(&mut self, now: Instant) {
        let bytes = &mut self.bytes;
        self.responses.retain(|_, unsent| {
            let is_read = now.duration_since(unsent.last_progress) < STALLED_AFTER;
            if !is_read {
                *bytes -= unsent.bytes;
            }
            is_read
        });
    }

    fn remove(&mut self, id: u64) {
        if let Some(unsent) = self.responses.remove(&id) {
            self.bytes -= unsent.bytes;
        }
    }
}

impl LargeBody {
    pub(crate) fn is_sent(&self) -> bool {
        self.remaining == 0
    }

    /// Returns the next chunk; `None` at the end, or if it was cut off: then the client sees a body that is shorter than announced.
    pub(crate) fn next_chunk(&mut self) -> Option<Bytes> {
        let mut state = self.unsent.lock();
        let unsent = state.responses.get_mut(&self.id)?;
        let length = unsent.rest.len().min(CHUNK_BYTES);
        // A copy: a slice of the whole would keep all of it in memory.
        let chunk = Bytes::copy_from_slice(&unsent.rest[..length]);
        unsent.rest.advance(length);
        unsent.last_progress = Instant::now();
        if unsent.rest.is_empty() {
            state.remove(self.id);
        }
        self.remaining -= length;
        Some(chunk)
    }
}

impl Chunks for LargeBody {
    fn poll_chunk(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Bytes>> {
        Poll::Ready(self.get_mut().next_chunk())
    }

    fn remaining(&self) -> Option<u64> {
        Some(self.remaining as u64)
    }
}

impl Drop for LargeBody {
    fn drop(&mut self) {
        self.unsent.lock().remove(self.id);
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    fn large(length: usize) -> Response<Body> {
        Response::new(Body::Whole(Some(vec![7; length].into())))
    }

    async fn read(response: Response<Body>) -> usize {
        response.into_body().collect().await.unwrap().to_bytes().len()
    }

    /// Responses that clients do not read are cut off when there is no memory for another one, and not before.
    #[tokio::test(start_paused = true)]
    async fn stalled_responses_are_aborted_for_new_ones() {
        let unsent = Arc::new(UnsentResponses::new(1 << 20));
        let stalled: Vec<_> = (0..2).map(|_| unsent.count(large(500_000)).unwrap()).collect();
        assert!(unsent.count(large(500_000)).is_none(), "there is no memory");
        assert_eq!(read(unsent.count(large(1000)).unwrap()).await, 1000, "small responses are not limited");
        tokio::time::advance(STALLED_AFTER).await;
        let read_now = unsent.count(large(500_000)).unwrap();
        assert_eq!(read(read_now).await, 500_000);
        for response in stalled {
            assert_eq!(read(response).await, 0, "the response is cut off");
        }
        assert_eq!(unsent.lock().bytes, 0);
    }

    /// A response is in memory as a whole until its last chunk is taken.
    #[test]
    fn a_response_counts_as_a_whole_until_its_last_chunk() {
        let unsent = Arc::new(UnsentResponses::new(1 << 20));
        let mut body = unsent.body(vec![7; 3 * CHUNK_BYTES].into()).unwrap();
        for _ in 0..2 {
            assert!(body.next_chunk().is_some());
            assert_eq!(unsent.lock().bytes, 3 * CHUNK_BYTES);
        }
        assert!(body.next_chunk().is_some());
        assert_eq!((unsent.lock().bytes, body.is_sent()), (0, true));
        assert!(body.next_chunk().is_none());
    }

    #[tokio::test]
    async fn sent_and_dropped_responses_do_not_count() {
        let unsent = Arc::new(UnsentResponses::new(1 << 20));
        drop(unsent.count(large(1_000_000)).unwrap());
        assert_eq!(read(unsent.count(large(1_000_000)).unwrap()).await, 1_000_000);
        assert_eq!(
            read(unsent.count(large(3 << 20)).unwrap()).await,
            3 << 20,
            "one response is always accepted"
        );
        assert_eq!(unsent.lock().bytes, 0);
    }
}
