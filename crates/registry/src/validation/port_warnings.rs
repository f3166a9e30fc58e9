//! Warns about ports of containers that are the same, overlap, or are ambiguous on the host.
//!
//! Ports are indexed, so that a pod with very many takes no longer than it must; and no more warnings are made than a
//! response shows.

use std::collections::BTreeMap;

use serde_json::Value;

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

    /// Forgets the containers so far.
    pub(super) fn forget(&mut self) {
        self.by_number.clear();
    }

    /// Adds the ports of a container, and warns about those that it or an earlier one has already.
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
        // A port is ambiguous with those of which only one has an address.
        self.by_host_port.entry((host.0, host.1.is_empty())).or_default().push(position);
    }
}
