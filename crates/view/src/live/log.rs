//! What changed, in lines: for files, pipes and people who do not look at a screen.

use std::collections::BTreeSet;

use gantry_model::{Name, Timestamp};

use crate::snapshot::{EventSeen, Snapshot};
use crate::why::Report;
use crate::words::{harmless, one_line};

/// What was said already.
#[derive(Clone, Debug, Default)]
pub struct Log {
    said: Option<String>,
    events: Option<BTreeSet<(Name, i32)>>,
}

impl Log {
    /// A log that has said nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// What there is to say now: events that are new, and how the rollout stands if that has changed.
    ///
    /// Events from before the first look are not news.
    pub fn next(&mut self, snapshot: &Snapshot, report: &Report) -> Vec<String> {
        let key = |event: &EventSeen| (event.name.clone(), event.count);
        let seen: BTreeSet<_> = snapshot.events.iter().map(key).collect();
        let before = self.events.replace(seen);
        let is_news = |event: &&EventSeen| before.as_ref().is_some_and(|seen| !seen.contains(&key(event)));
        let mut lines: Vec<_> =
            snapshot.events.iter().filter(is_news).map(|event| event_line(report.now, event)).collect();
        let standing = report.sentence();
        if self.said.as_ref() != Some(&standing) {
            lines.push(at(report.now, &standing));
            self.said = Some(standing);
        }
        lines
    }
}

fn event_line(now: Timestamp, event: &EventSeen) -> String {
    let of = format!("{}/{}", event.kind.to_lowercase(), event.of);
    let message = one_line(&event.message);
    at(event.last.unwrap_or(now), &format!("{} {} {of}: {message}", event.event_type.as_str(), event.reason))
}

fn at(when: Timestamp, what: &str) -> String {
    format!("{} {}", when.to_whole_seconds(), harmless(what))
}
