//! The changes that enqueue a budget: its own, and those of the pods that it selects.

use std::sync::RwLockReadGuard;

use gantry_decide::disruption::EVENT_SOURCE;
use gantry_decide::disruption::triggers::{Lookup, on_pod};
use gantry_model::{DisruptionBudget, Namespace, ObjectKey};
use gantry_runtime::informer::{CachedDisruptionBudget, Store};
use gantry_runtime::{InformerEvent, Queue};

use super::observe::Caches;
use crate::context::Context;

/// The budgets, locked during one lookup.
struct View<'a>(RwLockReadGuard<'a, Store<CachedDisruptionBudget>>);

/// Subscribes the queue to every change.
pub(super) fn subscribe(context: &Context, caches: &Caches, queue: &Queue<ObjectKey>) {
    let to = queue.clone();
    caches.budgets.subscribe(move |change| {
        if !matches!(change, InformerEvent::Deleted(_)) {
            to.add(change.object().parsed.meta.key());
        }
    });
    let (context, budgets, to) = (context.clone(), caches.budgets.clone(), queue.clone());
    caches.pods.subscribe(move |change| {
        let old = match change {
            InformerEvent::Updated { old, .. } => Some(&**old),
            InformerEvent::Added(_) | InformerEvent::Deleted(_) => None,
        };
        let pod = change.object();
        let triggered = on_pod(old, pod, &View(budgets.read()));
        if let Some(event) = triggered.event {
            context.record_event(EVENT_SOURCE, "v1", "Pod", &pod.meta, event);
        }
        for key in triggered.budgets {
            to.add(key);
        }
    });
}

impl Lookup for View<'_> {
    fn budgets(&self, namespace: &Namespace) -> impl Iterator<Item = &DisruptionBudget> {
        self.0.in_namespace(namespace).map(|budget| &budget.parsed)
    }
}
