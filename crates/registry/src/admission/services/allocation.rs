//! Allocation of the addresses and ports of a service.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use gantry_json::{Value, json};

use super::{AllocationError, AllocationMode, Claim, ServiceRanges, has_node_ports};
use crate::FieldError;
use crate::defaults::setting::{Object, each, text};

/// The placeholders of dry runs start above this port.
const PLACEHOLDERS_ABOVE: u16 = 32_768;

/// The input of an allocation.
#[derive(Clone, Copy)]
pub(super) struct Allocation<'a> {
    pub(super) ranges: &'a ServiceRanges,
    pub(super) uid: &'a str,
    /// The addresses and ports of other services.
    pub(super) taken: &'a BTreeSet<Claim>,
    /// The addresses and ports of the service.
    pub(super) held: &'a BTreeSet<Claim>,
    pub(super) mode: AllocationMode,
}

/// The node ports that are allocated to one service.
struct NodePorts<'a> {
    allocation: Allocation<'a>,
    numbers: BTreeSet<u16>,
}

impl Allocation<'_> {
    /// Allocates a cluster IP to a service that needs one.
    pub(super) fn address(self, spec: &mut Object) -> Result<(), AllocationError> {
        let given = text(spec, "clusterIP");
        if given == "None" {
            return Ok(());
        }
        if given.is_empty() {
            let address = self.free_address()?.to_string();
            spec.insert("clusterIPs", json!([address]));
            spec.insert("clusterIP", json!(address));
            return Ok(());
        }
        // Validation refuses invalid addresses.
        let Ok(address) = given.parse::<Ipv4Addr>() else { return Ok(()) };
        let range = self.ranges.addresses;
        let problem = match self.mode {
            AllocationMode::Real if !range.contains(address) => {
                "the provided network does not match the current range".to_owned()
            }
            AllocationMode::Real if self.taken.contains(&Claim::Address(address)) => {
                "provided IP is already allocated".to_owned()
            }
            AllocationMode::DryRun if !range.contains(address) => format!(
                "the provided IP ({given}) is not in the valid range. The range of valid IPs is {range}"
            ),
            AllocationMode::Real | AllocationMode::DryRun => return Ok(()),
        };
        let why = format!("failed to allocate IP {given}: {problem}");
        Err(AllocationError::Wrong(FieldError::invalid("spec.clusterIPs", &json!([given]), why)))
    }

    fn free_address(self) -> Result<Ipv4Addr, AllocationError> {
        let range = self.ranges.addresses;
        if self.mode == AllocationMode::DryRun {
            return Ok(range.network());
        }
        let numbers = reserved(range.size())..range.size();
        let free =
            spread(self.uid, numbers.end - numbers.start).map(|number| range.nth(numbers.start + number));
        // The reserved band is used when the rest is exhausted.
        let mut all = free.chain((0..numbers.start).map(|number| range.nth(number)));
        let address = all.find(|address| !self.taken.contains(&Claim::Address(*address)));
        address.ok_or_else(|| {
            AllocationError::Failed("failed to allocate a serviceIP: range is full".to_owned())
        })
    }

    /// Allocates node ports to a service of a type that needs them.
    pub(super) fn ports(self, spec: &mut Object, is_update: bool) -> Result<(), AllocationError> {
        let mut given = NodePorts { allocation: self, numbers: BTreeSet::new() };
        let is_allocating = has_node_ports(&Value::Object(spec.clone()));
        match text(spec, "type") {
            "NodePort" | "LoadBalancer" if is_update => given.changed_ports(spec, is_allocating)?,
            "NodePort" | "LoadBalancer" => given.new_ports(spec, is_allocating)?,
            _ => {}
        }
        let is_checked =
            text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local";
        if !is_checked {
            return Ok(());
        }
        let number = match port_number(spec.get("healthCheckNodePort")) {
            Some(number) if self.held.contains(&Claim::Port(number)) => return Ok(()),
            Some(number) => given.take(number).map(|()| number).map_err(|why| {
                let why = format!("failed to allocate requested HealthCheck NodePort {number}: {why}");
                AllocationError::Failed(why)
            })?,
            None => given.next()?,
        };
        spec.insert("healthCheckNodePort", json!(number));
        Ok(())
    }
}

