//! The objects of one resource, with indexes.
//!
//! Syncs never scan a namespace: dependents are indexed by controller, orphans are a set of their own, and pods are
//! indexed by label.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gantry_model::{Name, Namespace, ObjectKey, Requirement, ResourceVersion, Selector, Uid};

use super::InformerEvent;
use super::cached::Cached;

/// All objects of one resource, as of the last watch event.
#[derive(Debug)]
pub struct Store<T> {
    objects: BTreeMap<Namespace, BTreeMap<Name, Arc<T>>>,
    by_uid: BTreeMap<Uid, ObjectKey>,
    by_controller: BTreeMap<Uid, BTreeSet<ObjectKey>>,
    orphans: BTreeMap<Namespace, BTreeSet<Name>>,
    by_label: BTreeMap<Namespace, BTreeMap<(String, String), BTreeSet<Name>>>,
    version: ResourceVersion,
}

// === impl Store: reads ===

impl<T: Cached> Store<T> {
    pub(super) fn new() -> Self {
        Self {
            objects: BTreeMap::new(),
            by_uid: BTreeMap::new(),
            by_controller: BTreeMap::new(),
            orphans: BTreeMap::new(),
            by_label: BTreeMap::new(),
            version: "".into(),
        }
    }

    /// The object of this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<T>> {
        self.named(&key.namespace, &key.name)
    }

    /// The object of this name.
    pub fn named(&self, namespace: &Namespace, name: &Name) -> Option<&Arc<T>> {
        self.objects.get(namespace)?.get(name)
    }

    /// The object with this uid.
    pub fn with_uid(&self, uid: &Uid) -> Option<&Arc<T>> {
        self.get(self.by_uid.get(uid)?)
    }

    /// All objects that the object with this uid controls.
    pub fn controlled_by<'a>(&'a self, uid: &Uid) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        self.by_controller.get(uid).into_iter().flatten().filter_map(|key| self.get(key))
    }

    /// All objects of a namespace without a controller.
    pub fn orphans<'a>(&'a self, namespace: &'a Namespace) -> impl Iterator<Item = &'a Arc<T>> {
        let names = self.orphans.get(namespace).into_iter().flatten();
        names.filter_map(|name| self.named(namespace, name))
    }

    /// All objects of a namespace, sorted by name.
    pub fn in_namespace(&self, namespace: &Namespace) -> impl Iterator<Item = &Arc<T>> {
        self.objects.get(namespace).into_iter().flat_map(BTreeMap::values)
    }

    /// All objects of a namespace that this selector may select, and not many more.
    ///
    /// Of the labels that the selector requires by value, the rarest is looked up. A selector that requires none
    /// returns all objects.
    pub fn candidates<'a>(&'a self, namespace: &'a Namespace, selector: &Selector) -> Vec<&'a Arc<T>> {
        let Some(rarest) = self.rarest(namespace, selector) else {
            return self.in_namespace(namespace).collect();
        };
        rarest.iter().filter_map(|name| self.named(namespace, name)).collect()
    }

    /// All objects.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.objects.values().flat_map(BTreeMap::values)
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.by_uid.len()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.by_uid.is_empty()
    }

    /// The version up to which all events are applied; empty before the first list.
    pub fn version(&self) -> &ResourceVersion {
        &self.version
    }

    fn rarest(&self, namespace: &Namespace, selector: &Selector) -> Option<&BTreeSet<Name>> {
        static NOTHING: BTreeSet<Name> = BTreeSet::new();
        let Selector::All(requirements) = selector else { return None };
        let labels = self.by_label.get(namespace);
        let exact = requirements.iter().filter_map(|requirement| match requirement {
            Requirement::Equals(key, value) => Some((key.clone(), value.clone())),
            _ => None,
        });
        // A namespace with objects but without any label is one whose kind is not indexed by labels.
        if labels.is_none() && self.objects.contains_key(namespace) {
            return None;
        }
        exact
            .map(|label| labels.and_then(|labels| labels.get(&label)).unwrap_or(&NOTHING))
            .min_by_key(|names| names.len())
    }
}

