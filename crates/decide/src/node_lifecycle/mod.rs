//! Node lifecycle: when silent nodes count as lost, how they are tainted, and when their pods are evicted.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_model::{Name, Timestamp};

/// How often nodes are checked; as in Kubernetes, like the next.
pub const MONITOR_PERIOD: Duration = Duration::from_secs(5);
/// How long a node may send no heartbeat.
pub const GRACE_PERIOD: Duration = Duration::from_secs(50);

/// The taint of a node that reports not to be ready.
pub const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// The taint of a node without heartbeats.
pub const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// The effects of both taints.
pub const EFFECTS: [&str; 2] = ["NoSchedule", NO_EXECUTE];
/// The effect that evicts pods.
pub const NO_EXECUTE: &str = "NoExecute";

/// The `Ready` condition of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyStatus {
    /// The node is ready.
    True,
    /// The node reports that it is not ready.
    False,
    /// There is no condition, or no heartbeat.
    Unknown,
}

/// The last heartbeat of each node, by a monotonic clock.
#[derive(Clone, Debug, Default)]
pub struct Heartbeats {
    last: BTreeMap<Name, (String, Timestamp)>,
}

/// A `NoExecute` taint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoExecuteTaint {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// When it was added, if recorded.
    pub added: Option<Timestamp>,
}

/// A toleration of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toleration {
    /// The key of the taint; empty for all.
    pub key: String,
    /// The value of the taint; `None` for any.
    pub value: Option<String>,
    /// The effect; empty for all.
    pub effect: String,
    /// `None` is without limit.
    pub seconds: Option<i64>,
}

impl Heartbeats {
    /// Records a heartbeat; only a new one counts. Returns whether the node is silent.
    pub fn record(&mut self, node: &Name, sign: String, now: Timestamp) -> bool {
        match self.last.get(node) {
            Some((known, since)) if *known == sign => now.since(*since) >= GRACE_PERIOD,
            _ => {
                self.last.insert(node.clone(), (sign, now));
                false
            }
        }
    }

    /// Removes nodes that do not exist any more.
    pub fn retain(&mut self, exists: impl Fn(&Name) -> bool) {
        self.last.retain(|node, _| exists(node));
    }
}

/// The key of the taint for this `Ready` condition.
pub fn taint_of(ready: ReadyStatus) -> Option<&'static str> {
    match ready {
        ReadyStatus::True => None,
        ReadyStatus::False => Some(NOT_READY),
        ReadyStatus::Unknown => Some(UNREACHABLE),
    }
}

/// When a pod that started at `started` is evicted because of these taints; never if it tolerates all without limit.
pub fn evict_at(
    taints: &[NoExecuteTaint],
    tolerations: &[Toleration],
    started: Timestamp,
) -> Option<Timestamp> {
    let mut earliest = None;
    for taint in taints {
        let since = taint.added.map_or(started, |added| added.max(started));
        let tolerated = tolerations.iter().filter(|toleration| toleration.covers(taint));
        let limit = tolerated.map(|toleration| toleration.seconds).reduce(|one, other| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (Some(limit), None) | (None, Some(limit)) => Some(limit),
            (None, None) => None,
        });
        let at = match limit {
            None => Some(since),
            Some(None) => None,
            Some(Some(seconds)) => Some(since.plus(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))),
        };
        earliest = earliest.into_iter().chain(at).min();
    }
    earliest
}

impl Toleration {
    fn covers(&self, taint: &NoExecuteTaint) -> bool {
        (self.key.is_empty() || self.key == taint.key)
            && (self.effect.is_empty() || self.effect == NO_EXECUTE)
            && self.value.as_ref().is_none_or(|value| *value == taint.value)
    }
}
