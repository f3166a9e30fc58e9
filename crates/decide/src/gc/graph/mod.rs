//! The owner graph.
//!
//! Plain data with one writer. Every change, in the order of arrival, goes through [`Graph::observe`], which returns
//! the objects to check because of it. The graph is only a hint: an object is read live before it is changed.

mod absence;
mod cycle;
mod link;
mod node;

pub use node::{GraphNode, Presence};

use std::collections::{BTreeMap, BTreeSet};

use gantry_model::{Identity, ObjectMetadata, OwnerReference, Uid};

use super::{AbsentOwners, Effect};

/// Every object a watch has shown, and every owner a reference has named.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: BTreeMap<Uid, GraphNode>,
}

/// An input of the graph.
///
/// New and changed objects are the same to it: the graph keeps what it needs of the previous state, so a missed or
/// repeated change does no harm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphChange {
    /// A watch showed the object in this state.
    Applied(ObjectMetadata),
    /// A watch showed the deletion, by an event or by absence from a new list.
    Deleted(Identity),
    /// A live read, made for an attempt, found no object with this identity.
    VerifiedAbsent(Identity),
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies a change and returns its consequences.
    pub fn observe(&mut self, change: GraphChange, absent: &mut AbsentOwners) -> Vec<Effect> {
        let mut effects = Vec::new();
        match change {
            GraphChange::Applied(object) => {
                self.confirm(&object.identity, &mut effects);
                self.apply(object, &mut effects);
            }
            GraphChange::Deleted(identity) => {
                self.confirm(&identity, &mut effects);
                self.remove(&identity, absent, &mut effects);
            }
            GraphChange::VerifiedAbsent(identity) => self.mark_absent(&identity, absent, &mut effects),
        }
        effects
    }

    /// The node with this uid.
    pub fn node(&self, uid: &Uid) -> Option<&GraphNode> {
        self.nodes.get(uid)
    }

    /// All nodes, sorted by uid.
    pub fn nodes(&self) -> impl Iterator<Item = &GraphNode> {
        self.nodes.values()
    }

    /// The objects that name this one as an owner.
    pub fn dependents(&self, owner: &Uid) -> impl Iterator<Item = &GraphNode> {
        let uids = self.nodes.get(owner).map(|node| &node.dependents);
        uids.into_iter().flatten().filter_map(|uid| self.nodes.get(uid))
    }

    /// The dependents that a foreground deletion of this owner waits for.
    pub fn blocking_dependents<'a>(&'a self, owner: &'a Uid) -> impl Iterator<Item = &'a GraphNode> {
        self.dependents(owner).filter(|dependent| dependent.blocks(owner))
    }

    /// G2.2, G2.3: the object as a watch shows it.
    fn apply(&mut self, object: ObjectMetadata, effects: &mut Vec<Effect>) {
        let presence = Presence::of(&object);
        let ObjectMetadata { identity, owners, .. } = object;
        let uid = identity.uid.clone();
        let before = match self.nodes.get_mut(&uid) {
            None => {
                self.nodes
                    .insert(uid.clone(), GraphNode::observed(identity.clone(), presence, owners.clone()));
                self.link(&identity, &owners, effects);
                None
            }
            Some(node) => {
                let before = std::mem::replace(&mut node.presence, presence);
                let owners_before = std::mem::replace(&mut node.owners, owners.clone());
                let identity = node.identity.clone();
                self.relink(&identity, &owners_before, &owners, effects);
                Some(before)
            }
        };
        if before != Some(presence) {
            self.transition(&uid, presence, effects);
        }
    }

    /// G2.3: replaces a known object's references.
    fn relink(
        &mut self,
        dependent: &Identity,
        before: &[OwnerReference],
        now: &[OwnerReference],
        effects: &mut Vec<Effect>,
    ) {
        if before == now {
            return;
        }
        let blocked: BTreeSet<_> = before.iter().filter(|owner| owner.block_owner_deletion).collect_uids();
        let still: BTreeSet<_> = now.iter().filter(|owner| owner.block_owner_deletion).collect_uids();
        for unblocked in &blocked - &still {
            effects.extend(self.nodes.get(&unblocked).map(|owner| Effect::attempt(owner.item())));
        }
        let (had, has) = (before.iter().collect_uids(), now.iter().collect_uids());
        let added: Vec<_> = now.iter().filter(|owner| !had.contains(&owner.uid)).cloned().collect();
        self.link(dependent, &added, effects);
        self.unlink(&dependent.uid, &had - &has);
        // Beyond upstream: a cluster-scoped object with a namespaced owner is left alone and never retried. It has to
        // be enqueued once its references are corrected, or it would be left alone until the next restart.
        if dependent.namespace.is_none() && !now.is_empty() {
            effects.push(Effect::attempt_on(&dependent.uid));
        }
    }

    /// G2.6: an object began to be deleted with a policy that concerns its dependents.
    fn transition(&self, uid: &Uid, now: Presence, effects: &mut Vec<Effect>) {
        match now {
            Presence::Orphaning => effects.push(Effect::AttemptToOrphan(uid.clone())),
            Presence::DeletingDependents => {
                effects.extend(self.dependents(uid).map(|dependent| Effect::attempt_on(dependent.uid())));
                effects.push(Effect::attempt_on(uid));
            }
            Presence::Virtual | Presence::Live | Presence::PendingDelete => {}
        }
    }
}

/// The uids of references; an owner that is named several times counts once.
trait CollectUids {
    fn collect_uids(self) -> BTreeSet<Uid>;
}

impl<'a, I: Iterator<Item = &'a OwnerReference>> CollectUids for I {
    fn collect_uids(self) -> BTreeSet<Uid> {
        self.map(|reference| reference.uid.clone()).collect()
    }
}
