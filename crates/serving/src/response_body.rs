//! The body of a response: a watch ends at shutdown, any other body is sent whole.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use gantry_apiserver::Body;
use http_body::{Frame, SizeHint};

use crate::stop::Stop;

pub(crate) enum ResponseBody {
    Whole(Body),
    Watch { body: Body, stopped: Pin<Box<dyn Future<Output = ()> + Send>> },
}

impl ResponseBody {
    pub(crate) fn new(body: Body, stop: &Stop) -> Self {
        if matches!(body, Body::Whole(_)) {
            return Self::Whole(body);
        }
        let mut stop = stop.clone();
        Self::Watch { body, stopped: Box::pin(async move { stop.wait().await }) }
    }
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(body) => Pin::new(body).poll_frame(context),
            Self::Watch { body, stopped } => {
                // First, or a watch that always has an event ready would never end.
                match stopped.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(None),
                    Poll::Pending => Pin::new(body).poll_frame(context),
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) | Self::Watch { body, .. } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) | Self::Watch { body, .. } => body.size_hint(),
        }
    }
}
