//! Mirrors Endpoints that are written by hand: EndpointSlices with the same addresses, for Services without a selector.
//!
//! One slice for each set of ports and family of addresses, with at most a thousand of them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use gantry_model::{
    Annotations, Endpoint, EndpointAddress, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice,
    EndpointSliceDraft, Endpoints, Event, IpFamily, Labels, Name, OwnerReference, Service, SliceContent,
    keys,
};

use crate::endpoint_slices::SliceUpdate;
use crate::endpoints::repack;

/// The source of the events.
pub const EVENT_SOURCE: &str = "endpoint-slice-mirroring-controller";
/// The value of the label `endpointslice.kubernetes.io/managed-by`.
pub const MANAGER: &str = "endpointslicemirroring-controller.k8s.io";

/// The most addresses of one set of ports that are mirrored.
const ADDRESSES_MAX: usize = 1000;
/// The label of Endpoints that are not mirrored.
const SKIP: &str = "endpointslice.kubernetes.io/skip-mirror";
/// The annotation of `kubectl apply`, which is not copied to slices.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The most bytes of a name that is generated from that of a Service with a dash.
const PREFIX_MAX_BYTES: usize = 253;

/// The decision about the slices that mirror an Endpoints object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mirroring {
    /// Slices to create.
    pub create: Vec<EndpointSliceDraft>,
    /// Slices to change.
    pub update: Vec<SliceUpdate>,
    /// Slices to delete.
    pub delete: Vec<Name>,
    /// Events about addresses that are not mirrored.
    pub events: Vec<Event>,
}

/// The ports and the family of a slice.
type SliceKey = (IpFamily, Vec<EndpointPort>);

/// The Service whose Endpoints a slice mirrors.
pub fn service_of(slice: &EndpointSlice) -> Option<Name> {
    let is_ours = slice.meta.labels.get(keys::SLICE_MANAGED_BY).is_some_and(|manager| manager == MANAGER);
    slice.meta.labels.get(keys::SERVICE_NAME).filter(|_| is_ours).map(|name| Name::from(name.as_str()))
}

/// Decides about the slices that mirror an Endpoints object; deletes them without it, or if it is not to be mirrored.
pub fn mirror(
    endpoints: Option<&Endpoints>,
    service: Option<&Service>,
    slices: &[&EndpointSlice],
) -> Mirroring {
    let endpoints = endpoints.filter(|endpoints| is_mirrored(endpoints));
    let (Some(endpoints), Some(_)) = (endpoints, service.filter(|service| service.selector.is_none())) else {
        let delete = slices.iter().map(|slice| slice.meta.name.clone()).collect();
        return Mirroring { delete, ..Mirroring::default() };
    };
    let mut mirroring = Mirroring::default();
    let (mut wanted, events) = wanted(endpoints);
    mirroring.events = events;
    let mut existing: BTreeMap<Option<SliceKey>, Vec<&EndpointSlice>> = BTreeMap::new();
    for slice in slices {
        existing.entry(key_of(&slice.content)).or_default().push(slice);
    }
    let mut spare = Vec::new();
    let mut missing = Vec::new();
    for (key, found) in &existing {
        let content = key.as_ref().and_then(|key| wanted.remove(key));
        let (first, rest) = (found[0], &found[1..]);
        spare.extend(rest.iter().copied());
        match content {
            Some(content) if is_right(endpoints, first, &content) => {}
            Some(content) => mirroring.update.push(update(endpoints, first, content)),
            None => spare.push(first),
        }
    }
    missing.extend(wanted.into_values());
    // A slice that would be deleted gets the content of one that would be created.
    let reused = spare.len().min(missing.len());
    for (slice, content) in spare.drain(..reused).zip(missing.drain(..reused)) {
        mirroring.update.push(update(endpoints, slice, content));
    }
    if !endpoints.meta.is_deleting() {
        mirroring.create = missing.into_iter().map(|content| draft(endpoints, content)).collect();
    }
    mirroring.delete = spare.iter().map(|slice| slice.meta.name.clone()).collect();
    mirroring
}

fn is_mirrored(endpoints: &Endpoints) -> bool {
    let is_skipped = endpoints.meta.labels.get(SKIP).is_some_and(|value| value == "true");
    !is_skipped && !endpoints.meta.annotations.contains_key(keys::LEADER)
}

