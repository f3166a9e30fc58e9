//! EndpointSlices: the endpoints of a Service in objects of at most a hundred each.
//!
//! ```text
//! pods ─► desired: an endpoint each, grouped by ports ─┐
//! slices that exist, grouped by ports ─────────────────┴─► pack: few changes ─► hints ─► reuse ─► decision
//! ```
//!
//! A slice holds endpoints with the same ports and of one family of addresses. Changes are packed into as few slices as
//! possible, because every client of the cluster reads each slice that changes; slices are not filled up for tidiness.

mod desired;
mod hints;
mod labels;
mod pack;

use std::collections::BTreeMap;

use gantry_model::{
    Annotations, EndpointSlice, EndpointSliceDraft, Event, IpFamily, Labels, Name, Pod, Service,
    SliceContent, Timestamp, Uid, keys,
};

use crate::services::{families, write_trigger_time};
use desired::{Desired, desired};
use pack::pack;

/// The source of the events.
pub const EVENT_SOURCE: &str = "endpoint-slice-controller";
/// The value of the label `endpointslice.kubernetes.io/managed-by`.
pub const MANAGER: &str = "endpointslice-controller.k8s.io";

/// The input of a decision about the slices of a Service.
#[derive(Clone, Debug)]
pub struct Observed<'a> {
    /// The Service.
    pub service: &'a Service,
    /// The pods that it selects.
    pub pods: &'a [&'a Pod],
    /// The zones of the nodes that exist; `None` for a node that is in none.
    pub zones: &'a BTreeMap<Name, Option<String>>,
    /// The slices of this controller that are labelled as the Service's and not being deleted.
    pub slices: &'a [&'a EndpointSlice],
    /// When the change that triggered the sync happened.
    pub triggered: Option<Timestamp>,
}

/// The decision about the slices of a Service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// Slices to create.
    pub create: Vec<EndpointSliceDraft>,
    /// Slices to change.
    pub update: Vec<SliceUpdate>,
    /// Slices to delete.
    pub delete: Vec<Name>,
    /// Messages about pods that are left out because their nodes do not exist; the sync has to be retried.
    pub skipped: Vec<String>,
}

/// The new state of an existing slice.
#[derive(Clone, Debug, PartialEq)]
pub struct SliceUpdate {
    /// The name of the slice.
    pub name: Name,
    /// Its labels.
    pub labels: Labels,
    /// Its annotations.
    pub annotations: Annotations,
    /// The endpoints and their ports.
    pub content: SliceContent,
}

/// A slice to write.
#[derive(Clone, Debug)]
struct Slice<'a> {
    origin: Origin<'a>,
    content: SliceContent,
}

/// How a slice is written.
#[derive(Clone, Copy, Debug)]
enum Origin<'a> {
    /// It is created.
    New,
    /// It exists and is updated.
    Changed(&'a EndpointSlice),
    /// It would have been deleted, and gets the content of one that would have been created.
    Reused(&'a EndpointSlice),
}

/// The slices of one family of addresses while they are decided on.
#[derive(Debug, Default)]
struct Plan<'a> {
    write: Vec<Slice<'a>>,
    delete: Vec<&'a EndpointSlice>,
    keep: Vec<&'a EndpointSlice>,
}

/// The Service that the label of a slice names, if the slice is one of this controller's.
pub fn service_of(slice: &EndpointSlice) -> Option<Name> {
    let is_ours = slice.meta.labels.get(keys::SLICE_MANAGED_BY).is_some_and(|manager| manager == MANAGER);
    slice.meta.labels.get(keys::SERVICE_NAME).filter(|_| is_ours).map(|name| Name::from(name.as_str()))
}

