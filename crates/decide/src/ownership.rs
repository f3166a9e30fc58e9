//! Whose objects are whose: claiming, adopting and releasing, the same for ReplicaSets and for Pods.

use gantry_model::{Controlled, Meta, Selector, Uid};

/// What a controller finds among the objects of its namespace.
#[derive(Debug, PartialEq)]
pub struct Claims<'a, T> {
    /// Its own, and matching: nothing to do.
    pub owned: Vec<&'a T>,
    /// Nobody's, and matching: to be taken on.
    pub adopt: Vec<&'a T>,
    /// Its own, but no longer matching: to be let go.
    pub release: Vec<&'a T>,
}

/// Sorts the objects of a namespace by what their would-be controller should do about them.
///
/// Adopting and releasing are for the living: an owner that is being deleted keeps what it has and takes nothing, and
/// an object that is being deleted is not taken on.
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

/// Why nothing may be adopted now. The sync fails and is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdoptionRefused {
    /// The owner is gone, or another object has its name.
    OwnerReplaced {
        /// What the controller believed.
        expected: Uid,
        /// What is there now, if anything.
        found: Option<Uid>,
    },
    /// The owner is being deleted.
    OwnerDeleting,
}

/// Judges a fresh, uncached read of the owner, made once before the first adoption of a sync.
///
/// The cache may be behind: without this an owner that was deleted and created again under the same name could take
/// on what its predecessor left.
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
