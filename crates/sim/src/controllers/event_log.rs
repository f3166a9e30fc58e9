//! Events as an API server would store them after client-side correlation, and a trace of all steps.

use std::collections::BTreeMap;

use gantry_decide::events::{EventCorrelator, EventRecord, Recording, Subject};
use gantry_model::{Event, Meta, Name, Timestamp};

use crate::cluster::WorkloadKind;

#[derive(Clone, Debug)]
pub(crate) struct EventLog {
    correlator: EventCorrelator,
    pub(crate) events: BTreeMap<Name, EventRecord>,
    /// The steps of the controllers since the last call of `take_trace`, a line each.
    pub(crate) trace: Vec<String>,
}

impl EventLog {
    pub(crate) fn new() -> Self {
        Self { correlator: EventCorrelator::new(), events: BTreeMap::new(), trace: Vec::new() }
    }

    pub(crate) fn record(
        &mut self,
        now: Timestamp,
        source: &'static str,
        kind: WorkloadKind,
        meta: &Meta,
        event: &Event,
    ) {
        let deployment_name = Subject::namespaced(kind.api_version(), kind.as_str(), meta);
        match self.correlator.record(source, &deployment_name, event, now) {
            Recording::Create(record) | Recording::Increase(record) => {
                self.events.insert(record.name.clone(), record);
            }
            Recording::Drop => {}
        }
    }

    pub(crate) fn trace_step(&mut self, line: String) {
        self.trace.push(line);
    }
}