/// The content of slices by family and ports, and events about addresses that are left out.
fn wanted(endpoints: &Endpoints) -> (BTreeMap<SliceKey, SliceContent>, Vec<Event>) {
    let mut wanted: BTreeMap<SliceKey, SliceContent> = BTreeMap::new();
    let (mut invalid, mut skipped) = (0, 0);
    for subset in repack(&endpoints.subsets) {
        let ports = sorted(&subset.ports);
        let mut added = 0;
        let ready = subset.ready.iter().map(|address| (address, true));
        let all = ready.chain(subset.not_ready.iter().map(|address| (address, false)));
        for (address, is_ready) in all {
            if added >= ADDRESSES_MAX {
                skipped += 1;
                continue;
            }
            let Ok(ip) = address.ip.parse::<IpAddr>() else {
                invalid += 1;
                continue;
            };
            added += 1;
            let family = if ip.is_ipv4() { IpFamily::V4 } else { IpFamily::V6 };
            let content = wanted.entry((family, ports.clone())).or_insert_with(|| SliceContent {
                family: Some(family),
                ports: subset.ports.clone(),
                endpoints: Vec::new(),
            });
            content.endpoints.push(endpoint(ip, address, is_ready));
        }
    }
    let mut events = Vec::new();
    if invalid > 0 {
        let message = format!("Skipped {invalid} invalid IP addresses when mirroring to EndpointSlices");
        events.push(Event::warning("InvalidIPAddress", message));
    }
    if skipped > 0 {
        let message = format!(
            "A max of {ADDRESSES_MAX} addresses can be mirrored to EndpointSlices per Endpoints subset. {} addresses were \
             skipped",
            skipped + invalid
        );
        events.push(Event::warning("TooManyAddressesToMirror", message));
    }
    (wanted, events)
}

fn endpoint(ip: IpAddr, address: &EndpointAddress, is_ready: bool) -> Endpoint {
    Endpoint {
        addresses: vec![ip.to_string()],
        conditions: EndpointConditions { ready: Some(is_ready), ..EndpointConditions::default() },
        hostname: address.hostname.clone(),
        node: address.node.clone(),
        zone: None,
        target: address.target.clone(),
        hints: EndpointHints::default(),
    }
}

fn key_of(content: &SliceContent) -> Option<SliceKey> {
    Some((content.family?, sorted(&content.ports)))
}

fn sorted(ports: &[EndpointPort]) -> Vec<EndpointPort> {
    let mut ports = ports.to_vec();
    ports.sort();
    ports
}

/// Whether a slice has this content, in any order, and the labels and annotations of the Endpoints.
fn is_right(endpoints: &Endpoints, slice: &EndpointSlice, content: &SliceContent) -> bool {
    let found = &slice.content.endpoints;
    found.len() == content.endpoints.len()
        && content.endpoints.iter().all(|wanted| found.contains(wanted))
        && slice.meta.labels == labels(endpoints)
        && slice.meta.annotations == annotations(endpoints)
}

fn labels(endpoints: &Endpoints) -> Labels {
    let mut labels = endpoints.meta.labels.clone();
    labels.insert(keys::SERVICE_NAME.to_owned(), endpoints.meta.name.to_string());
    labels.insert(keys::SLICE_MANAGED_BY.to_owned(), MANAGER.to_owned());
    labels
}

fn annotations(endpoints: &Endpoints) -> Annotations {
    let mut annotations = endpoints.meta.annotations.clone();
    annotations.remove(keys::LAST_CHANGE_TRIGGER_TIME);
    annotations.remove(LAST_APPLIED);
    annotations
}

fn update(endpoints: &Endpoints, slice: &EndpointSlice, content: SliceContent) -> SliceUpdate {
    SliceUpdate {
        name: slice.meta.name.clone(),
        labels: labels(endpoints),
        annotations: annotations(endpoints),
        content,
    }
}

fn draft(endpoints: &Endpoints, content: SliceContent) -> EndpointSliceDraft {
    let name = &endpoints.meta.name;
    let dash = if name.as_str().len() < PREFIX_MAX_BYTES { "-" } else { "" };
    EndpointSliceDraft {
        namespace: endpoints.meta.namespace.clone(),
        generate_name: format!("{name}{dash}"),
        owner: OwnerReference::to_controller("v1", "Endpoints", &endpoints.meta),
        labels: labels(endpoints),
        annotations: annotations(endpoints),
        content,
    }
}
