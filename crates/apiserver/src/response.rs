//! Responses: a status, headers, and a body that is complete or a stream.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use gantry_json::Value;
use gantry_primitives::StatusReason;
use gantry_schema::encode;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body::Frame;

use crate::chunk_buffer::CHUNK_BYTES;
use crate::error::ApiError;
use crate::heavy_work::HeavySlot;
use crate::warning_header;

/// The body of a response.
pub enum Body {
    /// A complete body.
    Whole(Option<Bytes>),
    /// A body that ends, and is encoded or copied while it is sent.
    Chunked(Pin<Box<dyn Chunks>>),
    /// A stream, such as a watch.
    Stream(Pin<Box<dyn Chunks>>),
}

/// A stream of bytes.
pub trait Chunks: Send {
    /// The next bytes; `None` at the end.
    fn poll_chunk(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>>;

    /// The number of remaining bytes, if it is known.
    fn remaining(&self) -> Option<u64> {
        None
    }

    /// Whether the stream ended before all bytes were received.
    fn is_broken_off(&self) -> bool {
        false
    }
}

impl Body {
    /// Whether the body ended before all of it was received.
    pub fn is_broken_off(&self) -> bool {
        match self {
            Self::Whole(_) => false,
            Self::Chunked(chunks) | Self::Stream(chunks) => chunks.is_broken_off(),
        }
    }
}

/// The content of a response.
enum Content {
    /// A value, which is encoded in the requested format when the response is sent.
    Value(Value),
    Body(Body),
}

/// A response of a handler.
pub(crate) struct ApiResponse {
    status: u16,
    content_type: &'static str,
    headers: Vec<(header::HeaderName, String)>,
    /// The headers of a response that is passed on.
    forwarded: HeaderMap,
    warnings: Vec<String>,
    /// The slot in which it was made, if that was heavy work: there are few such responses until they count as unsent.
    slot: Option<HeavySlot>,
    /// Whether JSON is indented even if the client does not request it.
    pub(crate) is_indented: bool,
    content: Content,
}

impl ApiResponse {
    fn new(status: u16, content_type: &'static str, content: Content) -> Self {
        Self {
            status,
            content_type,
            headers: Vec::new(),
            forwarded: HeaderMap::new(),
            warnings: Vec::new(),
            slot: None,
            is_indented: false,
            content,
        }
    }

    /// A response with encoded JSON.
    pub(crate) fn json(status: u16, body: impl Into<Bytes>) -> Self {
        Self::of_body(status, "application/json", Body::Whole(Some(body.into())))
    }

    /// A response with a value.
    pub(crate) fn value(status: u16, value: Value) -> Self {
        Self::new(status, "application/json", Content::Value(value))
    }

    pub(crate) fn text(status: u16, text: impl Into<Bytes>) -> Self {
        Self::of_body(status, "text/plain; charset=utf-8", Body::Whole(Some(text.into())))
    }

    /// A response without a body.
    pub(crate) fn empty(status: u16) -> Self {
        Self::of_body(status, "", Body::Whole(None))
    }

    /// A response with a body of this kind; an empty content type is not sent.
    pub(crate) fn of_body(status: u16, content_type: &'static str, body: Body) -> Self {
        Self::new(status, content_type, Content::Body(body))
    }

    /// A response of another server, with its headers.
    pub(crate) fn forwarded(status: StatusCode, headers: HeaderMap, body: Body) -> Self {
        Self { forwarded: headers, ..Self::of_body(status.as_u16(), "", body) }
    }

    pub(crate) fn stream(chunks: impl Chunks + 'static) -> Self {
        Self::of_body(200, "application/json", Body::Stream(Box::pin(chunks)))
    }

    /// A response with bytes that are shared with others: clients that do not read it cost no memory, and it is sent
    /// unchanged.
    pub(crate) fn shared(content_type: &'static str, bytes: Bytes) -> Self {
        Self::chunked(content_type, SharedBytes(bytes))
    }

    /// A response that is encoded while it is sent.
    pub(crate) fn chunked(content_type: &'static str, chunks: impl Chunks + 'static) -> Self {
        Self::of_body(200, content_type, Body::Chunked(Box::pin(chunks)))
    }

    /// Keeps the slot in which it was made.
    pub(crate) fn with_slot(mut self, slot: Option<HeavySlot>) -> Self {
        self.slot = slot;
        self
    }

