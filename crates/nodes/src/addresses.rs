//! Allocates the addresses of a node's pods.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// The addresses of one node.
///
/// A released address is reused only after all other free ones: a client may still connect to the pod that had it.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    first: u32,
    count: u32,
    taken: BTreeSet<u32>,
    next: u32,
}

impl Addresses {
    /// Creates an allocator of `count` addresses starting at `first`.
    pub(crate) fn new(first: Ipv4Addr, count: u32) -> Self {
        Self { first: first.to_bits(), count: count.max(1), taken: BTreeSet::new(), next: 0 }
    }

    /// Allocates this address, which a pod already has. Returns `None` if it is outside the range.
    pub(crate) fn claim(&mut self, address: &str) -> Option<Ipv4Addr> {
        let address: Ipv4Addr = address.parse().ok()?;
        let offset = address.to_bits().checked_sub(self.first).filter(|offset| *offset < self.count)?;
        self.taken.insert(offset);
        Some(address)
    }

    /// Allocates an address. When all are taken, pods share one: the simulated network has no traffic.
    pub(crate) fn take(&mut self) -> Ipv4Addr {
        let order = (self.next..self.count).chain(0..self.next);
        let offset = order.into_iter().find(|offset| !self.taken.contains(offset)).unwrap_or(self.next);
        self.taken.insert(offset);
        self.next = (offset + 1) % self.count;
        Ipv4Addr::from_bits(self.first + offset)
    }

    /// Frees an address.
    pub(crate) fn release(&mut self, address: Ipv4Addr) {
        if let Some(offset) = address.to_bits().checked_sub(self.first) {
            self.taken.remove(&offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn released_addresses_are_reused_last() {
        let mut addresses = Addresses::new(Ipv4Addr::new(10, 128, 0, 2), 3);
        assert_eq!(addresses.claim("10.128.0.3"), Some(Ipv4Addr::new(10, 128, 0, 3)));
        assert_eq!(
            addresses.claim("10.128.0.3"),
            Some(Ipv4Addr::new(10, 128, 0, 3)),
            "a pod keeps its address"
        );
        assert_eq!(addresses.claim("10.128.0.9"), None, "the address belongs to another node");
        assert_eq!(addresses.claim("nonsense"), None);
        let first = addresses.take();
        assert_eq!(first, Ipv4Addr::new(10, 128, 0, 2));
        addresses.release(first);
        assert_eq!(addresses.take(), Ipv4Addr::new(10, 128, 0, 4));
        assert_eq!(addresses.take(), first);
        addresses.take();
    }
}
