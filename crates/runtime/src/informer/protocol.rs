//! The list and watch protocol of one informer as a state machine, without I/O.
//!
//! ```text
//!            ┌────────────── gone ◄──────────────┐
//!            ▼                                   │
//! ──► StreamList ──── list, then watch ────►  Watch ──► ended or cut: Watch again where it was
//!            │                                   ▲
//!            └─ refused ─► PagedList ─── list ───┘
//! ```

use std::time::Duration;

use gantry_client::RequestError;
use gantry_model::ResourceVersion;

/// The delay after the first failure in a row.
const DELAY_FIRST: Duration = Duration::from_millis(200);
/// The maximum delay, before jitter.
const DELAY_MAX: Duration = Duration::from_secs(30);
/// After so many refused watches in a row the list is requested again.
const WATCH_REFUSALS_MAX: u32 = 5;

/// The next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NextRequest {
    /// All objects as a stream, which continues as a watch.
    StreamList,
    /// All objects page by page.
    PagedList,
    /// The changes after this version.
    Watch(ResourceVersion),
}

/// How a request ended.
#[derive(Clone, Debug)]
pub(super) enum RequestEnd {
    /// The stream ended after everything up to this version.
    Completed(ResourceVersion),
    /// The server closed the stream at once, without an event. Not an error, but the request must not be repeated in a
    /// loop.
    AtOnce(ResourceVersion),
    /// The server sent objects without the end of the list: it does not support streamed lists.
    NoEndOfList,
    /// It failed, after everything up to this version.
    Failed(Option<ResourceVersion>, RequestError),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Protocol {
    pub(super) next_request: NextRequest,
    failures: u32,
}

impl Protocol {
    pub(super) fn new() -> Self {
        Self { next_request: NextRequest::StreamList, failures: 0 }
    }

    /// Advances, and returns the delay before the next request.
    pub(super) fn after(&mut self, ended: RequestEnd) -> Duration {
        match ended {
            RequestEnd::Completed(version) => {
                self.failures = 0;
                self.next_request = NextRequest::Watch(version);
                Duration::ZERO
            }
            RequestEnd::AtOnce(version) => {
                self.next_request = NextRequest::Watch(version);
                self.pause()
            }
            RequestEnd::NoEndOfList => {
                self.next_request = NextRequest::PagedList;
                Duration::ZERO
            }
            RequestEnd::Failed(reached, failure) => self.after_failure(reached, &failure),
        }
    }

    fn after_failure(&mut self, reached: Option<ResourceVersion>, failure: &RequestError) -> Duration {
        let was_answered = failure.code.is_some_and(|code| code != 429);
        match (&self.next_request, reached) {
            // A server without streamed lists refuses them with various errors.
            (NextRequest::StreamList, None) if was_answered => {
                self.next_request = NextRequest::PagedList;
                return Duration::ZERO;
            }
            (NextRequest::StreamList | NextRequest::PagedList, None) => {
                self.next_request = NextRequest::StreamList;
            }
            (_, Some(version)) => {
                self.failures = 0;
                self.next_request = NextRequest::Watch(version);
            }
            (NextRequest::Watch(_), None) => {}
        }
        let is_hopeless = was_answered && self.failures >= WATCH_REFUSALS_MAX;
        if matches!(self.next_request, NextRequest::Watch(_)) && (failure.is_expired() || is_hopeless) {
            self.next_request = NextRequest::StreamList;
        }
        let pause = self.pause();
        failure.retry_after.map_or(pause, |wait| wait.max(pause))
    }

    fn pause(&mut self) -> Duration {
        let pause = DELAY_FIRST.saturating_mul(1 << self.failures.min(10)).min(DELAY_MAX);
        self.failures = self.failures.saturating_add(1);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: Option<u16>) -> RequestEnd {
        let body = br#"{"kind":"Status","message":"no"}"#;
        let failure = code
            .map_or_else(|| RequestError::unanswered("cut"), |code| RequestError::answered(code, None, body));
        RequestEnd::Failed(None, failure)
    }

    fn watching() -> Protocol {
        let mut protocol = Protocol::new();
        protocol.after(RequestEnd::Completed("7".into()));
        protocol
    }

    #[test]
    fn a_watch_that_ends_is_resumed_at_its_last_version() {
        let mut protocol = watching();
        assert_eq!(protocol.after(RequestEnd::Completed("9".into())), Duration::ZERO);
        assert_eq!(protocol.next_request, NextRequest::Watch("9".into()));
    }

    /// A4.14: if a server refuses streamed lists, pages are requested.
    #[test]
    fn a_refused_streamed_list_is_fetched_page_by_page() {
        for code in [400, 404, 422, 500] {
            let mut protocol = Protocol::new();
            assert_eq!(protocol.after(failed(Some(code))), Duration::ZERO, "{code}");
            assert_eq!(protocol.next_request, NextRequest::PagedList, "{code}");
        }
        let mut silent = Protocol::new();
        silent.after(RequestEnd::NoEndOfList);
        assert_eq!(silent.next_request, NextRequest::PagedList);
    }

    #[test]
    fn unavailable_and_429_repeat_the_request() {
        for code in [None, Some(429)] {
            let mut protocol = Protocol::new();
            assert!(protocol.after(failed(code)) > Duration::ZERO);
            assert_eq!(protocol.next_request, NextRequest::StreamList);
            let mut protocol = watching();
            assert!(protocol.after(failed(code)) > Duration::ZERO);
            assert_eq!(protocol.next_request, NextRequest::Watch("7".into()));
        }
    }

    /// A4.20: a compacted version requires a new list.
    #[test]
    fn a_compacted_version_causes_a_relist() {
        for code in [410, 504] {
            let mut protocol = watching();
            protocol.after(failed(Some(code)));
            assert_eq!(protocol.next_request, NextRequest::StreamList, "{code}");
        }
    }

    #[test]
    fn a_repeatedly_refused_watch_causes_a_relist() {
        let mut protocol = watching();
        for _ in 0..WATCH_REFUSALS_MAX {
            protocol.after(failed(Some(500)));
            assert_eq!(protocol.next_request, NextRequest::Watch("7".into()));
        }
        protocol.after(failed(Some(500)));
        assert_eq!(protocol.next_request, NextRequest::StreamList);
    }

    #[test]
    fn delays_double_up_to_a_limit_and_reset_after_success() {
        let mut protocol = watching();
        let pauses: Vec<_> = (0..12).map(|_| protocol.after(failed(None))).collect();
        assert_eq!(pauses[..3], [200, 400, 800].map(Duration::from_millis));
        assert_eq!(pauses[11], Duration::from_secs(30));
        protocol.after(RequestEnd::Completed("9".into()));
        assert_eq!(protocol.after(RequestEnd::AtOnce("9".into())), Duration::from_millis(200));
        let busy = RequestError::answered(429, Some("45"), b"");
        assert_eq!(
            protocol.after(RequestEnd::Failed(None, busy)),
            Duration::from_secs(45),
            "the delay that the server requests"
        );
    }
}
