//! The objects of one resource, with indexes.
//!
//! Syncs never scan a namespace: dependents are indexed by controller, orphans are a set of their own, and pods are
//! indexed by label.

use std::collections::BTreeSet;
use std::sync::Arc;

use gantry_model::{Name, Namespace, ObjectKey, ResourceVersion, Selector, Uid};

use super::InformerEvent;
use super::cached::Cached;
use super::index::{Index, IndexedFields, Slot};

/// All objects of one resource, as of the last watch event.
#[derive(Debug)]
pub struct Store<T> {
    index: Index,
    objects: Vec<Option<Arc<T>>>,
    version: ResourceVersion,
}

// === impl Store: reads ===

impl<T: Cached> Store<T> {
    pub(super) fn new() -> Self {
        Self { index: Index::default(), objects: Vec::new(), version: "".into() }
    }

    /// The object of this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Arc<T>> {
        self.named(&key.namespace, &key.name)
    }

    /// The object of this name.
    pub fn named(&self, namespace: &Namespace, name: &Name) -> Option<&Arc<T>> {
        self.at(self.index.named(namespace, name)?)
    }

    /// The object with this uid.
    pub fn with_uid(&self, uid: &Uid) -> Option<&Arc<T>> {
        self.at(self.index.with_uid(uid)?)
    }

    /// All objects that the object with this uid controls.
    pub fn controlled_by<'a>(&'a self, uid: &Uid) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        self.index.controlled_by(uid).filter_map(|slot| self.at(slot))
    }

    /// All objects of a namespace without a controller.
    pub fn orphans<'a>(&'a self, namespace: &Namespace) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        self.index.orphans(namespace).filter_map(|slot| self.at(slot))
    }

    /// All objects of a namespace, sorted by name.
    pub fn in_namespace<'a>(
        &'a self,
        namespace: &Namespace,
    ) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        self.index.in_namespace(namespace).filter_map(|slot| self.at(slot))
    }

    /// All objects of a namespace that this selector may select, and not many more.
    ///
    /// Of the labels that the selector requires by value, the rarest is looked up. A selector that requires none
    /// returns all objects.
    pub fn candidates<'a>(&'a self, namespace: &Namespace, selector: &Selector) -> Vec<&'a Arc<T>> {
        self.index.candidates(namespace, selector).filter_map(|slot| self.at(slot)).collect()
    }

    /// The objects of a namespace that this selector selects. Their kind must be indexed by labels.
    pub fn selected<'a>(&'a self, namespace: &Namespace, selector: &Selector) -> Vec<&'a Arc<T>> {
        let mut found = self.candidates(namespace, selector);
        found.retain(|object| object.labels().is_some_and(|labels| selector.matches(labels)));
        found
    }

    /// All objects.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.index.all().filter_map(|slot| self.at(slot))
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.index.len() == 0
    }

    /// The version up to which all events are applied; empty before the first list.
    pub fn version(&self) -> &ResourceVersion {
        &self.version
    }

    fn at(&self, slot: Slot) -> Option<&Arc<T>> {
        self.objects.get(slot)?.as_ref()
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
                if indexed_fields(old.as_ref()) == indexed_fields(new.as_ref()) {
                    self.exchange(&new);
                } else {
                    self.unlink(&old);
                    self.link(&new);
                }
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
        let slot = self.index.link(indexed_fields(object.as_ref()));
        if slot >= self.objects.len() {
            self.objects.resize(slot + 1, None);
        }
        self.objects[slot] = Some(object.clone());
    }

    /// Replaces an object that is indexed by the same fields.
    fn exchange(&mut self, object: &Arc<T>) {
        let ObjectKey { namespace, name } = object.key();
        if let Some(slot) = self.index.named(&namespace, &name) {
            self.objects[slot] = Some(object.clone());
        }
    }

    fn unlink(&mut self, object: &Arc<T>) {
        if let Some(slot) = self.index.unlink(&indexed_fields(object.as_ref())) {
            self.objects[slot] = None;
        }
    }
}

fn indexed_fields<T: Cached>(object: &T) -> IndexedFields<'_> {
    IndexedFields {
        key: object.key(),
        uid: object.uid(),
        controller: object.controller(),
        labels: object.labels(),
    }
}
