//! Which address and which ports a service gets.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::{Claim, NotAllotted, ServiceRanges, has_node_ports, is_zero};
use crate::defaults::setting::{Object, each, text};
use crate::refusal::FieldError;

/// An address for a service that is to have one.
pub(super) fn address(
    ranges: &ServiceRanges,
    uid: &str,
    spec: &mut Object,
    taken: &BTreeSet<Claim>,
    held: &BTreeSet<Claim>,
) -> Result<(), NotAllotted> {
    let given = text(spec, "clusterIP");
    if given == "None" {
        return Ok(());
    }
    if given.is_empty() {
        let range = ranges.addresses;
        let numbers = reserved(range.size())..range.size();
        let free = spread(uid, numbers.end - numbers.start).map(|number| range.nth(numbers.start + number));
        // What is kept back for those who ask by name is given when nothing else is left.
        let mut all = free.chain((0..numbers.start).map(|number| range.nth(number)));
        let address = all.find(|address| !taken.contains(&Claim::Address(*address)));
        let address = address.ok_or(NotAllotted::Full("failed to allocate a serviceIP: range is full"))?;
        spec.insert("clusterIP".to_owned(), json!(address.to_string()));
        spec.insert("clusterIPs".to_owned(), json!([address.to_string()]));
        return Ok(());
    }
    let refused = |why: String| {
        let why = format!("failed to allocate IP {given}: {why}");
        NotAllotted::Wrong(FieldError::invalid("spec.clusterIPs", &json!([given]), why))
    };
    // What is no address at all has been refused before.
    let Ok(address) = given.parse::<Ipv4Addr>() else { return Ok(()) };
    let claim = Claim::Address(address);
    if held.contains(&claim) {
        return Ok(());
    }
    if !ranges.addresses.contains(address) {
        let range = ranges.addresses;
        return Err(refused(format!(
            "the provided IP ({given}) is not in the valid range. The range of valid IPs is {range}"
        )));
    }
    if taken.contains(&claim) {
        return Err(refused("provided IP is already allocated".to_owned()));
    }
    Ok(())
}

/// Ports of the nodes for a service that is to be reached through them.
pub(super) fn ports(
    ranges: &ServiceRanges,
    uid: &str,
    spec: &mut Object,
    taken: &BTreeSet<Claim>,
    held: &BTreeSet<Claim>,
) -> Result<(), NotAllotted> {
    let whole = Value::Object(spec.clone());
    if has_node_ports(&whole) {
        let mut used = BTreeSet::new();
        for (index, port) in each(spec, "ports").enumerate() {
            if let Some(number) = port_number(port.get("nodePort")) {
                check_port(ranges, &format!("spec.ports[{index}].nodePort"), number, taken, held)?;
                used.insert(number);
            }
        }
        let mut by_port: Vec<(Value, u16)> = Vec::new();
        for port in each(spec, "ports") {
            let of_service = port.get("port").cloned().unwrap_or(Value::Null);
            let number = match port_number(port.get("nodePort")) {
                Some(number) => number,
                // The same port by another protocol has the same port of the nodes.
                None => match by_port.iter().find(|(other, _)| *other == of_service) {
                    Some((_, number)) => *number,
                    None => free_port(ranges, uid, taken, &used)?,
                },
            };
            used.insert(number);
            by_port.push((of_service, number));
            port.insert("nodePort".to_owned(), json!(number));
        }
    }
    let local = text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local";
    if local && is_zero(spec.get("healthCheckNodePort")) {
        let used = super::claims(&json!({"spec": spec}));
        let used =
            used.iter().filter_map(|claim| if let Claim::Port(port) = claim { Some(*port) } else { None });
        let number = free_port(ranges, uid, taken, &used.collect())?;
        spec.insert("healthCheckNodePort".to_owned(), json!(number));
    }
    Ok(())
}

fn check_port(
    ranges: &ServiceRanges,
    field: &str,
    number: u16,
    taken: &BTreeSet<Claim>,
    held: &BTreeSet<Claim>,
) -> Result<(), NotAllotted> {
    let refused = |why: String| Err(NotAllotted::Wrong(FieldError::invalid(field, &json!(number), why)));
    if held.contains(&Claim::Port(number)) {
        return Ok(());
    }
    if !ranges.ports.contains(&number) {
        let (first, last) = (ranges.ports.start(), ranges.ports.end());
        let why =
            format!("provided port is not in the valid range. The range of valid ports is {first}-{last}");
        return refused(why);
    }
    if taken.contains(&Claim::Port(number)) {
        return refused("provided port is already allocated".to_owned());
    }
    Ok(())
}

fn free_port(
    ranges: &ServiceRanges,
    uid: &str,
    taken: &BTreeSet<Claim>,
    used: &BTreeSet<u16>,
) -> Result<u16, NotAllotted> {
    let (first, last) = (*ranges.ports.start(), *ranges.ports.end());
    let size = u32::from(last.saturating_sub(first)) + 1;
    let mut numbers = spread(uid, size).filter_map(|number| u16::try_from(u32::from(first) + number).ok());
    let free = numbers.find(|number| !used.contains(number) && !taken.contains(&Claim::Port(*number)));
    free.ok_or(NotAllotted::Full("failed to allocate a nodePort: range is full"))
}

fn port_number(value: Option<&Value>) -> Option<u16> {
    value.and_then(Value::as_u64).and_then(|number| u16::try_from(number).ok()).filter(|number| *number != 0)
}

/// How many of the lowest addresses are kept back for services that ask for one by name.
fn reserved(size: u32) -> u32 {
    (size / 16).clamp(16, 256).min(size.saturating_sub(1))
}

/// All numbers below `size`, beginning somewhere that depends on the text.
fn spread(text: &str, size: u32) -> impl Iterator<Item = u32> {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    let start = text.bytes().fold(2_166_136_261, mix);
    (0..size).map(move |step| (start % size + step) % size)
}
