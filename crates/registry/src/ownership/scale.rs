//! Ownership through `/scale`: the replicas of the Scale are the replicas of its parent.
//!
//! A write to `/scale` is tracked on a Scale object which carries the parent's owners of replicas; what came of them
//! is then brought back to the parent.

use super::{Entry, FieldSet, Identity, ManagedFields, Operation};

/// Where the replicas of a Scale are, and those of every workload that is compiled in.
pub const REPLICAS: &str = "spec.replicas";
const SCALE_VERSION: &str = "autoscaling/v1";

/// The owners of the parent's replicas, as owners of the Scale's.
///
/// The path is where the parent has them, such as [`REPLICAS`].
pub fn scale_entries(parent: &ManagedFields, path: &str) -> ManagedFields {
    let mut scale = ManagedFields::new();
    let replicas = FieldSet::of_fields(&[path]);
    for (identity, entry) in parent.entries().filter(|(_, entry)| replicas.is_subset(&entry.fields)) {
        let owner = Entry {
            api_version: SCALE_VERSION.to_owned(),
            time: entry.time.clone(),
            fields: FieldSet::of_fields(&[REPLICAS]),
        };
        scale.set(in_version(identity, SCALE_VERSION), owner);
    }
    scale
}

/// Brings the owners of the Scale's replicas back to the parent, which is of this version and has them at this path.
///
/// Who lost the replicas loses them there; who is new gets an entry without a time, as in Kubernetes.
pub fn scale_entries_to_parent(
    parent: &ManagedFields,
    scale: &ManagedFields,
    parent_version: &str,
    path: &str,
) -> ManagedFields {
    let (replicas, replicas_of_scale) = (FieldSet::of_fields(&[path]), FieldSet::of_fields(&[REPLICAS]));
    let owns = |entry: &Entry| replicas_of_scale.is_subset(&entry.fields);
    let mut result = parent.clone();
    for (identity, entry) in parent.entries().filter(|(_, entry)| replicas.is_subset(&entry.fields)) {
        let keeps = scale.get(&in_version(identity, SCALE_VERSION)).is_some_and(owns);
        if !keeps {
            result
                .set(identity.clone(), Entry { fields: entry.fields.difference(&replicas), ..entry.clone() });
        }
    }
    for (identity, _) in scale.entries().filter(|(_, entry)| owns(entry)) {
        let identity = in_version(identity, parent_version);
        let (time, mut fields) = match result.get(&identity) {
            Some(known) => (known.time.clone(), known.fields.clone()),
            None => (None, FieldSet::new()),
        };
        fields.absorb(replicas.clone());
        result.set(identity, Entry { api_version: parent_version.to_owned(), time, fields });
    }
    result
}

fn in_version(identity: &Identity, version: &str) -> Identity {
    let api_version = match identity.operation {
        Operation::Apply => String::new(),
        Operation::Update => version.to_owned(),
    };
    Identity { api_version, ..identity.clone() }
}
