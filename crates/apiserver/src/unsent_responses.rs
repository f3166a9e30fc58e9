//! Limits the memory of large responses that clients have not read yet.
//!
//! A large response is sent in chunks, and its rest counts until it is sent. When there is no room for another one,
//! responses whose clients have stopped reading are cut off; if that is not enough, the new one is refused with 429.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http::Response;
use tokio::time::Instant;

use crate::response::{Body, Chunks};

/// Larger responses are counted and sent in chunks of this size.
const CHUNK_BYTES: usize = 64 << 10;
/// A client that takes no chunk for so long has stopped reading.
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
    last_progress: Instant,
}

/// The body of a large response.
struct LargeBody {
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

    /// Counts the response if it is large. Returns `None` if there is no room for it.
    pub(crate) fn count(self: &Arc<Self>, response: Response<Body>) -> Option<Response<Body>> {
        let (head, body) = response.into_parts();
        let body = match body {
            Body::Whole(Some(bytes)) if bytes.len() > CHUNK_BYTES => {
                let remaining = bytes.len();
                let id = self.add(bytes)?;
                Body::Chunked(Box::pin(LargeBody { id, remaining, unsent: Arc::clone(self) }))
            }
            other => other,
        };
        Some(Response::from_parts(head, body))
    }

    fn add(&self, rest: Bytes) -> Option<u64> {
        let now = Instant::now();
        let mut state = self.lock();
        if state.bytes.saturating_add(rest.len()) > self.bytes_max {
            state.cut_off_stalled(now);
        }
        // One response always fits, however large.
        if state.bytes > 0 && state.bytes.saturating_add(rest.len()) > self.bytes_max {
            return None;
        }
        let id = state.next_id;
        state.next_id += 1;
        state.bytes += rest.len();
        state.responses.insert(id, Unsent { rest, last_progress: now });
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
                *bytes -= unsent.rest.len();
            }
            is_read
        });
    }

    fn remove(&mut self, id: u64) {
        if let Some(unsent) = self.responses.remove(&id) {
            self.bytes -= unsent.rest.len();
        }
    }
}

impl Chunks for LargeBody {
    fn poll_chunk(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.get_mut();
        let mut state = this.unsent.lock();
        // Cut off: the client sees a body that is shorter than announced.
        let Some(unsent) = state.responses.get_mut(&this.id) else { return Poll::Ready(None) };
        let length = unsent.rest.len().min(CHUNK_BYTES);
        if length == 0 {
            return Poll::Ready(None);
        }
        // A copy: a part of the whole would keep all of it in memory.
        let chunk = Bytes::copy_from_slice(&unsent.rest[..length]);
        unsent.rest.advance(length);
        unsent.last_progress = Instant::now();
        state.bytes -= length;
        this.remaining -= length;
        Poll::Ready(Some(chunk))
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

    /// Responses that nobody reads are cut off when there is no room for another one, and not before.
    #[tokio::test(start_paused = true)]
    async fn stalled_responses_make_room() {
        let unsent = Arc::new(UnsentResponses::new(1 << 20));
        let stalled: Vec<_> = (0..2).map(|_| unsent.count(large(500_000)).unwrap()).collect();
        assert!(unsent.count(large(500_000)).is_none(), "there is no room");
        assert_eq!(read(unsent.count(large(1000)).unwrap()).await, 1000, "for small ones there is");
        tokio::time::advance(STALLED_AFTER).await;
        let read_now = unsent.count(large(500_000)).unwrap();
        assert_eq!(read(read_now).await, 500_000);
        for response in stalled {
            assert_eq!(read(response).await, 0, "cut off");
        }
        assert_eq!(unsent.lock().bytes, 0);
    }

    #[tokio::test]
    async fn what_is_sent_or_dropped_does_not_count() {
        let unsent = Arc::new(UnsentResponses::new(1 << 20));
        drop(unsent.count(large(1_000_000)).unwrap());
        assert_eq!(read(unsent.count(large(1_000_000)).unwrap()).await, 1_000_000);
        assert_eq!(read(unsent.count(large(3 << 20)).unwrap()).await, 3 << 20, "one always fits");
        assert_eq!(unsent.lock().bytes, 0);
    }
}
