//! The names of a cluster, with their records.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use gantry_model::{Endpoint, EndpointSlice};
use k8s_openapi::api::core::v1 as core;

use crate::message::RecordData;

/// The version of the specification that the names follow.
const SCHEMA: &str = "1.1.0";

/// The names of a cluster. All are in lower case, without the final dot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Zone {
    /// The domain of the cluster: `cluster.local`.
    pub(crate) domain: String,
    records: BTreeMap<String, BTreeSet<RecordData>>,
    /// Names without records that are suffixes of other names.
    parents: BTreeSet<String>,
}

/// The result of looking up a name in a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The records of the name; none if it only exists as a suffix of other names.
    Records(Vec<RecordData>),
    /// The name does not exist.
    Nothing,
    /// The name is outside of the zone.
    Foreign,
}

impl Zone {
    /// Computes the names of Services and of their endpoints. `address` is that of the server itself.
    pub(crate) fn compute<'a>(
        domain: &str,
        address: IpAddr,
        services: impl Iterator<Item = (&'a core::Service, Vec<&'a EndpointSlice>)>,
    ) -> Self {
        let mut zone = Self { domain: domain.to_owned(), ..Self::default() };
        let server = format!("ns.dns.{domain}");
        zone.add(&format!("dns-version.{domain}"), RecordData::Text(SCHEMA.to_owned()));
        zone.add(&server, RecordData::Address(address));
        zone.add(domain, RecordData::NameServer(server));
        zone.add(domain, zone.authority());
        for (service, slices) in services {
            zone.add_service(service, &slices);
        }
        zone
    }

    /// Returns the SOA record of the zone.
    pub(crate) fn authority(&self) -> RecordData {
        let domain = &self.domain;
        RecordData::Authority { server: format!("ns.dns.{domain}"), person: format!("hostmaster.{domain}") }
    }

    /// Looks up a name.
    pub(crate) fn find(&self, name: &str) -> Found {
        if let Some(records) = self.records.get(name) {
            return Found::Records(records.iter().cloned().collect());
        }
        let Some(inside) = name.strip_suffix(&self.domain).and_then(|inside| inside.strip_suffix('.')) else {
            return Found::Foreign;
        };
        if let Some(address) = pod_address(inside) {
            return Found::Records(vec![RecordData::Address(address)]);
        }
        if self.parents.contains(name) { Found::Records(Vec::new()) } else { Found::Nothing }
    }

    fn add_service(&mut self, service: &core::Service, slices: &[&EndpointSlice]) {
        let Some(spec) = &service.spec else { return };
        let meta = &service.metadata;
        let (Some(name), Some(namespace)) = (&meta.name, &meta.namespace) else { return };
        let base = format!("{name}.{namespace}.svc.{}", self.domain);
        if spec.type_.as_deref() == Some("ExternalName") {
            let target = spec.external_name.as_deref().unwrap_or_default().trim_end_matches('.');
            self.add(&base, RecordData::Alias(target.to_ascii_lowercase()));
            return;
        }
        let single = spec.cluster_ip.clone().map(|ip| vec![ip]).unwrap_or_default();
        let written = spec.cluster_ips.as_ref().unwrap_or(&single);
        let cluster_ips: Vec<IpAddr> = written.iter().filter_map(|ip| ip.parse().ok()).collect();
        self.records.entry(base.clone()).or_default();
        self.add_parents(&base);
        for ip in &cluster_ips {
            self.add(&base, RecordData::Address(*ip));
            self.add(&reverse(*ip), RecordData::Pointer(base.clone()));
        }
        for port in spec.ports.iter().flatten().filter(|_| !cluster_ips.is_empty()) {
            let protocol = port.protocol.as_deref().unwrap_or("TCP");
            self.add_port(&base, port.name.as_deref().unwrap_or_default(), protocol, port.port, &base);
        }
        for slice in slices {
            self.add_endpoints(&base, slice, cluster_ips.is_empty());
        }
    }

    fn add_endpoints(&mut self, base: &str, slice: &EndpointSlice, is_headless: bool) {
        for endpoint in slice.content.endpoints.iter().filter(|it| it.conditions.ready.unwrap_or(true)) {
            for address in endpoint.addresses.iter().filter_map(|address| address.parse::<IpAddr>().ok()) {
                let host = format!("{}.{base}", host_of(endpoint, address));
                self.add(&host, RecordData::Address(address));
                if is_headless {
                    self.add(base, RecordData::Address(address));
                }
                if is_headless || endpoint.hostname.is_some() {
                    self.add(&reverse(address), RecordData::Pointer(host.clone()));
                }
                for port in slice.content.ports.iter().filter(|_| is_headless) {
                    if let Some(number) = port.port {
                        self.add_port(base, &port.name, &port.protocol, number, &host);
                    }
                }
            }
        }
    }

    /// Adds the record of a named port.
    fn add_port(&mut self, base: &str, name: &str, protocol: &str, port: i32, target: &str) {
        let Ok(port) = u16::try_from(port) else { return };
        if !name.is_empty() {
            let name = format!("_{name}._{}.{base}", protocol.to_ascii_lowercase());
            self.add(&name, RecordData::Service { port, target: target.to_owned() });
        }
    }

    fn add(&mut self, name: &str, data: RecordData) {
        if self.records.entry(name.to_owned()).or_default().insert(data) {
            self.add_parents(name);
        }
    }

    /// Records that the suffixes of this name exist, up to the domain.
    fn add_parents(&mut self, name: &str) {
        let mut rest = name;
        while let Some((_, parent)) = rest.split_once('.') {
            if !parent.ends_with(&self.domain) || !self.parents.insert(parent.to_owned()) {
                return;
            }
            rest = parent;
        }
    }
}

/// Returns the name of an endpoint under its Service: the hostname that its pod sets, or its address with dashes.
fn host_of(endpoint: &Endpoint, address: IpAddr) -> String {
    let dashed = || address.to_string().replace(['.', ':'], "-");
    endpoint.hostname.clone().filter(|name| !name.is_empty()).unwrap_or_else(dashed)
}

/// Parses the name of a pod by its address: `10-1-0-7.default.pod`. The existence of the pod is not checked, as by
/// CoreDNS with Kubernetes' usual settings.
fn pod_address(inside: &str) -> Option<IpAddr> {
    let labels: Vec<&str> = inside.split('.').collect();
    let [address, _, "pod"] = labels.as_slice() else { return None };
    address.replace('-', ".").parse().or_else(|_| address.replace('-', ":").parse()).ok()
}

/// Returns the name by which an address is looked up.
pub(crate) fn reverse(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        }
        IpAddr::V6(address) => {
            let digits = address.octets().into_iter().rev().flat_map(|octet| [octet & 0xf, octet >> 4]);
            let digits: Vec<String> = digits.map(|digit| format!("{digit:x}")).collect();
            format!("{}.ip6.arpa", digits.join("."))
        }
    }
}
