//! The addresses of a node's pods: who has which, and which is next.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// The addresses of one node.
///
/// An address that was given back is not given out again before all others were, as far as possible: somebody may still
/// speak to the pod that had it.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    first: u32,
    count: u32,
    taken: BTreeSet<u32>,
    next: u32,
}

impl Addresses {
    /// So many addresses from this one on.
    pub(crate) fn new(first: Ipv4Addr, count: u32) -> Self {
        Self { first: first.to_bits(), count: count.max(1), taken: BTreeSet::new(), next: 0 }
    }

    /// Takes the address that a pod has already, if it is one of ours that nobody else has.
    pub(crate) fn claim(&mut self, address: &str) -> Option<Ipv4Addr> {
        let address: Ipv4Addr = address.parse().ok()?;
        let offset = address.to_bits().checked_sub(self.first).filter(|offset| *offset < self.count)?;
        self.taken.insert(offset).then_some(address)
    }

    /// An address for a new pod. When all are taken, some pods share one: a simulated network has no traffic to mix up.
    pub(crate) fn take(&mut self) -> Ipv4Addr {
        let order = (self.next..self.count).chain(0..self.next);
        let offset = order.into_iter().find(|offset| !self.taken.contains(offset)).unwrap_or(self.next);
        self.taken.insert(offset);
        self.next = (offset + 1) % self.count;
        Ipv4Addr::from_bits(self.first + offset)
    }

    /// Gives an address back.
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
    fn addresses_go_round_before_they_come_back() {
        let mut addresses = Addresses::new(Ipv4Addr::new(10, 128, 0, 2), 3);
        assert_eq!(addresses.claim("10.128.0.3"), Some(Ipv4Addr::new(10, 128, 0, 3)));
        assert_eq!(addresses.claim("10.128.0.3"), None, "it is taken");
        assert_eq!(addresses.claim("10.128.0.9"), None, "it is another node's");
        assert_eq!(addresses.claim("nonsense"), None);
        let first = addresses.take();
        assert_eq!(first, Ipv4Addr::new(10, 128, 0, 2));
        addresses.release(first);
        assert_eq!(addresses.take(), Ipv4Addr::new(10, 128, 0, 4));
        assert_eq!(addresses.take(), first);
        addresses.take();
    }
}
