//! The links between dependents and owners, and mismatches between them.

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;

use gantry_model::{Identity, OwnerReference, Uid};

use super::{Graph, GraphNode, Presence};
use crate::gc::effect::{Effect, ObjectEvent};

/// Why a reference may not mean the object that has its uid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mismatch {
    /// The owner is in another namespace.
    Namespace,
    /// The reference names another kind, version or name.
    Coordinates,
    /// The owner is known only from the reference of a cluster-scoped object, and may be namespaced.
    Scope,
}

impl Graph {
    /// G2.1, G2.4: adds a dependent to the owners it names, and enqueues it if one of the references mismatches.
    pub(super) fn link(
        &mut self,
        dependent: &Identity,
        references: &[OwnerReference],
        effects: &mut Vec<Effect>,
    ) {
        let mut doubtful = false;
        for reference in references {
            match self.nodes.entry(reference.uid.clone()) {
                Entry::Vacant(unknown) => {
                    let presumed = Identity::of_owner(reference, dependent.namespace.clone());
                    let owner = unknown.insert(GraphNode::presumed(presumed, dependent.uid.clone()));
                    effects.push(Effect::attempt(owner.item()));
                }
                Entry::Occupied(mut known) => {
                    let owner = known.get_mut();
                    owner.dependents.insert(dependent.uid.clone());
                    let mismatch = mismatch(owner, dependent, reference);
                    doubtful |= mismatch.is_some();
                    if mismatch == Some(Mismatch::Namespace) && !owner.is_virtual() {
                        effects.push(Effect::RecordEvent(ObjectEvent::owner_in_other_namespace(
                            dependent, reference,
                        )));
                    }
                }
            }
        }
        if doubtful {
            effects.push(Effect::attempt_on(&dependent.uid));
        }
    }

    /// Removes a dependent from these owners.
    pub(super) fn unlink(&mut self, dependent: &Uid, owners: BTreeSet<Uid>) {
        for owner in owners {
            if let Some(owner) = self.nodes.get_mut(&owner) {
                owner.dependents.remove(dependent);
            }
        }
    }

    /// G2.5: a watch shows an object that was known only from references.
    ///
    /// Dependents whose references mismatch it are enqueued.
    pub(super) fn confirm(&mut self, observed: &Identity, effects: &mut Vec<Effect>) {
        let Some(node) = self.nodes.get_mut(&observed.uid).filter(|node| node.is_virtual()) else { return };
        node.presence = Presence::Live;
        if node.identity == *observed {
            return;
        }
        node.identity = observed.clone();
        for dependent in self.dependents(&observed.uid) {
            if !dependent.agreement(observed).disagrees {
                continue;
            }
            if dependent.is_out_of_reach_of(observed) {
                let references = dependent.owners.iter().filter(|reference| reference.uid == observed.uid);
                effects.extend(references.map(|reference| {
                    Effect::RecordEvent(ObjectEvent::owner_in_other_namespace(&dependent.identity, reference))
                }));
            }
            effects.push(Effect::attempt_on(dependent.uid()));
        }
    }
}

/// Why the reference does not mean this owner, if it does not.
fn mismatch(owner: &GraphNode, dependent: &Identity, reference: &OwnerReference) -> Option<Mismatch> {
    let namespace = owner.identity.namespace.as_ref();
    if namespace.is_some() && namespace != dependent.namespace.as_ref() {
        Some(Mismatch::Namespace)
    } else if !owner.identity.is_named_by(reference) {
        Some(Mismatch::Coordinates)
    } else if owner.is_virtual() && namespace.is_none() && dependent.namespace.is_some() {
        Some(Mismatch::Scope)
    } else {
        None
    }
}
