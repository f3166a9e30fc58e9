//! The routes of connections.

use std::net::IpAddr;

use gantry_json::{Value, json};

use super::{here, ready, rules, service, terminating};
use crate::port_spec::{Protocol, TrafficPolicy};
use crate::ruleset::{External, Family, GroupId, Route, Ruleset};

const PORT: &str = "shop/web/tcp/http";

fn group(is_local: bool) -> GroupId {
    GroupId { family: Family::V4, is_local, port: PORT.to_owned() }
}

/// The route of the cluster IP.
fn internal(rules: &Ruleset) -> &Route {
    &rules.destinations[&("10.96.0.7".parse::<IpAddr>().unwrap(), Protocol::Tcp, 80)]
}

fn node_port(rules: &Ruleset) -> &Route {
    &rules.node_ports[&(Family::V4, Protocol::Tcp, 30080)]
}

fn endpoints(rules: &Ruleset, is_local: bool) -> Vec<String> {
    rules.groups[&group(is_local)].endpoints.iter().map(ToString::to_string).collect()
}

fn with_node_port(policy: &str) -> Value {
    json!({
        "type": "NodePort", "externalTrafficPolicy": policy,
        "ports": [{"name": "http", "port": 80, "nodePort": 30080, "protocol": "TCP"}],
    })
}

#[test]
fn a_cluster_ip_leads_to_the_ready_endpoints_of_all_nodes() {
    let rules = rules(
        service(&json!({})),
        &json!([ready("10.1.0.1", "here"), terminating("10.1.0.2", "here"), ready("10.1.0.3", "there")]),
        &here(),
    );
    assert_eq!(internal(&rules), &Route::Group(group(false)));
    assert_eq!(endpoints(&rules, false), ["10.1.0.1:8080", "10.1.0.3:8080"]);
}

#[test]
fn endpoints_that_are_being_deleted_serve_if_there_are_no_others() {
    let leaving = json!([terminating("10.1.0.1", "here"), terminating("10.1.0.2", "there")]);
    let rules = rules(service(&json!({})), &leaving, &here());
    assert_eq!(endpoints(&rules, false), ["10.1.0.1:8080", "10.1.0.2:8080"]);
}

#[test]
fn an_endpoint_that_does_not_serve_any_more_gets_nothing() {
    let gone = json!([{"addresses": ["10.1.0.1"], "conditions": {"ready": false, "serving": false, "terminating": true}}]);
    assert_eq!(internal(&rules(service(&json!({})), &gone, &here())), &Route::Reject);
}

#[test]
fn an_endpoint_without_conditions_is_ready() {
    let rules = rules(service(&json!({})), &json!([{"addresses": ["10.1.0.1"]}]), &here());
    assert_eq!(endpoints(&rules, false), ["10.1.0.1:8080"]);
}

#[test]
fn a_service_without_endpoints_rejects_connections() {
    let rules = rules(service(&with_node_port("Cluster")), &json!([]), &here());
    assert_eq!((internal(&rules), node_port(&rules)), (&Route::Reject, &Route::Reject));
    assert!(rules.groups.is_empty());
}

#[test]
fn headless_services_aliases_and_those_of_another_proxy_are_ignored() {
    assert!(service(&json!({"clusterIP": "None", "clusterIPs": ["None"]})).is_empty());
    assert!(service(&json!({"type": "ExternalName", "clusterIP": "", "clusterIPs": []})).is_empty());
    let labels = json!({"service.kubernetes.io/service-proxy-name": "other"});
    let object = json!({
        "metadata": {"name": "web", "namespace": "shop", "labels": labels},
        "spec": {"clusterIP": "10.96.0.7", "ports": [{"port": 80}]},
    });
    assert!(crate::port_spec::PortSpec::of(&gantry_json::from_value(object).unwrap()).is_empty());
}

#[test]
fn the_internal_policy_local_keeps_connections_on_the_node_and_drops_them_if_it_has_no_endpoint() {
    let local = json!({"internalTrafficPolicy": "Local"});
    let both = json!([ready("10.1.0.1", "here"), ready("10.1.0.2", "there")]);
    let rules_here = rules(service(&local), &both, &here());
    assert_eq!(internal(&rules_here), &Route::Group(group(true)));
    assert_eq!(endpoints(&rules_here, true), ["10.1.0.1:8080"]);
    let elsewhere = rules(service(&local), &json!([ready("10.1.0.2", "there")]), &here());
    assert_eq!(internal(&elsewhere), &Route::Drop);
    let nowhere = rules(service(&local), &json!([]), &here());
    assert_eq!(internal(&nowhere), &Route::Reject);
}

#[test]
fn a_node_port_leads_to_all_endpoints_with_the_address_of_the_node() {
    let rules = rules(service(&with_node_port("Cluster")), &json!([ready("10.1.0.2", "there")]), &here());
    let expected = External {
        port: PORT.to_owned(),
        sources: vec![],
        policy: TrafficPolicy::Cluster,
        masqueraded: Some(group(false)),
        local: None,
    };
    assert_eq!(node_port(&rules), &Route::External(expected));
}

