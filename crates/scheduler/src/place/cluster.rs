//! The cluster as the decision sees it: nodes, and what the pods on them take.

use std::collections::BTreeMap;

use super::company::Person;
use super::ports::HostPort;
use super::resources::{Amounts, Demand};
use super::{Node, Pod, Storage};

/// Nodes and what is taken of them.
///
/// A pod counts from the moment it is assumed to go somewhere, before anybody else knows; telling it again changes
/// nothing. Pods may be known before their node is.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    nodes: BTreeMap<String, Site>,
    /// Who sits where.
    pods: BTreeMap<String, Occupant>,
    /// What is taken of nodes that are not known, or not known yet.
    elsewhere: BTreeMap<String, Taken>,
    /// How many pods want to be apart from some others.
    loners: usize,
    storage: Storage,
}

/// A node and what is taken of it.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) node: Node,
    pub(super) taken: Taken,
}

/// What pods take of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    pub(super) pods: i128,
    pub(super) requests: Amounts,
    pub(super) cpu_weighed: i128,
    pub(super) memory_weighed: i128,
    pub(super) ports: Vec<HostPort>,
    /// How many pods of each controller there are.
    pub(super) replicas: BTreeMap<String, i64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Occupant {
    node: String,
    demand: Demand,
    ports: Vec<HostPort>,
    controller: Option<String>,
    person: Person,
}

impl Cluster {
    /// Adds a node or brings it up to date. Says whether that may help a pod that found no place.
    pub fn set_node(&mut self, node: Node) -> bool {
        match self.nodes.get_mut(&node.name) {
            Some(site) if site.node == node => false,
            Some(site) => {
                site.node = node;
                true
            }
            None => {
                let taken = self.elsewhere.remove(&node.name).unwrap_or_default();
                self.nodes.insert(node.name.clone(), Site { node, taken });
                true
            }
        }
    }

    /// Forgets a node, but not the pods on it: it may come back before they are gone.
    pub fn remove_node(&mut self, name: &str) {
        if let Some(site) = self.nodes.remove(name).filter(|site| site.taken.pods > 0) {
            self.elsewhere.insert(name.to_owned(), site.taken);
        }
    }

    /// Counts a pod on a node. A pod that was counted elsewhere has moved.
    ///
    /// Says whether a pod that was counted already is another now, which may help one that found no place.
    pub fn occupy(&mut self, pod: &Pod, node: &str) -> bool {
        let occupant = Occupant {
            node: node.to_owned(),
            demand: pod.demand.clone(),
            ports: pod.ports.clone(),
            controller: pod.controller.clone(),
            person: pod.person.clone(),
        };
        if self.pods.get(&pod.uid).is_some_and(|known| *known == occupant) {
            return false;
        }
        let changed = self.vacate(&pod.uid);
        self.loners += usize::from(!occupant.person.apart.is_empty());
        self.taken_of(node).add(&occupant);
        self.pods.insert(pod.uid.clone(), occupant);
        changed
    }

    /// Counts a pod no longer. Says whether it was counted.
    pub fn vacate(&mut self, uid: &str) -> bool {
        let Some(occupant) = self.pods.remove(uid) else { return false };
        self.loners -= usize::from(!occupant.person.apart.is_empty());
        let taken = self.taken_of(&occupant.node);
        taken.subtract(&occupant);
        if taken.pods == 0 {
            self.elsewhere.remove(&occupant.node);
        }
        true
    }

    /// Where a pod is counted.
    pub fn node_of(&self, uid: &str) -> Option<&str> {
        self.pods.get(uid).map(|occupant| occupant.node.as_str())
    }

    /// The claims, volumes and classes, to bring them up to date.
    pub fn storage_mut(&mut self) -> &mut Storage {
        &mut self.storage
    }

    pub(super) fn storage(&self) -> &Storage {
        &self.storage
    }

    pub(super) fn sites(&self) -> impl Iterator<Item = &Site> {
        self.nodes.values()
    }

    /// Every pod on a node that is known, and the node.
    pub(super) fn people(&self) -> impl Iterator<Item = (&Person, &Node)> {
        self.pods.values().filter_map(|pod| Some((&pod.person, &self.nodes.get(&pod.node)?.node)))
    }

    /// Whether any pod wants to be apart from some others.
    pub(super) fn has_loners(&self) -> bool {
        self.loners > 0
    }

    fn taken_of(&mut self, node: &str) -> &mut Taken {
        match self.nodes.get_mut(node) {
            Some(site) => &mut site.taken,
            None => self.elsewhere.entry(node.to_owned()).or_default(),
        }
    }
}

impl Taken {
    fn add(&mut self, occupant: &Occupant) {
        self.pods += 1;
        self.requests.add(&occupant.demand.requests);
        self.cpu_weighed += occupant.demand.cpu_weighed;
        self.memory_weighed += occupant.demand.memory_weighed;
        self.ports.extend_from_slice(&occupant.ports);
        if let Some(controller) = &occupant.controller {
            *self.replicas.entry(controller.clone()).or_default() += 1;
        }
    }

    fn subtract(&mut self, occupant: &Occupant) {
        self.pods -= 1;
        self.requests.subtract(&occupant.demand.requests);
        self.cpu_weighed -= occupant.demand.cpu_weighed;
        self.memory_weighed -= occupant.demand.memory_weighed;
        for port in &occupant.ports {
            if let Some(at) = self.ports.iter().position(|other| other == port) {
                self.ports.swap_remove(at);
            }
        }
        if let Some(controller) = &occupant.controller
            && let Some(count) = self.replicas.get_mut(controller)
        {
            *count -= 1;
            if *count == 0 {
                self.replicas.remove(controller);
            }
        }
    }
}
