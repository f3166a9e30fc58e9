//! The scripted server.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::StreamExt as _;
use gantry_json::Value;
use gantry_runtime::{Api, ApiTransport, Metrics};
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};

pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordedRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) accept: String,
    pub(crate) body: Value,
}

pub(crate) enum ScriptedResponse {
    /// A status and a body.
    Whole(u16, Value),
    /// A status, with a `Retry-After` of so many seconds.
    Busy(u16, &'static str),
    /// No response, ever.
    NoResponse,
    /// The lines of a watch, which then ends or stays open.
    Watch(Vec<Value>, Then),
    /// A status and a body in protobuf.
    Protobuf(u16, Vec<u8>),
    /// The events of a watch in protobuf, which then ends or stays open.
    Frames(Vec<Vec<u8>>, Then),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    End,
    StayOpen,
}

/// All requests so far.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<RecordedRequest>>>);

impl Log {
    pub(crate) fn all(&self) -> Vec<RecordedRequest> {
        self.0.lock().unwrap().clone()
    }
}

impl RecordedRequest {
    pub(crate) fn has_parameter(&self, part: &str) -> bool {
        self.query.split('&').any(|pair| pair == part)
    }
}

/// A client of a server that responds according to this script.
pub(crate) fn api(
    script: impl Fn(&RecordedRequest, usize) -> ScriptedResponse + Send + Sync + 'static,
) -> (Api, Log) {
    let log = Log::default();
    let (kept, script) = (log.clone(), Arc::new(script));
    let service = tower::service_fn(move |request: Request<Full<Bytes>>| {
        let (kept, script) = (kept.clone(), script.clone());
        async move {
            let (parts, body) = request.into_parts();
            let bytes = body.collect().await.unwrap().to_bytes();
            let recorded = RecordedRequest {
                method: parts.method.to_string(),
                path: parts.uri.path().to_owned(),
                query: parts.uri.query().unwrap_or_default().to_owned(),
                accept: parts.headers["accept"].to_str().unwrap().to_owned(),
                body: gantry_json::from_slice(&bytes).unwrap_or(Value::Null),
            };
            let nth = {
                let mut log = kept.0.lock().unwrap();
                log.push(recorded.clone());
                log.len() - 1
            };
            match script(&recorded, nth) {
                ScriptedResponse::NoResponse => std::future::pending().await,
                response => Ok::<_, Infallible>(render(response)),
            }
        }
    });
    (Api::new(ApiTransport::in_process(service), "scripted", Metrics::new()), log)
}

fn render(response: ScriptedResponse) -> Response<UnsyncBoxBody<Bytes, Infallible>> {
    let whole = |status: u16, body: &Value| {
        let mut response = Response::new(Full::new(Bytes::from(body.to_string())).boxed_unsync());
        *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
        response
    };
    match response {
        ScriptedResponse::NoResponse => unreachable!("it has no response"),
        ScriptedResponse::Whole(status, body) => whole(status, &body),
        ScriptedResponse::Busy(status, seconds) => {
            let mut response = whole(status, &Value::Null);
            response.headers_mut().insert("retry-after", seconds.parse().unwrap());
            response
        }
        ScriptedResponse::Watch(lines, then) => {
            stream(lines.into_iter().map(|line| Bytes::from(format!("{line}\n"))).collect(), then)
        }
        ScriptedResponse::Protobuf(status, body) => {
            let mut response = Response::new(Full::new(Bytes::from(body)).boxed_unsync());
            *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
            response.headers_mut().insert("content-type", PROTOBUF.parse().unwrap());
            response
        }
        ScriptedResponse::Frames(frames, then) => {
            let with_length = |frame: Vec<u8>| {
                let length = u32::try_from(frame.len()).unwrap().to_be_bytes();
                Bytes::from([length.as_slice(), &frame].concat())
            };
            let mut response = stream(frames.into_iter().map(with_length).collect(), then);
            let kind = format!("{PROTOBUF};stream=watch");
            response.headers_mut().insert("content-type", kind.parse().unwrap());
            response
        }
    }
}

fn stream(parts: Vec<Bytes>, then: Then) -> Response<UnsyncBoxBody<Bytes, Infallible>> {
    let parts = futures::stream::iter(parts.into_iter().map(|part| Ok(http_body::Frame::data(part))));
    match then {
        Then::End => Response::new(StreamBody::new(parts).boxed_unsync()),
        Then::StayOpen => {
            Response::new(StreamBody::new(parts.chain(futures::stream::pending())).boxed_unsync())
        }
    }
}
