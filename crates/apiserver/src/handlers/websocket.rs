//! One-directional streams over WebSocket: the handshake, and the body as messages.
//!
//! The server of the connection sends the body of the response after `101 Switching Protocols`.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use aws_lc_rs::digest;
use bytes::Bytes;
use gantry_formats::base64;
use gantry_formats::websocket::{NORMAL_CLOSURE, Opcode, frame};
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
    UPGRADE,
};
use http::{HeaderMap, StatusCode};
use http_body::Body as _;

use super::proxy::without_credentials;
use crate::request_info::RequestInfo;
use crate::response::{ApiResponse, Body, Chunks};

/// The suffix that a server appends to the key of a client before it hashes it.
const KEY_SUFFIX: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const VERSION: &str = "13";
/// The protocol whose messages are text, for clients that cannot receive binary ones.
const BASE64_PROTOCOL: &str = "base64.binary.k8s.io";
const BINARY_PROTOCOL: &str = "binary.k8s.io";

/// The encoding of a stream's bytes in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Binary,
    Base64,
}

/// Whether the client requests a WebSocket.
pub(crate) fn is_requested(info: &RequestInfo) -> bool {
    info.is_upgrade() && info.header(UPGRADE).eq_ignore_ascii_case("websocket")
}

/// The response that sends this body as messages; 400 or 403 if the handshake is wrong, with Go's message.
pub(crate) fn response(info: &RequestInfo, body: Body) -> ApiResponse {
    if info.header(SEC_WEBSOCKET_VERSION) != VERSION {
        let refusal = ApiResponse::text(400, "missing or bad WebSocket Version");
        return refusal.with(SEC_WEBSOCKET_VERSION, VERSION.to_owned());
    }
    let key = info.header(SEC_WEBSOCKET_KEY);
    if key.is_empty() {
        return ApiResponse::text(400, "mismatch challenge/response");
    }
    let Some((protocol, encoding)) = negotiate(&without_credentials(&info.headers)) else {
        return ApiResponse::text(403, "").not_sniffed();
    };
    let messages = Messages { body, encoding, state: State::Start };
    let switched = StatusCode::SWITCHING_PROTOCOLS.as_u16();
    let response = ApiResponse::of_body(switched, "", Body::Stream(Box::pin(messages)))
        .with(UPGRADE, "websocket".to_owned())
        .with(CONNECTION, "Upgrade".to_owned())
        .with(SEC_WEBSOCKET_ACCEPT, accept(key));
    match protocol {
        Some(protocol) => response.with(SEC_WEBSOCKET_PROTOCOL, protocol.to_owned()),
        None => response,
    }
}

/// The first protocol that the client requests and that is served; without a name if it requests none.
fn negotiate(headers: &HeaderMap) -> Option<(Option<&'static str>, Encoding)> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let mut wanted = values.flat_map(|value| value.split(',')).map(str::trim).peekable();
    if wanted.peek().is_none() {
        return Some((None, Encoding::Binary));
    }
    wanted.find_map(|protocol| match protocol {
        BINARY_PROTOCOL => Some((Some(BINARY_PROTOCOL), Encoding::Binary)),
        BASE64_PROTOCOL => Some((Some(BASE64_PROTOCOL), Encoding::Base64)),
        _ => None,
    })
}

fn accept(key: &str) -> String {
    let hash = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{KEY_SUFFIX}").as_bytes());
    base64::encode(hash.as_ref())
}

/// A body as messages: an empty one, one for each chunk, and the end.
struct Messages {
    body: Body,
    encoding: Encoding,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Body,
    End,
}

impl Encoding {
    fn message(self, content: &[u8]) -> Bytes {
        match self {
            Self::Binary => frame(Opcode::Binary, content).into(),
            Self::Base64 => frame(Opcode::Text, base64::encode(content).as_bytes()).into(),
        }
    }
}

impl Chunks for Messages {
    fn poll_chunk(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let encoding = self.encoding;
        match self.state {
            State::Start => {
                self.state = State::Body;
                // An empty message signals that the stream has begun.
                Poll::Ready(Some(encoding.message(&[])))
            }
            State::Body => loop {
                match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                    Some(Ok(part)) => {
                        if let Ok(data) = part.into_data() {
                            return Poll::Ready(Some(encoding.message(&data)));
                        }
                    }
                    Some(Err(never)) => match never {},
                    None => {
                        self.state = State::End;
                        return Poll::Ready(Some(frame(Opcode::Close, &NORMAL_CLOSURE).into()));
                    }
                }
            },
            State::End => Poll::Ready(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http_body_util::BodyExt as _;

    use super::*;

    #[test]
    fn the_accept_key_is_that_of_the_specification() {
        assert_eq!(accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn the_first_protocol_that_is_served_is_used() {
        let of = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(value));
            negotiate(&headers)
        };
        assert_eq!(negotiate(&HeaderMap::new()), Some((None, Encoding::Binary)));
        assert_eq!(of("v9, base64.binary.k8s.io"), Some((Some(BASE64_PROTOCOL), Encoding::Base64)));
        assert_eq!(of("binary.k8s.io,base64.binary.k8s.io"), Some((Some(BINARY_PROTOCOL), Encoding::Binary)));
        assert_eq!(of("v4.channel.k8s.io"), None);
    }

    #[tokio::test]
    async fn a_body_is_an_empty_message_its_chunks_and_the_end() {
        let messages =
            |encoding| Messages { body: Body::Whole(Some("hi".into())), encoding, state: State::Start };
        let sent =
            async |encoding| Body::Stream(Box::pin(messages(encoding))).collect().await.unwrap().to_bytes();
        let end = [0x88, 2, 3, 232];
        assert_eq!(sent(Encoding::Binary).await, [&[0x82, 0, 0x82, 2, b'h', b'i'][..], &end].concat());
        assert_eq!(sent(Encoding::Base64).await, [&[0x81, 0, 0x81, 4][..], b"aGk=", &end].concat());
    }
}
