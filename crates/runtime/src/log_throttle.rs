//! Throttles the log lines about events: the first of a kind is logged, then the tenth, the hundredth and so on.
//!
//! A hundred pods that fail for one reason are one problem. All events are written to the API.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gantry_decide::events::Subject;
use gantry_model::{Event, Timestamp};

/// A kind of event that was not seen for so long counts as new.
const FORGET_AFTER: Duration = Duration::from_mins(10);
/// The capacity: beyond it, expired kinds are evicted, and new ones are not counted.
const REMEMBER_MAX: usize = 1000;

/// The number of events of each kind. Clones share their state.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogThrottle(Arc<Mutex<BTreeMap<String, Seen>>>);

#[derive(Debug)]
struct Seen {
    count: u64,
    last: Timestamp,
}

impl LogThrottle {
    /// Counts an event; returns the count of its kind if it is to be logged.
    pub(crate) fn count(&self, subject: &Subject, event: &Event, now: Timestamp) -> Option<u64> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |seen: &Seen| now.since(seen.last) < FORGET_AFTER;
        let kind = kind_of(subject, event);
        if seen.len() >= REMEMBER_MAX && !seen.contains_key(&kind) {
            seen.retain(|_, seen| is_recent(seen));
            if seen.len() >= REMEMBER_MAX {
                return Some(1);
            }
        }
        let entry = seen.entry(kind).or_insert(Seen { count: 0, last: now });
        if !is_recent(entry) {
            entry.count = 0;
        }
        *entry = Seen { count: entry.count + 1, last: now };
        is_power_of_ten(entry.count).then_some(entry.count)
    }
}

/// The fields that similar events have in common: all but the object's name and uid.
fn kind_of(subject: &Subject, event: &Event) -> String {
    let namespace = subject.namespace.as_ref().map_or("", gantry_model::Namespace::as_str);
    let message = event.message.replace(subject.name.as_str(), "…").replace(&*subject.uid.text(), "…");
    format!("{} {namespace} {} {message}", subject.kind, event.reason)
}

/// Whether a count is 1, 10, 100 and so on.
pub(crate) fn is_power_of_ten(count: u64) -> bool {
    let mut count = count;
    while count >= 10 && count.is_multiple_of(10) {
        count /= 10;
    }
    count == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(name: &str) -> Subject {
        Subject {
            api_version: "v1".into(),
            kind: "Pod".into(),
            namespace: Some("default".into()),
            name: name.into(),
            uid: format!("uid-of-{name}").as_str().into(),
            resource_version: "1".into(),
        }
    }

    fn counted(log_throttle: &LogThrottle, name: &str, secs: i64) -> Option<u64> {
        let event = Event::warning("BackOff", format!("Back-off restarting container web in pod {name}"));
        log_throttle.count(&subject(name), &event, Timestamp::from_secs(secs))
    }

    #[test]
    fn a_hundred_pods_with_one_problem_are_three_lines() {
        let log_throttle = LogThrottle::default();
        let lines: Vec<u64> =
            (0..100).filter_map(|number| counted(&log_throttle, &format!("web-{number}"), number)).collect();
        assert_eq!(lines, [1, 10, 100]);
    }

    #[test]
    fn a_problem_that_recurs_later_is_reported_again() {
        let log_throttle = LogThrottle::default();
        assert_eq!(counted(&log_throttle, "web-1", 0), Some(1));
        assert_eq!(counted(&log_throttle, "web-1", 599), None);
        assert_eq!(counted(&log_throttle, "web-1", 599 + 600), Some(1));
    }
}
