//! The runtime state of a simulated node that its pods share.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gantry_runtime::EventRecorder;

use crate::addresses::Addresses;
use crate::node_spec::NodeSpec;

/// A running simulated node.
#[derive(Debug)]
pub(crate) struct NodeState {
    pub(crate) spec: NodeSpec,
    /// The recorder that all nodes share. A kubelet has its own, which takes some hundred kilobytes.
    pub(crate) events: EventRecorder,
    shared: Mutex<Shared>,
}

/// The mutable part.
#[derive(Debug)]
struct Shared {
    images: BTreeSet<String>,
    addresses: Addresses,
    /// Whether the addresses of pods from before this process are allocated.
    has_existing_addresses: bool,
    failed: bool,
}

impl NodeState {
    pub(crate) fn new(spec: NodeSpec, events: EventRecorder) -> Self {
        let addresses = spec.pod_addresses();
        let shared = Mutex::new(Shared {
            images: BTreeSet::new(),
            addresses,
            has_existing_addresses: false,
            failed: false,
        });
        Self { spec, events, shared }
    }

    /// Returns the images that are on the node.
    pub(crate) fn images(&self) -> BTreeSet<String> {
        self.shared().images.clone()
    }

    /// Adds images to those that are on the node.
    pub(crate) fn add_images(&self, images: impl IntoIterator<Item = String>) {
        self.shared().images.extend(images);
    }

    /// Allocates the address that a pod already has, or a new one if it has none.
    ///
    /// The first call allocates the addresses of all `existing` pods before, so that no new pod gets one of them.
    pub(crate) fn allocate_address(
        &self,
        current: Option<&str>,
        existing: impl FnOnce() -> Vec<String>,
    ) -> Ipv4Addr {
        let mut shared = self.shared();
        if !std::mem::replace(&mut shared.has_existing_addresses, true) {
            for address in existing() {
                shared.addresses.claim(&address);
            }
        }
        current.and_then(|current| shared.addresses.claim(current)).unwrap_or_else(|| shared.addresses.take())
    }

    /// Frees the address of a pod.
    pub(crate) fn release_address(&self, address: Ipv4Addr) {
        self.shared().addresses.release(address);
    }

    /// Whether the node has failed: it sends no heartbeats, and its pods do not change.
    pub(crate) fn is_failed(&self) -> bool {
        self.shared().failed
    }

    /// Sets whether the node has failed, and returns whether it had before.
    pub(crate) fn set_failed(&self, failed: bool) -> bool {
        std::mem::replace(&mut self.shared().failed, failed)
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
