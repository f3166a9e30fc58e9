//! Copies of a pod that is ready, in the store of a stopped cluster.
//!
//! Each copy has a name, uid and address of its own, and the node that the scheduler would choose for it next.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use gantry_nodes::pod_lifecycle::simulated_container_id;
use gantry_runtime::Decode as _;
use gantry_scheduler::place::{ClusterState, Node, Placement, PodInfo, SchedulingState, place};
use gantry_sim::{Identities, StoppedCluster};
use k8s_openapi::api::core::v1 as core;

/// Copies pods.
pub(crate) struct PodCopier {
    cluster: ClusterState,
    nodes: BTreeMap<String, NodeNetwork>,
    /// The names of all pods, and their addresses.
    taken: BTreeSet<String>,
    identities: Identities,
}

/// The addresses on a node.
struct NodeNetwork {
    address: String,
    /// The next address for a pod.
    next: u32,
}

/// A stored pod, cut where its copies differ from it.
struct PodTemplate {
    pod: core::Pod,
    /// The text before each difference where copies differ, and the kind of the difference.
    parts: Vec<(String, Difference)>,
    /// The text after the last difference.
    rest: String,
    is_on_host: bool,
}

/// A difference where copies differ.
#[derive(Clone, Debug)]
enum Difference {
    Name,
    Uid,
    Node,
    HostAddress,
    Address,
    /// The ID of a container, which has restarted that often.
    ContainerId(String, i32),
}

/// The values in which a copy differs.
struct PodIdentity<'a> {
    name: &'a str,
    uid: &'a str,
    node: &'a str,
    host_address: &'a str,
    address: &'a str,
}

/// The pod cannot be copied: it is not on a node, or there is no room for all copies.
#[derive(Debug)]
pub(crate) struct NotCopied;

impl PodCopier {
    /// A copier for the nodes and pods of a cluster.
    pub(crate) fn new(stopped: &StoppedCluster, identities: Identities) -> Self {
        let mut copier = Self {
            cluster: ClusterState::default(),
            nodes: BTreeMap::new(),
            taken: BTreeSet::new(),
            identities,
        };
        for node in stopped.objects("/registry/nodes/") {
            let Ok(node) = core::Node::decode(&node) else { continue };
            let parsed = Node::parse(&node);
            copier.nodes.insert(parsed.name().to_owned(), NodeNetwork::of(&node));
            copier.cluster.set_node(parsed);
        }
        for pod in stopped.objects("/registry/pods/") {
            let Ok(pod) = core::Pod::decode(&pod) else { continue };
            if let SchedulingState::Assigned(node) = SchedulingState::of(&pod) {
                copier.cluster.add_pod(&PodInfo::parse(&pod), &node);
            }
            copier.taken.extend(pod.metadata.name);
            copier.taken.extend(pod.status.and_then(|status| status.pod_ip));
        }
        copier
    }

    /// Adds this many copies of a pod.
    pub(crate) fn copy(
        &mut self,
        stopped: &mut StoppedCluster,
        stored: &[u8],
        copies: usize,
    ) -> Result<(), NotCopied> {
        let template = PodTemplate::parse(stored).ok_or(NotCopied)?;
        let namespace = template.pod.metadata.namespace.clone().unwrap_or_default();
        let mut unassigned = template.pod.clone();
        unassigned.spec.iter_mut().for_each(|spec| spec.node_name = None);
        for _ in 0..copies {
            let uid = self.identities.uid();
            unassigned.metadata.uid = Some(uid.clone());
            let pod = PodInfo::parse(&unassigned);
            let Placement::Node(node) = place(&self.cluster, &pod) else { return Err(NotCopied) };
            self.cluster.add_pod(&pod, &node);
            let (host_address, address) = self.allocate(&node).ok_or(NotCopied)?;
            let identity = PodIdentity {
                name: &self.name(&template),
                uid: &uid,
                node: &node,
                host_address: &host_address,
                address: if template.is_on_host { &host_address } else { &address },
            };
            let key = format!("/registry/pods/{namespace}/{}", identity.name);
            stopped.add(&key, template.rendered(&identity).into());
        }
        Ok(())
    }

