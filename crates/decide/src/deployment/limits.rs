//! `maxSurge` and `maxUnavailable` resolved, and the size of the new ReplicaSet that follows.

use crate::share::{round_up, within_field};
use gantry_model::{Annotations, Deployment, InvalidLimit, Limit, Replicas, RollingLimits, Strategy, keys};

/// The limits of a rollout, in pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `spec.replicas`: N.
    pub desired: i64,
    /// Pods beyond that: S. Zero unless rolling.
    pub surge: i64,
    /// Pods that may be unavailable: U. Zero unless rolling, never more than N.
    pub unavailable: i64,
}

/// The annotations that a resize writes on a ReplicaSet: the Deployment's size and the maximum at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SizeAnnotations {
    desired: String,
    max: String,
}

impl Limits {
    /// The limits of this Deployment; invalid ones are zero here and fail the rollout elsewhere.
    pub fn of(deployment: &Deployment) -> Self {
        let desired = deployment.replicas.get();
        let (surge, unavailable) = match &deployment.strategy {
            Strategy::RollingUpdate(Ok(limits)) => resolve(limits, desired),
            Strategy::RollingUpdate(Err(_)) | Strategy::Recreate | Strategy::Unknown(_) => (0, 0),
        };
        Self { desired, surge, unavailable: if desired > 0 { unavailable.min(desired) } else { 0 } }
    }

    /// The maximum number of pods: N + S.
    pub fn ceiling(&self) -> i64 {
        self.desired + self.surge
    }

    /// The minimum number of available pods: N − U.
    pub fn floor(&self) -> i64 {
        self.desired - self.unavailable
    }

    pub(super) fn size_annotations(&self) -> SizeAnnotations {
        SizeAnnotations {
            desired: Replicas::nearest(self.desired).to_string(),
            max: Replicas::nearest(self.ceiling()).to_string(),
        }
    }
}

impl SizeAnnotations {
    pub(super) fn is_on(&self, annotations: &Annotations) -> bool {
        annotations.get(keys::DESIRED_REPLICAS) == Some(&self.desired)
            && annotations.get(keys::MAX_REPLICAS) == Some(&self.max)
    }

    pub(super) fn write_on(self, annotations: &mut Annotations) {
        annotations.insert(keys::DESIRED_REPLICAS.to_owned(), self.desired);
        annotations.insert(keys::MAX_REPLICAS.to_owned(), self.max);
    }
}

/// The size the new ReplicaSet should have now, given its size and that of all ReplicaSets together.
///
/// With N = 10 and a surge of 3 there may be 13 pods. Beside 10 old ones the new set gets 3; when the old ones are down
/// to 8 it may have 5; beside 1 old one it stops at 10, for it never grows beyond N.
pub fn new_set_size(deployment: &Deployment, new: i64, total: i64) -> Result<Replicas, InvalidLimit> {
    let desired = deployment.replicas.get();
    let limits = match &deployment.strategy {
        Strategy::RollingUpdate(limits) => limits.as_ref().map_err(Clone::clone)?,
        Strategy::Recreate | Strategy::Unknown(_) => return Ok(deployment.replicas),
    };
    let limit = desired + round_up(limits.surge, desired);
    if total >= limit {
        return Ok(Replicas::nearest(new));
    }
    Ok(Replicas::nearest(new + (limit - total).min(desired - new)))
}

/// Surge and unavailable in pods. Two limits of zero would stop the rollout, so one pod may then be unavailable.
fn resolve(limits: &RollingLimits, desired: i64) -> (i64, i64) {
    match (round_up(limits.surge, desired), round_down(limits.unavailable, desired)) {
        (0, 0) => (0, 1),
        resolved => resolved,
    }
}

fn round_down(limit: Limit, desired: i64) -> i64 {
    match limit {
        Limit::Count(count) => count.into(),
        Limit::Percent(percent) => within_field((i64::from(percent) * desired).div_euclid(100)),
    }
}