// === impl Store: writes ===

impl<T: Cached> Store<T> {
    /// The object was added or updated.
    pub(super) fn apply(&mut self, object: T) -> Option<InformerEvent<T>> {
        let new = Arc::new(object);
        self.advance_to(new.version().clone());
        let old = self.named(&new.key().namespace, &new.key().name).cloned();
        match old {
            Some(old) if old.version() == new.version() && old.uid() == new.uid() => None,
            Some(old) => {
                self.unlink(&old);
                self.link(&new);
                Some(InformerEvent::Updated { old, new })
            }
            None => {
                self.link(&new);
                Some(InformerEvent::Added(new))
            }
        }
    }

    /// The object was deleted; `last` is its last known state.
    pub(super) fn remove(&mut self, last: T) -> Option<InformerEvent<T>> {
        self.advance_to(last.version().clone());
        let old = self.get(&last.key()).cloned()?;
        self.unlink(&old);
        // The deletion of another object of this name was missed; the event has the object that was stored.
        let last = if old.uid() == last.uid() { Arc::new(last) } else { old };
        Some(InformerEvent::Deleted(last))
    }

    /// Replaces all objects, at this version.
    pub(super) fn replace(&mut self, all: Vec<T>, version: ResourceVersion) -> Vec<InformerEvent<T>> {
        let there: BTreeSet<_> = all.iter().map(Cached::key).collect();
        let gone: Vec<_> = self.iter().filter(|object| !there.contains(&object.key())).cloned().collect();
        let mut changes = Vec::new();
        for old in gone {
            self.unlink(&old);
            changes.push(InformerEvent::Deleted(old));
        }
        changes.extend(all.into_iter().filter_map(|object| self.apply(object)));
        self.version = version;
        changes
    }

    /// All events up to this version are applied.
    pub(super) fn advance_to(&mut self, version: ResourceVersion) {
        if version.as_str().is_empty() || self.version.has_reached(&version) == Some(true) {
            return;
        }
        self.version = version;
    }

    fn link(&mut self, object: &Arc<T>) {
        let ObjectKey { namespace, name } = object.key();
        self.by_uid.insert(object.uid().clone(), object.key());
        match object.controller() {
            Some(controller) => {
                self.by_controller.entry(controller.clone()).or_default().insert(object.key());
            }
            None => {
                self.orphans.entry(namespace.clone()).or_default().insert(name.clone());
            }
        }
        for (key, value) in object.labels().into_iter().flatten() {
            let labels = self.by_label.entry(namespace.clone()).or_default();
            labels.entry((key.clone(), value.clone())).or_default().insert(name.clone());
        }
        self.objects.entry(namespace).or_default().insert(name, object.clone());
    }

    fn unlink(&mut self, object: &Arc<T>) {
        let key = object.key();
        let ObjectKey { namespace, name } = &key;
        self.by_uid.remove(object.uid());
        match object.controller() {
            Some(controller) => remove_from(&mut self.by_controller, controller, &key),
            None => remove_from(&mut self.orphans, namespace, name),
        }
        if let Some(labels) = self.by_label.get_mut(namespace) {
            for (label, value) in object.labels().into_iter().flatten() {
                remove_from(labels, &(label.clone(), value.clone()), name);
            }
            if labels.is_empty() {
                self.by_label.remove(namespace);
            }
        }
        if let Some(objects) = self.objects.get_mut(namespace) {
            objects.remove(name);
            if objects.is_empty() {
                self.objects.remove(namespace);
            }
        }
    }
}

/// Removes a value from a set of a map, and an empty set from the map.
fn remove_from<K: Ord, V: Ord>(map: &mut BTreeMap<K, BTreeSet<V>>, key: &K, value: &V) {
    if let Some(values) = map.get_mut(key) {
        values.remove(value);
        if values.is_empty() {
            map.remove(key);
        }
    }
}
