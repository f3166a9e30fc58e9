//! PodDisruptionBudgets: how many of the pods that a budget selects may be evicted now.
//!
//! The eviction subresource of the API server decreases what the status allows and records the evicted pod in it;
//! this controller counts the pods again and drops the record once the pod is gone, or was not deleted in time.
//!
//! ```text
//! pods, scales of their controllers ─► expected ─► desired ─┐
//! pods, evictions in the status ─────► healthy ─────────────┴─► allowed = healthy − desired ─► status
//! ```
//!
//! If the pods cannot be counted, no disruption is allowed, and the status says why.

mod events;
mod expected;
mod healthy;
mod scale;
mod status;
pub mod triggers;

pub use events::EVENT_SOURCE;
pub use scale::{Lookup, Scale, ScaleLookup, find_scale};

use std::collections::BTreeMap;

use gantry_model::{
    DisruptionBudget, DisruptionBudgetStatus, Event, Name, OwnerReference, Pod, Timestamp, Uid,
};

use crate::Wake;

/// The default number of workers, as in Kubernetes.
pub const WORKERS: usize = 1;

/// The input of a decision about a budget.
#[derive(Clone, Debug)]
pub struct Observed<'a> {
    /// The budget.
    pub budget: &'a DisruptionBudget,
    /// The pods that it selects.
    pub pods: &'a [&'a Pod],
    /// The scales of [`controllers_with_scale`], by the uid of the controller that the pod names.
    pub scales: &'a BTreeMap<Uid, Scale>,
}

/// The decision about a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The status to write; `None` if the stored one is right.
    pub status: Option<DisruptionBudgetStatus>,
    /// Events about the budget.
    pub events: Vec<Event>,
    /// Events about pods that were evicted and not deleted in time.
    pub pod_events: Vec<(Name, Event)>,
    /// When to requeue the budget.
    pub wake: Wake,
}

/// The controllers whose scale the budget needs, each once. Empty if it counts the existing pods.
pub fn controllers_with_scale<'a>(budget: &DisruptionBudget, pods: &[&'a Pod]) -> Vec<&'a OwnerReference> {
    let mut owners: Vec<&OwnerReference> = Vec::new();
    if expected::needs_scale(&budget.requirement) {
        for owner in pods.iter().filter_map(|pod| pod.meta.controller()) {
            if !owners.iter().any(|known| known.uid == owner.uid) {
                owners.push(owner);
            }
        }
    }
    owners
}

/// Decides about one budget.
pub fn decide(now: Timestamp, observed: &Observed<'_>) -> Decision {
    let Observed { budget, pods, scales } = observed;
    if let Some(Err(invalid)) = &budget.selector {
        let why = invalid.to_string();
        return failed(now, budget, events::selection_failed(&why), &why);
    }
    let mut recorded = Vec::new();
    if pods.is_empty() {
        recorded.push(events::no_pods());
    }
    let expected = match expected::expected(&budget.requirement, pods, scales) {
        Ok(expected) => expected,
        Err(why) => {
            let mut decision = failed(now, budget, events::count_failed(&why), &why);
            decision.events.splice(0..0, recorded);
            return decision;
        }
    };
    if expected.has_unmanaged {
        recorded.push(events::unmanaged(budget));
    }
    let evictions = healthy::evictions(now, budget, pods);
    let healthy = healthy::count(pods, &evictions.pending);
    let status = status::counted(now, budget, &expected, healthy, evictions.pending);
    Decision {
        status: (status != budget.status).then_some(status),
        events: recorded,
        pod_events: evictions.undeleted,
        wake: evictions.recheck.map_or(Wake::OnChange, |at| Wake::After(at.since(now))),
    }
}

/// The decision if the pods cannot be counted: no disruption is allowed.
fn failed(now: Timestamp, budget: &DisruptionBudget, event: Event, why: &str) -> Decision {
    let status = status::failed(now, budget, why);
    Decision {
        status: (status != budget.status).then_some(status),
        events: vec![event],
        pod_events: Vec::new(),
        wake: Wake::OnChange,
    }
}
