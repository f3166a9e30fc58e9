//! The members of an object.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::Value;
use crate::entry::MapEntry;
use crate::members::{IntoIter, Iter, IterMut, Members};

/// The members of an object, sorted by name. Clones share them until one of them changes.
#[derive(Clone, Default)]
pub struct Map {
    /// `None` is an object without members.
    members: Option<Arc<Members>>,
}

static NONE: Members = Members::new();

impl Map {
    /// An object without members.
    pub const fn new() -> Self {
        Self { members: None }
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members().len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is a member of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.members().get(name)
    }

    /// The value of a member, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        // Members that clones share are not copied for a name that does not exist.
        if self.contains_key(name) { self.members_mut().get_mut(name) } else { None }
    }

    /// Sets a member; returns the previous value.
    pub fn insert(&mut self, name: impl Into<SmolStr> + Borrow<str>, value: Value) -> Option<Value> {
        self.members_mut().insert(name, value)
    }

    /// Removes a member; returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        if self.contains_key(name) { self.members_mut().remove(name) } else { None }
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.members = None;
    }

    /// Keeps only the members for which this is true.
    pub fn retain(&mut self, keep: impl FnMut(&SmolStr, &mut Value) -> bool) {
        if !self.is_empty() {
            self.members_mut().retain(keep);
        }
    }

    /// The place of a member that may or may not exist.
    pub fn entry(&mut self, name: impl Into<SmolStr>) -> MapEntry<'_> {
        MapEntry { map: self, name: name.into() }
    }

    /// The members in the order of their names.
    pub fn iter(&self) -> Iter<'_> {
        self.members().iter()
    }

    /// The members in the order of their names, with values to be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        match &mut self.members {
            Some(members) => Arc::make_mut(members).iter_mut(),
            None => IterMut::default(),
        }
    }

    /// The names.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &SmolStr> + DoubleEndedIterator + Clone {
        self.iter().map(|(name, _)| name)
    }

    /// The values in the order of their names.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// The values in the order of their names, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Sorts members by name; of several of the same name the last one counts.
    pub(crate) fn from_unsorted(members: Vec<(SmolStr, Value)>) -> Self {
        if members.is_empty() {
            return Self::new();
        }
        Self { members: Some(Arc::new(Members::from_unsorted(members))) }
    }

    fn members(&self) -> &Members {
        self.members.as_deref().unwrap_or(&NONE)
    }

    /// Copies the members if a clone shares them.
    pub(crate) fn members_mut(&mut self) -> &mut Members {
        Arc::make_mut(self.members.get_or_insert_default())
    }

    /// Shares equal objects with another one, as [`Value::share_with`] does.
    pub(crate) fn share_with(&mut self, other: &Self) -> bool {
        if self.shares_members_with(other) {
            return true;
        }
        let mut are_equal = self.len() == other.len();
        let mut others = other.iter();
        for (name, value) in self.iter_mut() {
            // Both are sorted, and mostly have the same names.
            let found = match others.next() {
                Some((same, found)) if same == name => Some(found),
                _ => other.get(name),
            };
            are_equal &= found.is_some_and(|found| value.share_with(found));
        }
        if are_equal {
            *self = other.clone();
        }
        are_equal
    }

    /// Whether the members of both are in the same place in memory, because one is an unchanged clone of the other.
    pub(crate) fn shares_members_with(&self, other: &Self) -> bool {
        match (&self.members, &other.members) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.shares_members_with(other) || (self.len() == other.len() && self.iter().eq(other.iter()))
    }
}

impl Eq for Map {}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<N: Into<SmolStr>> FromIterator<(N, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(members: I) -> Self {
        Self::from_unsorted(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl<N: Into<SmolStr> + Borrow<str>> Extend<(N, Value)> for Map {
    fn extend<I: IntoIterator<Item = (N, Value)>>(&mut self, members: I) {
        for (name, value) in members {
            self.insert(name, value);
        }
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = (&'a SmolStr, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Map {
    type Item = (&'a SmolStr, &'a mut Value);
    type IntoIter = IterMut<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl IntoIterator for Map {
    type Item = (SmolStr, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        self.members.map(Arc::unwrap_or_clone).unwrap_or_default().into_iter()
    }
}

impl std::ops::Index<&str> for Map {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.get(name).expect("the object has a member of this name")
    }
}

impl std::ops::IndexMut<&str> for Map {
    fn index_mut(&mut self, name: &str) -> &mut Value {
        self.get_mut(name).expect("the object has a member of this name")
    }
}
