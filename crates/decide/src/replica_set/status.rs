//! The status of a ReplicaSet, and whether to write it.

use gantry_model::{
    ConditionStatus, Labels, Pod, ReplicaSetCondition, ReplicaSetConditionType, ReplicaSetStatus, Replicas,
    Timestamp,
};

use super::Observed;
use super::availability::is_available;
use super::manage::ReplicaDiff;
use super::manage_result::ManageError;

/// How often a status write is tried before the sync fails with its error.
pub const STATUS_WRITE_ATTEMPTS: u32 = 2;

/// The write of the status of a set, if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusWrite {
    /// It is unchanged.
    Unchanged,
    /// Write this status.
    Put(ReplicaSetStatus),
}

/// The handling of a failed status write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailedWrite {
    /// Read the set live and write the same status with the version that was read. If the read fails, the sync fails
    /// with that error.
    ReadAndPutAgain,
    /// Fail the sync with the write's error.
    GiveUp,
}

/// Decides about a failed status write, after so many attempts.
pub fn after_failed_write(attempts: u32) -> AfterFailedWrite {
    if attempts < STATUS_WRITE_ATTEMPTS {
        AfterFailedWrite::ReadAndPutAgain
    } else {
        AfterFailedWrite::GiveUp
    }
}

/// The status, from the pods as they were before this sync changed them.
pub(super) fn calculate(
    now: Timestamp,
    observed: &Observed<'_>,
    manage_result: &Result<(), ManageError>,
) -> ReplicaSetStatus {
    let set = observed.set;
    let nothing_required = Labels::new();
    let required = set.template.labels().unwrap_or(&nothing_required);
    let (mut fully_labeled, mut ready, mut available) = (0, 0, 0);
    for pod in &observed.active {
        fully_labeled += usize::from(has_all(pod, required));
        ready += usize::from(pod.is_ready());
        available += usize::from(is_available(now, pod, set.min_ready_seconds));
    }
    ReplicaSetStatus {
        observed_generation: set.meta.generation,
        replicas: Replicas::of(observed.active.len()),
        fully_labeled: Replicas::of(fully_labeled),
        ready: Replicas::of(ready),
        available: Replicas::of(available),
        terminating: set.kind.counts_terminating().then(|| Replicas::of(observed.terminating.len())),
        conditions: conditions(now, observed, manage_result),
    }
}

/// Whether the status differs from the stored one, or observes a newer spec.
pub(super) fn to_write(observed: &Observed<'_>, status: ReplicaSetStatus) -> StatusWrite {
    if status == observed.set.status { StatusWrite::Unchanged } else { StatusWrite::Put(status) }
}

fn has_all(pod: &Pod, labels: &Labels) -> bool {
    labels.iter().all(|(key, value)| pod.meta.labels.get(key) == Some(value))
}

/// The conditions: `ReplicaFailure` while managing pods fails, and all others.
///
/// The condition keeps the message of the first failure: a message with a new pod name at each attempt would cause a
/// status write and a Deployment sync at each attempt.
fn conditions(
    now: Timestamp,
    observed: &Observed<'_>,
    manage_result: &Result<(), ManageError>,
) -> Vec<ReplicaSetCondition> {
    let status = &observed.set.status;
    let mut conditions = status.conditions.clone();
    let is_other =
        |condition: &ReplicaSetCondition| condition.condition_type != ReplicaSetConditionType::ReplicaFailure;
    match (manage_result, status.replica_failure()) {
        (Ok(()), Some(_)) => conditions.retain(is_other),
        (Err(error), None) => conditions.push(ReplicaSetCondition {
            condition_type: ReplicaSetConditionType::ReplicaFailure,
            status: ConditionStatus::True,
            reason: failure_reason(observed).to_owned(),
            message: error.to_string(),
            last_transition: Some(now),
        }),
        (Ok(()), None) | (Err(_), Some(_)) => {}
    }
    conditions
}

fn failure_reason(observed: &Observed<'_>) -> &'static str {
    match ReplicaDiff::of(observed.set, observed.active.len()) {
        ReplicaDiff::TooFew(_) => "FailedCreate",
        ReplicaDiff::TooMany(_) => "FailedDelete",
        // Nothing was to be done, so nothing can have failed.
        ReplicaDiff::None => "",
    }
}
