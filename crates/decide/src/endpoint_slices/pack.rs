//! Distributes endpoints over slices, so that few slices change.

use std::collections::BTreeMap;

use gantry_model::{Endpoint, EndpointPort, EndpointSlice, IpFamily, Service, SliceContent};

use super::desired::{Endpoints, in_order, key_of};
use super::{Origin, Plan, Slice, labels};

/// The most endpoints of one slice; `--max-endpoints-per-slice` of kube-controller-manager.
const CAPACITY: usize = 100;

/// Distributes the desired endpoints over the existing slices, and over new ones for what does not fit.
pub(super) fn pack<'a>(
    service: &Service,
    family: IpFamily,
    existing: &[&'a EndpointSlice],
    desired: BTreeMap<Vec<EndpointPort>, Endpoints>,
    plan: &mut Plan<'a>,
) {
    let mut by_ports: BTreeMap<Vec<EndpointPort>, Vec<&'a EndpointSlice>> = BTreeMap::new();
    for slice in existing {
        by_ports.entry(in_order(slice.content.ports.clone())).or_default().push(slice);
    }
    for (ports, endpoints) in desired {
        let slices = by_ports.remove(&ports).unwrap_or_default();
        pack_group(
            service,
            &SliceContent { family: Some(family), ports, endpoints: Vec::new() },
            &slices,
            endpoints,
            plan,
        );
    }
    plan.delete.extend(by_ports.into_values().flatten());
}

/// Distributes endpoints with the same ports over slices.
fn pack_group<'a>(
    service: &Service,
    empty: &SliceContent,
    existing: &[&'a EndpointSlice],
    mut desired: Endpoints,
    plan: &mut Plan<'a>,
) {
    let mut changed: Vec<Slice<'a>> = Vec::new();
    let mut unchanged: Vec<&'a EndpointSlice> = Vec::new();
    for slice in existing {
        let before = &slice.content.endpoints;
        let kept: Vec<Endpoint> =
            before.iter().filter_map(|endpoint| desired.remove(&key_of(endpoint))).collect();
        let is_same =
            kept.len() == before.len() && kept.iter().zip(before).all(|(now, was)| is_equal(now, was));
        if is_same && !labels::have_changed(slice, service) {
            unchanged.push(slice);
        } else if kept.is_empty() && !before.is_empty() {
            plan.delete.push(slice);
        } else {
            let content = SliceContent { endpoints: kept, ..slice.content.clone() };
            changed.push(Slice { origin: Origin::Changed(slice), content });
        }
    }
    let mut left = desired.into_values();
    let fill = |slice: &mut Slice<'a>, left: &mut std::collections::btree_map::IntoValues<_, Endpoint>| {
        let free = CAPACITY.saturating_sub(slice.content.endpoints.len());
        slice.content.endpoints.extend(left.take(free));
    };
    // The fullest first, so that the others keep capacity for endpoints that are added later.
    changed.sort_by_key(|slice| std::cmp::Reverse(slice.content.endpoints.len()));
    for slice in &mut changed {
        fill(slice, &mut left);
    }
    while left.len() > 0 {
        let fits_into_one = left.len() < CAPACITY;
        let fitting = if fits_into_one { take_fitting(&mut unchanged, left.len()) } else { None };
        let content = fitting.map_or_else(|| empty.clone(), |slice| slice.content.clone());
        let mut slice = Slice { origin: fitting.map_or(Origin::New, Origin::Changed), content };
        fill(&mut slice, &mut left);
        changed.push(slice);
    }
    plan.write.extend(changed);
    plan.keep.extend(unchanged);
}

/// Removes and returns the fullest slice with capacity for `count` more endpoints, if there is one.
fn take_fitting<'a>(slices: &mut Vec<&'a EndpointSlice>, count: usize) -> Option<&'a EndpointSlice> {
    let fits = |slice: &&EndpointSlice| slice.content.endpoints.len() + count <= CAPACITY;
    let fullest = slices.iter().copied().filter(fits).max_by_key(|slice| slice.content.endpoints.len())?;
    slices.retain(|slice| slice.meta.name != fullest.meta.name);
    Some(fullest)
}

/// Whether an endpoint is the same as before, except for hints, which are set later.
fn is_equal(now: &Endpoint, was: &Endpoint) -> bool {
    Endpoint { hints: was.hints.clone(), ..now.clone() } == *was
}
