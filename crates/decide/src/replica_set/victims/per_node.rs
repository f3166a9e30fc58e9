//! The number of pods on each node.

use gantry_model::{Name, Pod};

/// The number of pods on each node; pods without a node count as being on one node with an empty name.
///
/// A table with open addressing: counting is linear, and unlike the standard library's maps it has no order that
/// could leak into a decision.
pub(super) struct PodsPerNode<'a> {
    /// Never more than half full; a power of two in length.
    slots: Vec<Option<Node<'a>>>,
    nodes: usize,
    unassigned: u32,
}

#[derive(Clone, Copy)]
struct Node<'a> {
    name: &'a Name,
    hash: u32,
    pods: u32,
}

impl<'a> PodsPerNode<'a> {
    pub(super) fn count(pods: &[&'a Pod]) -> Self {
        let mut counts = Self { slots: vec![None; 64], nodes: 0, unassigned: 0 };
        for pod in pods {
            match &pod.node {
                None => counts.unassigned = counts.unassigned.saturating_add(1),
                Some(node) => counts.add(node),
            }
        }
        counts
    }

    /// How many of the counted pods are on the same node as this one.
    pub(super) fn on(&self, pod: &Pod) -> u32 {
        match &pod.node {
            None => self.unassigned,
            Some(name) => self.slots[self.slot_of(name, hash(name))].map_or(0, |node| node.pods),
        }
    }

    fn add(&mut self, name: &'a Name) {
        let hash = hash(name);
        let slot = self.slot_of(name, hash);
        if let Some(node) = &mut self.slots[slot] {
            node.pods = node.pods.saturating_add(1);
            return;
        }
        self.slots[slot] = Some(Node { name, hash, pods: 1 });
        self.nodes += 1;
        if self.nodes * 2 > self.slots.len() {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let larger = vec![None; self.slots.len() * 2];
        for node in std::mem::replace(&mut self.slots, larger).into_iter().flatten() {
            let slot = self.slot_of(node.name, node.hash);
            self.slots[slot] = Some(node);
        }
    }

    /// The slot of the node, or the free slot for it.
    fn slot_of(&self, name: &Name, hash: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot].is_some_and(|node| node.hash != hash || node.name != name) {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

/// Distributes names over the table, eight bytes at a time; the counts do not depend on its quality.
fn hash(name: &Name) -> u32 {
    let (words, rest) = name.as_str().as_bytes().as_chunks();
    let tail = rest.iter().fold(0, |tail, byte| tail << 8 | u64::from(*byte));
    let hash = words.iter().fold(mix(0, tail), |hash, word| mix(hash, u64::from_le_bytes(*word)));
    // The high bits are the well mixed ones.
    u32::try_from(hash >> 32).unwrap_or(0)
}

fn mix(hash: u64, word: u64) -> u64 {
    /// The golden ratio in 64 bits, whose multiples are far apart.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    (hash.rotate_left(23) ^ word).wrapping_mul(SPREAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_testkit::{PodBuilder, pod};

    /// R6.2: pods without a node count as being on the same one.
    #[test]
    fn unassigned_pods_share_a_node_without_a_name() {
        let pods = [pod("a"), pod("b"), pod("c").on("n1")];
        let counts = PodsPerNode::count(&pods.each_ref());
        assert_eq!(counts.on(&pod("x")), 2);
        assert_eq!(counts.on(&pod("x").on("n1")), 1);
        assert_eq!(counts.on(&pod("x").on("n2")), 0);
    }

    /// R6.1: when the table grows, no node is lost.
    #[test]
    fn every_node_has_its_own_count() {
        let on = |node: usize| pod("a").on(&format!("{node}.rack-{}.example.com", node % 7));
        let pods: Vec<_> = (0..1000).flat_map(|node| vec![on(node); node % 3 + 1]).collect();
        let counts = PodsPerNode::count(&pods.iter().collect::<Vec<_>>());
        for node in 0..1000 {
            assert_eq!(counts.on(&on(node)) as usize, node % 3 + 1, "{node}");
        }
    }
}
