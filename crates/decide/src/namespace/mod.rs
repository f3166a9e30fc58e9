//! Terminating namespaces: their pods are deleted first, then everything else, then they are finalized.
//!
//! What remains in a namespace decides its conditions and the next step. The delete requests and the count of what
//! remains are the shell's.

mod conditions;
#[cfg(test)]
mod tests;

pub use conditions::{Condition, conditions, merge};

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// This controller's finalizer in `spec.finalizers`.
pub const FINALIZER: &str = "kubernetes";
/// Group and plural of what is deleted first.
pub const PODS: (&str, &str) = ("", "pods");
/// How long to wait for objects with finalizers and others that take long.
const FINALIZER_ESTIMATE: Duration = Duration::from_secs(15);

/// The remaining content of a namespace after the deletion of everything in it was requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemainingContent {
    /// Groups whose discovery failed, and why.
    pub undiscovered: BTreeMap<String, String>,
    /// The errors of delete and list requests.
    pub failures: BTreeSet<String>,
    /// The number of objects by group and plural.
    pub remaining: BTreeMap<(String, String), usize>,
    /// The number of objects by finalizer.
    pub finalizers: BTreeMap<String, usize>,
    /// The longest remaining grace period of a pod.
    pub pod_grace: Option<Duration>,
}

/// The next step for a terminating namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Nothing remains: remove the finalizer.
    Finalize,
    /// Something is being deleted: check again after this time, or when pods are gone.
    CheckAgain(Duration),
    /// A request failed: retry with backoff.
    Retry,
}

/// Whether only pods are deleted for now.
///
/// Pods may need other objects to terminate cleanly, so everything else waits for them.
pub fn pods_first(pods: usize) -> bool {
    pods > 0
}

/// Decides the next step.
pub fn next(remaining_content: &RemainingContent) -> NextStep {
    if !remaining_content.failures.is_empty() || !remaining_content.undiscovered.is_empty() {
        return NextStep::Retry;
    }
    if remaining_content.remaining.is_empty() {
        return NextStep::Finalize;
    }
    let others =
        remaining_content.remaining.keys().any(|(group, plural)| (group.as_str(), plural.as_str()) != PODS);
    let held = others || !remaining_content.finalizers.is_empty() || remaining_content.pod_grace.is_none();
    let estimate =
        remaining_content.pod_grace.max(held.then_some(FINALIZER_ESTIMATE)).unwrap_or(FINALIZER_ESTIMATE);
    // Half of it and a second, as upstream: most objects are gone earlier.
    NextStep::CheckAgain(Duration::from_secs(estimate.as_secs() / 2 + 1))
}
