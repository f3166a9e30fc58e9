//! EndpointSlices: which endpoint is put into which slice, and which slices are written.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;

use gantry_decide::endpoint_slices::{Decision, MANAGER, Observed, decide};
use gantry_decide::services::TriggerTimes;
use gantry_model::{
    ClusterIp, EndpointSlice, IpFamily, Name, Pod, PodNetwork, Service, ServicePort, SliceContent,
    TargetPort, TrafficDistribution, keys,
};
use gantry_testkit::{NOON, PodBuilder as _, labels, meta, noon_plus, pod, selector};

fn service() -> Service {
    Service {
        meta: meta("web"),
        selector: Some(selector(&[("app", "web")])),
        is_external_name: false,
        cluster_ip: ClusterIp::Address("10.96.0.7".to_owned()),
        families: vec![IpFamily::V4],
        publish_not_ready: false,
        ports: vec![ServicePort {
            name: String::new(),
            protocol: "TCP".to_owned(),
            app_protocol: None,
            target: TargetPort::Number(8080),
        }],
        traffic: TrafficDistribution::Anywhere,
    }
}

/// A ready pod with an address of its own.
fn endpoint(nth: usize) -> Pod {
    let ips = vec![format!("10.0.{}.{}", nth / 250, nth % 250 + 1)];
    Pod {
        network: PodNetwork { ips, ..PodNetwork::default() },
        ..pod(&format!("web-{nth:04}")).on("node").ready()
    }
}

fn endpoints(range: std::ops::Range<usize>) -> Vec<Pod> {
    range.map(endpoint).collect()
}

/// A slice as the server would store it after these pods were its endpoints.
fn slice(name: &str, pods: &[Pod]) -> EndpointSlice {
    let decision = decided(&service(), pods, &[]);
    let draft = decision.create.into_iter().next().unwrap();
    let mut meta = meta(name);
    meta.labels = draft.labels;
    meta.owners = vec![draft.owner];
    EndpointSlice { meta, content: draft.content }
}

fn decided(service: &Service, pods: &[Pod], slices: &[EndpointSlice]) -> Decision {
    let pods: Vec<&Pod> = pods.iter().collect();
    let slices: Vec<&EndpointSlice> = slices.iter().collect();
    let zones = BTreeMap::from([(Name::from("node"), None)]);
    decide(&Observed { service, pods: &pods, zones: &zones, slices: &slices, triggered: None })
}

