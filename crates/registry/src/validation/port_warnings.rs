//! Warns about ports of containers that are the same, overlap, or are ambiguous on the host.
//!
//! Ports are indexed, so that a pod with very many ports is validated in a short time; and no more warnings are made
//! than a response shows.

use std::collections::BTreeMap;

use gantry_json::Value;

use super::error_list::{Path, number, text};
use super::warnings::SHOWN_CHARS_MAX;

/// The ports of the containers of a list so far.
pub(super) struct PortWarnings<'p> {
    /// The path of the list of containers.
    at: &'p Path<'p>,
    by_number: BTreeMap<NumberAndProtocol<'p>, SamePorts<'p>>,
    /// The number of warnings made.
    made: usize,
}

type NumberAndProtocol<'v> = (Option<i64>, &'v str);

/// Where a port is: the index of its container, and its own.
type Position = (usize, usize);

/// Ports of the same number and protocol, by their ports on the host. All positions are in order.
#[derive(Default)]
struct SamePorts<'v> {
    all: Vec<Position>,
    without_host_port: Vec<Position>,
    /// By host port and address.
    by_host: BTreeMap<(i64, &'v str), Vec<Position>>,
    /// By host port, and whether an address is given.
    by_host_port: BTreeMap<(i64, bool), Vec<Position>>,
}

impl<'p> PortWarnings<'p> {
    /// No ports yet.
    pub(super) fn new(at: &'p Path<'p>) -> Self {
        Self { at, by_number: BTreeMap::new(), made: 0 }
    }

    /// Removes all ports so far.
    pub(super) fn forget(&mut self) {
        self.by_number.clear();
    }

    /// Adds the ports of a container, and warns about ports that it or an earlier one already has.
    pub(super) fn add(&mut self, warnings: &mut Vec<String>, container: usize, ports: &'p [Value]) {
        for (index, port) in ports.iter().enumerate() {
            let same =
                self.by_number.entry((number(port, "containerPort"), text(port, "protocol"))).or_default();
            let host = (number(port, "hostPort").unwrap_or(0), text(port, "hostIP"));
            // Every warning has more than one character.
            let is_shown = self.made <= SHOWN_CHARS_MAX;
            for ((other, other_index), how) in is_shown.then(|| same.met_by(host)).into_iter().flatten() {
                let (here, there) = (self.at.index(container), self.at.index(other));
                let (here, there) = (here.child("ports"), there.child("ports"));
                warnings.push(format!(
                    "{}: {how} port definition with {}",
                    here.index(index),
                    there.index(other_index)
                ));
                self.made += 1;
            }
            same.add(host, (container, index));
        }
    }
}

impl<'v> SamePorts<'v> {
    /// The earlier ports that a port with this host port and address repeats or may collide with, in order, and how.
    fn met_by(&self, host: (i64, &str)) -> Vec<(Position, &'static str)> {
        let positions = |found: Option<&'_ Vec<Position>>| found.cloned().unwrap_or_default();
        let duplicates = positions(self.by_host.get(&host));
        let mut met: Vec<_> = duplicates.iter().map(|position| (*position, "duplicate")).collect();
        let (host_port, address) = host;
        if host_port == 0 {
            let others = self.all.iter().filter(|position| duplicates.binary_search(position).is_err());
            met.extend(others.map(|position| (*position, "overlapping")));
        } else {
            met.extend(self.without_host_port.iter().map(|position| (*position, "overlapping")));
            let ambiguous = positions(self.by_host_port.get(&(host_port, !address.is_empty())));
            met.extend(ambiguous.into_iter().map(|position| (position, "dangerously ambiguous")));
        }
        met.sort_unstable();
        met.truncate(SHOWN_CHARS_MAX);
        met
    }

    fn add(&mut self, host: (i64, &'v str), position: Position) {
        self.all.push(position);
        if host.0 == 0 {
            self.without_host_port.push(position);
        }
        self.by_host.entry(host).or_default().push(position);
        // Ports on the same host port are ambiguous if exactly one of them has an address.
        self.by_host_port.entry((host.0, host.1.is_empty())).or_default().push(position);
    }
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    /// The warnings are the same as by comparing each port with all earlier ones.
    #[test]
    fn warnings_are_in_the_order_of_ports() {
        for seed in 0..200 {
            let mut state: u64 = seed;
            let mut is_heads = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state >> 63 == 1
            };
            let mut port = || {
                let mut port = json!({"containerPort": if is_heads() { 1 } else { 2 }, "protocol": "TCP"});
                if is_heads() {
                    port["hostPort"] = json!(if is_heads() { 1 } else { 2 });
                }
                if is_heads() {
                    port["hostIP"] = json!(if is_heads() { "10.0.0.1" } else { "10.0.0.2" });
                }
                port
            };
            let containers: Vec<Vec<_>> = (0..3).map(|_| (0..4).map(|_| port()).collect()).collect();
            let (at, mut warnings) = (Path::new("c"), Vec::new());
            let mut ports = PortWarnings::new(&at);
            for (index, container) in containers.iter().enumerate() {
                ports.add(&mut warnings, index, container);
            }
            assert_eq!(warnings, compared(&containers), "seed {seed}");
        }
    }

    fn compared(containers: &[Vec<Value>]) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut earlier: Vec<(String, &Value)> = Vec::new();
        for (index, container) in containers.iter().enumerate() {
            for (port_index, port) in container.iter().enumerate() {
                let at = format!("c[{index}].ports[{port_index}]");
                for (other_at, other) in &earlier {
                    if let Some(how) = meet(port, other) {
                        warnings.push(format!("{at}: {how} port definition with {other_at}"));
                    }
                }
                earlier.push((at, port));
            }
        }
        warnings
    }

    fn meet(port: &Value, other: &Value) -> Option<&'static str> {
        let same = |field: &str| port[field] == other[field];
        if !same("containerPort") {
            None
        } else if same("hostPort") && same("hostIP") {
            Some("duplicate")
        } else if port["hostPort"].is_null() || other["hostPort"].is_null() {
            Some("overlapping")
        } else if same("hostPort") && port["hostIP"].is_null() != other["hostIP"].is_null() {
            Some("dangerously ambiguous")
        } else {
            None
        }
    }
}