    /// Takes the slot in which it was made.
    pub(crate) fn take_slot(&mut self) -> Option<HeavySlot> {
        self.slot.take()
    }

    /// The size of the body, if it is complete; approximate for a value.
    pub(crate) fn whole_bytes(&self) -> usize {
        match &self.content {
            Content::Value(value) => encode::json_bytes(value),
            Content::Body(Body::Whole(bytes)) => bytes.as_ref().map_or(0, Bytes::len),
            Content::Body(Body::Chunked(_) | Body::Stream(_)) => 0,
        }
    }

    /// Converts JSON to YAML, unless indentation would make it very much longer.
    pub(crate) fn in_yaml(mut self) -> Self {
        let yaml = match &self.content {
            _ if !self.content_type.starts_with("application/json") => None,
            Content::Value(value) => encode::yaml_text_within(value),
            Content::Body(Body::Whole(Some(json))) => encode::yaml(json),
            Content::Body(_) => None,
        };
        if let Some(yaml) = yaml {
            self.content_type = "application/yaml";
            self.content = Content::Body(Body::Whole(Some(yaml.into())));
        }
        self
    }

    /// The response for an error.
    pub(crate) fn error(error: &ApiError) -> Self {
        let refusal = error.refusal();
        let mut response = Self::value(refusal.reason.code(), refusal.status());
        match refusal.reason {
            StatusReason::Forbidden => response = response.not_sniffed(),
            StatusReason::NotAcceptable => response.is_indented = true,
            _ => {}
        }
        match refusal.details.as_ref().map(|details| details.retry_after_seconds) {
            Some(seconds @ 1..) => response.with(header::RETRY_AFTER, seconds.to_string()),
            _ => response,
        }
    }

    /// Forbids browsers to guess the content type: the response to a request without permission.
    pub(crate) fn not_sniffed(self) -> Self {
        self.with(header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned())
    }

    pub(crate) fn with(mut self, name: header::HeaderName, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(crate) fn of_type(mut self, content_type: &'static str) -> Self {
        self.content_type = content_type;
        self
    }

    /// Adds a `Warning` header, which kubectl prints.
    pub(crate) fn warning(mut self, text: &str) -> Self {
        self.warnings.push(text.to_owned());
        self
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let warnings = warning_header::truncated(&self.warnings);
        let mut response = Response::new(match self.content {
            Content::Body(body) => body,
            Content::Value(value) => {
                let mut json = encode::plain(&value);
                json.push(b'\n');
                Body::Whole(Some(json.into()))
            }
        });
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        if !self.content_type.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        for (name, value) in self.headers {
            // A value that is not a valid header is omitted.
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
        for (name, value) in &self.forwarded {
            headers.append(name.clone(), value.clone());
        }
        for value in warnings.iter().filter_map(|value| HeaderValue::from_str(value).ok()) {
            headers.append(header::WARNING, value);
        }
        response
    }
}

/// Bytes that are sent without being copied.
struct SharedBytes(Bytes);

impl Chunks for SharedBytes {
    fn poll_chunk(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let length = self.0.len().min(CHUNK_BYTES);
        let chunk = self.0.split_to(length);
        Poll::Ready(Some(chunk).filter(|chunk| !chunk.is_empty()))
    }

    fn remaining(&self) -> Option<u64> {
        Some(self.0.len() as u64)
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Chunked(chunks) | Self::Stream(chunks) => {
                chunks.as_mut().poll_chunk(context).map(|chunk| chunk.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match self {
            Self::Whole(bytes) => {
                http_body::SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Chunked(chunks) | Self::Stream(chunks) => {
                chunks.remaining().map_or_else(http_body::SizeHint::default, http_body::SizeHint::with_exact)
            }
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "Whole({bytes:?})"),
            Self::Chunked(_) => f.write_str("Chunked"),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    /// Thousands of streams that do not read a document must not each have a copy of it.
    #[tokio::test]
    async fn shared_bytes_are_not_copied() {
        let bytes: Bytes = vec![7; 3 * CHUNK_BYTES + 1].into();
        let mut body = ApiResponse::shared("text/plain", bytes.clone()).into_response().into_body();
        let mut sent = 0;
        while let Some(Ok(frame)) = body.frame().await {
            let chunk = frame.into_data().unwrap();
            assert!(bytes.as_ptr_range().contains(&chunk.as_ptr()) && chunk.len() <= CHUNK_BYTES);
            sent += chunk.len();
        }
        assert_eq!(sent, bytes.len());
    }
}
