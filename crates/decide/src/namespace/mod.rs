//! Namespaces on their way out: first their pods go, then everything else, then they.
//!
//! A look at what is left in one leads to what is reported and what comes next. Asking the server to delete things,
//! and counting what remains, is the shell's.

mod conditions;
#[cfg(test)]
mod tests;

pub use conditions::{Condition, conditions, merge};

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The finalizer in `spec.finalizers` that is this controller's.
pub const FINALIZER: &str = "kubernetes";
/// What is deleted before everything else.
pub const PODS: (&str, &str) = ("", "pods");
/// How long to wait for things that a finalizer holds, or that take their time for another reason.
const FINALIZER_ESTIMATE: Duration = Duration::from_secs(15);

/// What was found in a namespace after everything in it was asked to go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Groups that could not be asked what they hold, and why.
    pub undiscovered: BTreeMap<String, String>,
    /// What the server said when it refused to delete or to list.
    pub failures: BTreeSet<String>,
    /// How many objects there are, by group and plural.
    pub remaining: BTreeMap<(String, String), usize>,
    /// How many objects each finalizer holds.
    pub finalizers: BTreeMap<String, usize>,
    /// The longest that a pod may still take.
    pub pod_grace: Option<Duration>,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing is left: the namespace may go.
    Finalize,
    /// Something is on its way out; look again after so long, or when pods have gone.
    LookAgain(Duration),
    /// Something was refused; try again, later each time.
    Retry,
}

/// Whether only pods are asked to go for now.
///
/// Pods may need what is around them to end well, so everything else waits until they are gone.
pub fn pods_first(pods: usize) -> bool {
    pods > 0
}

/// Decides what comes next.
pub fn next(leftovers: &Leftovers) -> Next {
    if !leftovers.failures.is_empty() || !leftovers.undiscovered.is_empty() {
        return Next::Retry;
    }
    if leftovers.remaining.is_empty() {
        return Next::Finalize;
    }
    let others = leftovers.remaining.keys().any(|(group, plural)| (group.as_str(), plural.as_str()) != PODS);
    let held = others || !leftovers.finalizers.is_empty() || leftovers.pod_grace.is_none();
    let estimate = leftovers.pod_grace.max(held.then_some(FINALIZER_ESTIMATE)).unwrap_or(FINALIZER_ESTIMATE);
    // Half of it and a second, as upstream: most things go sooner than they may.
    Next::LookAgain(Duration::from_secs(estimate.as_secs() / 2 + 1))
}
