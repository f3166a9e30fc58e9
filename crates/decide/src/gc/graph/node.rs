//! One object in the owner graph.

use std::collections::BTreeSet;

use gantry_model::{Identity, ObjectMetadata, OwnerReference, Uid};

use super::super::Item;

/// What is known of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub(super) identity: Identity,
    pub(super) presence: Presence,
    pub(super) owners: Vec<OwnerReference>,
    pub(super) dependents: BTreeSet<Uid>,
}

/// How an object is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presence {
    /// A reference names it and no watch has shown it: it may not exist, or not under this identity.
    Virtual,
    /// It lives.
    Live,
    /// It is being deleted, and its dependents are looked at when it is gone.
    Deleting,
    /// It is being deleted, and its dependents are to survive it.
    Orphaning,
    /// It is being deleted, after its dependents.
    DeletingDependents,
}

/// Whether a dependent means the identity in question when it names a uid.
///
/// One dependent can do both, by naming the same uid twice with different coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreement {
    /// Some reference means it.
    pub(super) agrees: bool,
    /// Some reference means something else, or cannot reach it.
    pub(super) disagrees: bool,
}

impl Node {
    /// An object that a watch has shown.
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

    /// Which object it is, or is thought to be.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Its uid.
    pub fn uid(&self) -> &Uid {
        &self.identity.uid
    }

    /// How it is there.
    pub fn presence(&self) -> Presence {
        self.presence
    }

    /// Whom it belongs to.
    pub fn owners(&self) -> &[OwnerReference] {
        &self.owners
    }

    /// The uids of those that name it as an owner.
    pub fn dependents(&self) -> &BTreeSet<Uid> {
        &self.dependents
    }

    /// The queue item that means this node as it is now.
    pub fn item(&self) -> Item {
        let uid = self.identity.uid.clone();
        if self.is_virtual() { Item::Virtual(uid) } else { Item::Observed(uid) }
    }

    /// Whether a foreground deletion of this owner waits for it.
    pub(super) fn blocks(&self, owner: &Uid) -> bool {
        self.owners.iter().any(|reference| reference.uid == *owner && reference.block_owner_deletion)
    }

    /// Whether no watch has shown it.
    pub(super) fn is_virtual(&self) -> bool {
        self.presence == Presence::Virtual
    }

    /// Whether it lives where this owner's dependents cannot live.
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
    /// How an object is there that was observed in this state.
    pub fn of(object: &ObjectMetadata) -> Self {
        if object.is_orphaning() {
            Self::Orphaning
        } else if object.is_deleting_dependents() {
            Self::DeletingDependents
        } else if object.is_deleting() {
            Self::Deleting
        } else {
            Self::Live
        }
    }
}
