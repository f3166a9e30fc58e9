//! The transactions that are written to the kernel.

use gantry_json::json;

use super::{here, ready, rules, service};
use crate::nft_tables::{NftTables, render};
use crate::ruleset::Family;
use crate::script::{Installed, transaction};

fn tables(endpoints: &[&str], affinity: &str) -> NftTables {
    let endpoints: Vec<_> = endpoints.iter().map(|address| ready(address, "here")).collect();
    render(&rules(service(&json!({"sessionAffinity": affinity})), &json!(endpoints), &here()))
}

#[test]
fn a_service_becomes_an_element_and_a_chain() {
    let tables = tables(&["10.1.0.1", "10.1.0.2"], "None");
    let table = &tables[&Family::V4];
    assert_eq!(table.sets["service-ips"].elements["10.96.0.7 . tcp . 80"], "goto cluster/shop/web/tcp/http");
    assert_eq!(
        table.chains["cluster/shop/web/tcp/http"].rules,
        ["meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.1.0.1 . 8080, 1 : 10.1.0.2 . 8080 }"]
    );
    assert_eq!(table.sets["hairpin"].elements.len(), 2);
    assert!(!tables.contains_key(&Family::V6), "no Service has an address of IPv6");
}

#[test]
fn nothing_is_written_if_nothing_changed() {
    let tables = tables(&["10.1.0.1"], "None");
    assert_eq!(transaction("t", &Installed::Known(tables.clone()), &tables), "");
}

#[test]
fn an_endpoint_that_changes_rewrites_its_chain_and_nothing_else() {
    let before = Installed::Known(tables(&["10.1.0.1"], "None"));
    let script = transaction("t", &before, &tables(&["10.1.0.2"], "None"));
    assert_eq!(
        script.lines().collect::<Vec<_>>(),
        [
            "flush chain ip t cluster/shop/web/tcp/http",
            "add rule ip t cluster/shop/web/tcp/http meta l4proto tcp dnat to 10.1.0.2:8080",
            "delete element ip t hairpin { 10.1.0.1 . 10.1.0.1 }",
            "add element ip t hairpin { 10.1.0.2 . 10.1.0.2 }",
        ]
    );
}

#[test]
fn a_service_that_loses_its_last_endpoint_is_refused_in_the_same_transaction() {
    let before = Installed::Known(tables(&["10.1.0.1"], "None"));
    let script = transaction("t", &before, &tables(&[], "None"));
    assert_eq!(
        script.lines().collect::<Vec<_>>(),
        [
            "flush chain ip t cluster/shop/web/tcp/http",
            "delete element ip t hairpin { 10.1.0.1 . 10.1.0.1 }",
            "delete element ip t service-ips { 10.96.0.7 . tcp . 80 : goto cluster/shop/web/tcp/http }",
            "add element ip t unserved-ips { 10.96.0.7 . tcp . 80 : goto refuse }",
            "delete chain ip t cluster/shop/web/tcp/http",
        ]
    );
}

#[test]
fn tables_of_another_version_are_replaced_as_a_whole() {
    let mut found = tables(&["10.1.0.1"], "None");
    let listing = json!({"nftables": [
        {"chain": {"name": "nat-output", "type": "nat", "hook": "output", "prio": -100}},
        {"chain": {"name": "services"}}, {"map": {"name": "service-ips"}}, {"set": {"name": "cluster-ips"}},
    ]});
    let parsed = crate::nft::parse(&listing);
    let same = Installed::Found([(Family::V4, parsed)].into());
    assert!(!transaction("t", &same, &tables(&["10.1.0.1"], "None")).contains("delete table"));
    found.get_mut(&Family::V4).unwrap().chains.get_mut("nat-output").unwrap().hook =
        "type nat hook output priority -90;".to_owned();
    let script = transaction("t", &Installed::Found(found), &tables(&["10.1.0.1"], "None"));
    assert!(script.starts_with("add table ip t\ndelete table ip t\n"), "{script}");
}

#[test]
fn client_affinity_survives_a_restart_of_the_agent() {
    let found = Installed::Found(tables(&["10.1.0.1"], "ClientIP"));
    let script = transaction("t", &found, &tables(&["10.1.0.1", "10.1.0.2"], "ClientIP"));
    let clients = "clients/shop/web/tcp/http/10.1.0.1/8080";
    let is_about = |line: &&str| line.contains(clients) && !line.starts_with("add rule");
    assert_eq!(script.lines().filter(is_about).count(), 0, "{script}");
    assert!(script.starts_with("flush chain ip t cluster/shop/web/tcp/http\n"), "{script}");
}
