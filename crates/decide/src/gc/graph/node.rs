//! One object in the owner graph.

use std::collections::BTreeSet;

use gantry_model::{Identity, ObjectMetadata, OwnerReference, Uid};

use super::super::QueueItem;

/// An object in the owner graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    pub(super) identity: Identity,
    pub(super) presence: Presence,
    pub(super) owners: Vec<OwnerReference>,
    pub(super) dependents: BTreeSet<Uid>,
}

/// The lifecycle state of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presence {
    /// A reference names it and no watch has shown it: it may not exist, or not under this identity.
    Virtual,
    /// It exists and is not being deleted.
    Live,
    /// It is being deleted in the background: its dependents are checked when it is gone.
    PendingDelete,
    /// It is being deleted with the orphan policy.
    Orphaning,
    /// It is being deleted in the foreground, after its dependents.
    DeletingDependents,
}

/// Whether the references of a dependent mean a given identity.
///
/// Both can hold, if it names the same uid twice with different coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreement {
    /// Some reference means it.
    pub(super) agrees: bool,
    /// Some reference means another object, or cannot reach it.
    pub(super) disagrees: bool,
}

impl GraphNode {
    pub(super) fn observed(identity: Identity, presence: Presence, owners: Vec<OwnerReference>) -> Self {
        Self { identity, presence, owners, dependents: BTreeSet::new() }
    }

    /// An owner that is known from one dependent's reference.
    pub(super) fn presumed(identity: Identity, dependent: Uid) -> Self {
        Self {
            identity,
            presence: Presence::Virtual,
            owners: Vec::new(),
            dependents: BTreeSet::from([dependent]),
        }
    }

    /// Its identity, as far as known.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Its uid.
    pub fn uid(&self) -> &Uid {
        &self.identity.uid
    }

    /// Its lifecycle state.
    pub fn presence(&self) -> Presence {
        self.presence
    }

    /// Its owner references.
    pub fn owners(&self) -> &[OwnerReference] {
        &self.owners
    }

    /// The uids of its dependents.
    pub fn dependents(&self) -> &BTreeSet<Uid> {
        &self.dependents
    }

    /// The queue item for this node in its current state.
    pub fn item(&self) -> QueueItem {
        let uid = self.identity.uid.clone();
        if self.is_virtual() { QueueItem::Virtual(uid) } else { QueueItem::Observed(uid) }
    }

    /// Whether a foreground deletion of this owner waits for it.
    pub(super) fn blocks(&self, owner: &Uid) -> bool {
        self.owners.iter().any(|reference| reference.uid == *owner && reference.block_owner_deletion)
    }

    pub(super) fn is_virtual(&self) -> bool {
        self.presence == Presence::Virtual
    }

    /// Whether it is in another namespace than dependents of this owner can be.
    pub(super) fn is_out_of_reach_of(&self, owner: &Identity) -> bool {
        owner.namespace.is_some() && owner.namespace != self.identity.namespace
    }

    /// Whether its references with the uid of `owner` mean `owner`.
    pub(super) fn agreement(&self, owner: &Identity) -> Agreement {
        if self.is_out_of_reach_of(owner) {
            return Agreement { agrees: false, disagrees: true };
        }
        let mut agreement = Agreement { agrees: false, disagrees: false };
        for reference in self.owners.iter().filter(|reference| reference.uid == owner.uid) {
            if owner.is_named_by(reference) {
                agreement.agrees = true;
            } else {
                agreement.disagrees = true;
            }
        }
        agreement
    }
}

impl Presence {
    /// The state of an observed object.
    pub fn of(object: &ObjectMetadata) -> Self {
        if object.is_orphaning() {
            Self::Orphaning
        } else if object.is_deleting_dependents() {
            Self::DeletingDependents
        } else if object.is_deleting() {
            Self::PendingDelete
        } else {
            Self::Live
        }
    }
}
