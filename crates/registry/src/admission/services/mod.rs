//! Addresses and ports of services: which a service has for itself alone, and which it is given.
//!
//! `complete` settles what follows from the service and from what it was before; `allot` chooses what is still
//! missing. What a service holds is its [`claims`]; whoever stores it makes sure that nobody else holds them.

mod choice;
mod families;
mod ranges;

use std::collections::BTreeSet;
use std::fmt;
use std::net::Ipv4Addr;

use serde_json::{Value, json};

use crate::FieldError;
use crate::defaults::setting::{Object, each, ensure, is_empty, object, text};
use choice::Choice;

pub use ranges::{AddressRange, NotARange, ServiceRanges};

/// Something that only one service can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// An address inside the cluster.
    Address(Ipv4Addr),
    /// A port of every node.
    Port(u16),
}

/// Why a service gets no addresses.
#[derive(Clone, Debug, PartialEq)]
pub enum NotAllotted {
    /// It asks for something that it cannot have.
    Wrong(FieldError),
    /// Nothing is left to give, or a port for health checks cannot be had, in the words of Kubernetes.
    Failed(String),
}

/// Whether a service is given something for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allotment {
    /// The service is about to be stored.
    Real,
    /// The service is not stored. As on Kubernetes its numbers are placeholders, addresses that it names may be taken and
    /// ports that it names may be out of range.
    DryRun,
}

/// What a service holds.
pub fn claims(service: &Value) -> BTreeSet<Claim> {
    let spec = &service["spec"];
    if !has_address(text_of(spec, "type")) {
        return BTreeSet::new();
    }
    let address = text_of(spec, "clusterIP").parse().ok().map(Claim::Address);
    let ports = spec["ports"].as_array().into_iter().flatten().map(|port| &port["nodePort"]);
    let ports = ports.chain([&spec["healthCheckNodePort"]]);
    let ports = ports.filter_map(Value::as_u64).filter_map(|port| u16::try_from(port).ok());
    address.into_iter().chain(ports.filter(|port| *port != 0).map(Claim::Port)).collect()
}

/// Settles what follows from the service itself, and keeps what it was given before.
pub(crate) fn complete(service: &mut Value, stored: Option<&Value>) {
    let Some(spec) = object(service).and_then(|service| ensure(service, "spec")) else { return };
    if let Some(stored) = stored {
        let before = &stored["spec"];
        keep_addresses(spec, before);
        keep_ports(spec, before);
        drop_leftovers(spec, before);
    }
    let address = text(spec, "clusterIP").to_owned();
    if !address.is_empty() && is_empty(spec, "clusterIPs") {
        spec.insert("clusterIPs".to_owned(), json!([address]));
    }
    if has_address(text(spec, "type")) {
        families::choose(spec);
    }
}

