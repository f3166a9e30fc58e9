//! Failed requests, classified.

use std::fmt;
use std::time::Duration;

use gantry_model::{Refusal, RefusalKind};
use kube::core::Status;

/// A request that was not answered as hoped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its classification for the rules, and its message.
    pub refusal: Refusal,
    /// The HTTP status; `None` if there was no response.
    pub code: Option<u16>,
    /// The delay that the server asks for.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// There was no response.
    pub(crate) fn unanswered(what: impl fmt::Display) -> Self {
        Self { refusal: Refusal::other(what.to_string()), code: None, retry_after: None }
    }

    /// The response is not usable.
    pub(crate) fn unreadable(code: u16, what: impl fmt::Display) -> Self {
        Self { refusal: Refusal::other(what.to_string()), code: Some(code), retry_after: None }
    }

    /// An error response.
    pub(crate) fn answered(code: u16, retry_after: Option<&str>, body: &[u8]) -> Self {
        let status = serde_json::from_slice::<Status>(body).unwrap_or_else(|_| {
            let text = String::from_utf8_lossy(body);
            let message = match text.trim() {
                "" => format!("the server answered with status {code}"),
                text => text.to_owned(),
            };
            Status::failure(&message, "")
        });
        let seconds = retry_after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let mut failure = Self::of_status(code, &status);
        failure.retry_after = seconds.or(failure.retry_after);
        failure
    }

    /// A `Status` object, in a response or in a watch.
    pub(crate) fn of_status(code: u16, status: &Status) -> Self {
        let details = status.details.as_ref();
        let terminating = details
            .is_some_and(|details| details.causes.iter().any(|cause| cause.reason == "NamespaceTerminating"));
        let kind = match code {
            _ if terminating => RefusalKind::NamespaceTerminating,
            404 => RefusalKind::NotFound,
            409 if status.reason == "AlreadyExists" => RefusalKind::AlreadyExists,
            409 => RefusalKind::Conflict,
            415 => RefusalKind::UnsupportedForm,
            422 => RefusalKind::Invalid,
            _ => RefusalKind::Other,
        };
        let seconds = details.map(|details| details.retry_after_seconds).filter(|seconds| *seconds > 0);
        Self {
            refusal: Refusal::new(kind, status.message.clone()),
            code: Some(code),
            retry_after: seconds.map(|seconds| Duration::from_secs(seconds.into())),
        }
    }

    /// Whether permissions are missing, which does not change by waiting.
    pub(crate) fn is_of_rights(&self) -> bool {
        matches!(self.code, Some(401 | 403))
    }

    /// Whether the requested version is compacted, or not reached yet.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self.code, Some(410 | 504))
    }

    /// Its classification for the rules.
    pub fn kind(&self) -> RefusalKind {
        self.refusal.kind
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        failure.refusal
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.refusal.message)
    }
}

impl std::error::Error for Failure {}

/// An error with all its causes, each once: a client's own text seldom says why.
pub fn chain(error: &dyn std::error::Error) -> String {
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
    fn an_answer_is_classified_by_code_reason_and_cause() {
        let kind = |code, reason, details| Failure::answered(code, None, &status(reason, details)).kind();
        assert_eq!(kind(404, "NotFound", "{}"), RefusalKind::NotFound);
        assert_eq!(kind(409, "AlreadyExists", "{}"), RefusalKind::AlreadyExists);
        assert_eq!(kind(409, "Conflict", "{}"), RefusalKind::Conflict);
        assert_eq!(kind(422, "Invalid", "{}"), RefusalKind::Invalid);
        assert_eq!(kind(415, "UnsupportedMediaType", "{}"), RefusalKind::UnsupportedForm);
        assert_eq!(kind(403, "Forbidden", "{}"), RefusalKind::Other);
        let causes = r#"{"causes":[{"reason":"NamespaceTerminating","message":"it is","field":"metadata.namespace"}]}"#;
        assert_eq!(kind(403, "Forbidden", causes), RefusalKind::NamespaceTerminating);
    }

    #[test]
    fn the_header_says_how_long_to_wait_and_the_body_does_if_it_does_not() {
        let wait =
            |header, details| Failure::answered(429, header, &status("TooManyRequests", details)).retry_after;
        assert_eq!(wait(Some("3"), "{}"), Some(Duration::from_secs(3)));
        assert_eq!(wait(None, r#"{"retryAfterSeconds":2}"#), Some(Duration::from_secs(2)));
        assert_eq!(wait(None, "{}"), None);
    }

    #[test]
    fn a_body_that_is_no_status_is_quoted() {
        assert_eq!(Failure::answered(502, None, b" bad gateway\n").to_string(), "bad gateway");
        assert_eq!(Failure::answered(502, None, b"").to_string(), "the server answered with status 502");
    }
}
