//! When the change happened for which endpoints are written: what the annotation
//! `endpoints.kubernetes.io/last-change-trigger-time` says.
//!
//! A change is dated by the pod whose readiness changed or by the creation of the Service. Which of these dates are new
//! is only known by whoever remembers the old ones. A restart loses them: the first write after it is dated by the Service.

use std::collections::BTreeMap;

use gantry_model::{Annotations, Name, ObjectKey, Pod, Service, Timestamp, keys};

/// The dates that were seen so far, by Service.
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
    /// Returns the oldest date that is new since the last look at this Service, and remembers all of them.
    pub fn look(&mut self, service: &Service, pods: &[&Pod]) -> Option<Timestamp> {
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

    /// Forgets a Service that is gone.
    pub fn forget(&mut self, service: &ObjectKey) {
        self.by_service.remove(service);
    }
}

/// Dates the change in the annotations of endpoints that are about to be written; a change without a date takes the old
/// date away.
pub(crate) fn write_trigger_time(annotations: &mut Annotations, at: Option<Timestamp>) {
    match at {
        Some(at) => annotations.insert(keys::LAST_CHANGE_TRIGGER_TIME.to_owned(), at.to_string()),
        None => annotations.remove(keys::LAST_CHANGE_TRIGGER_TIME),
    };
}
