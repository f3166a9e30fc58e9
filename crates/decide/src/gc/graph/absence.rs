//! Handling of objects that are found absent.

use std::collections::BTreeSet;

use gantry_model::{Identity, Uid};

use super::{CollectUids, Graph, GraphNode, Presence};
use crate::gc::absent::AbsentOwners;
use crate::gc::effect::{Effect, EnqueueMode};

impl Graph {
    /// G2.7: an object is deleted. Its dependents may be garbage now; owners that waited for it may proceed.
    pub(super) fn remove(&mut self, gone: &Identity, absent: &mut AbsentOwners, effects: &mut Vec<Effect>) {
        let Some(mut node) = self.nodes.remove(&gone.uid) else { return };
        // An object can name itself as its owner.
        node.dependents.remove(&gone.uid);
        self.unlink(&gone.uid, node.owners.iter().collect_uids());
        if !node.dependents.is_empty() {
            absent.insert(gone.clone());
        }
        effects.extend(node.dependents.iter().map(Effect::attempt_on));
        let waiting =
            node.owners.iter().collect_uids().into_iter().filter(|owner| self.is_deleting_dependents(owner));
        effects.extend(waiting.map(|owner| Effect::attempt_on(&owner)));
    }

    /// G2.8: a live read found no object with this identity; there may still be one with this uid.
    pub(super) fn mark_absent(
        &mut self,
        gone: &Identity,
        absent: &mut AbsentOwners,
        effects: &mut Vec<Effect>,
    ) {
        let Some(node) = self.nodes.get(&gone.uid) else { return };
        let keep = if node.is_virtual() {
            self.dependents(&gone.uid).any(|dependent| dependent.agreement(gone).disagrees)
        } else {
            node.identity != *gone
        };
        if !keep {
            self.remove(gone, absent, effects);
            return;
        }
        self.enqueue_dependents_of(gone, absent, effects);
        self.try_next_identity(gone, effects);
    }

    /// Enqueues the dependents whose references mean the absent identity.
    fn enqueue_dependents_of(&self, gone: &Identity, absent: &mut AbsentOwners, effects: &mut Vec<Effect>) {
        let agreeing = self.dependents(&gone.uid).filter(|dependent| dependent.agreement(gone).agrees);
        let before = effects.len();
        effects.extend(agreeing.map(|dependent| Effect::attempt_on(dependent.uid())));
        if effects.len() > before {
            absent.insert(gone.clone());
        }
    }

    /// Replaces a virtual owner's identity by the next one that a dependent refers to.
    fn try_next_identity(&mut self, gone: &Identity, effects: &mut Vec<Effect>) {
        let next = next_identity(self.dependents(&gone.uid), gone);
        let Some(node) = self.nodes.get_mut(&gone.uid) else { return };
        // An owner that a watch has shown is kept only if its identity differs from the absent one.
        if let Some(next) = next.filter(|_| node.identity == *gone) {
            node.identity = next;
            effects.push(Effect::AttemptToDelete(node.item(), EnqueueMode::RateLimited));
        }
    }

    /// Whether this owner is being deleted in the foreground.
    fn is_deleting_dependents(&self, owner: &Uid) -> bool {
        self.nodes.get(owner).is_some_and(|owner| owner.presence == Presence::DeletingDependents)
    }
}

/// G2.9: the next identity for the uid: the one after `gone` in the order of identities, or the first of all.
///
/// Cycling in a fixed order, rather than starting over each time, tries every identity.
fn next_identity<'a>(dependents: impl Iterator<Item = &'a GraphNode>, gone: &Identity) -> Option<Identity> {
    let others: BTreeSet<Identity> = dependents
        .flat_map(|dependent| dependent.owners.iter().map(move |reference| (dependent, reference)))
        .filter(|(_, reference)| reference.uid == gone.uid)
        .map(|(dependent, reference)| {
            let is_cluster_scoped = gone.namespace.is_none()
                && reference.api_version == gone.api_version
                && reference.kind == gone.kind;
            let namespace = dependent.identity.namespace.clone().filter(|_| !is_cluster_scoped);
            Identity::of_owner(reference, namespace)
        })
        .filter(|identity| identity != gone)
        .collect();
    let following = others.range(gone..).next();
    following.or(others.first()).cloned()
}
