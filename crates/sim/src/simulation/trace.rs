//! The recorded traffic of a simulation, as text.

use std::fmt::Write as _;
use std::time::Duration;

/// All requests, responses and lines of watches, in the order in which they happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    text: String,
}

impl Trace {
    /// Adds one line: the time since the start, and what happened.
    pub(super) fn add(&mut self, at: Duration, what: &str) {
        let _ = writeln!(self.text, "{:.3} {what}", at.as_secs_f64());
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}
