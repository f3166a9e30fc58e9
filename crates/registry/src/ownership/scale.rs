//! Ownership through `/scale`: the replicas of the Scale are the replicas of its parent.
//!
//! A write to `/scale` is tracked on a Scale object which carries the parent's owners of replicas; what came of them
//! is then brought back to the parent.

use super::{Entry, FieldSet, Identity, ManagedFields, Operation, PathElement};

const SCALE_VERSION: &str = "autoscaling/v1";

/// The owners of the parent's replicas, as owners of the Scale's.
pub fn scale_entries(parent: &ManagedFields) -> ManagedFields {
    let mut scale = ManagedFields::new();
    for (identity, entry) in parent.entries().filter(|(_, entry)| owns_replicas(entry)) {
        let owner = Entry {
            api_version: SCALE_VERSION.to_owned(),
            time: entry.time.clone(),
            fields: FieldSet::of_fields(&["spec.replicas"]),
        };
        scale.set(in_version(identity, SCALE_VERSION), owner);
    }
    scale
}

/// Brings the owners of the Scale's replicas back to the parent, which is of this version.
///
/// Who lost the replicas loses them there; who is new gets an entry without a time, as in Kubernetes.
pub fn scale_entries_to_parent(
    parent: &ManagedFields,
    scale: &ManagedFields,
    parent_version: &str,
) -> ManagedFields {
    let replicas = FieldSet::of_fields(&["spec.replicas"]);
    let mut result = parent.clone();
    for (identity, entry) in parent.entries().filter(|(_, entry)| owns_replicas(entry)) {
        let keeps = scale.get(&in_version(identity, SCALE_VERSION)).is_some_and(owns_replicas);
        if !keeps {
            result
                .set(identity.clone(), Entry { fields: entry.fields.difference(&replicas), ..entry.clone() });
        }
    }
    for (identity, entry) in scale.entries().filter(|(_, entry)| owns_replicas(entry)) {
        let identity = in_version(identity, parent_version);
        let (time, mut fields) = match result.get(&identity) {
            Some(known) => (known.time.clone(), known.fields.clone()),
            None => (None, FieldSet::new()),
        };
        fields.absorb(entry.fields.intersection(&replicas));
        result.set(identity, Entry { api_version: parent_version.to_owned(), time, fields });
    }
    result
}

fn owns_replicas(entry: &Entry) -> bool {
    entry.fields.contains(&[PathElement::field("spec"), PathElement::field("replicas")])
}

fn in_version(identity: &Identity, version: &str) -> Identity {
    let api_version = match identity.operation {
        Operation::Apply => String::new(),
        Operation::Update => version.to_owned(),
    };
    Identity { api_version, ..identity.clone() }
}
