//! Compares every response with the model.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::checker::timeline::Timeline;
use crate::checker::{Entry, Observation};
use crate::{Error, Event, Notice, Op, Prefix, Revision, Transaction};

/// An observation that no single sequence of writes explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The log of changes could not be read.
    Unreadable(Error),
    /// The log itself has an event that is not after the previous one.
    LogOutOfOrder(Arc<Event>),
    /// The previous value of a change is wrong.
    WrongPrevious(Arc<Event>),
    /// An acknowledged write is not in the log, or differs.
    LostWrite(Revision, Transaction),
    /// The log has a change that no client made.
    Phantom(Revision),
    /// Two writes were acknowledged at one revision.
    SharedRevision(Revision),
    /// A response is older than one that was received before its request.
    Stale {
        /// The request.
        what: String,
        /// The revision of the response.
        answered: Revision,
        /// The revision that a client had already seen.
        known: Revision,
    },
    /// A read returned a value that the key did not have at its revision.
    WrongRead(String),
    /// A reported conflict did not exist.
    WrongConflict(String),
    /// A watch missed, repeated, reordered or invented a change.
    WrongWatch {
        /// The watched prefix.
        prefix: Prefix,
        /// The revision after which it was watched.
        after: Revision,
        /// The wrong notice.
        item_texts: Notice,
        /// The expected event, if any.
        expected: Option<Arc<Event>>,
    },
}

/// Checks all entries; violations are added to `violations`.
pub(crate) fn check(timeline: &Timeline, entries: &[Entry], violations: &mut Vec<Violation>) {
    let known = HighestAnswered::from(timeline, entries);
    account_for_revisions(timeline, entries, violations);
    for entry in entries {
        check_entry(timeline, &known, entry, violations);
    }
}

/// The highest revision of any response by each tick.
struct HighestAnswered {
    start: Revision,
    by_tick: BTreeMap<u64, Revision>,
}

/// Every revision of the log was made by exactly one write, acknowledged or of unknown outcome.
fn account_for_revisions(timeline: &Timeline, entries: &[Entry], violations: &mut Vec<Violation>) {
    let mut claimed = BTreeSet::new();
    let mut unknown = Vec::new();
    for entry in entries {
        match &entry.seen {
            Observation::Commit { transaction, answer: Ok(revision) } => {
                if !claimed.insert(*revision) {
                    violations.push(Violation::SharedRevision(*revision));
                }
                if !made(transaction, timeline.changes_at(*revision)) {
                    violations.push(Violation::LostWrite(*revision, transaction.clone()));
                }
            }
            Observation::Commit { transaction, answer: Err(Error::OutcomeUnknown { .. }) } => {
                unknown.push(transaction);
            }
            _ => {}
        }
    }
    for revision in timeline.revisions().filter(|revision| !claimed.contains(revision)) {
        let maker = unknown.iter().position(|transaction| made(transaction, timeline.changes_at(revision)));
        match maker {
            Some(maker) => drop(unknown.swap_remove(maker)),
            None => violations.push(Violation::Phantom(revision)),
        }
    }
}

fn check_entry(timeline: &Timeline, known: &HighestAnswered, entry: &Entry, violations: &mut Vec<Violation>) {
    let since = known.before(entry.began);
    match &entry.seen {
        Observation::Commit { transaction, answer: Ok(revision) } if *revision <= since => {
            violations.push(stale(transaction, *revision, since));
        }
        Observation::Commit { transaction, answer: Err(Error::Conflict { key, current }) } => {
            let expected = transaction.ops().find(|(written, _)| *written == key).map(|(_, op)| op.expects());
            let was_conflict =
                expected.is_some_and(|expected| expected != current.as_ref().map(|v| v.revision));
            if !was_conflict || !timeline.held_since(key, current.as_ref(), since) {
                violations.push(Violation::WrongConflict(format!("{transaction:?}: {current:?}")));
            }
        }
        Observation::Get { key, fetched } => {
            if fetched.revision < since {
                violations.push(stale(key, fetched.revision, since));
            }
            if timeline.at(key, fetched.revision) != fetched.found.as_ref() {
                violations.push(Violation::WrongRead(format!("{key}: {fetched:?}")));
            }
        }
        Observation::List { request, page } => {
            if request.at.is_none() && page.revision < since {
                violations.push(stale(request, page.revision, since));
            }
            let mut items = timeline.items(request, page.revision);
            let remaining =
                items.split_off(items.len().min(request.limit.map_or(usize::MAX, NonZeroUsize::get)));
            if items != page.items || remaining.len() as u64 != page.remaining {
                violations.push(Violation::WrongRead(format!("{request:?}: {page:?}")));
            }
        }
        Observation::Watch { prefix, after, notices } => {
            check_watch(timeline, prefix, *after, notices, violations);
        }
        Observation::Commit { .. } => {}
    }
}

/// A watch returns a prefix of the log's changes under its key prefix; a progress notice means that none is missing.
fn check_watch(
    timeline: &Timeline,
    prefix: &Prefix,
    after: Revision,
    notices: &[Notice],
    violations: &mut Vec<Violation>,
) {
    let mut expected = timeline.changes_under(prefix, after).peekable();
    for notice in notices {
        let right = match notice {
            Notice::Change(event) => expected.next_if(|expected| *expected == event).is_some(),
            Notice::Progress(revision) => expected.peek().is_none_or(|next| next.revision > *revision),
        };
        if !right {
            let (prefix, item_texts) = (prefix.clone(), notice.clone());
            let expected = expected.next().cloned();
            return violations.push(Violation::WrongWatch { prefix, after, item_texts, expected });
        }
    }
}

/// Whether these changes are exactly the transaction's.
fn made(transaction: &Transaction, changes: &[Arc<Event>]) -> bool {
    let did = |(key, op): (&_, &Op), event: &Arc<Event>| {
        event.key == *key
            && event.value() == op.value()
            && event.previous().map(|previous| previous.revision) == op.expects()
    };
    transaction.ops().len() == changes.len()
        && transaction.ops().zip(changes).all(|(op, event)| did(op, event))
}

fn stale(what: &impl fmt::Debug, answered: Revision, known: Revision) -> Violation {
    Violation::Stale { what: format!("{what:?}"), answered, known }
}

impl HighestAnswered {
    fn from(timeline: &Timeline, entries: &[Entry]) -> Self {
        let mut ends: Vec<_> =
            entries.iter().filter_map(|entry| Some((entry.ended, answered(entry)?))).collect();
        ends.sort_unstable();
        let mut highest = timeline.start();
        let by_tick = ends.into_iter().map(|(ended, revision)| {
            highest = highest.max(revision);
            (ended, highest)
        });
        Self { start: timeline.start(), by_tick: by_tick.collect() }
    }

    fn before(&self, tick: u64) -> Revision {
        self.by_tick.range(..tick).next_back().map_or(self.start, |(_, revision)| *revision)
    }
}

/// The current revision that a response implies.
fn answered(entry: &Entry) -> Option<Revision> {
    match &entry.seen {
        Observation::Commit { answer, .. } => answer.as_ref().ok().copied(),
        Observation::Get { fetched, .. } => Some(fetched.revision),
        Observation::List { request, page } => request.at.is_none().then_some(page.revision),
        Observation::Watch { .. } => None,
    }
}
