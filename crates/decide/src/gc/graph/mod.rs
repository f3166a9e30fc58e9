//! Who belongs to whom, as far as the watches have told.
//!
//! Plain data with one writer. Every change, in the order in which it arrived, goes through [`Graph::observe`], which
//! returns what should be looked at because of it. The graph is a hint: what is looked at is read live before anything
//! happens to it.

mod absence;
mod link;
mod node;
mod ring;

pub use node::{Node, Presence};

use std::collections::{BTreeMap, BTreeSet};

use gantry_model::{Identity, ObjectMetadata, OwnerReference, Uid};

use super::{AbsentOwners, Effect};

/// The owner graph: every object some watch has shown, and every owner some reference has named.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: BTreeMap<Uid, Node>,
}

/// Something the graph should know.
///
/// There is no difference between a new object and a changed one: the graph remembers what it needs of the state
/// before, so a change that was missed, or told twice, does no harm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A watch showed the object in this state.
    Applied(ObjectMetadata),
    /// A watch showed that the object is gone, be it by an event or by its absence from a new list.
    Deleted(Identity),
    /// A live read, made for an attempt, found no object with this identity.
    VerifiedAbsent(Identity),
}

impl Graph {
    /// A graph of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a change and says what to do because of it.
    pub fn observe(&mut self, change: Change, absent: &mut AbsentOwners) -> Vec<Effect> {
        let mut effects = Vec::new();
        match change {
            Change::Applied(object) => {
                self.confirm(&object.identity, &mut effects);
                self.apply(object, &mut effects);
            }
            Change::Deleted(identity) => {
                self.confirm(&identity, &mut effects);
                self.remove(&identity, absent, &mut effects);
            }
            Change::VerifiedAbsent(identity) => self.refute(&identity, absent, &mut effects),
        }
        effects
    }

    /// What is known of the object with this uid.
    pub fn node(&self, uid: &Uid) -> Option<&Node> {
        self.nodes.get(uid)
    }

    /// All nodes, in the order of their uids.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values()
    }

    /// The objects that name this one as an owner.
    pub fn dependents(&self, owner: &Uid) -> impl Iterator<Item = &Node> {
        let uids = self.nodes.get(owner).map(|node| &node.dependents);
        uids.into_iter().flatten().filter_map(|uid| self.nodes.get(uid))
    }

    /// The dependents that a foreground deletion of this owner waits for.
    pub fn blocking_dependents<'a>(&'a self, owner: &'a Uid) -> impl Iterator<Item = &'a Node> {
        self.dependents(owner).filter(|dependent| dependent.blocks(owner))
    }

    /// G2.2, G2.3: the object as a watch shows it.
    fn apply(&mut self, object: ObjectMetadata, effects: &mut Vec<Effect>) {
        let presence = Presence::of(&object);
        let ObjectMetadata { identity, owners, .. } = object;
        let uid = identity.uid.clone();
        let before = match self.nodes.get_mut(&uid) {
            None => {
                self.nodes.insert(uid.clone(), Node::observed(identity.clone(), presence, owners.clone()));
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

    /// G2.3: follows a known object's references from one list to the next.
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
        // Beyond upstream: a cluster-scoped object with a namespaced owner is left alone and never retried. Once its
        // references are put right it has to be looked at again, or it would be left alone until the next restart.
        if dependent.namespace.is_none() && !now.is_empty() {
            effects.push(Effect::attempt_on(&dependent.uid));
        }
    }

    /// G2.6: an object began to be deleted in a way that concerns its dependents.
    fn transition(&self, uid: &Uid, now: Presence, effects: &mut Vec<Effect>) {
        match now {
            Presence::Orphaning => effects.push(Effect::AttemptToOrphan(uid.clone())),
            Presence::DeletingDependents => {
                effects.extend(self.dependents(uid).map(|dependent| Effect::attempt_on(dependent.uid())));
                effects.push(Effect::attempt_on(uid));
            }
            Presence::Virtual | Presence::Live | Presence::Deleting => {}
        }
    }
}

/// The uids of references: an owner counts once, however often it is named.
trait CollectUids {
    fn collect_uids(self) -> BTreeSet<Uid>;
}

impl<'a, I: Iterator<Item = &'a OwnerReference>> CollectUids for I {
    fn collect_uids(self) -> BTreeSet<Uid> {
        self.map(|reference| reference.uid.clone()).collect()
    }
}
