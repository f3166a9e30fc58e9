//! The members of an object.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::Value;
use crate::entry::Entry;

/// A member: its name and its value.
pub(crate) type Member = (SmolStr, Value);

/// The members of an object, sorted by name. Clones share them until one of them changes.
#[derive(Clone, Default)]
pub struct Map {
    /// `None` is an object without members.
    members: Option<Arc<Vec<Member>>>,
}

impl Map {
    /// An object without members.
    pub const fn new() -> Self {
        Self { members: None }
    }

    /// An object without members that has room for some.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { members: (capacity > 0).then(|| Arc::new(Vec::with_capacity(capacity))) }
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members().len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members().is_empty()
    }

    /// Whether there is a member of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.position(name).is_ok()
    }

    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let position = self.position(name).ok()?;
        Some(&self.members()[position].1)
    }

    /// The name and the value of a member.
    pub fn get_key_value(&self, name: &str) -> Option<(&SmolStr, &Value)> {
        let position = self.position(name).ok()?;
        let (name, value) = &self.members()[position];
        Some((name, value))
    }

    /// The value of a member, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let position = self.position(name).ok()?;
        Some(&mut self.members_mut()[position].1)
    }

    /// Sets a member; returns its value before.
    pub fn insert(&mut self, name: impl Into<SmolStr> + Borrow<str>, value: Value) -> Option<Value> {
        match self.position(name.borrow()) {
            Ok(position) => Some(std::mem::replace(&mut self.members_mut()[position].1, value)),
            Err(position) => {
                self.members_mut().insert(position, (name.into(), value));
                None
            }
        }
    }

    /// Removes a member; returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.remove_entry(name).map(|(_, value)| value)
    }

    /// Removes a member; returns its name and value.
    pub fn remove_entry(&mut self, name: &str) -> Option<(SmolStr, Value)> {
        let position = self.position(name).ok()?;
        Some(self.members_mut().remove(position))
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.members = None;
    }

    /// Moves all members of another object into this one.
    pub fn append(&mut self, other: &mut Self) {
        self.extend(std::mem::take(other));
    }

    /// Keeps only the members for which this is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&SmolStr, &mut Value) -> bool) {
        if !self.is_empty() {
            self.members_mut().retain_mut(|(name, value)| keep(name, value));
        }
    }

    /// The place of a member that may or may not exist.
    pub fn entry(&mut self, name: impl Into<SmolStr>) -> Entry<'_> {
        let name = name.into();
        let position = self.position(&name);
        Entry { map: self, name, position }
    }

    /// The members in the order of their names.
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.members().iter())
    }

    /// The members in the order of their names, with values to be changed.
    pub fn iter_mut(
        &mut self,
    ) -> impl ExactSizeIterator<Item = (&SmolStr, &mut Value)> + DoubleEndedIterator {
        self.members_slice_mut().iter_mut().map(|(name, value)| (&*name, value))
    }

    /// The names.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &SmolStr> + DoubleEndedIterator + Clone {
        self.members().iter().map(|(name, _)| name)
    }

    /// The values in the order of their names.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator + Clone {
        self.members().iter().map(|(_, value)| value)
    }

    /// The values in the order of their names, to be changed.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Value> + DoubleEndedIterator {
        self.members_slice_mut().iter_mut().map(|(_, value)| value)
    }

    /// The values in the order of their names.
    pub fn into_values(self) -> impl ExactSizeIterator<Item = Value> {
        self.into_iter().map(|(_, value)| value)
    }

    /// Sorts members by name; of several of the same name the last one counts.
    pub(crate) fn from_unsorted(mut members: Vec<Member>) -> Self {
        if members.is_empty() {
            return Self::new();
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
        Self { members: Some(Arc::new(members)) }
    }

    pub(crate) fn value_at(&mut self, position: usize) -> &mut Value {
        &mut self.members_mut()[position].1
    }

    pub(crate) fn insert_at(&mut self, position: usize, name: SmolStr, value: Value) -> &mut Value {
        let members = self.members_mut();
        members.insert(position, (name, value));
        &mut members[position].1
    }

    fn members(&self) -> &[Member] {
        self.members.as_ref().map_or(&[], |members| members)
    }

    /// Copies the members if a clone shares them.
    fn members_mut(&mut self) -> &mut Vec<Member> {
        Arc::make_mut(self.members.get_or_insert_default())
    }

    fn members_slice_mut(&mut self) -> &mut [Member] {
        self.members.as_mut().map_or(&mut [], |members| Arc::make_mut(members).as_mut_slice())
    }

    /// The position of a member, or where it would be inserted.
    fn position(&self, name: &str) -> Result<usize, usize> {
        self.members().binary_search_by(|(member, _)| member.as_str().cmp(name))
    }

    fn shares_members_with(&self, other: &Self) -> bool {
        match (&self.members, &other.members) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.shares_members_with(other) || self.members() == other.members()
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

/// The members of a borrowed object.
#[derive(Clone, Debug)]
pub struct Iter<'a>(std::slice::Iter<'a, Member>);

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a SmolStr, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(name, value)| (name, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(name, value)| (name, value))
    }
}

impl ExactSizeIterator for Iter<'_> {}

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
        IterMut(self.members_slice_mut().iter_mut())
    }
}

/// The members of an object that is being changed.
#[derive(Debug)]
pub struct IterMut<'a>(std::slice::IterMut<'a, Member>);

impl<'a> Iterator for IterMut<'a> {
    type Item = (&'a SmolStr, &'a mut Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(name, value)| (&*name, value))
    }
}

impl IntoIterator for Map {
    type Item = Member;
    type IntoIter = std::vec::IntoIter<Member>;

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
