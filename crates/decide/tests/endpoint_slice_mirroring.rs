//! Mirroring: Endpoints that are written by hand, and their slices.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use gantry_decide::endpoint_slice_mirroring::{MANAGER, Mirroring, mirror, service_of};
use gantry_model::{
    ClusterIp, EndpointAddress, EndpointPort, EndpointSlice, EndpointSubset, Endpoints, IpFamily, Service,
    TrafficDistribution, keys,
};
use gantry_testkit::{meta, selector};

fn service() -> Service {
    Service {
        meta: meta("web"),
        selector: None,
        is_external_name: false,
        cluster_ip: ClusterIp::Address("10.96.0.7".to_owned()),
        families: vec![IpFamily::V4],
        publish_not_ready: false,
        ports: Vec::new(),
        traffic: TrafficDistribution::Anywhere,
    }
}

fn address(ip: &str) -> EndpointAddress {
    EndpointAddress { ip: ip.to_owned(), hostname: None, node: None, target: None }
}

fn by_hand(ready: &[&str], not_ready: &[&str]) -> Endpoints {
    let port =
        EndpointPort { name: String::new(), port: Some(80), protocol: "TCP".to_owned(), app_protocol: None };
    let addresses = |all: &[&str]| all.iter().map(|ip| address(ip)).collect();
    let subset =
        EndpointSubset { ready: addresses(ready), not_ready: addresses(not_ready), ports: vec![port] };
    Endpoints { meta: meta("web"), subsets: vec![subset] }
}

fn decided(endpoints: &Endpoints, slices: &[EndpointSlice]) -> Mirroring {
    let slices: Vec<&EndpointSlice> = slices.iter().collect();
    mirror(Some(endpoints), Some(&service()), &slices)
}

/// The slices as the server would store them.
fn stored(mirroring: &Mirroring) -> Vec<EndpointSlice> {
    let slice = |(index, draft): (usize, &gantry_model::EndpointSliceDraft)| {
        let mut meta = meta(&format!("web-{index}"));
        meta.labels = draft.labels.clone();
        meta.annotations = draft.annotations.clone();
        EndpointSlice { meta, content: draft.content.clone() }
    };
    mirroring.create.iter().enumerate().map(slice).collect()
}

#[test]
fn addresses_of_each_family_get_a_slice_with_their_readiness() {
    let mirroring = decided(&by_hand(&["10.1.0.1", "fd00::1"], &["10.1.0.2"]), &[]);
    let slices = stored(&mirroring);
    assert_eq!(slices.len(), 2);
    assert!(slices.iter().all(|slice| service_of(slice).is_some_and(|name| name.as_str() == "web")));
    let first = &slices[0].content;
    assert_eq!(first.family, Some(IpFamily::V4));
    let shown: Vec<_> =
        first.endpoints.iter().map(|one| (&*one.addresses[0], one.conditions.ready)).collect();
    assert_eq!(shown, [("10.1.0.1", Some(true)), ("10.1.0.2", Some(false))]);
    assert_eq!(mirroring.create[0].owner.kind, "Endpoints");
    assert_eq!(mirroring.create[0].generate_name, "web-");
}

#[test]
fn only_changed_slices_are_written() {
    let endpoints = by_hand(&["10.1.0.1"], &[]);
    let slices = stored(&decided(&endpoints, &[]));
    assert_eq!(decided(&endpoints, &slices), Mirroring::default());
    let grown = decided(&by_hand(&["10.1.0.1", "10.1.0.2"], &[]), &slices);
    assert_eq!((grown.create.len(), grown.update.len(), grown.delete.len()), (0, 1, 0));
    let mut labelled = endpoints.clone();
    labelled.meta.labels.insert("a".to_owned(), "b".to_owned());
    labelled.meta.annotations.insert(keys::LAST_CHANGE_TRIGGER_TIME.to_owned(), "now".to_owned());
    let update = &decided(&labelled, &slices).update[0];
    assert_eq!(update.labels["a"], "b");
    assert_eq!(update.labels[keys::SLICE_MANAGED_BY], MANAGER);
    assert!(update.annotations.is_empty());
}

#[test]
fn slices_are_deleted_with_their_endpoints_and_when_a_selector_is_added() {
    let endpoints = by_hand(&["10.1.0.1"], &[]);
    let slices = stored(&decided(&endpoints, &[]));
    let slices: Vec<&EndpointSlice> = slices.iter().collect();
    let with_selector = Service { selector: Some(selector(&[("app", "web")])), ..service() };
    let mut skipped = endpoints.clone();
    skipped.meta.labels.insert("endpointslice.kubernetes.io/skip-mirror".to_owned(), "true".to_owned());
    let mut leader = endpoints.clone();
    leader.meta.annotations.insert(keys::LEADER.to_owned(), "{}".to_owned());
    let service = service();
    for (endpoints, service) in [
        (None, Some(&service)),
        (Some(&endpoints), None),
        (Some(&endpoints), Some(&with_selector)),
        (Some(&skipped), Some(&service)),
        (Some(&leader), Some(&service)),
    ] {
        let mirroring = mirror(endpoints, service, &slices);
        assert_eq!((mirroring.delete.len(), mirroring.create.len()), (1, 0));
    }
}

#[test]
fn skipped_addresses_are_reported_by_an_event() {
    let many: Vec<String> = (0..1001).map(|nth| format!("10.{}.{}.1", nth / 200, nth % 200)).collect();
    let mut all: Vec<&str> = many.iter().map(String::as_str).collect();
    all.push("nonsense");
    let mirroring = decided(&by_hand(&all, &[]), &[]);
    assert_eq!(mirroring.create[0].content.endpoints.len(), 1000);
    let reasons: Vec<_> = mirroring.events.iter().map(|event| event.reason).collect();
    assert_eq!(reasons, ["TooManyAddressesToMirror"], "the invalid address is after the thousandth");
    let wrong = decided(&by_hand(&["nonsense", "10.0.0.1"], &[]), &[]);
    assert_eq!(wrong.events[0].message, "Skipped 1 invalid IP addresses when mirroring to EndpointSlices");
}

/// Kubernetes replaces the content of a slice whose ports are gone instead of deleting it and creating another.
#[test]
fn a_slice_of_other_ports_is_reused() {
    let endpoints = by_hand(&["10.1.0.1"], &[]);
    let slices = stored(&decided(&endpoints, &[]));
    let mut other = endpoints;
    other.subsets[0].ports[0].port = Some(81);
    let mirroring = decided(&other, &slices);
    assert_eq!((mirroring.create.len(), mirroring.update.len(), mirroring.delete.len()), (0, 1, 0));
    assert_eq!(mirroring.update[0].content.ports[0].port, Some(81));
}
