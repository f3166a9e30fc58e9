//! Which budgets a change wakes.
//!
//! Only budgets and pods wake one. A controller that is scaled makes or deletes pods, and these do.

use gantry_model::{DisruptionBudget, Event, Namespace, ObjectKey, Pod};

use super::events;

/// Where budgets are looked up: the cache of the caller.
pub trait Lookup {
    /// All budgets of a namespace, in a fixed order.
    fn budgets(&self, namespace: &Namespace) -> impl Iterator<Item = &DisruptionBudget>;
}

/// What a change of a pod leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Triggered {
    /// The budgets to count again.
    pub budgets: Vec<ObjectKey>,
    /// An event about the pod.
    pub event: Option<Event>,
}

/// A pod appeared, changed or went; `old` is what it was before, if it was known.
pub fn on_pod(old: Option<&Pod>, pod: &Pod, cache: &impl Lookup) -> Triggered {
    let selecting = |pod: &Pod| -> Vec<ObjectKey> {
        let budgets = cache.budgets(&pod.meta.namespace).filter(|budget| budget.selects(&pod.meta.labels));
        budgets.map(|budget| budget.meta.key()).collect()
    };
    let mut budgets = selecting(pod);
    let event = match budgets.as_slice() {
        [chosen, _, ..] => Some(events::several_budgets(&pod.meta.key(), &chosen.name)),
        _ => None,
    };
    // A pod that was relabelled counts for its old budget no more.
    for old in old.filter(|old| old.meta.labels != pod.meta.labels).into_iter().flat_map(selecting) {
        if !budgets.contains(&old) {
            budgets.push(old);
        }
    }
    Triggered { budgets, event }
}
