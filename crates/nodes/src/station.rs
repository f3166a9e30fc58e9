//! A simulated node at work: what its pods share, and the voice it tells events with.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gantry_runtime::EventRecorder;

use crate::addresses::Addresses;
use crate::machine::Machine;

/// A node at work.
#[derive(Debug)]
pub(crate) struct Station {
    pub(crate) machine: Machine,
    /// Each node has its own, as each kubelet has: a burst on one does not crowd out the others.
    pub(crate) events: EventRecorder,
    shared: Mutex<Shared>,
}

/// What the pods of a node share.
#[derive(Debug)]
struct Shared {
    images: BTreeSet<String>,
    addresses: Addresses,
    failed: bool,
}

impl Station {
    pub(crate) fn new(machine: Machine, events: EventRecorder) -> Self {
        let addresses = machine.pod_addresses();
        let shared = Mutex::new(Shared { images: BTreeSet::new(), addresses, failed: false });
        Self { machine, events, shared }
    }

    /// The images on the node, as they are now.
    pub(crate) fn images(&self) -> BTreeSet<String> {
        self.shared().images.clone()
    }

    /// These images are on the node from now on.
    pub(crate) fn keep_images(&self, images: impl IntoIterator<Item = String>) {
        self.shared().images.extend(images);
    }

    /// The address a pod has, or a new one.
    pub(crate) fn address_for(&self, known: Option<&str>) -> Ipv4Addr {
        let mut shared = self.shared();
        known.and_then(|known| shared.addresses.claim(known)).unwrap_or_else(|| shared.addresses.take())
    }

    /// A pod is gone, and its address free.
    pub(crate) fn release(&self, address: Ipv4Addr) {
        self.shared().addresses.release(address);
    }

    /// Whether the node has failed: it says nothing, and nothing happens on it.
    pub(crate) fn is_failed(&self) -> bool {
        self.shared().failed
    }

    /// Notes whether the node has failed, and returns whether it had before.
    pub(crate) fn set_failed(&self, failed: bool) -> bool {
        std::mem::replace(&mut self.shared().failed, failed)
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
