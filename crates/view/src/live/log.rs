//! Changes as lines: for files, pipes and non-interactive use.

use std::collections::BTreeSet;

use gantry_model::{Name, Timestamp};

use crate::formatting::{one_line, sanitize};
use crate::snapshot::{ObservedEvent, Snapshot};
use crate::why::Report;

/// Logs each change once.
#[derive(Clone, Debug, Default)]
pub struct Log {
    last_state: Option<String>,
    events: Option<BTreeSet<(Name, i32)>>,
}

impl Log {
    /// A log without lines so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// The lines to log now: new events, and the state of the rollout if that has changed.
    ///
    /// Events from before the first call are not logged.
    pub fn next(&mut self, snapshot: &Snapshot, report: &Report) -> Vec<String> {
        let key = |event: &ObservedEvent| (event.name.clone(), event.count);
        let seen: BTreeSet<_> = snapshot.events.iter().map(key).collect();
        let before = self.events.replace(seen);
        let is_news =
            |event: &&ObservedEvent| before.as_ref().is_some_and(|seen| !seen.contains(&key(event)));
        let mut lines: Vec<_> =
            snapshot.events.iter().filter(is_news).map(|event| event_line(report.now, event)).collect();
        let rollout = report.summary_line();
        if self.last_state.as_ref() != Some(&rollout) {
            lines.push(at(report.now, &rollout));
            self.last_state = Some(rollout);
        }
        lines
    }
}

fn event_line(now: Timestamp, event: &ObservedEvent) -> String {
    let of = format!("{}/{}", event.kind.to_lowercase(), event.of);
    let message = one_line(&event.message);
    at(event.last.unwrap_or(now), &format!("{} {} {of}: {message}", event.event_type.as_str(), event.reason))
}

fn at(when: Timestamp, what: &str) -> String {
    format!("{} {}", when.to_whole_seconds(), sanitize(what))
}
