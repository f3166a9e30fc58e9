//! Cycles of objects that wait for each other, which no order of deletion can satisfy.

use std::collections::BTreeSet;

use gantry_model::Uid;

use super::{Graph, Presence};

impl Graph {
    /// The owners that wait for this object while it waits for them, directly or through others.
    ///
    /// All objects of the cycle are being deleted in the foreground. The attempt on any of them may unblock these
    /// owners; otherwise all would wait forever. Upstream breaks only cycles that it finds while one member is not
    /// being deleted, and leaves a cycle that was deleted at once, or an object that owns itself, waiting forever.
    pub fn owners_in_cycle(&self, uid: &Uid) -> BTreeSet<Uid> {
        let mut waited_for = BTreeSet::new();
        let mut unvisited = vec![uid.clone()];
        while let Some(owner) = unvisited.pop() {
            for dependent in self.blocking_dependents(&owner) {
                let is_deleting_dependents = dependent.presence == Presence::DeletingDependents;
                if is_deleting_dependents && waited_for.insert(dependent.uid().clone()) {
                    unvisited.push(dependent.uid().clone());
                }
            }
        }
        let owners = self.nodes.get(uid).into_iter().flat_map(|node| &node.owners);
        owners
            .filter(|owner| owner.block_owner_deletion && waited_for.contains(&owner.uid))
            .map(|owner| owner.uid.clone())
            .collect()
    }
}
