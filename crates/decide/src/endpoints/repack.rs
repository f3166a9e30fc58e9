//! Groups addresses with one port each into subsets of addresses that offer the same ports, in Kubernetes' order.

use std::collections::BTreeMap;

use gantry_model::{EndpointAddress, EndpointPort, EndpointSubset, Uid};

use crate::services::{core_port, hash};

/// The identity of an address.
type AddressKey = (String, Option<Uid>);

/// The addresses that offer each port, and whether they are ready.
#[derive(Clone, Debug, Default)]
pub(super) struct Repack {
    addresses: BTreeMap<AddressKey, EndpointAddress>,
    by_port: BTreeMap<Option<EndpointPort>, BTreeMap<AddressKey, bool>>,
}

/// Groups addresses that offer the same ports into one subset each, in Kubernetes' order.
pub(crate) fn repack(subsets: &[EndpointSubset]) -> Vec<EndpointSubset> {
    let mut all = Repack::default();
    for subset in subsets {
        let ready = subset.ready.iter().map(|address| (address, true));
        for (address, is_ready) in ready.chain(subset.not_ready.iter().map(|address| (address, false))) {
            if subset.ports.is_empty() {
                all.add(address, is_ready, None);
            }
            for port in &subset.ports {
                all.add(address, is_ready, Some(port.clone()));
            }
        }
    }
    all.finish()
}

impl Repack {
    /// Adds a port of an address; without a port, the address alone.
    pub(super) fn add(&mut self, address: &EndpointAddress, is_ready: bool, port: Option<EndpointPort>) {
        let key = (address.ip.clone(), address.target.as_ref().map(|target| target.uid.clone()));
        self.addresses.entry(key.clone()).or_insert_with(|| address.clone());
        let readiness = self.by_port.entry(port).or_default().entry(key).or_insert(is_ready);
        *readiness &= is_ready;
    }

    /// Returns the subsets.
    pub(super) fn finish(self) -> Vec<EndpointSubset> {
        let mut ports_by_addresses: BTreeMap<BTreeMap<AddressKey, bool>, Vec<EndpointPort>> = BTreeMap::new();
        for (port, addresses) in self.by_port {
            ports_by_addresses.entry(addresses).or_default().extend(port);
        }
        let mut subsets: Vec<EndpointSubset> = ports_by_addresses
            .into_iter()
            .map(|(addresses, mut ports)| {
                let of = |wanted: bool| {
                    let those = addresses.iter().filter(|(_, is_ready)| **is_ready == wanted);
                    those.filter_map(|(key, _)| self.addresses.get(key).cloned()).collect()
                };
                ports.sort_by_cached_key(|port| hash(&format!("(v1.EndpointPort){}", core_port(port))));
                EndpointSubset { ready: of(true), not_ready: of(false), ports }
            })
            .collect();
        subsets.sort_by_cached_key(|subset| hash(&printed(subset)));
        subsets
    }
}

/// A subset as Go prints it with all types.
fn printed(subset: &EndpointSubset) -> String {
    let list = |element: &str, all: Vec<String>| {
        let all = if all.is_empty() { "<nil>".to_owned() } else { format!("[{}]", all.join(" ")) };
        format!("([]v1.{element}){all}")
    };
    let addresses = |all: &[EndpointAddress]| list("EndpointAddress", all.iter().map(address).collect());
    format!(
        "(v1.EndpointSubset){{Addresses:{} NotReadyAddresses:{} Ports:{}}}",
        addresses(&subset.ready),
        addresses(&subset.not_ready),
        list("EndpointPort", subset.ports.iter().map(core_port).collect())
    )
}

fn address(address: &EndpointAddress) -> String {
    let target = address.target.as_ref().map_or_else(
        || "<nil>".to_owned(),
        |target| {
            format!(
                "{{Kind:(string){} Namespace:(string){} Name:(string){} UID:(types.UID){} APIVersion:(string) \
                 ResourceVersion:(string) FieldPath:(string)}}",
                target.kind, target.namespace, target.name, target.uid
            )
        },
    );
    format!(
        "{{IP:(string){} Hostname:(string){} NodeName:(*string){} TargetRef:(*v1.ObjectReference){target}}}",
        address.ip,
        address.hostname.as_deref().unwrap_or_default(),
        address.node.as_ref().map_or("<nil>", |node| node.as_str()),
    )
}
