//! How members are stored: few in a sorted vector, many in a B-tree, so that inserting one is never expensive.

use std::borrow::Borrow;
use std::collections::{BTreeMap, btree_map};

use smol_str::SmolStr;

use crate::Value;

/// The maximum number of members in a vector. An insertion moves all members behind it.
const VECTOR_MAX: usize = 64;

/// The members of an object, sorted by name.
#[derive(Clone)]
pub(crate) enum Members {
    Few(Vec<(SmolStr, Value)>),
    Many(BTreeMap<SmolStr, Value>),
}

impl Members {
    pub(crate) const fn new() -> Self {
        Self::Few(Vec::new())
    }

    /// Sorts members by name; of several of the same name the last one counts.
    pub(crate) fn from_unsorted(mut members: Vec<(SmolStr, Value)>) -> Self {
        if members.len() > VECTOR_MAX {
            return Self::Many(members.into_iter().collect());
        }
        if !members.is_sorted_by(|(one, _), (next, _)| one < next) {
            members.sort_by(|(one, _), (next, _)| one.cmp(next));
            members.dedup_by(|later, earlier| {
                let is_same = later.0 == earlier.0;
                if is_same {
                    std::mem::swap(later, earlier);
                }
                is_same
            });
        }
        Self::Few(members)
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Few(members) => members.len(),
            Self::Many(members) => members.len(),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Few(members) => find(members, name).map(|position| &members[position].1),
            Self::Many(members) => members.get(name),
        }
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        match self {
            Self::Few(members) => find(members, name).map(|position| &mut members[position].1),
            Self::Many(members) => members.get_mut(name),
        }
    }

    pub(crate) fn insert(&mut self, name: impl Into<SmolStr> + Borrow<str>, value: Value) -> Option<Value> {
        match self {
            Self::Few(members) => match position(members, name.borrow()) {
                Ok(position) => Some(std::mem::replace(&mut members[position].1, value)),
                Err(_) if members.len() >= VECTOR_MAX => {
                    let mut many: BTreeMap<_, _> = std::mem::take(members).into_iter().collect();
                    many.insert(name.into(), value);
                    *self = Self::Many(many);
                    None
                }
                Err(position) => {
                    members.insert(position, (name.into(), value));
                    None
                }
            },
            Self::Many(members) => members.insert(name.into(), value),
        }
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<Value> {
        match self {
            Self::Few(members) => find(members, name).map(|position| members.remove(position).1),
            Self::Many(members) => members.remove(name),
        }
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&SmolStr, &mut Value) -> bool) {
        match self {
            Self::Few(members) => members.retain_mut(|(name, value)| keep(name, value)),
            Self::Many(members) => members.retain(keep),
        }
    }

    pub(crate) fn iter(&self) -> Iter<'_> {
        match self {
            Self::Few(members) => Iter::Few(members.iter()),
            Self::Many(members) => Iter::Many(members.iter()),
        }
    }

    pub(crate) fn iter_mut(&mut self) -> IterMut<'_> {
        match self {
            Self::Few(members) => IterMut::Few(members.iter_mut()),
            Self::Many(members) => IterMut::Many(members.iter_mut()),
        }
    }

    pub(crate) fn into_iter(self) -> IntoIter {
        match self {
            Self::Few(members) => IntoIter::Few(members.into_iter()),
            Self::Many(members) => IntoIter::Many(members.into_iter()),
        }
    }
}

/// The maximum number of members that are searched linearly.
const SCAN_MAX: usize = 16;

/// The position of a member. Names mostly differ in length already, so that a scan of few members compares almost no
/// text, where a binary search compares three or four.
fn find(members: &[(SmolStr, Value)], name: &str) -> Option<usize> {
    if members.len() > SCAN_MAX {
        return position(members, name).ok();
    }
    members.iter().position(|(member, _)| member.as_str() == name)
}

/// The position of a member, or where it would be inserted.
fn position(members: &[(SmolStr, Value)], name: &str) -> Result<usize, usize> {
    members.binary_search_by(|(member, _)| member.as_str().cmp(name))
}

impl Default for Members {
    fn default() -> Self {
        Self::new()
    }
}

/// The members of a borrowed object.
#[derive(Clone, Debug)]
pub enum Iter<'a> {
    #[doc(hidden)]
    Few(std::slice::Iter<'a, (SmolStr, Value)>),
    #[doc(hidden)]
    Many(btree_map::Iter<'a, SmolStr, Value>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a SmolStr, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Few(members) => members.next().map(|(name, value)| (name, value)),
            Self::Many(members) => members.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Few(members) => members.size_hint(),
            Self::Many(members) => members.size_hint(),
        }
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Self::Few(members) => members.next_back().map(|(name, value)| (name, value)),
            Self::Many(members) => members.next_back(),
        }
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// The members of an object that is being changed.
#[derive(Debug)]
pub enum IterMut<'a> {
    #[doc(hidden)]
    Few(std::slice::IterMut<'a, (SmolStr, Value)>),
    #[doc(hidden)]
    Many(btree_map::IterMut<'a, SmolStr, Value>),
}

impl<'a> Iterator for IterMut<'a> {
    type Item = (&'a SmolStr, &'a mut Value);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Few(members) => members.next().map(|(name, value)| (&*name, value)),
            Self::Many(members) => members.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Few(members) => members.size_hint(),
            Self::Many(members) => members.size_hint(),
        }
    }
}

impl Default for IterMut<'_> {
    fn default() -> Self {
        Self::Few([].iter_mut())
    }
}

/// The members of an object that is consumed.
#[derive(Debug)]
pub enum IntoIter {
    #[doc(hidden)]
    Few(std::vec::IntoIter<(SmolStr, Value)>),
    #[doc(hidden)]
    Many(btree_map::IntoIter<SmolStr, Value>),
}

impl Iterator for IntoIter {
    type Item = (SmolStr, Value);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Few(members) => members.next(),
            Self::Many(members) => members.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Few(members) => members.size_hint(),
            Self::Many(members) => members.size_hint(),
        }
    }
}

impl ExactSizeIterator for IntoIter {}
