//! The result of an attempt: what was done, and the reason why it stopped there.

use std::fmt;

use gantry_model::{Identity, OwnerReference, Refusal, Uid};

use super::{Owners, Propagation};
use crate::gc::QueueItem;

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum AttemptResult {
    /// Everything that can be done now was done.
    Settled {
        /// The action that was carried out.
        did: AttemptAction,
        /// Why nothing more was done.
        why: AttemptReason,
    },
    /// No object has this identity: the graph has to be updated with [`crate::gc::GraphChange::VerifiedAbsent`].
    Absent(Identity),
    /// It failed.
    Failed(AttemptError),
}

/// The action of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptAction {
    /// Nothing.
    Nothing,
    /// Removed references to these owners.
    Released(Vec<Uid>),
    /// Deleted the object.
    Deleted(Propagation),
    /// Removed this finalizer.
    RemovedFinalizer(&'static str),
    /// These dependents have to be enqueued.
    Enqueued(Vec<QueueItem>),
}

/// Why an attempt goes no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptReason {
    /// The graph does not have the object any more.
    NotInGraph,
    /// A watch has shown the object since it was queued as virtual.
    MeanwhileObserved,
    /// The object is being deleted, and its dependents are checked when it is gone.
    AlreadyDeleting,
    /// The object has no owners, so it is not garbage.
    NoOwners,
    /// These owners exist.
    SolidOwners(Vec<OwnerReference>),
    /// No owner remains that keeps the object.
    NoSolidOwner(Owners),
    /// The foreground deletion waits for dependents.
    WaitingForDependents {
        /// How many block it.
        blocking: usize,
    },
    /// No dependent blocks the object's deletion any more.
    NoBlockingDependents,
    /// Its dependents were orphaned.
    DependentsOrphaned {
        /// How many were orphaned.
        dependents: usize,
    },
    /// It is no longer being deleted with the orphan policy.
    NotOrphaning,
    /// The owner is being deleted with the orphan policy.
    OwnerOrphans(Uid),
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptError {
    /// No such kind is currently served.
    UnknownKind(Identity),
    /// The owner's kind is namespaced, but the dependent is cluster-scoped.
    NamespacedOwnerOfClusterScoped(Identity),
    /// A live read failed.
    ReadFailed(Identity, Refusal),
    /// A patch failed.
    PatchFailed(Identity, Refusal),
    /// A delete request failed.
    DeleteFailed(Identity, Refusal),
    /// The object changed between reading and writing.
    Conflict(Identity),
    /// The object was deleted between reading and writing.
    Vanished(Identity),
}

impl AttemptResult {
    pub(in crate::gc) fn left(why: AttemptReason) -> Self {
        Self::Settled { did: AttemptAction::Nothing, why }
    }
}

impl AttemptError {
    /// Whether a retry can never help.
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::NamespacedOwnerOfClusterScoped(_))
    }

    /// Whether the failure is too common and too persistent to be logged as a warning.
    pub fn is_quiet(&self) -> bool {
        matches!(self, Self::UnknownKind(_))
    }
}

impl fmt::Display for AttemptResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settled { did: AttemptAction::Nothing, why } => write!(f, "left alone: {why}"),
            Self::Settled { did, why } => write!(f, "{did}: {why}"),
            Self::Absent(identity) => write!(f, "{identity} does not exist"),
            Self::Failed(error) => write!(f, "failed: {error}"),
        }
    }
}

impl fmt::Display for AttemptAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => write!(f, "did nothing"),
            Self::Released(owners) => write!(f, "removed {}", Counted(owners.len(), "owner reference")),
            Self::Deleted(propagation) => write!(f, "deleted ({propagation})"),
            Self::RemovedFinalizer(finalizer) => write!(f, "removed finalizer {finalizer}"),
            Self::Enqueued(dependents) => write!(f, "queued {}", Counted(dependents.len(), "dependent")),
        }
    }
}

impl fmt::Display for AttemptReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInGraph => write!(f, "the object does not exist"),
            Self::MeanwhileObserved => write!(f, "a watch has shown the object meanwhile"),
            Self::AlreadyDeleting => write!(f, "the object is already being deleted"),
            Self::NoOwners => write!(f, "the object has no owners"),
            Self::SolidOwners(owners) => write!(f, "it is owned by {}", Listed(owners)),
            Self::NoSolidOwner(owners) => fmt::Display::fmt(owners, f),
            Self::WaitingForDependents { blocking } => {
                write!(f, "waiting for {blocking} dependents to go first")
            }
            Self::NoBlockingDependents => write!(f, "no dependents remain to wait for"),
            Self::DependentsOrphaned { dependents } => {
                write!(f, "left {} without it", Counted(*dependents, "dependent"))
            }
            Self::NotOrphaning => write!(f, "its dependents are not to be orphaned any more"),
            Self::OwnerOrphans(owner) => write!(f, "the owner with uid {owner} orphans its dependents"),
        }
    }
}

struct Counted(usize, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, noun) = self;
        write!(f, "{count} {noun}{}", if *count == 1 { "" } else { "s" })
    }
}

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

impl fmt::Display for AttemptError {
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
            Self::Vanished(identity) => write!(f, "{identity} was deleted meanwhile"),
        }
    }
}

impl std::error::Error for AttemptError {}
