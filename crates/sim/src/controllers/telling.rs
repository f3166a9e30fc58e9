//! Events, kept as an API server would keep them after client-side correlation, and a trace of all steps.

use std::collections::BTreeMap;

use gantry_decide::events::{EventRecord, Recorder, Recording, Subject};
use gantry_model::{Event, Meta, Name, Timestamp};

use crate::cluster::Kind;

/// What people are told.
#[derive(Clone, Debug)]
pub(crate) struct Telling {
    recorder: Recorder,
    pub(crate) events: BTreeMap<Name, EventRecord>,
    /// What the controllers did since somebody last asked, a line each.
    pub(crate) trace: Vec<String>,
}

impl Telling {
    pub(crate) fn new() -> Self {
        Self { recorder: Recorder::new(), events: BTreeMap::new(), trace: Vec::new() }
    }

    pub(crate) fn tell(
        &mut self,
        now: Timestamp,
        source: &'static str,
        kind: Kind,
        meta: &Meta,
        event: &Event,
    ) {
        let subject = Subject::namespaced(kind.api_version(), kind.as_str(), meta);
        match self.recorder.record(source, &subject, event, now) {
            Recording::Create(record) | Recording::Increase(record) => {
                self.events.insert(record.name.clone(), record);
            }
            Recording::Drop => {}
        }
    }

    pub(crate) fn note(&mut self, line: String) {
        self.trace.push(line);
    }
}
