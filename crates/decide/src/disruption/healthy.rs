//! Which pods are healthy, and which evictions are in progress.

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_model::{DisruptionBudget, Event, Name, Pod, Replicas, Timestamp};

use super::events;

/// How long an evicted pod is not counted while its deletion has not been observed; as in Kubernetes.
const DELETION_TIMEOUT: Duration = Duration::from_secs(120);

/// The evictions recorded in the status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Evictions {
    /// Pods about to be deleted, and when their eviction was allowed.
    pub(super) pending: BTreeMap<Name, Timestamp>,
    /// Pods that should have been deleted by now.
    pub(super) undeleted: Vec<(Name, Event)>,
    /// When the next of the pending ones times out.
    pub(super) recheck: Option<Timestamp>,
}

/// Classifies the evictions recorded in the status. Pods that are gone or terminating are dropped.
pub(super) fn evictions(now: Timestamp, budget: &DisruptionBudget, pods: &[&Pod]) -> Evictions {
    let mut evictions = Evictions::default();
    for pod in pods.iter().filter(|pod| !pod.meta.is_deleting()) {
        let Some(at) = budget.status.disrupted.get(&pod.meta.name) else { continue };
        let deadline = at.plus(DELETION_TIMEOUT);
        if deadline <= now {
            evictions.undeleted.push((pod.meta.name.clone(), events::not_deleted(&budget.meta.namespace)));
        } else {
            evictions.recheck = Some(evictions.recheck.map_or(deadline, |first| first.min(deadline)));
            evictions.pending.insert(pod.meta.name.clone(), *at);
        }
    }
    evictions
}

/// Counts the pods that are ready and not being evicted.
pub(super) fn count(pods: &[&Pod], pending: &BTreeMap<Name, Timestamp>) -> Replicas {
    let stays = |pod: &&&Pod| !pod.meta.is_deleting() && !pending.contains_key(&pod.meta.name);
    Replicas::of(pods.iter().filter(stays).filter(|pod| pod.is_ready()).count())
}
