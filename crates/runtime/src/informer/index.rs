//! The indexes of a store: from names, uids, controllers and labels to the slots of the objects.
//!
//! They do not depend on the type of the objects, so that they are compiled once and not again for each type.

use std::collections::BTreeMap;

use gantry_model::{Labels, Name, Namespace, ObjectKey, Requirement, Selector, Uid};

/// The place of an object in its store.
pub(super) type Slot = usize;
/// A key and its value.
type Label = (String, String);

#[derive(Debug, Default)]
pub(super) struct Index {
    by_name: BTreeMap<Namespace, BTreeMap<Name, Slot>>,
    by_uid: BTreeMap<Uid, Slot>,
    by_controller: BTreeMap<Uid, BTreeMap<ObjectKey, Slot>>,
    orphans: BTreeMap<Namespace, BTreeMap<Name, Slot>>,
    by_label: BTreeMap<Namespace, BTreeMap<Label, BTreeMap<Name, Slot>>>,
    /// Slots that were freed.
    free: Vec<Slot>,
    /// The first slot that was never used.
    end: Slot,
}

/// The fields of an object that it is indexed by.
#[derive(PartialEq)]
pub(super) struct IndexedFields<'a> {
    pub(super) key: ObjectKey,
    pub(super) uid: &'a Uid,
    pub(super) controller: Option<&'a Uid>,
    pub(super) labels: Option<&'a Labels>,
}

// === impl Index: reads ===

impl Index {
    pub(super) fn named(&self, namespace: &Namespace, name: &Name) -> Option<Slot> {
        self.by_name.get(namespace)?.get(name).copied()
    }

    pub(super) fn with_uid(&self, uid: &Uid) -> Option<Slot> {
        self.by_uid.get(uid).copied()
    }

    pub(super) fn controlled_by(&self, uid: &Uid) -> Slots<'_, ObjectKey> {
        Slots::of(self.by_controller.get(uid))
    }

    pub(super) fn orphans(&self, namespace: &Namespace) -> Slots<'_, Name> {
        Slots::of(self.orphans.get(namespace))
    }

    pub(super) fn in_namespace(&self, namespace: &Namespace) -> Slots<'_, Name> {
        Slots::of(self.by_name.get(namespace))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Slot> {
        self.by_name.values().flat_map(BTreeMap::values).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.by_uid.len()
    }

    /// Of the labels that the selector requires by value, the objects with the rarest; all objects if it requires none.
    pub(super) fn candidates(&self, namespace: &Namespace, selector: &Selector) -> Slots<'_, Name> {
        self.rarest(namespace, selector).unwrap_or_else(|| self.in_namespace(namespace))
    }

    fn rarest(&self, namespace: &Namespace, selector: &Selector) -> Option<Slots<'_, Name>> {
        let Selector::All(requirements) = selector else { return None };
        let labels = self.by_label.get(namespace);
        // A namespace with objects but without any label is one whose kind is not indexed by labels.
        if labels.is_none() && self.by_name.contains_key(namespace) {
            return None;
        }
        let exact = requirements.iter().filter_map(|requirement| match requirement {
            Requirement::Equals(key, value) => Some((key.clone(), value.clone())),
            _ => None,
        });
        exact
            .map(|label| labels.and_then(|labels| labels.get(&label)))
            .min_by_key(|names| names.map_or(0, BTreeMap::len))
            .map(Slots::of)
    }
}

// === impl Index: writes ===

impl Index {
    /// Adds an object; returns its slot.
    pub(super) fn link(&mut self, object: IndexedFields<'_>) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.end += 1;
            self.end - 1
        });
        let IndexedFields { key, uid, controller, labels } = object;
        let ObjectKey { namespace, name } = key.clone();
        self.by_uid.insert(uid.clone(), slot);
        match controller {
            Some(controller) => {
                self.by_controller.entry(controller.clone()).or_default().insert(key, slot);
            }
            None => {
                self.orphans.entry(namespace.clone()).or_default().insert(name.clone(), slot);
            }
        }
        for (key, value) in labels.into_iter().flatten() {
            let labels = self.by_label.entry(namespace.clone()).or_default();
            labels.entry((key.clone(), value.clone())).or_default().insert(name.clone(), slot);
        }
        self.by_name.entry(namespace).or_default().insert(name, slot);
        slot
    }

    /// Removes an object; returns the slot that it had.
    pub(super) fn unlink(&mut self, object: &IndexedFields<'_>) -> Option<Slot> {
        let ObjectKey { namespace, name } = &object.key;
        self.by_uid.remove(object.uid);
        match object.controller {
            Some(controller) => remove_from(&mut self.by_controller, controller, &object.key),
            None => remove_from(&mut self.orphans, namespace, name),
        };
        if let Some(labels) = self.by_label.get_mut(namespace) {
            for (label, value) in object.labels.into_iter().flatten() {
                remove_from(labels, &(label.clone(), value.clone()), name);
            }
            if labels.is_empty() {
                self.by_label.remove(namespace);
            }
        }
        let slot = remove_from(&mut self.by_name, namespace, name)?;
        self.free.push(slot);
        Some(slot)
    }
}

/// Removes an entry from a map of a map, and an empty map from the outer one.
fn remove_from<K: Ord, V: Ord>(map: &mut BTreeMap<K, BTreeMap<V, Slot>>, key: &K, value: &V) -> Option<Slot> {
    let values = map.get_mut(key)?;
    let slot = values.remove(value);
    if values.is_empty() {
        map.remove(key);
    }
    slot
}

/// The slots of some objects, in the order of their names.
pub(super) struct Slots<'a, K>(Option<std::collections::btree_map::Values<'a, K, Slot>>);

impl<'a, K> Slots<'a, K> {
    fn of(map: Option<&'a BTreeMap<K, Slot>>) -> Self {
        Self(map.map(BTreeMap::values))
    }
}

impl<K> Iterator for Slots<'_, K> {
    type Item = Slot;

    fn next(&mut self) -> Option<Slot> {
        self.0.as_mut()?.next().copied()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.as_ref().map_or((0, Some(0)), Iterator::size_hint)
    }
}
