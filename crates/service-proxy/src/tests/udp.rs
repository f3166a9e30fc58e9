//! UDP flows follow their Service.

use gantry_json::{Value, json};

use super::{here, service};
use crate::ruleset::Ruleset;
use crate::udp_flows;
use crate::udp_routes::UdpRoutes;

fn routes(endpoints: &Value) -> UdpRoutes {
    let slice = json!({
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "s1"}, "addressType": "IPv4",
        "ports": [{"name": "dns", "port": 5353, "protocol": "UDP"}], "endpoints": endpoints,
    });
    let slice = gantry_model::EndpointSlice::parse(gantry_json::from_value(slice).unwrap()).unwrap();
    let ports =
        service(&json!({"ports": [{"name": "dns", "port": 53, "nodePort": 30053, "protocol": "UDP"}]}));
    UdpRoutes::of(&Ruleset::compute(ports.into_iter().map(|port| (port, vec![&slice])), &here()))
}

fn is_stale(routes: &UdpRoutes, sent_to: &str, reply_from: &str) -> bool {
    routes.is_stale(sent_to.parse().unwrap(), reply_from.parse().unwrap())
}

#[test]
fn a_flow_is_stale_without_an_existing_endpoint() {
    let one = routes(&json!([super::ready("10.1.0.1", "here")]));
    assert!(!is_stale(&one, "10.96.0.7:53", "10.1.0.1:5353"));
    assert!(is_stale(&one, "10.96.0.7:53", "10.1.0.2:5353"), "the endpoint was removed");
    assert!(is_stale(&one, "10.96.0.7:53", "10.96.0.7:53"), "it was sent when there was no endpoint");
    assert!(is_stale(&one, "192.0.2.1:30053", "10.1.0.2:5353"), "a node port");
    assert!(!is_stale(&one, "8.8.8.8:53", "8.8.8.8:53"), "not an address of a Service");
    let none = routes(&json!([]));
    assert!(is_stale(&none, "10.96.0.7:53", "10.1.0.1:5353"));
}

#[test]
fn an_endpoint_that_is_being_deleted_keeps_its_flows_while_it_serves() {
    let both = json!([super::ready("10.1.0.1", "here"), super::terminating("10.1.0.2", "here")]);
    assert!(!is_stale(&routes(&both), "10.96.0.7:53", "10.1.0.2:5353"));
}

#[test]
fn a_flow_of_the_kernels_list_is_parsed() {
    let attribute = |kind: u16, value: &[u8]| {
        let mut out = u16::try_from(value.len() + 4).unwrap().to_ne_bytes().to_vec();
        out.extend(kind.to_ne_bytes());
        out.extend(value);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    };
    let tuple = |kind: u16, source: [u8; 4], from: u16, destination: [u8; 4], to: u16| {
        let ip = attribute(0x8001, &[attribute(1, &source), attribute(2, &destination)].concat());
        let ports = [attribute(1, &[17]), attribute(2, &from.to_be_bytes()), attribute(3, &to.to_be_bytes())];
        attribute(0x8000 | kind, &[ip, attribute(0x8002, &ports.concat())].concat())
    };
    let sent = tuple(1, [10, 1, 0, 9], 4000, [10, 96, 0, 7], 53);
    let back = tuple(2, [10, 1, 0, 1], 5353, [10, 1, 0, 9], 4000);
    let flow = udp_flows::parse(&[vec![2, 0, 0, 0], sent, back].concat()).unwrap();
    assert_eq!(
        (flow.sent_to, flow.reply_from),
        ("10.96.0.7:53".parse().unwrap(), "10.1.0.1:5353".parse().unwrap())
    );
    assert_eq!(udp_flows::parse(&[2, 0, 0, 0, 9]), None);
}
