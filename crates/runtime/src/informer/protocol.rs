//! What to ask the server next, as a value: the protocol of one informer without its input and output.
//!
//! ```text
//!            ┌────────────── gone ◄──────────────┐
//!            ▼                                   │
//! ──► StreamList ──── list, then watch ────►  Watch ──► ended or cut: Watch again where it was
//!            │                                   ▲
//!            └─ refused ─► PagedList ─── list ───┘
//! ```

use std::time::Duration;

use gantry_model::ResourceVersion;

use crate::failure::Failure;

/// The pause after the first failure in a row.
const PAUSE_FIRST: Duration = Duration::from_millis(200);
/// No pause is longer, before it is spread.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// So many refused watches in a row, and the list is fetched anew.
const WATCH_REFUSALS_MAX: u32 = 5;

/// What to ask next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// All objects as a stream, which goes on as a watch.
    StreamList,
    /// All objects page by page.
    PagedList,
    /// What happened after this version.
    Watch(ResourceVersion),
}

/// How that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Everything up to this version has been heard, and the server has no more to say for now.
    Heard(ResourceVersion),
    /// The server closed the stream at once, without a word. Nothing is wrong, but it must not be asked in a loop.
    AtOnce(ResourceVersion),
    /// The server sent objects but never said that these were all: it does not know this way of listing.
    NoEndOfList,
    /// Something went wrong, after everything up to this version had been heard.
    Failed(Option<ResourceVersion>, Failure),
}

/// Where an informer stands with its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Protocol {
    pub(super) ask: Ask,
    failures: u32,
}

impl Protocol {
    pub(super) fn new() -> Self {
        Self { ask: Ask::StreamList, failures: 0 }
    }

    /// Moves on, and says how long to wait before asking.
    pub(super) fn after(&mut self, ended: Ended) -> Duration {
        match ended {
            Ended::Heard(version) => {
                self.failures = 0;
                self.ask = Ask::Watch(version);
                Duration::ZERO
            }
            Ended::AtOnce(version) => {
                self.ask = Ask::Watch(version);
                self.pause()
            }
            Ended::NoEndOfList => {
                self.ask = Ask::PagedList;
                Duration::ZERO
            }
            Ended::Failed(reached, failure) => self.after_failure(reached, &failure),
        }
    }

    fn after_failure(&mut self, reached: Option<ResourceVersion>, failure: &Failure) -> Duration {
        let was_answered = failure.code.is_some_and(|code| code != 429);
        match (&self.ask, reached) {
            // A server that takes no streamed lists says so, in whatever words.
            (Ask::StreamList, None) if was_answered => {
                self.ask = Ask::PagedList;
                return Duration::ZERO;
            }
            (Ask::StreamList | Ask::PagedList, None) => self.ask = Ask::StreamList,
            (_, Some(version)) => {
                self.failures = 0;
                self.ask = Ask::Watch(version);
            }
            (Ask::Watch(_), None) => {}
        }
        let is_hopeless = was_answered && self.failures >= WATCH_REFUSALS_MAX;
        if matches!(self.ask, Ask::Watch(_)) && (failure.is_gone() || is_hopeless) {
            self.ask = Ask::StreamList;
        }
        let pause = self.pause();
        failure.retry_after.map_or(pause, |wait| wait.max(pause))
    }

    fn pause(&mut self) -> Duration {
        let pause = PAUSE_FIRST.saturating_mul(1 << self.failures.min(10)).min(PAUSE_MAX);
        self.failures = self.failures.saturating_add(1);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: Option<u16>) -> Ended {
        let body = br#"{"kind":"Status","message":"no"}"#;
        let failure =
            code.map_or_else(|| Failure::unanswered("cut"), |code| Failure::answered(code, None, body));
        Ended::Failed(None, failure)
    }

    fn watching() -> Protocol {
        let mut protocol = Protocol::new();
        protocol.after(Ended::Heard("7".into()));
        protocol
    }

    #[test]
    fn a_watch_that_ends_is_taken_up_where_it_was() {
        let mut protocol = watching();
        assert_eq!(protocol.after(Ended::Heard("9".into())), Duration::ZERO);
        assert_eq!(protocol.ask, Ask::Watch("9".into()));
    }

    /// A4.14: servers that refuse streamed lists are asked for pages.
    #[test]
    fn a_refused_streamed_list_is_fetched_page_by_page() {
        for code in [400, 404, 422, 500] {
            let mut protocol = Protocol::new();
            assert_eq!(protocol.after(failed(Some(code))), Duration::ZERO, "{code}");
            assert_eq!(protocol.ask, Ask::PagedList, "{code}");
        }
        let mut silent = Protocol::new();
        silent.after(Ended::NoEndOfList);
        assert_eq!(silent.ask, Ask::PagedList);
    }

    #[test]
    fn a_server_that_is_away_or_busy_is_asked_the_same_again() {
        for code in [None, Some(429)] {
            let mut protocol = Protocol::new();
            assert!(protocol.after(failed(code)) > Duration::ZERO);
            assert_eq!(protocol.ask, Ask::StreamList);
            let mut protocol = watching();
            assert!(protocol.after(failed(code)) > Duration::ZERO);
            assert_eq!(protocol.ask, Ask::Watch("7".into()));
        }
    }

    /// A4.20: a version that is no longer known means a new list.
    #[test]
    fn a_version_that_is_gone_means_a_new_list() {
        for code in [410, 504] {
            let mut protocol = watching();
            protocol.after(failed(Some(code)));
            assert_eq!(protocol.ask, Ask::StreamList, "{code}");
        }
    }

    #[test]
    fn a_watch_that_is_refused_again_and_again_means_a_new_list() {
        let mut protocol = watching();
        for _ in 0..WATCH_REFUSALS_MAX {
            protocol.after(failed(Some(500)));
            assert_eq!(protocol.ask, Ask::Watch("7".into()));
        }
        protocol.after(failed(Some(500)));
        assert_eq!(protocol.ask, Ask::StreamList);
    }

    #[test]
    fn pauses_double_and_end_and_start_over_after_success() {
        let mut protocol = watching();
        let pauses: Vec<_> = (0..12).map(|_| protocol.after(failed(None))).collect();
        assert_eq!(pauses[..3], [200, 400, 800].map(Duration::from_millis));
        assert_eq!(pauses[11], Duration::from_secs(30));
        protocol.after(Ended::Heard("9".into()));
        assert_eq!(protocol.after(Ended::AtOnce("9".into())), Duration::from_millis(200));
        let busy = Failure::answered(429, Some("45"), b"");
        assert_eq!(protocol.after(Ended::Failed(None, busy)), Duration::from_secs(45), "as the server asks");
    }
}