impl NodePorts<'_> {
    /// Allocates the ports of a new service: the same port with another protocol gets the same node port.
    fn new_ports(&mut self, spec: &mut Object, is_allocating: bool) -> Result<(), AllocationError> {
        let mut requested: BTreeMap<String, u16> = BTreeMap::new();
        for (number, wanted) in each(spec, "ports").map(|port| numbers_of(port)) {
            if let Some(wanted) = wanted {
                requested.entry(number).or_insert(wanted);
            }
        }
        let mut by_port: BTreeMap<String, u16> = BTreeMap::new();
        for (index, port) in each(spec, "ports").enumerate() {
            let (number, wanted) = numbers_of(port);
            if wanted.is_none() && !is_allocating {
                continue;
            }
            let node_port = match (by_port.get(&number).copied(), wanted) {
                (Some(known), None) => known,
                (Some(known), Some(wanted)) if known == wanted => known,
                (Some(_), Some(wanted)) => self.take_for(index, wanted)?,
                (None, _) => {
                    let node_port = match requested.get(&number) {
                        Some(wanted) => self.take_for(index, *wanted)?,
                        None => self.next()?,
                    };
                    by_port.insert(number, node_port);
                    node_port
                }
            };
            port.insert("nodePort", json!(node_port));
        }
        Ok(())
    }

    /// Allocates the ports of an existing service, which keeps its ports.
    fn changed_ports(&mut self, spec: &mut Object, is_allocating: bool) -> Result<(), AllocationError> {
        for (index, port) in each(spec, "ports").enumerate() {
            match port_number(port.get("nodePort")) {
                Some(number) => {
                    let is_held = self.allocation.held.contains(&Claim::Port(number));
                    if !is_held && !self.numbers.contains(&number) {
                        self.take_for(index, number)?;
                    }
                }
                None if is_allocating => {
                    let number = self.next()?;
                    port.insert("nodePort", json!(number));
                }
                None => {}
            }
        }
        Ok(())
    }

    fn take_for(&mut self, index: usize, number: u16) -> Result<u16, AllocationError> {
        let field = format!("spec.ports[{index}].nodePort");
        let refused = |why| AllocationError::Wrong(FieldError::invalid(field, &json!(number), why));
        self.take(number).map(|()| number).map_err(refused)
    }

    /// Allocates a requested port, or returns why it is not available.
    fn take(&mut self, number: u16) -> Result<(), String> {
        let Allocation { ranges, taken, mode, .. } = self.allocation;
        if mode == AllocationMode::Real && !ranges.ports.contains(&number) {
            let (first, last) = (ranges.ports.start(), ranges.ports.end());
            return Err(format!(
                "provided port is not in the valid range. The range of valid ports is {first}-{last}"
            ));
        }
        if taken.contains(&Claim::Port(number)) || !self.numbers.insert(number) {
            return Err("provided port is already allocated".to_owned());
        }
        Ok(())
    }

    /// Allocates any port.
    fn next(&mut self) -> Result<u16, AllocationError> {
        let Allocation { ranges, uid, taken, held, mode } = self.allocation;
        if mode == AllocationMode::DryRun {
            let number = self.numbers.last().map_or(PLACEHOLDERS_ABOVE, |last| *last).saturating_add(1);
            self.numbers.insert(number);
            return Ok(number);
        }
        let (first, last) = (*ranges.ports.start(), *ranges.ports.end());
        let size = u32::from(last.saturating_sub(first)) + 1;
        let mut numbers =
            spread(uid, size).filter_map(|number| u16::try_from(u32::from(first) + number).ok());
        let is_free = |number: &u16| {
            let claim = Claim::Port(*number);
            !self.numbers.contains(number) && !taken.contains(&claim) && !held.contains(&claim)
        };
        let Some(number) = numbers.find(is_free) else {
            return Err(AllocationError::Failed("failed to allocate a nodePort: range is full".to_owned()));
        };
        self.numbers.insert(number);
        Ok(number)
    }
}

/// The number of a port of a service, as JSON, with the node port that it requests.
fn numbers_of(port: &Object) -> (String, Option<u16>) {
    (port.get("port").unwrap_or(&Value::Null).to_string(), port_number(port.get("nodePort")))
}

fn port_number(value: Option<&Value>) -> Option<u16> {
    value.and_then(Value::as_u64).and_then(|number| u16::try_from(number).ok()).filter(|number| *number != 0)
}

/// Returns how many of the lowest addresses are reserved for services that request a specific one.
fn reserved(size: u32) -> u32 {
    (size / 16).clamp(16, 256).min(size.saturating_sub(1))
}

/// Returns all numbers below `size`, starting at a hash of the text.
fn spread(text: &str, size: u32) -> impl Iterator<Item = u32> {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    let start = text.bytes().fold(2_166_136_261, mix);
    (0..size).map(move |step| (start % size + step) % size)
}
