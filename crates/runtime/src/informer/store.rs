//! The objects of one resource as last heard of, with the indexes by which controllers find their own.
//!
//! Nobody who syncs walks a namespace: dependents are found by who controls them, orphans apart from all others, and
//! pods by a label that their selector asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gantry_model::{Name, Namespace, ObjectKey, Requirement, ResourceVersion, Selector, Uid};

use super::Change;
use super::cached::Cached;

/// All objects of one resource, as far as the watch has told.
#[derive(Debug)]
pub struct Store<T> {
    objects: BTreeMap<Namespace, BTreeMap<Name, Arc<T>>>,
    by_uid: BTreeMap<Uid, ObjectKey>,
    by_controller: BTreeMap<Uid, BTreeSet<ObjectKey>>,
    orphans: BTreeMap<Namespace, BTreeSet<Name>>,
    by_label: BTreeMap<Namespace, BTreeMap<(String, String), BTreeSet<Name>>>,
    version: ResourceVersion,
}

// === impl Store: what is there ===

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

    /// Everything that the object with this uid controls.
    pub fn controlled_by<'a>(&'a self, uid: &Uid) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        self.by_controller.get(uid).into_iter().flatten().filter_map(|key| self.get(key))
    }

    /// Everything in a namespace that nobody controls.
    pub fn orphans<'a>(&'a self, namespace: &'a Namespace) -> impl Iterator<Item = &'a Arc<T>> {
        let names = self.orphans.get(namespace).into_iter().flatten();
        names.filter_map(|name| self.named(namespace, name))
    }

    /// Everything in a namespace, in the order of names.
    pub fn in_namespace(&self, namespace: &Namespace) -> impl Iterator<Item = &Arc<T>> {
        self.objects.get(namespace).into_iter().flat_map(BTreeMap::values)
    }

    /// Everything in a namespace that this selector may select, and not much more.
    ///
    /// Of the labels that the selector asks for by value, the rarest decides where to look. A selector that asks for
    /// none has to be held against everything.
    pub fn candidates<'a>(&'a self, namespace: &'a Namespace, selector: &Selector) -> Vec<&'a Arc<T>> {
        let Some(rarest) = self.rarest(namespace, selector) else {
            return self.in_namespace(namespace).collect();
        };
        rarest.iter().filter_map(|name| self.named(namespace, name)).collect()
    }

    /// Everything.
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

    /// The version up to which everything has been heard; empty before the first list.
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

// === impl Store: what is heard ===

impl<T: Cached> Store<T> {
    /// The object is there like this.
    pub(super) fn apply(&mut self, object: T) -> Option<Change<T>> {
        let new = Arc::new(object);
        self.reach(new.version().clone());
        let old = self.named(&new.key().namespace, &new.key().name).cloned();
        match old {
            Some(old) if old.version() == new.version() && old.uid() == new.uid() => None,
            Some(old) => {
                self.unlink(&old);
                self.link(&new);
                Some(Change::Updated { old, new })
            }
            None => {
                self.link(&new);
                Some(Change::Added(new))
            }
        }
    }

    /// The object is gone; this is the last that was known of it.
    pub(super) fn remove(&mut self, last: T) -> Option<Change<T>> {
        self.reach(last.version().clone());
        let old = self.get(&last.key()).cloned()?;
        self.unlink(&old);
        // A deletion of another object of this name was missed; who was there is told as it was.
        let last = if old.uid() == last.uid() { Arc::new(last) } else { old };
        Some(Change::Deleted(last))
    }

    /// Everything there is, at this version.
    pub(super) fn replace(&mut self, all: Vec<T>, version: ResourceVersion) -> Vec<Change<T>> {
        let there: BTreeSet<_> = all.iter().map(Cached::key).collect();
        let gone: Vec<_> = self.iter().filter(|object| !there.contains(&object.key())).cloned().collect();
        let mut changes = Vec::new();
        for old in gone {
            self.unlink(&old);
            changes.push(Change::Deleted(old));
        }
        changes.extend(all.into_iter().filter_map(|object| self.apply(object)));
        self.version = version;
        changes
    }

    /// Everything up to this version has been heard.
    pub(super) fn reach(&mut self, version: ResourceVersion) {
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

/// Takes a value out of a set of a map, and an empty set out of the map.
fn remove_from<K: Ord, V: Ord>(map: &mut BTreeMap<K, BTreeSet<V>>, key: &K, value: &V) {
    if let Some(values) = map.get_mut(key) {
        values.remove(value);
        if values.is_empty() {
            map.remove(key);
        }
    }
}
