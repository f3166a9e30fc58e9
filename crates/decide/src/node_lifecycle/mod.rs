//! Nodes that fall silent: when they count as lost, how they are tainted, and when the pods on them are evicted.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_model::{Name, Timestamp};

/// How often nodes are looked at; Kubernetes' number, as the next.
pub const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long a node may be silent.
pub const GRACE_PERIOD: Duration = Duration::from_secs(50);

/// The taint of a node that says that it is not ready.
pub const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// The taint of a node that says nothing any more.
pub const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// The effects that both taints have.
pub const EFFECTS: [&str; 2] = ["NoSchedule", NO_EXECUTE];
/// The effect by which pods are evicted.
pub const NO_EXECUTE: &str = "NoExecute";

/// Whether a node is ready, as its status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// It is.
    True,
    /// It says that it is not.
    False,
    /// It is not known, or not known any more.
    Unknown,
}

/// When each node last gave a sign of life, by a clock that is never set.
#[derive(Clone, Debug, Default)]
pub struct Heartbeats {
    last: BTreeMap<Name, (String, Timestamp)>,
}

/// A taint by which pods are evicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Since when the node has it, if that was recorded.
    pub added: Option<Timestamp>,
}

/// A toleration of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toleration {
    /// The taint it is about; empty for all.
    pub key: String,
    /// The value that the taint must have; none if any will do.
    pub value: Option<String>,
    /// The effect it is about; empty for all.
    pub effect: String,
    /// For how long; without end if there is none.
    pub seconds: Option<i64>,
}

impl Heartbeats {
    /// Notes what a node last gave as a sign of life; only a new one counts. Returns whether the node is silent.
    pub fn hear(&mut self, node: &Name, sign: String, now: Timestamp) -> bool {
        match self.last.get(node) {
            Some((known, since)) if *known == sign => now.since(*since) >= GRACE_PERIOD,
            _ => {
                self.last.insert(node.clone(), (sign, now));
                false
            }
        }
    }

    /// Forgets nodes that are gone.
    pub fn retain(&mut self, is_there: impl Fn(&Name) -> bool) {
        self.last.retain(|node, _| is_there(node));
    }
}

/// The key of the taint that a node is to have, of the two that are about its readiness.
pub fn taint_of(ready: Ready) -> Option<&'static str> {
    match ready {
        Ready::True => None,
        Ready::False => Some(NOT_READY),
        Ready::Unknown => Some(UNREACHABLE),
    }
}

/// When a pod that came at `came` is to be evicted because of these taints; never if it tolerates all without end.
pub fn evict_at(taints: &[Eviction], tolerations: &[Toleration], came: Timestamp) -> Option<Timestamp> {
    let mut earliest = None;
    for taint in taints {
        let since = taint.added.map_or(came, |added| added.max(came));
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
    fn covers(&self, taint: &Eviction) -> bool {
        (self.key.is_empty() || self.key == taint.key)
            && (self.effect.is_empty() || self.effect == NO_EXECUTE)
            && self.value.as_ref().is_none_or(|value| *value == taint.value)
    }
}
