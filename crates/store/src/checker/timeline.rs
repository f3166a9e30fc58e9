//! The sequential model: every key at every revision, replayed from the log of changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::checker::verdict::Violation;
use crate::{Event, Item, Key, ListRequest, Prefix, Revision, Versioned};

/// The values of every key over time.
#[derive(Debug)]
pub(crate) struct Timeline {
    start: Revision,
    log: Vec<Arc<Event>>,
    keys: BTreeMap<Key, Vec<(Revision, Option<Versioned>)>>,
}

impl Timeline {
    /// Replays the log, and reports contradictions in it.
    pub(crate) fn replay(start: Revision, log: &[Arc<Event>], violations: &mut Vec<Violation>) -> Self {
        let mut timeline = Self { start, log: log.to_vec(), keys: BTreeMap::new() };
        let mut last: Option<&Arc<Event>> = None;
        for event in log {
            let in_order = last.is_none_or(|last| (last.revision, &last.key) < (event.revision, &event.key));
            if !in_order || event.revision <= start {
                violations.push(Violation::LogOutOfOrder(Arc::clone(event)));
            }
            if timeline.at(&event.key, event.revision) != event.previous() {
                violations.push(Violation::WrongPrevious(Arc::clone(event)));
            }
            let now = event.value().map(|value| Versioned { value: value.clone(), revision: event.revision });
            timeline.keys.entry(event.key.clone()).or_default().push((event.revision, now));
            last = Some(event);
        }
        timeline
    }

    /// The value of a key at a revision.
    pub(crate) fn at(&self, key: &Key, revision: Revision) -> Option<&Versioned> {
        let versions = self.keys.get(key)?;
        let known = versions.partition_point(|(at, _)| *at <= revision);
        versions.get(known.checked_sub(1)?)?.1.as_ref()
    }

    /// Whether a key had that value at some revision from `since` on.
    pub(crate) fn held_since(&self, key: &Key, what: Option<&Versioned>, since: Revision) -> bool {
        if self.at(key, since) == what {
            return true;
        }
        let versions = self.keys.get(key).map_or(&[][..], Vec::as_slice);
        versions.iter().any(|(at, version)| *at > since && version.as_ref() == what)
    }

    /// The changes of one revision.
    pub(crate) fn changes_at(&self, revision: Revision) -> &[Arc<Event>] {
        let first = self.log.partition_point(|event| event.revision < revision);
        let end = self.log.partition_point(|event| event.revision <= revision);
        &self.log[first..end]
    }

    /// Every revision that changed something.
    pub(crate) fn revisions(&self) -> impl Iterator<Item = Revision> {
        let mut revisions: Vec<_> = self.log.iter().map(|event| event.revision).collect();
        revisions.dedup();
        revisions.into_iter()
    }

    /// The changes of a watch, in order.
    pub(crate) fn changes_under(
        &self,
        prefix: &Prefix,
        after: Revision,
    ) -> impl Iterator<Item = &Arc<Event>> {
        self.log.iter().filter(move |event| event.revision > after && prefix.covers(&event.key))
    }

    /// All items from the start of a request on, at a revision.
    pub(crate) fn items(&self, request: &ListRequest, revision: Revision) -> Vec<Item> {
        let wanted = |key: &&Key| {
            request.prefix.covers(key) && request.start.as_ref().is_none_or(|start| *key >= start)
        };
        let item = |key: &Key| {
            let version = self.at(key, revision)?.clone();
            Some(Item { key: key.clone(), value: version.value, revision: version.revision })
        };
        self.keys.keys().filter(wanted).filter_map(item).collect()
    }

    pub(crate) fn start(&self) -> Revision {
        self.start
    }
}