/// Gives a service the addresses and ports that it lacks, none of them taken.
///
/// What it names itself must be within the ranges and not taken by others. The choice depends on the uid alone, so that
/// two services rarely want the same. An address that a service has is not its to change, which validation says.
pub fn allot(
    ranges: &ServiceRanges,
    stored: Option<&Value>,
    service: &mut Value,
    taken: &BTreeSet<Claim>,
    allotment: Allotment,
) -> Result<(), NotAllotted> {
    let uid = service["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    let held = stored.map(claims).unwrap_or_default();
    let taken: BTreeSet<Claim> = taken.difference(&held).copied().collect();
    let Some(spec) = object(service).and_then(|service| ensure(service, "spec")) else { return Ok(()) };
    if !has_address(text(spec, "type")) {
        return Ok(());
    }
    let choice = Choice { ranges, uid: &uid, taken: &taken, held: &held, allotment };
    let had_address = stored.is_some_and(|stored| has_address(text_of(&stored["spec"], "type")));
    if !had_address {
        choice.address(spec)?;
    }
    choice.ports(spec, stored.is_some())
}

/// All but aliases of names elsewhere.
fn has_address(service_type: &str) -> bool {
    matches!(service_type, "ClusterIP" | "NodePort" | "LoadBalancer")
}

fn has_node_ports(spec: &Value) -> bool {
    match text_of(spec, "type") {
        "NodePort" => true,
        "LoadBalancer" => spec["allocateLoadBalancerNodePorts"] != json!(false),
        _ => false,
    }
}

/// Whoever leaves out the address means the one that the service has.
fn keep_addresses(spec: &mut Object, before: &Value) {
    if !has_address(text_of(before, "type")) || !has_address(text(spec, "type")) {
        return;
    }
    if text(spec, "clusterIP").is_empty() && before["clusterIP"].is_string() {
        spec.insert("clusterIP".to_owned(), before["clusterIP"].clone());
    }
    let has_other = text(spec, "clusterIP") != text_of(before, "clusterIP");
    if has_other && spec.get("clusterIPs") == before.get("clusterIPs") {
        // A change of the first address that leaves the list as it was makes it the only one.
        spec.insert("clusterIPs".to_owned(), json!([text(spec, "clusterIP")]));
    }
    if is_empty(spec, "clusterIPs") && spec.get("clusterIP") == before.get("clusterIP") {
        spec.insert("clusterIPs".to_owned(), before["clusterIPs"].clone());
    }
    for field in ["ipFamilies", "ipFamilyPolicy"] {
        if is_empty(spec, field) && !before[field].is_null() {
            spec.insert(field.to_owned(), before[field].clone());
        }
    }
}

/// Whoever leaves out the port of a node means the one that the same port had.
fn keep_ports(spec: &mut Object, before: &Value) {
    if !has_node_ports(before) || !has_node_ports(&Value::Object(spec.clone())) {
        return;
    }
    let port_before = |port: &Object| {
        let mut ports = before["ports"].as_array().into_iter().flatten();
        let same = |other: &&Value| {
            ["port", "protocol"].iter().all(|field| Some(&other[*field]) == port.get(*field))
        };
        ports.find(same).map(|other| other["nodePort"].clone()).filter(|number| !is_zero(Some(number)))
    };
    let mut used: Vec<Value> = each(spec, "ports").filter_map(|port| port.get("nodePort").cloned()).collect();
    for port in each(spec, "ports").filter(|port| is_zero(port.get("nodePort"))) {
        if let Some(number) = port_before(port).filter(|number| !used.contains(number)) {
            used.push(number.clone());
            port.insert("nodePort".to_owned(), number);
        }
    }
    let health = &before["healthCheckNodePort"];
    if is_zero(spec.get("healthCheckNodePort")) && !is_zero(Some(health)) {
        spec.insert("healthCheckNodePort".to_owned(), health.clone());
    }
}

/// What the service was given for being of another sort goes with that, unless somebody changed it.
fn drop_leftovers(spec: &mut Object, before: &Value) {
    let after = Value::Object(spec.clone());
    if has_address(text_of(before, "type")) && !has_address(text_of(&after, "type")) {
        for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"] {
            if before[field] == after[field] {
                spec.remove(field);
            }
        }
    }
    if has_node_ports(before) && !has_node_ports(&after) {
        let old: Vec<&Value> =
            before["ports"].as_array().into_iter().flatten().map(|port| &port["nodePort"]).collect();
        for port in each(spec, "ports") {
            if port.get("nodePort").is_some_and(|number| old.contains(&number)) {
                port.remove("nodePort");
            }
        }
    }
    let balanced = |spec: &Value| text_of(spec, "type") == "LoadBalancer";
    if balanced(before) && !balanced(&after) {
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"] {
            if before[field] == after[field] {
                spec.remove(field);
            }
        }
    }
    let outside = |spec: &Value| {
        matches!(text_of(spec, "type"), "NodePort" | "LoadBalancer")
            || spec["externalIPs"].as_array().is_some_and(|list| !list.is_empty())
    };
    let field = "externalTrafficPolicy";
    if outside(before) && !outside(&after) && before[field] == after[field] {
        spec.remove(field);
    }
}

fn is_zero(number: Option<&Value>) -> bool {
    number.and_then(Value::as_i64).unwrap_or(0) == 0
}

fn text_of<'a>(spec: &'a Value, field: &str) -> &'a str {
    spec[field].as_str().unwrap_or("")
}

impl fmt::Display for Claim {
    /// A path: `serviceips/10.96.0.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(f, "serviceips/{address}"),
            Self::Port(port) => write!(f, "servicenodeports/{port}"),
        }
    }
}

impl Claim {
    /// Reads what is displayed.
    pub fn parse(text: &str) -> Option<Self> {
        let (sort, which) = text.split_once('/')?;
        match sort {
            "serviceips" => which.parse().ok().map(Self::Address),
            "servicenodeports" => which.parse().ok().map(Self::Port),
            _ => None,
        }
    }
}
