//! How an attempt ends: what was done, and why no more than that.

use std::fmt;

use gantry_model::{Identity, OwnerReference, Refusal, Uid};

use super::{Owners, Propagation};
use crate::gc::Item;

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All that can be done now was done.
    Settled {
        /// What was done.
        did: Deed,
        /// Why that, and no more.
        why: Why,
    },
    /// No object has this identity: the graph is to be told, as [`crate::gc::Change::VerifiedAbsent`].
    Absent(Identity),
    /// It could not be done.
    Failed(Trouble),
}

/// What an attempt did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Nothing.
    Nothing,
    /// Took references to these owners off the object.
    Released(Vec<Uid>),
    /// Had the object deleted.
    Deleted(Propagation),
    /// Took this finalizer off the object.
    RemovedFinalizer(&'static str),
    /// Asked for these dependents to be looked at; they are to be queued.
    Asked(Vec<Item>),
}

/// Why an attempt goes no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The graph does not know the object any more.
    NotInGraph,
    /// A watch has shown the object since it was queued for being unknown.
    MeanwhileObserved,
    /// The object is on its way out, and its dependents are looked at when it is gone.
    AlreadyDeleting,
    /// The object has no owners: it is nobody's garbage.
    NoOwners,
    /// These owners live.
    SolidOwners(Vec<OwnerReference>),
    /// No owner is left that could keep the object.
    NoSolidOwner(Owners),
    /// The object is to go after so many dependents that still exist.
    WaitingForDependents {
        /// How many block it.
        blocking: usize,
    },
    /// No dependent blocks the object's deletion any more.
    NoBlockingDependents,
    /// Its deletion leaves its dependents to themselves, and so many were freed.
    DependentsOrphaned {
        /// How many.
        dependents: usize,
    },
    /// It is no longer being deleted in a way that leaves its dependents to themselves.
    NotOrphaning,
    /// The owner leaves its dependents to themselves.
    OwnerOrphans(Uid),
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No such kind is served; perhaps not yet, perhaps no longer.
    UnknownKind(Identity),
    /// The owner's kind is namespaced, but who refers to it lives in no namespace in which to look for it.
    NamespacedOwnerOfClusterScoped(Identity),
    /// A live read was not answered.
    ReadFailed(Identity, Refusal),
    /// A patch was not applied.
    PatchFailed(Identity, Refusal),
    /// A request to delete was not accepted.
    DeleteFailed(Identity, Refusal),
    /// The object changed between reading and writing.
    Conflict(Identity),
    /// The object went between reading and writing.
    Vanished(Identity),
}

impl Outcome {
    /// Nothing was done, for this reason.
    pub(in crate::gc) fn left(why: Why) -> Self {
        Self::Settled { did: Deed::Nothing, why }
    }
}

impl Trouble {
    /// Whether trying again can never help.
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::NamespacedOwnerOfClusterScoped(_))
    }

    /// Whether the failure is too common, and too lasting, to be told loudly each time.
    pub fn is_quiet(&self) -> bool {
        matches!(self, Self::UnknownKind(_))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settled { did: Deed::Nothing, why } => write!(f, "left alone: {why}"),
            Self::Settled { did, why } => write!(f, "{did}: {why}"),
            Self::Absent(identity) => write!(f, "{identity} does not exist"),
            Self::Failed(trouble) => write!(f, "failed: {trouble}"),
        }
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => write!(f, "did nothing"),
            Self::Released(owners) => write!(f, "removed {}", Counted(owners.len(), "owner reference")),
            Self::Deleted(propagation) => write!(f, "deleted ({propagation})"),
            Self::RemovedFinalizer(finalizer) => write!(f, "removed finalizer {finalizer}"),
            Self::Asked(dependents) => write!(f, "queued {}", Counted(dependents.len(), "dependent")),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInGraph => write!(f, "the object is gone"),
            Self::MeanwhileObserved => write!(f, "a watch has shown the object meanwhile"),
            Self::AlreadyDeleting => write!(f, "the object is already being deleted"),
            Self::NoOwners => write!(f, "the object has no owners"),
            Self::SolidOwners(owners) => write!(f, "it is owned by {}", Listed(owners)),
            Self::NoSolidOwner(owners) => fmt::Display::fmt(owners, f),
            Self::WaitingForDependents { blocking } => {
                write!(f, "waiting for {blocking} dependents to go first")
            }
            Self::NoBlockingDependents => write!(f, "no dependents left to wait for"),
            Self::DependentsOrphaned { dependents } => {
                write!(f, "left {} without it", Counted(*dependents, "dependent"))
            }
            Self::NotOrphaning => write!(f, "its dependents are not to be orphaned any more"),
            Self::OwnerOrphans(owner) => write!(f, "the owner with uid {owner} orphans its dependents"),
        }
    }
}

/// So many of something.
struct Counted(usize, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, noun) = self;
        write!(f, "{count} {noun}{}", if *count == 1 { "" } else { "s" })
    }
}

/// Owners in a sentence.
pub(super) struct Listed<'a>(pub(super) &'a [OwnerReference]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, owner) in self.0.iter().enumerate() {
            let separator = if nth == 0 { "" } else { ", " };
            write!(f, "{separator}{} {}", owner.kind, owner.name)?;
        }
        Ok(())
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKind(identity) => {
                write!(f, "no kind {} is served in {}", identity.kind, identity.api_version)
            }
            Self::NamespacedOwnerOfClusterScoped(owner) => {
                write!(f, "a cluster-scoped object refers to {owner}, which is namespaced")
            }
            Self::ReadFailed(identity, refusal) => write!(f, "cannot read {identity}: {refusal}"),
            Self::PatchFailed(identity, refusal) => write!(f, "cannot patch {identity}: {refusal}"),
            Self::DeleteFailed(identity, refusal) => {
                write!(f, "cannot delete {identity}: {refusal}")
            }
            Self::Conflict(identity) => write!(f, "{identity} changed meanwhile"),
            Self::Vanished(identity) => write!(f, "{identity} went meanwhile"),
        }
    }
}

impl std::error::Error for Trouble {}
