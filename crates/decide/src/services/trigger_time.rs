//! The time of the change that caused a write of endpoints, for the annotation
//! `endpoints.kubernetes.io/last-change-trigger-time`.
//!
//! A change has the time at which a pod's readiness changed or the Service was created. The times of earlier changes are
//! remembered to find the new ones. A restart loses them: the first write after it has the time of the Service.

use std::collections::BTreeMap;

use gantry_model::{Annotations, Name, ObjectKey, Pod, Service, Timestamp, keys};

/// The times that were seen so far, by Service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriggerTimes {
    by_service: BTreeMap<ObjectKey, Seen>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    service: Option<Timestamp>,
    pods: BTreeMap<Name, Timestamp>,
}

impl TriggerTimes {
    /// Returns the oldest time that is new since the last call for this Service, and remembers all of them.
    pub fn observe(&mut self, service: &Service, pods: &[&Pod]) -> Option<Timestamp> {
        let dated = |pod: &&Pod| Some((pod.meta.name.clone(), pod.readiness_changed?));
        let now = Seen { service: service.meta.created, pods: pods.iter().filter_map(dated).collect() };
        let Some(before) = self.by_service.insert(service.meta.key(), now.clone()) else {
            return now.service;
        };
        let is_new = |(name, at): &(&Name, &Timestamp)| before.pods.get(*name).is_none_or(|seen| *at > seen);
        let pods = now.pods.iter().filter(is_new).map(|(_, at)| *at);
        let recreated = now.service.filter(|at| before.service.is_none_or(|seen| *at > seen));
        pods.chain(recreated).min()
    }

    /// Forgets a Service that was deleted.
    pub fn forget(&mut self, service: &ObjectKey) {
        self.by_service.remove(service);
    }
}

/// Writes the time of the change into the annotations of endpoints that are about to be written; without a time the old
/// one is removed.
pub(crate) fn write_trigger_time(annotations: &mut Annotations, at: Option<Timestamp>) {
    match at {
        Some(at) => annotations.insert(keys::LAST_CHANGE_TRIGGER_TIME.to_owned(), at.to_string()),
        None => annotations.remove(keys::LAST_CHANGE_TRIGGER_TIME),
    };
}