/// Decides about the slices of one Service.
pub fn decide(observed: &Observed<'_>) -> Decision {
    let Observed { service, slices, .. } = observed;
    let families = families(service);
    let mut decision = Decision::default();
    for family in &families {
        let existing: Vec<_> =
            slices.iter().copied().filter(|slice| slice.content.family == Some(*family)).collect();
        let Desired { by_ports, skipped } = desired(observed, *family);
        let mut plan = Plan::default();
        let (own, foreign): (Vec<_>, Vec<_>) =
            existing.iter().copied().partition(|slice| owns(&service.meta.uid, slice));
        plan.delete = foreign;
        pack(service, *family, &own, by_ports, &mut plan);
        keep_a_placeholder(service, *family, existing.len(), &mut plan);
        hints::give(service.traffic, &mut plan);
        reuse(&service.meta.uid, &mut plan);
        finish(observed, plan, &mut decision);
        for sentence in skipped {
            if !decision.skipped.contains(&sentence) {
                decision.skipped.push(sentence);
            }
        }
    }
    let is_outdated =
        |slice: &&&EndpointSlice| slice.content.family.is_none_or(|family| !families.contains(&family));
    decision.delete.extend(slices.iter().filter(is_outdated).map(|slice| slice.meta.name.clone()));
    decision
}

/// The event about slices that could not be brought up to date.
pub fn failed(service: &Service, why: &str) -> Event {
    let message = format!("Error updating Endpoint Slices for Service {}: {why}", service.meta.key());
    Event::warning("FailedToUpdateEndpointSlices", message)
}

/// Several errors as one, the way Go's aggregate prints them.
pub fn aggregated(errors: &[String]) -> String {
    match errors {
        [only] => only.clone(),
        all => format!("[{}]", all.join(", ")),
    }
}

fn owns(service: &Uid, slice: &EndpointSlice) -> bool {
    slice
        .meta
        .owners
        .iter()
        .any(|owner| owner.uid == *service && owner.kind == "Service" && owner.api_version == "v1")
}

/// Keeps one empty slice for a Service without endpoints, which shows clients that the Service was synced.
fn keep_a_placeholder(service: &Service, family: IpFamily, existing: usize, plan: &mut Plan<'_>) {
    if existing != plan.delete.len() || plan.write.iter().any(|slice| matches!(slice.origin, Origin::New)) {
        return;
    }
    let content = SliceContent { family: Some(family), ports: Vec::new(), endpoints: Vec::new() };
    let labels = labels::of(service);
    let is_placeholder = |slice: &EndpointSlice| {
        slice.content == content && slice.meta.labels == labels && owns(&service.meta.uid, slice)
    };
    match plan.delete.as_slice() {
        [only] if is_placeholder(only) => plan.delete.clear(),
        _ => plan.write.push(Slice { origin: Origin::New, content }),
    }
}

/// Slices that would be deleted take the content of those that would be created.
fn reuse(service: &Uid, plan: &mut Plan<'_>) {
    let mut deleted = std::mem::take(&mut plan.delete);
    for slice in plan.write.iter_mut().rev().filter(|slice| matches!(slice.origin, Origin::New)) {
        // A slice of an earlier Service of this name is about to be collected.
        let Some(at) = deleted.iter().position(|old| owns(service, old)) else { break };
        slice.origin = Origin::Reused(deleted.remove(at));
    }
    plan.delete = deleted;
}

fn finish(observed: &Observed<'_>, plan: Plan<'_>, decision: &mut Decision) {
    let Observed { service, triggered, .. } = observed;
    for Slice { origin, content } in plan.write {
        let labels = labels::of(service);
        let mut annotations = match origin {
            Origin::Changed(slice) => slice.meta.annotations.clone(),
            Origin::New | Origin::Reused(_) => Annotations::new(),
        };
        write_trigger_time(&mut annotations, *triggered);
        match origin {
            Origin::Changed(slice) | Origin::Reused(slice) => {
                decision.update.push(SliceUpdate {
                    name: slice.meta.name.clone(),
                    labels,
                    annotations,
                    content,
                });
            }
            // The garbage collector would race with the creation of slices for a Service that is being deleted.
            Origin::New if service.meta.is_deleting() => {}
            Origin::New => decision.create.push(EndpointSliceDraft {
                namespace: service.meta.namespace.clone(),
                generate_name: format!("{}-", service.meta.name),
                owner: service.reference(),
                labels,
                annotations,
                content,
            }),
        }
    }
    decision.delete.extend(plan.delete.iter().map(|slice| slice.meta.name.clone()));
}
