//! Requests without the regular response, classified.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gantry_json::{Value, json};
use gantry_model::{Refusal, RefusalKind, protobuf};

use crate::protobuf_status;

/// A request without the regular response.
#[derive(Clone, Debug)]
pub struct RequestError {
    /// Its classification for the rules, and its message.
    pub refusal: Refusal,
    /// The HTTP status; `None` if there was no response.
    pub code: Option<u16>,
    /// The delay that the server requests.
    pub retry_after: Option<Duration>,
    /// The `Status` object of the response; `None` if there was no error response.
    pub status: Option<Arc<Value>>,
    /// The warnings of the response.
    pub warnings: Arc<[String]>,
    /// Why there was no response.
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl RequestError {
    fn new(refusal: Refusal, code: Option<u16>) -> Self {
        Self { refusal, code, retry_after: None, status: None, warnings: Arc::new([]), cause: None }
    }

    /// There was no response.
    pub fn unanswered(message: impl fmt::Display) -> Self {
        Self::new(Refusal::other(message.to_string()), None)
    }

    /// There was no response because of this error.
    pub(crate) fn transport(error: impl Error + Send + Sync + 'static) -> Self {
        Self { cause: Some(Arc::new(error)), ..Self::unanswered("") }.with_cause_as_message()
    }

    /// The response cannot be decoded.
    pub fn unreadable(code: u16, why: impl fmt::Display) -> Self {
        Self::new(Refusal::other(why.to_string()), Some(code))
    }

    /// The response to a request whose connection was not upgraded: a `Status`, or a text with the reason.
    pub(crate) fn not_upgraded(code: u16, body: &[u8]) -> Self {
        let error = Self::answered(code, None, body);
        if gantry_json::from_slice::<Value>(body).is_ok_and(|body| body["kind"] == "Status") {
            return error;
        }
        Self::unreadable(code, String::from_utf8_lossy(body).trim_end())
    }

    /// An error response.
    pub fn answered(code: u16, retry_after: Option<&str>, body: &[u8]) -> Self {
        let status = match protobuf::open(body) {
            Ok(message) => protobuf_status::decode(message).ok(),
            Err(_) => gantry_json::from_slice::<Value>(body).ok().filter(|body| body["kind"] == "Status"),
        };
        let mut error = Self::of_status(code, status.unwrap_or_else(|| status_of_body(code, body)));
        let seconds = retry_after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        error.retry_after = seconds.or(error.retry_after);
        error
    }

    /// A `Status` in protobuf that ended a watch.
    pub fn of_protobuf_status(message: &[u8]) -> Self {
        match protobuf_status::decode(message) {
            Ok(status) => {
                let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok());
                Self::of_status(code.unwrap_or_default(), status)
            }
            Err(error) => Self::unreadable(200, error),
        }
    }

    /// A `Status` object, in a response or in a watch.
    pub fn of_status(code: u16, status: Value) -> Self {
        let details = &status["details"];
        let seconds = details["retryAfterSeconds"].as_u64().filter(|seconds| *seconds > 0);
        let message = status["message"].as_str().unwrap_or_default();
        Self {
            retry_after: seconds.map(Duration::from_secs),
            ..Self::new(Refusal::new(kind_of_status(code, &status), message), Some(code))
        }
        .with_status(status)
    }

    fn with_status(self, status: Value) -> Self {
        Self { status: Some(Arc::new(status)), ..self }
    }

    fn with_cause_as_message(mut self) -> Self {
        if let Some(cause) = &self.cause {
            self.refusal.message = error_chain(&**cause);
        }
        self
    }

    /// Whether permissions are missing, which does not change by waiting.
    pub fn lacks_permission(&self) -> bool {
        self.is_forbidden() || self.kind() == RefusalKind::Unauthorized
    }

    /// Whether the user is known and may not do this.
    pub fn is_forbidden(&self) -> bool {
        matches!(self.kind(), RefusalKind::Forbidden | RefusalKind::NamespaceTerminating)
    }

    /// Whether the object does not exist.
    pub fn is_not_found(&self) -> bool {
        self.kind() == RefusalKind::NotFound
    }

    /// Whether the resource, or this verb of it, is not served.
    pub fn is_not_served(&self) -> bool {
        matches!(self.kind(), RefusalKind::NotFound | RefusalKind::MethodNotAllowed)
    }

    /// Whether the requested version is compacted, or not reached yet.
    pub fn is_expired(&self) -> bool {
        self.kind() == RefusalKind::Expired
    }

    /// Whether the request may have taken effect although it failed: the response was lost, or the server failed or gave up waiting.
    pub fn is_outcome_unknown(&self) -> bool {
        self.code.is_none_or(|code| code >= 500)
    }

