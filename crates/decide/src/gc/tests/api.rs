//! A small API server: metadata only, no grace periods; deletion follows the rules O6.1 to O6.5 for every object.

use std::collections::{BTreeMap, VecDeque};

use gantry_model::patch::{MetadataPatch, PatchForm};
use gantry_model::{Identity, Name, Namespace, ObjectMetadata, OwnerReference, ResourceVersion, Uid, keys};
use gantry_testkit::NOON;

use crate::gc::attempt::{DeleteResult, PatchResult, ReadResult};
use crate::gc::{DeleteRequest, GraphChange, KindLookup, Propagation};

use super::Served;

/// The storage key of a stored object, which all versions of a group share.
type StorageKey = (String, String, Option<Namespace>, Name);

/// The stored objects, and the watch events that are not delivered yet.
#[derive(Default)]
pub(super) struct Api {
    objects: BTreeMap<StorageKey, ObjectMetadata>,
    versions: u64,
    /// How many writes were accepted.
    pub(super) writes: u64,
    /// Changes not yet delivered.
    pub(super) watch: VecDeque<GraphChange>,
}

impl Api {
    pub(super) fn create(&mut self, mut object: ObjectMetadata) {
        let key = storage_key(&object.identity);
        assert!(!self.objects.contains_key(&key), "{} exists already", object.identity);
        object.resource_version = self.next_version();
        self.watch.push_back(GraphChange::Applied(object.clone()));
        self.objects.insert(key, object);
    }

    /// The object of this name, whatever its uid.
    pub(super) fn get(&self, identity: &Identity) -> Option<&ObjectMetadata> {
        self.objects.get(&storage_key(identity))
    }

    /// The object with this uid.
    pub(super) fn by_uid(&self, uid: &Uid) -> Option<&ObjectMetadata> {
        self.objects().find(|object| object.identity.uid == *uid)
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = &ObjectMetadata> {
        self.objects.values()
    }

    pub(super) fn read(&self, identity: &Identity) -> ReadResult {
        assert!(
            Served.scope(&identity.api_version, &identity.kind).is_some(),
            "{identity} cannot be requested"
        );
        self.get(identity).cloned().map_or(ReadResult::NotFound, ReadResult::Found)
    }

    pub(super) fn delete(&mut self, deletion: &DeleteRequest) -> DeleteResult {
        let Some(stored) = self.get(&deletion.target) else { return DeleteResult::NotFound };
        let is_version = |version: &ResourceVersion| *version == stored.resource_version;
        if stored.identity.uid != deletion.uid || !deletion.version.as_ref().is_none_or(is_version) {
            return DeleteResult::Conflict;
        }
        let mut object = stored.clone();
        object.finalizers.retain(|held| held != keys::ORPHAN_FINALIZER && held != keys::FOREGROUND_FINALIZER);
        match deletion.propagation {
            Propagation::Orphan => object.finalizers.push(keys::ORPHAN_FINALIZER.to_owned()),
            Propagation::Foreground => object.finalizers.push(keys::FOREGROUND_FINALIZER.to_owned()),
            Propagation::Background => {}
        }
        object.deleting.get_or_insert(NOON);
        self.store(object);
        DeleteResult::Accepted
    }

    pub(super) fn patch(&mut self, identity: &Identity, patch: &MetadataPatch) -> PatchResult {
        let is_custom = identity.api_version.contains("example.com");
        if is_custom && patch.form() == PatchForm::StrategicMerge {
            return PatchResult::UnsupportedForm;
        }
        let Some(stored) = self.get(identity) else { return PatchResult::NotFound };
        let mut object = stored.clone();
        let holds = match patch {
            MetadataPatch::Release { object: uid, owners } => {
                object.owners.retain(|owner| !owners.contains(&owner.uid));
                *uid == object.identity.uid
            }
            MetadataPatch::Unblock { object: uid, references } => {
                for reference in references {
                    merge_unblocked(&mut object.owners, reference);
                }
                *uid == object.identity.uid
            }
            MetadataPatch::SetOwners { version, owners } => {
                object.owners.clone_from(owners);
                *version == object.resource_version
            }
            MetadataPatch::SetFinalizers { version, finalizers } => {
                object.finalizers.clone_from(finalizers);
                *version == object.resource_version
            }
        };
        if holds { PatchResult::Patched(self.store(object)) } else { PatchResult::Conflict }
    }

    /// Changes the object with this uid, if it exists.
    pub(super) fn update(&mut self, uid: &Uid, change: impl FnOnce(&mut ObjectMetadata)) {
        let Some(mut object) = self.by_uid(uid).cloned() else { return };
        change(&mut object);
        self.store(object);
    }

    /// Stores the new state, or removes an object that is being deleted and has no finalizers.
    fn store(&mut self, mut object: ObjectMetadata) -> ObjectMetadata {
        self.writes += 1;
        object.resource_version = self.next_version();
        if object.is_deleting() && object.finalizers.is_empty() {
            self.objects.remove(&storage_key(&object.identity));
            self.watch.push_back(GraphChange::Deleted(object.identity.clone()));
        } else {
            self.objects.insert(storage_key(&object.identity), object.clone());
            self.watch.push_back(GraphChange::Applied(object.clone()));
        }
        object
    }

    fn next_version(&mut self) -> ResourceVersion {
        self.versions += 1;
        self.versions.to_string().into()
    }
}

fn storage_key(identity: &Identity) -> StorageKey {
    let group = identity.api_version.split_once('/').map_or("", |(group, _)| group);
    (group.to_owned(), identity.kind.to_string(), identity.namespace.clone(), identity.name.clone())
}

/// Merges by uid, as the strategic merge patch of owner references does; a uid that is named twice is merged twice.
fn merge_unblocked(owners: &mut Vec<OwnerReference>, reference: &OwnerReference) {
    let merged = OwnerReference { block_owner_deletion: false, ..reference.clone() };
    if !owners.iter().any(|owner| owner.uid == reference.uid) {
        owners.push(merged);
        return;
    }
    for owner in owners.iter_mut().filter(|owner| owner.uid == reference.uid) {
        *owner = merged.clone();
    }
}