#[test]
fn the_external_policy_local_keeps_the_address_of_clients_and_lets_the_node_itself_reach_all() {
    let both = json!([ready("10.1.0.1", "here"), ready("10.1.0.2", "there")]);
    let rules_here = rules(service(&with_node_port("Local")), &both, &here());
    let external = |local| External {
        port: PORT.to_owned(),
        sources: vec![],
        policy: TrafficPolicy::Local,
        masqueraded: Some(group(false)),
        local,
    };
    assert_eq!(node_port(&rules_here), &Route::External(external(Some(group(true)))));
    assert_eq!(endpoints(&rules_here, true), ["10.1.0.1:8080"]);
    let elsewhere = rules(service(&with_node_port("Local")), &json!([ready("10.1.0.2", "there")]), &here());
    assert_eq!(node_port(&elsewhere), &Route::External(external(None)));
}

#[test]
fn with_the_external_policy_local_endpoints_that_are_being_deleted_serve_if_the_node_has_no_others() {
    let endpoints_of = json!([terminating("10.1.0.1", "here"), ready("10.1.0.2", "there")]);
    let rules = rules(service(&with_node_port("Local")), &endpoints_of, &here());
    assert_eq!(endpoints(&rules, true), ["10.1.0.1:8080"]);
    assert_eq!(endpoints(&rules, false), ["10.1.0.2:8080"]);
}

#[test]
fn client_affinity_lasts_three_hours_unless_the_service_sets_a_timeout() {
    let seconds = |changes: Value| {
        let rules = rules(service(&changes), &json!([ready("10.1.0.1", "here")]), &here());
        rules.groups[&group(false)].affinity.map(|timeout| timeout.as_secs())
    };
    assert_eq!(seconds(json!({})), None);
    assert_eq!(seconds(json!({"sessionAffinity": "ClientIP"})), Some(10_800));
    let config = json!({"clientIP": {"timeoutSeconds": 30}});
    assert_eq!(seconds(json!({"sessionAffinity": "ClientIP", "sessionAffinityConfig": config})), Some(30));
}

#[test]
fn hints_keep_connections_in_the_zone_if_all_endpoints_have_them() {
    let hinted = |address: &str, zone: &str| {
        let mut endpoint = ready(address, "there");
        endpoint["hints"] = json!({"forZones": [{"name": zone}]});
        endpoint
    };
    let (east, west) = (hinted("10.1.0.1", "east"), hinted("10.1.0.2", "west"));
    let all = rules(service(&json!({})), &json!([east, west]), &here());
    assert_eq!(endpoints(&all, false), ["10.1.0.1:8080"]);
    let some = rules(service(&json!({})), &json!([east, west, ready("10.1.0.3", "there")]), &here());
    assert_eq!(endpoints(&some, false).len(), 3);
    let elsewhere = rules(service(&json!({})), &json!([west]), &here());
    assert_eq!(endpoints(&elsewhere, false), ["10.1.0.2:8080"]);
}

#[test]
fn a_pod_that_the_node_is_stopping_gets_no_connections_before_its_slice_changes() {
    let both = json!([ready("10.1.0.1", "here"), ready("10.1.0.2", "here")]);
    let mut node = here();
    node.stopping.insert("uid-10.1.0.1".to_owned());
    let one = rules(service(&json!({})), &both, &node);
    assert_eq!(endpoints(&one, false), ["10.1.0.2:8080"]);
    node.stopping.insert("uid-10.1.0.2".to_owned());
    let neither = rules(service(&json!({})), &both, &node);
    assert_eq!(endpoints(&neither, false).len(), 2, "both still serve, and there are no others");
}

#[test]
fn a_service_of_the_node_itself_leads_to_the_node_regardless_of_endpoints() {
    let mut node = here();
    let own = ("shop".to_owned(), "web".to_owned());
    node.own_services.insert(own, "127.0.0.1:10053".parse().unwrap());
    let rules = rules(service(&json!({})), &json!([ready("10.1.0.2", "there")]), &node);
    assert_eq!(endpoints(&rules, false), ["127.0.0.1:10053"]);
    assert!(rules.uses_loopback());
}

#[test]
fn a_load_balancer_is_limited_to_its_source_ranges_and_other_addresses_are_not() {
    let object = json!({
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "type": "LoadBalancer", "clusterIP": "10.96.0.7", "externalIPs": ["192.0.2.9"],
            "loadBalancerSourceRanges": ["198.51.100.0/24"], "ports": [{"name": "http", "port": 80}],
        },
        "status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.1"}, {"ip": "203.0.113.2", "ipMode": "Proxy"}]}},
    });
    let ports = crate::port_spec::PortSpec::of(&gantry_json::from_value(object).unwrap());
    let rules = rules(ports, &json!([ready("10.1.0.1", "here")]), &here());
    let sources = |address: &str| match rules.destinations.get(&(address.parse().unwrap(), Protocol::Tcp, 80))
    {
        Some(Route::External(external)) => Some(external.sources.len()),
        _ => None,
    };
    assert_eq!(
        [sources("192.0.2.9"), sources("203.0.113.1"), sources("203.0.113.2")],
        [Some(0), Some(1), None]
    );
}

#[test]
fn a_port_leads_to_endpoints_of_the_same_port_name_and_protocol() {
    let dns = json!({"ports": [{"name": "http", "port": 80, "protocol": "UDP"}]});
    let rules = rules(service(&dns), &json!([ready("10.1.0.1", "here")]), &here());
    assert!(rules.groups.is_empty(), "the slice has http over TCP only");
}
