//! Ownership: claiming, adopting and releasing, the same for ReplicaSets and for Pods.

use gantry_model::{Controlled, Meta, Selector, Uid};

/// The objects of a namespace by what their would-be controller should do about them.
#[derive(Debug, PartialEq)]
pub struct Claims<'a, T> {
    /// Owned and matching: nothing to do.
    pub owned: Vec<&'a T>,
    /// Orphaned and matching: to be adopted.
    pub adopt: Vec<&'a T>,
    /// Owned, but no longer matching: to be released.
    pub release: Vec<&'a T>,
}

/// Classifies the objects of a namespace for one owner.
///
/// An owner that is being deleted neither adopts nor releases, and an object that is being deleted is not adopted.
pub fn claim<'a, T: Controlled>(
    owner: &Meta,
    selector: &Selector,
    objects: impl IntoIterator<Item = &'a T>,
) -> Claims<'a, T> {
    let mut claims = Claims { owned: Vec::new(), adopt: Vec::new(), release: Vec::new() };
    for object in objects {
        let meta = object.meta();
        let matches = selector.matches(&meta.labels);
        match meta.controller() {
            Some(controller) if controller.uid != owner.uid => {}
            Some(_) if matches => claims.owned.push(object),
            Some(_) if !owner.is_deleting() => claims.release.push(object),
            None if matches && !owner.is_deleting() && !meta.is_deleting() => claims.adopt.push(object),
            Some(_) | None => {}
        }
    }
    claims
}

/// Why nothing may be adopted now. The sync fails and is retried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdoptionRefused {
    /// The owner is gone, or another object has its name.
    OwnerReplaced {
        /// The uid that the controller expected.
        expected: Uid,
        /// The uid that the live read returned, if any.
        found: Option<Uid>,
    },
    /// The owner is being deleted.
    OwnerDeleting,
}

/// Checks a live read of the owner, made once before the first adoption of a sync.
///
/// The cache may be stale: without this check an owner that was deleted and recreated under the same name could adopt
/// the objects of its predecessor.
pub fn may_adopt(owner: &Uid, live: Option<&Meta>) -> Result<(), AdoptionRefused> {
    match live {
        Some(live) if live.uid == *owner && live.is_deleting() => Err(AdoptionRefused::OwnerDeleting),
        Some(live) if live.uid == *owner => Ok(()),
        other => Err(AdoptionRefused::OwnerReplaced {
            expected: owner.clone(),
            found: other.map(|live| live.uid.clone()),
        }),
    }
}

impl std::fmt::Display for AdoptionRefused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OwnerReplaced { expected, found: Some(found) } => {
                write!(f, "the owner was replaced: got uid {found}, wanted {expected}")
            }
            Self::OwnerReplaced { expected, found: None } => {
                write!(f, "the owner with uid {expected} is gone")
            }
            Self::OwnerDeleting => write!(f, "the owner is being deleted"),
        }
    }
}

impl std::error::Error for AdoptionRefused {}