    /// Whether the connection ended before the response, as when a server stops.
    pub fn is_connection_closed(&self) -> bool {
        let first = self.cause.as_ref().map(|cause| &**cause as &(dyn Error + 'static));
        std::iter::successors(first, |&cause| cause.source()).any(is_closed)
    }

    /// Its classification for the rules.
    pub fn kind(&self) -> RefusalKind {
        self.refusal.kind
    }
}

/// Maps failures that a caller expects to `None`.
pub trait NoneIf<T>: Sized {
    /// `None` if the request failed in one of these ways.
    fn none_if(self, kinds: &[RefusalKind]) -> Result<Option<T>, RequestError>;

    /// `None` if the object does not exist.
    fn none_if_absent(self) -> Result<Option<T>, RequestError> {
        self.none_if(&[RefusalKind::NotFound])
    }

    /// `None` if the object has changed or does not exist any more.
    fn none_if_changed(self) -> Result<Option<T>, RequestError> {
        self.none_if(&[RefusalKind::NotFound, RefusalKind::Conflict])
    }
}

impl<T> NoneIf<T> for Result<T, RequestError> {
    fn none_if(self, kinds: &[RefusalKind]) -> Result<Option<T>, RequestError> {
        match self {
            Err(failure) if kinds.contains(&failure.kind()) => Ok(None),
            done => done.map(Some),
        }
    }
}

fn is_closed(error: &(dyn Error + 'static)) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    if let Some(error) = error.downcast_ref::<hyper::Error>() {
        return error.is_incomplete_message() || error.is_closed() || error.is_canceled();
    }
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    matches!(kind, Some(BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof))
}

/// Classifies a `Status` by its reason or the HTTP code, which agree where both are known.
pub fn kind_of_status(code: u16, status: &Value) -> RefusalKind {
    let mut causes = status["details"]["causes"].as_array().into_iter().flatten();
    if causes.any(|cause| cause["reason"] == "NamespaceTerminating") {
        return RefusalKind::NamespaceTerminating;
    }
    match (status["reason"].as_str().unwrap_or_default(), code) {
        ("AlreadyExists", _) => RefusalKind::AlreadyExists,
        ("BadRequest", _) | (_, 400) => RefusalKind::BadRequest,
        ("Unauthorized", _) | (_, 401) => RefusalKind::Unauthorized,
        ("Forbidden", _) | (_, 403) => RefusalKind::Forbidden,
        ("NotFound", _) | (_, 404) => RefusalKind::NotFound,
        ("MethodNotAllowed", _) | (_, 405) => RefusalKind::MethodNotAllowed,
        ("Conflict", _) | (_, 409) => RefusalKind::Conflict,
        ("Expired", _) | (_, 410 | 504) => RefusalKind::Expired,
        ("UnsupportedMediaType", _) | (_, 415) => RefusalKind::UnsupportedForm,
        ("Invalid", _) | (_, 422) => RefusalKind::Invalid,
        _ => RefusalKind::Other,
    }
}

/// A `Status` for an error response that is not one.
fn status_of_body(code: u16, body: &[u8]) -> Value {
    let reason = http::StatusCode::from_u16(code).ok().and_then(|code| code.canonical_reason()).unwrap_or("");
    let text = String::from_utf8_lossy(body);
    let message = match text.trim() {
        "" => format!("the server returned {code} {reason}").trim_end().to_owned(),
        text => text.to_owned(),
    };
    json!({"kind": "Status", "code": code, "reason": reason.replace(' ', ""), "message": message})
}

impl From<RequestError> for Refusal {
    fn from(error: RequestError) -> Self {
        error.refusal
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.refusal.message)
    }
}

impl Error for RequestError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().map(|cause| &**cause as &(dyn Error + 'static))
    }
}

/// An error with all its causes, each once: the text of a client's error rarely includes the reason.
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let part = error.to_string();
        if !text.contains(&part) {
            text = format!("{text}: {part}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(reason: &str, details: &str) -> Vec<u8> {
        format!(
            r#"{{"kind":"Status","status":"Failure","message":"no","reason":"{reason}","details":{details}}}"#
        )
        .into_bytes()
    }

    #[test]
    fn a_response_is_classified_by_code_reason_and_cause() {
        let kind =
            |code, reason, details| RequestError::answered(code, None, &status(reason, details)).kind();
        assert_eq!(kind(404, "NotFound", "{}"), RefusalKind::NotFound);
        assert_eq!(kind(409, "AlreadyExists", "{}"), RefusalKind::AlreadyExists);
        assert_eq!(kind(409, "Conflict", "{}"), RefusalKind::Conflict);
        assert_eq!(kind(422, "Invalid", "{}"), RefusalKind::Invalid);
        assert_eq!(kind(415, "UnsupportedMediaType", "{}"), RefusalKind::UnsupportedForm);
        assert_eq!(kind(400, "BadRequest", "{}"), RefusalKind::BadRequest);
        assert_eq!(kind(401, "Unauthorized", "{}"), RefusalKind::Unauthorized);
        assert_eq!(kind(403, "Forbidden", "{}"), RefusalKind::Forbidden);
        assert_eq!(kind(405, "MethodNotAllowed", "{}"), RefusalKind::MethodNotAllowed);
        assert_eq!(kind(410, "Expired", "{}"), RefusalKind::Expired);
        assert_eq!(kind(504, "Timeout", "{}"), RefusalKind::Expired);
        assert_eq!(kind(500, "InternalError", "{}"), RefusalKind::Other);
        let causes = r#"{"causes":[{"reason":"NamespaceTerminating","message":"it is","field":"metadata.namespace"}]}"#;
        assert_eq!(kind(403, "Forbidden", causes), RefusalKind::NamespaceTerminating);
    }

    #[test]
    fn retry_after_is_read_from_the_header_or_else_the_body() {
        let wait = |header, details| {
            RequestError::answered(429, header, &status("TooManyRequests", details)).retry_after
        };
        assert_eq!(wait(Some("3"), "{}"), Some(Duration::from_secs(3)));
        assert_eq!(wait(None, r#"{"retryAfterSeconds":2}"#), Some(Duration::from_secs(2)));
        assert_eq!(wait(None, "{}"), None);
    }

    #[test]
    fn a_body_that_is_not_a_status_is_quoted() {
        assert_eq!(RequestError::answered(502, None, b" bad gateway\n").to_string(), "bad gateway");
        assert_eq!(RequestError::answered(502, None, b"").to_string(), "the server returned 502 Bad Gateway");
    }
}