/// The sizes of created, and the names and sizes of updated and deleted slices.
fn summary(decision: &Decision) -> String {
    let size = |content: &SliceContent| content.endpoints.len();
    let create: Vec<_> = decision.create.iter().map(|draft| format!("+{}", size(&draft.content))).collect();
    let update = decision.update.iter().map(|update| format!("{}={}", update.name, size(&update.content)));
    let delete = decision.delete.iter().map(|name| format!("-{name}"));
    create.into_iter().chain(update).chain(delete).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_slice_holds_a_hundred_endpoints() {
    assert_eq!(summary(&decided(&service(), &endpoints(0..250), &[])), "+100 +100 +50");
}

#[test]
fn a_service_without_endpoints_has_one_empty_slice_that_is_used_for_the_first_endpoints() {
    let first = decided(&service(), &[], &[]);
    assert_eq!(summary(&first), "+0");
    assert!(first.create[0].content.ports.is_empty());
    let placeholder = slice("web-a", &[]);
    assert_eq!(summary(&decided(&service(), &[], std::slice::from_ref(&placeholder))), "");
    assert_eq!(summary(&decided(&service(), &endpoints(0..2), &[placeholder])), "web-a=2");
    assert_eq!(summary(&decided(&service(), &[], &[slice("web-a", &endpoints(0..2))])), "web-a=0");
}

#[test]
fn few_new_endpoints_are_added_to_the_fullest_slice_with_capacity_for_all() {
    let slices = [
        slice("web-a", &endpoints(0..40)),
        slice("web-b", &endpoints(40..130)),
        slice("web-c", &endpoints(130..229)),
    ];
    assert_eq!(summary(&decided(&service(), &endpoints(0..232), &slices)), "web-b=93");
    assert_eq!(summary(&decided(&service(), &endpoints(0..270), &slices)), "web-a=81");
    let many = decided(&service(), &endpoints(0..310), &slices);
    assert_eq!(summary(&many), "+81", "no slice has room for all, and none is filled partly");
}

#[test]
fn slices_that_change_anyway_are_filled_up_first() {
    let slices = [slice("web-a", &endpoints(0..100)), slice("web-b", &endpoints(100..150))];
    let pods: Vec<Pod> = endpoints(1..150).into_iter().chain(endpoints(200..203)).collect();
    let decision = decided(&service(), &pods, &slices);
    assert_eq!(summary(&decision), "web-a=100 web-b=52", "the remaining two are added where there is room");
}

#[test]
fn slices_are_not_merged_and_empty_ones_are_deleted() {
    let slices = [slice("web-a", &endpoints(0..100)), slice("web-b", &endpoints(100..150))];
    assert_eq!(summary(&decided(&service(), &endpoints(90..110), &slices)), "web-a=10 web-b=10");
    assert_eq!(summary(&decided(&service(), &endpoints(0..100), &slices)), "-web-b");
}

/// They are about to be collected: no endpoint of the new Service is added to them.
#[test]
fn slices_of_an_earlier_service_of_the_name_are_deleted_and_not_reused() {
    let mut old = slice("web-a", &endpoints(0..1));
    old.meta.owners[0].uid = "an-earlier-one".into();
    assert_eq!(summary(&decided(&service(), &endpoints(0..1), &[old])), "+1 -web-a");
}

#[test]
fn slices_of_a_removed_address_family_are_deleted() {
    let mut other = slice("web-six", &endpoints(0..1));
    other.content.family = Some(IpFamily::V6);
    let kept = slice("web-four", &endpoints(0..1));
    assert_eq!(summary(&decided(&service(), &endpoints(0..1), &[kept, other])), "-web-six");
}

#[test]
fn a_service_of_two_families_has_slices_of_both() {
    let mut pod = endpoint(0);
    pod.network.ips.push("fd00::1".to_owned());
    let both = Service { families: vec![IpFamily::V4, IpFamily::V6], ..service() };
    let decision = decided(&both, &[pod], &[]);
    let addresses: Vec<_> =
        decision.create.iter().map(|draft| draft.content.endpoints[0].addresses[0].as_str()).collect();
    assert_eq!(addresses, ["10.0.0.1", "fd00::1"]);
}

#[test]
fn nothing_is_created_for_a_deleted_service() {
    let mut going = service();
    going.meta.deleting = Some(NOON);
    assert_eq!(decided(&going, &endpoints(0..3), &[]), Decision::default());
}

#[test]
fn labels_of_the_service_are_copied_except_those_of_ownership() {
    let mut labelled = service();
    labelled.meta.labels = labels(&[("team", "red"), (keys::SERVICE_NAME, "other")]);
    let slices = [slice("web-a", &endpoints(0..1))];
    let decision = decided(&labelled, &endpoints(0..1), &slices);
    let expected = labels(&[("team", "red"), (keys::SERVICE_NAME, "web"), (keys::SLICE_MANAGED_BY, MANAGER)]);
    assert_eq!(decision.update[0].labels, expected);
}

/// The oldest new time: at first that of the Service, then those of pods.
#[test]
fn a_change_is_dated_by_the_first_pod_that_changed_since() {
    let mut times = TriggerTimes::default();
    let at = |pod: Pod, seconds| Pod { readiness_changed: Some(noon_plus(seconds)), ..pod };
    let (a, b) = (at(endpoint(0), 3), at(endpoint(1), 5));
    assert_eq!(times.observe(&service(), &[&a]), Some(NOON), "the Service is new");
    assert_eq!(times.observe(&service(), &[&a]), None, "nothing is new");
    assert_eq!(times.observe(&service(), &[&at(endpoint(0), 7), &b]), Some(noon_plus(5)), "the older of two");
    assert_eq!(times.observe(&service(), &[&b]), None, "a deleted pod has no time");
    times.forget(&service().meta.key());
    assert_eq!(times.observe(&service(), &[&b]), Some(NOON));
}
