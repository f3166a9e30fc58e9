//! Objects that wait for each other in a ring, which no order of deletion can satisfy.

use std::collections::BTreeSet;

use gantry_model::Uid;

use super::{Graph, Presence};

impl Graph {
    /// The owners that wait for this object while it, perhaps through others, waits for them.
    ///
    /// All on the ring are being deleted after their dependents. Whoever looks at one of them next may let these
    /// owners go first: were everybody to wait, nobody would ever be looked at again. Upstream breaks only rings
    /// that it meets while one member still lives, and leaves a ring that was deleted all at once, or an object that
    /// owns itself, waiting forever.
    pub fn owners_in_ring(&self, uid: &Uid) -> BTreeSet<Uid> {
        let mut waited_for = BTreeSet::new();
        let mut unvisited = vec![uid.clone()];
        while let Some(owner) = unvisited.pop() {
            for dependent in self.blocking_dependents(&owner) {
                let waits = dependent.presence == Presence::DeletingDependents;
                if waits && waited_for.insert(dependent.uid().clone()) {
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
