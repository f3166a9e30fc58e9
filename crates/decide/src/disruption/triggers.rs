//! Which budgets a change enqueues.
//!
//! Only changes of budgets and pods do. Scaling a controller changes pods.

use gantry_model::{DisruptionBudget, Event, Namespace, ObjectKey, Pod};

use super::events;

/// Lookups in the caller's cache.
pub trait Lookup {
    /// All budgets of a namespace, in a fixed order.
    fn budgets(&self, namespace: &Namespace) -> impl Iterator<Item = &DisruptionBudget>;
}

/// The consequences of a changed pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Triggered {
    /// The budgets to enqueue.
    pub budgets: Vec<ObjectKey>,
    /// An event about the pod.
    pub event: Option<Event>,
}

/// A pod was added, updated or deleted; `old` is its previous state, if known.
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
    // A relabelled pod no longer counts for its old budget.
    for old in old.filter(|old| old.meta.labels != pod.meta.labels).into_iter().flat_map(selecting) {
        if !budgets.contains(&old) {
            budgets.push(old);
        }
    }
    Triggered { budgets, event }
}