    /// A name like that of the template.
    fn name(&mut self, template: &PodTemplate) -> String {
        let prefix = template.pod.metadata.generate_name.as_deref().unwrap_or_default();
        loop {
            let name = format!("{prefix}{}", self.identities.name_suffix());
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// The address of a node, and one for a pod on it.
    fn allocate(&mut self, node: &str) -> Option<(String, String)> {
        let network = self.nodes.get_mut(node)?;
        loop {
            let address = Ipv4Addr::from_bits(network.next).to_string();
            network.next += 1;
            if self.taken.insert(address.clone()) {
                return Some((network.address.clone(), address));
            }
        }
    }
}

impl NodeNetwork {
    fn of(node: &core::Node) -> Self {
        let addresses = node.status.iter().flat_map(|status| status.addresses.iter().flatten());
        let internal = addresses.into_iter().find(|address| address.type_ == "InternalIP");
        let cidr = node.spec.as_ref().and_then(|spec| spec.pod_cidr.as_deref()).unwrap_or_default();
        let network = cidr.split('/').next().and_then(|network| network.parse::<Ipv4Addr>().ok());
        Self {
            address: internal.map(|internal| internal.address.clone()).unwrap_or_default(),
            // Without the network address and the node's own address in it.
            next: network.map_or(0, Ipv4Addr::to_bits) + 2,
        }
    }
}

impl PodTemplate {
    fn parse(stored: &[u8]) -> Option<Self> {
        let pod = core::Pod::decode(stored).ok()?;
        let (spec, status) = (pod.spec.as_ref()?, pod.status.as_ref()?);
        let (host_address, address) = (status.host_ip.as_deref()?, status.pod_ip.as_deref()?);
        // Names, uids and IDs are random and occur nowhere else; of the other values, the text around them is included.
        let mut differences = vec![
            (pod.metadata.name.clone()?, Difference::Name),
            (pod.metadata.uid.clone()?, Difference::Uid),
        ];
        let mut add = |before: &str, value: &str, difference: Difference| {
            differences.push((format!("{before}{value}\""), difference));
        };
        add("\"nodeName\":\"", spec.node_name.as_deref()?, Difference::Node);
        add("\"hostIP\":\"", host_address, Difference::HostAddress);
        add("\"hostIPs\":[{\"ip\":\"", host_address, Difference::HostAddress);
        add("\"podIP\":\"", address, Difference::Address);
        add("\"podIPs\":[{\"ip\":\"", address, Difference::Address);
        for container in status.init_container_statuses.iter().chain(&status.container_statuses).flatten() {
            let id = container.container_id.clone()?;
            differences.push((id, Difference::ContainerId(container.name.clone(), container.restart_count)));
        }
        let (parts, rest) = cut(std::str::from_utf8(stored).ok()?, &differences);
        let is_on_host = address == host_address;
        Some(Self { pod, parts, rest, is_on_host })
    }

    fn rendered(&self, identity: &PodIdentity<'_>) -> String {
        let mut text = String::with_capacity(4096);
        for (before, difference) in &self.parts {
            text.push_str(before);
            match difference {
                Difference::Name => text.push_str(identity.name),
                Difference::Uid => text.push_str(identity.uid),
                Difference::Node => text.push_str(identity.node),
                Difference::HostAddress => text.push_str(identity.host_address),
                Difference::Address => text.push_str(identity.address),
                Difference::ContainerId(container, restarts) => {
                    text.push_str(&simulated_container_id(identity.uid, container, *restarts));
                }
            }
        }
        text + &self.rest
    }
}

/// Cuts a text at these texts. Of one that ends in a quote, only the string value before it is cut out.
fn cut(text: &str, differences: &[(String, Difference)]) -> (Vec<(String, Difference)>, String) {
    let (mut parts, mut begin) = (Vec::new(), 0);
    while let Some((at, (found, difference))) = differences
        .iter()
        .filter_map(|difference| Some((begin + text[begin..].find(&difference.0)?, difference)))
        .min_by_key(|(at, _)| *at)
    {
        let value = found
            .strip_suffix('"')
            .map_or(found.as_str(), |quoted| quoted.rsplit('"').next().unwrap_or(quoted));
        let start = at + found.trim_end_matches('"').len() - value.len();
        parts.push((text[begin..start].to_owned(), difference.clone()));
        begin = start + value.len();
    }
    (parts, text[begin..].to_owned())
}
