//! The records of the names of a cluster.

use std::net::IpAddr;

use super::{known, look_up, zone};
use crate::answer::Answer;
use crate::message::{RecordData, RecordType, ResponseCode};
use crate::zone::reverse;

fn addresses(name: &str, kind: RecordType) -> Vec<String> {
    let mut found: Vec<String> = (known(name, kind).answers.into_iter())
        .filter_map(|record| match record.data {
            RecordData::Address(address) => Some(address.to_string()),
            _ => None,
        })
        .collect();
    found.sort();
    found
}

#[test]
fn a_service_has_its_cluster_ips_whatever_the_case_of_letters() {
    assert_eq!(addresses("web.shop.svc.cluster.local", RecordType::A), ["10.96.0.7"]);
    assert_eq!(addresses("web.shop.svc.cluster.local", RecordType::AAAA), ["fd00::7"]);
    assert_eq!(addresses("WEB.Shop.svc.cluster.LOCAL", RecordType::A), ["10.96.0.7"]);
}

#[test]
fn a_headless_service_has_the_addresses_of_its_ready_pods_and_they_have_names() {
    assert_eq!(addresses("db.shop.svc.cluster.local", RecordType::A), ["10.1.0.1", "10.1.0.2"]);
    assert_eq!(addresses("db-0.db.shop.svc.cluster.local", RecordType::A), ["10.1.0.1"]);
    assert_eq!(addresses("10-1-0-2.db.shop.svc.cluster.local", RecordType::A), ["10.1.0.2"]);
}

#[test]
fn named_ports_are_found_with_the_addresses_of_their_targets() {
    let web = known("_http._tcp.web.shop.svc.cluster.local", RecordType::SRV);
    let target = "web.shop.svc.cluster.local".to_owned();
    assert_eq!(web.answers[0].data, RecordData::Service { port: 80, target });
    assert_eq!(web.additionals.len(), 2, "both addresses");
    let db = known("_sql._tcp.db.shop.svc.cluster.local", RecordType::SRV);
    let mut targets: Vec<String> = (db.answers.into_iter())
        .map(|record| match record.data {
            RecordData::Service { port: 5432, target } => target,
            other => panic!("{other:?}"),
        })
        .collect();
    targets.sort();
    assert_eq!(targets, ["10-1-0-2.db.shop.svc.cluster.local", "db-0.db.shop.svc.cluster.local"]);
}

#[test]
fn addresses_are_resolved_to_names() {
    let pointer = |address: &str| {
        let name = reverse(address.parse::<IpAddr>().unwrap());
        match &known(&name, RecordType::PTR).answers[0].data {
            RecordData::Pointer(name) => name.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(pointer("10.96.0.7"), "web.shop.svc.cluster.local");
    assert_eq!(pointer("fd00::7"), "web.shop.svc.cluster.local");
    assert_eq!(pointer("10.1.0.1"), "db-0.db.shop.svc.cluster.local");
    assert_eq!(look_up(&reverse("8.8.8.8".parse().unwrap()), RecordType::PTR), Answer::Foreign);
}

#[test]
fn pods_have_names_of_their_addresses() {
    assert_eq!(addresses("10-1-0-9.shop.pod.cluster.local", RecordType::A), ["10.1.0.9"]);
    assert_eq!(addresses("fd00--9.shop.pod.cluster.local", RecordType::AAAA), ["fd00::9"]);
    assert_eq!(known("web.shop.pod.cluster.local", RecordType::A).code, ResponseCode::NameError);
}

#[test]
fn an_external_name_is_an_alias_that_is_followed() {
    let Answer::Alias(response, target) = look_up("docs.shop.svc.cluster.local", RecordType::A) else {
        panic!("the target is not in the cluster")
    };
    assert_eq!(target, "docs.example.com");
    assert_eq!(response.answers[0].data, RecordData::Alias(target));
    assert_eq!(addresses("inner.shop.svc.cluster.local", RecordType::A), ["10.96.0.7"]);
    assert!(known("loop.shop.svc.cluster.local", RecordType::A).answers.len() < 20, "the loop ends");
    let alias = known("docs.shop.svc.cluster.local", RecordType::CNAME);
    assert_eq!(alias.answers.len(), 1);
}

#[test]
fn a_name_without_such_a_record_exists_and_an_unknown_one_does_not() {
    for name in ["db.shop.svc.cluster.local", "shop.svc.cluster.local", "svc.cluster.local"] {
        let none = known(name, RecordType::AAAA);
        assert_eq!(
            (none.code, none.answers.len(), none.authorities.len()),
            (ResponseCode::NoError, 0, 1),
            "{name}"
        );
    }
    let unknown = known("nothing.shop.svc.cluster.local", RecordType::A);
    assert_eq!((unknown.code, unknown.authorities.len()), (ResponseCode::NameError, 1));
}

#[test]
fn names_outside_the_cluster_domain_are_forwarded() {
    for name in ["example.com", "cluster.local.example.com", "notcluster.local"] {
        assert_eq!(look_up(name, RecordType::A), Answer::Foreign, "{name}");
    }
}

#[test]
fn the_version_of_the_specification_has_a_txt_record() {
    let version = known("dns-version.cluster.local", RecordType::TXT);
    assert_eq!(version.answers[0].data, RecordData::Text("1.1.0".to_owned()));
    assert_eq!(zone().domain, "cluster.local");
}
