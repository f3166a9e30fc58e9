//! The body of a response: a watch ends at shutdown, any other body is sent whole. Both are sent in small pieces.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use gantry_apiserver::Body;
use http_body::{Body as _, Frame, SizeHint};

use crate::activity::RequestInProgress;
use crate::stop::Stop;

/// The largest piece that is passed to the connection, which copies it: a client that does not read then costs no more
/// memory.
const PIECE_BYTES: usize = 32 << 10;

/// A body that ends before all of it was sent: the connection ends with it, so that the client does not take it for
/// complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrokenOff;

pub(crate) struct ResponseBody {
    content: Content,
    /// The rest of the last chunk.
    rest: Bytes,
    /// The request is in progress until its response is sent.
    _in_progress: RequestInProgress,
}

enum Content {
    Whole(Body),
    Watch { body: Body, stopped: Pin<Box<dyn Future<Output = ()> + Send>> },
}

impl ResponseBody {
    pub(crate) fn new(body: Body, stop: &Stop, in_progress: RequestInProgress) -> Self {
        let content = match body {
            Body::Whole(_) | Body::Chunked(_) => Content::Whole(body),
            Body::Stream(_) => {
                let mut stop = stop.clone();
                Content::Watch { body, stopped: Box::pin(async move { stop.wait().await }) }
            }
        };
        Self { content, rest: Bytes::new(), _in_progress: in_progress }
    }
}

impl Content {
    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match self {
            Self::Whole(body) => poll_body(body, context),
            Self::Watch { body, stopped } => {
                // First, or a watch that always has an event ready would never end.
                match stopped.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(None),
                    Poll::Pending => poll_body(body, context),
                }
            }
        }
    }

    fn body(&self) -> &Body {
        match self {
            Self::Whole(body) | Self::Watch { body, .. } => body,
        }
    }
}

fn poll_body(body: &mut Body, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
    Pin::new(&mut *body).poll_frame(context).map(|frame| match frame {
        Some(Ok(frame)) => Some(Ok(frame)),
        None => body.is_broken_off().then_some(Err(BrokenOff)),
    })
}

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the proxied response ended early")
    }
}

impl Error for BrokenOff {}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        let this = self.get_mut();
        if this.rest.is_empty() {
            match std::task::ready!(this.content.poll_frame(context)).map(|frame| frame.map(Frame::into_data))
            {
                Some(Ok(Ok(chunk))) => this.rest = chunk,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(broken)) => return Poll::Ready(Some(Err(broken))),
                None => return Poll::Ready(None),
            }
        }
        let piece = this.rest.split_to(this.rest.len().min(PIECE_BYTES));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.content.body().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let hint = self.content.body().size_hint();
        let rest = self.rest.len() as u64;
        hint.exact().map_or(hint, |exact| SizeHint::with_exact(exact + rest))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http_body_util::BodyExt as _;

    use super::*;
    use crate::activity::Activity;
    use crate::stop::Stopper;

    #[tokio::test]
    async fn a_large_body_is_sent_in_pieces() {
        let (_stopper, stop) = Stopper::new();
        let bytes: Bytes = (0..100_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        let body = Body::Whole(Some(bytes.clone()));
        let mut response = ResponseBody::new(body, &stop, Arc::new(Activity::default()).begin());
        assert_eq!(response.size_hint().exact(), Some(100_000));
        let mut sent = Vec::new();
        while let Some(Ok(frame)) = response.frame().await {
            let piece = frame.into_data().unwrap();
            assert!(piece.len() <= PIECE_BYTES);
            sent.extend_from_slice(&piece);
            assert_eq!(response.size_hint().exact(), Some(100_000 - sent.len() as u64));
        }
        assert_eq!(sent, bytes);
    }
}
