//! Addresses and ports of services.
//!
//! `complete` sets what follows from the service and its stored version; [`allocate`] chooses the rest.
//! The addresses and ports of a service are its [`claims`]; the caller stores them with it, so that no other service gets
//! them.

mod allocation;
mod families;
mod ranges;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::Ipv4Addr;

use gantry_json::{Value, json};

use crate::FieldError;
use crate::defaults::setting::{Object, each, ensure, is_empty, object, text};
use allocation::Allocation;

pub use ranges::{AddressRange, InvalidRange, ServiceRanges};

/// An address or port that at most one service has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// A cluster IP.
    Address(Ipv4Addr),
    /// A node port.
    Port(u16),
}

/// Why an allocation failed.
#[derive(Clone, Debug, PartialEq)]
pub enum AllocationError {
    /// A requested address or port is not available.
    Wrong(FieldError),
    /// The range is exhausted, or the port for health checks is not available; with Kubernetes' message.
    Failed(String),
}

/// Whether an allocation is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationMode {
    /// The service is about to be stored.
    Real,
    /// The service is not stored. As on Kubernetes, allocated numbers are placeholders, requested addresses may be in use and
    /// requested ports out of range.
    DryRun,
}

/// Returns the addresses and ports of a service.
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

/// Sets what follows from the service itself, and keeps earlier allocations.
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
        spec.insert("clusterIPs", json!([address]));
    }
    if has_address(text(spec, "type")) {
        families::choose(spec);
    }
}

/// Allocates the addresses and ports that a service lacks.
///
/// Requested ones must be within the ranges and not in use. The allocation depends on the uid, so that two services rarely
/// choose the same. Validation refuses a change of an address that a service has.
pub fn allocate(
    ranges: &ServiceRanges,
    stored: Option<&Value>,
    service: &mut Value,
    taken: &BTreeSet<Claim>,
    mode: AllocationMode,
) -> Result<(), AllocationError> {
    let uid = service["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    let held = stored.map(claims).unwrap_or_default();
    let taken: BTreeSet<Claim> = taken.difference(&held).copied().collect();
    let Some(spec) = object(service).and_then(|service| ensure(service, "spec")) else { return Ok(()) };
    if !has_address(text(spec, "type")) {
        return Ok(());
    }
    let allocation = Allocation { ranges, uid: &uid, taken: &taken, held: &held, mode };
    let had_address = stored.is_some_and(|stored| has_address(text_of(&stored["spec"], "type")));
    if !had_address {
        allocation.address(spec)?;
    }
    allocation.ports(spec, stored.is_some())
}

/// Whether a service is of a type other than `ExternalName`.
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

/// Restores the address if an update leaves it out.
fn keep_addresses(spec: &mut Object, before: &Value) {
    if !has_address(text_of(before, "type")) || !has_address(text(spec, "type")) {
        return;
    }
    if text(spec, "clusterIP").is_empty() && before["clusterIP"].is_string() {
        spec.insert("clusterIP", before["clusterIP"].clone());
    }
    let has_other = text(spec, "clusterIP") != text_of(before, "clusterIP");
    if has_other && spec.get("clusterIPs") == before.get("clusterIPs") {
        // If only the first address changes, the list becomes that address.
        spec.insert("clusterIPs", json!([text(spec, "clusterIP")]));
    }
    if is_empty(spec, "clusterIPs") && spec.get("clusterIP") == before.get("clusterIP") {
        spec.insert("clusterIPs", before["clusterIPs"].clone());
    }
    for field in ["ipFamilies", "ipFamilyPolicy"] {
        if is_empty(spec, field) && !before[field].is_null() {
            spec.insert(field.to_owned(), before[field].clone());
        }
    }
}

/// Restores node ports that an update leaves out.
fn keep_ports(spec: &mut Object, before: &Value) {
    if !has_node_ports(before) || !has_node_ports(&Value::Object(spec.clone())) {
        return;
    }
    let key = |port: &Value| (port["port"].to_string(), port["protocol"].to_string());
    let ports = before["ports"].as_array().into_iter().flatten().rev();
    let node_ports: BTreeMap<_, _> = ports.map(|port| (key(port), &port["nodePort"])).collect();
    let port_before = |port: &Object| {
        let field = |name: &str| port.get(name).map(Value::to_string);
        let number = node_ports.get(&(field("port")?, field("protocol")?))?;
        (!is_zero(Some(number))).then(|| (*number).clone())
    };
    let mut used: BTreeSet<String> =
        each(spec, "ports").filter_map(|port| port.get("nodePort").map(Value::to_string)).collect();
    for port in each(spec, "ports").filter(|port| is_zero(port.get("nodePort"))) {
        if let Some(number) = port_before(port).filter(|number| used.insert(number.to_string())) {
            port.insert("nodePort", number);
        }
    }
    let health = &before["healthCheckNodePort"];
    if is_zero(spec.get("healthCheckNodePort")) && !is_zero(Some(health)) {
        spec.insert("healthCheckNodePort", health.clone());
    }
}

/// Drops fields that only the previous type of the service has, unless the update changes them.
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
        let ports = before["ports"].as_array().into_iter().flatten();
        let old: BTreeSet<_> = ports.map(|port| port["nodePort"].to_string()).collect();
        for port in each(spec, "ports") {
            if port.get("nodePort").is_some_and(|number| old.contains(&number.to_string())) {
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
    /// Formats a claim as a path: `serviceips/10.96.0.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(f, "serviceips/{address}"),
            Self::Port(port) => write!(f, "servicenodeports/{port}"),
        }
    }
}

impl Claim {
    /// Parses the displayed form.
    pub fn parse(text: &str) -> Option<Self> {
        let (sort, which) = text.split_once('/')?;
        match sort {
            "serviceips" => which.parse().ok().map(Self::Address),
            "servicenodeports" => which.parse().ok().map(Self::Port),
            _ => None,
        }
    }
}
