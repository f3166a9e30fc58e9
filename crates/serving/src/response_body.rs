//! The body of a response: a watch ends at shutdown, any other body is sent whole.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use gantry_apiserver::Body;
use http_body::{Frame, SizeHint};

use crate::activity::RequestInProgress;
use crate::stop::Stop;

pub(crate) struct ResponseBody {
    content: Content,
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
        Self { content, _in_progress: in_progress }
    }
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.get_mut().content {
            Content::Whole(body) => Pin::new(body).poll_frame(context),
            Content::Watch { body, stopped } => {
                // First, or a watch that always has an event ready would never end.
                match stopped.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(None),
                    Poll::Pending => Pin::new(body).poll_frame(context),
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(body) | Content::Watch { body, .. } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(body) | Content::Watch { body, .. } => body.size_hint(),
        }
    }
}
