//! The bodies of patches that adopt, release, unblock and finalize objects.
//!
//! Strategic merge patches contain the uid of their object. The API server treats a different uid as an attempt to
//! change it and refuses, so the patch never changes another object of the same name. JSON merge patches replace
//! whole lists and contain the version that was read instead, so they never undo a concurrent change.

use gantry_json::{Value, json};

use crate::{OwnerReference, ResourceVersion, Uid};

/// A change of metadata, for objects of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataPatch {
    /// Removes the references to the owners with these uids.
    Release {
        /// The object's uid.
        object: Uid,
        /// The uids of the owners whose references are removed.
        owners: Vec<Uid>,
    },
    /// Makes these references no longer block the deletion of their owners.
    Unblock {
        /// The object's uid.
        object: Uid,
        /// The references that stop blocking.
        references: Vec<OwnerReference>,
    },
    /// Sets the list of owner references, for kinds without strategic merge patches.
    SetOwners {
        /// Precondition.
        version: ResourceVersion,
        /// The whole new list.
        owners: Vec<OwnerReference>,
    },
    /// Sets the list of finalizers.
    SetFinalizers {
        /// Precondition.
        version: ResourceVersion,
        /// The whole new list.
        finalizers: Vec<String>,
    },
}

gantry_formats::text_enum! {
    /// The type of a patch.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PatchForm {
        /// Lists are merged by key; refused with 415 by kinds without a schema for it.
        StrategicMerge = "application/strategic-merge-patch+json",
        /// Lists are replaced.
        JsonMerge = "application/merge-patch+json",
        /// A list of operations.
        Json = "application/json-patch+json",
        /// Server-side apply: the fields that a manager wants to own.
        Apply = "application/apply-patch+yaml",
    }

    /// The content type of the request.
    pub fn content_type(self) -> &'static str;
}

impl MetadataPatch {
    /// The type of the patch.
    pub fn form(&self) -> PatchForm {
        match self {
            Self::Release { .. } | Self::Unblock { .. } => PatchForm::StrategicMerge,
            Self::SetOwners { .. } | Self::SetFinalizers { .. } => PatchForm::JsonMerge,
        }
    }

    /// The body in its wire format.
    pub fn body(&self) -> Value {
        match self {
            Self::Release { object, owners } => release(object, owners),
            Self::Unblock { object, references } => unblock(object, references),
            Self::SetOwners { version, owners } => set_owners(version, owners),
            Self::SetFinalizers { version, finalizers } => set_finalizers(version, finalizers),
        }
    }
}

/// Strategic merge patch that makes `owner` the controller of the object.
pub fn adopt(object: &Uid, owner: &OwnerReference) -> Value {
    json!({"metadata": {
        "ownerReferences": [{
            "apiVersion": owner.api_version.as_str(),
            "kind": owner.kind.as_str(),
            "name": owner.name.as_str(),
            "uid": owner.uid.to_string(),
            "controller": true,
            "blockOwnerDeletion": true,
        }],
        "uid": object.to_string(),
    }})
}

/// Strategic merge patch that removes the references to the owners with these uids.
pub fn release<'a>(object: &Uid, owners: impl IntoIterator<Item = &'a Uid>) -> Value {
    let gone: Vec<_> =
        owners.into_iter().map(|uid| json!({"$patch": "delete", "uid": uid.to_string()})).collect();
    json!({"metadata": {"ownerReferences": gone, "uid": object.to_string()}})
}

/// Strategic merge patch that makes these references no longer block their owners' deletion.
///
/// The references are sent whole: one that was removed meanwhile is added again, and is collected again, whereas the
/// API server would refuse a partial reference.
pub fn unblock<'a>(object: &Uid, references: impl IntoIterator<Item = &'a OwnerReference>) -> Value {
    let unblocked: Vec<_> = references
        .into_iter()
        .map(|reference| {
            let mut wire = reference.render();
            wire.block_owner_deletion = Some(false);
            json!(wire)
        })
        .collect();
    json!({"metadata": {"ownerReferences": unblocked, "uid": object.to_string()}})
}

/// JSON merge patch that sets the list of owner references; an empty list removes the field.
pub fn set_owners(version: &ResourceVersion, owners: &[OwnerReference]) -> Value {
    let list: Vec<_> = owners.iter().map(|owner| json!(owner.render())).collect();
    json!({"metadata": {"resourceVersion": version.as_str(), "ownerReferences": list_or_null(list)}})
}

/// JSON merge patch that sets the list of finalizers; an empty list removes the field.
pub fn set_finalizers(version: &ResourceVersion, finalizers: &[String]) -> Value {
    let list: Vec<_> = finalizers.iter().map(|finalizer| json!(finalizer)).collect();
    json!({"metadata": {"resourceVersion": version.as_str(), "finalizers": list_or_null(list)}})
}

/// `null` removes a field in a merge patch.
fn list_or_null(list: Vec<Value>) -> Value {
    if list.is_empty() { Value::Null } else { Value::Array(list) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(uid: &str) -> OwnerReference {
        OwnerReference {
            api_version: "apps/v1".into(),
            kind: "Deployment".into(),
            name: "web".into(),
            uid: uid.into(),
            controller: true,
            block_owner_deletion: true,
        }
    }

    fn wire(json: &str) -> Value {
        gantry_json::from_str(json).unwrap()
    }

    /// D4.2, R4.2: one reference, and the uid as precondition.
    #[test]
    fn adoption_adds_one_controlling_and_blocking_reference() {
        let want = wire(
            r#"{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web",
                "uid":"u-1","controller":true,"blockOwnerDeletion":true}],"uid":"rs-1"}}"#,
        );
        assert_eq!(adopt(&"rs-1".into(), &reference("u-1")), want);
    }

    /// D4.3, R4.3, G6.1: the reference is removed by its uid.
    #[test]
    fn release_deletes_references_by_uid() {
        let patch =
            MetadataPatch::Release { object: "rs-1".into(), owners: vec!["u-1".into(), "u-2".into()] };
        let want = wire(
            r#"{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"u-1"},{"$patch":"delete","uid":"u-2"}],
                "uid":"rs-1"}}"#,
        );
        assert_eq!(patch.body(), want);
        assert_eq!(patch.form().content_type(), "application/strategic-merge-patch+json");
    }

    /// G6.1: for custom resources the patch has the whole remaining list, with the version that was read.
    #[test]
    fn the_fallback_for_releasing_lists_the_owners_that_stay() {
        let patch = |owners| MetadataPatch::SetOwners { version: "7".into(), owners };
        let want = wire(
            r#"{"metadata":{"resourceVersion":"7","ownerReferences":[{"apiVersion":"apps/v1",
                "kind":"Deployment","name":"web","uid":"u-2","controller":true,"blockOwnerDeletion":true}]}}"#,
        );
        assert_eq!(patch(vec![reference("u-2")]).body(), want);
        assert_eq!(
            patch(Vec::new()).body(),
            wire(r#"{"metadata":{"resourceVersion":"7","ownerReferences":null}}"#)
        );
        assert_eq!(patch(Vec::new()).form().content_type(), "application/merge-patch+json");
    }

    /// G6.2: the blocking references with `blockOwnerDeletion: false`, and the uid as precondition.
    #[test]
    fn unblocking_repeats_the_references_with_blocking_switched_off() {
        let patch = MetadataPatch::Unblock { object: "rs-1".into(), references: vec![reference("u-1")] };
        let want = wire(
            r#"{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web",
                "uid":"u-1","controller":true,"blockOwnerDeletion":false}],"uid":"rs-1"}}"#,
        );
        assert_eq!(patch.body(), want);
        assert_eq!(patch.form(), PatchForm::StrategicMerge);
    }

    /// G6.2: where the list is replaced, a reference that does not block has no `blockOwnerDeletion`.
    #[test]
    fn the_fallback_for_unblocking_lists_all_owners() {
        let owners = vec![OwnerReference { block_owner_deletion: false, ..reference("u-1") }];
        let want = wire(
            r#"{"metadata":{"resourceVersion":"7","ownerReferences":[{"apiVersion":"apps/v1",
                "kind":"Deployment","name":"web","uid":"u-1","controller":true}]}}"#,
        );
        assert_eq!(MetadataPatch::SetOwners { version: "7".into(), owners }.body(), want);
    }

    /// G6.3: the remaining finalizers, or `null`, with the version that was read.
    #[test]
    fn removing_a_finalizer_lists_the_ones_that_stay() {
        let patch = |finalizers| MetadataPatch::SetFinalizers { version: "7".into(), finalizers };
        assert_eq!(
            patch(vec!["example.com/held".into()]).body(),
            wire(r#"{"metadata":{"resourceVersion":"7","finalizers":["example.com/held"]}}"#)
        );
        assert_eq!(
            patch(Vec::new()).body(),
            wire(r#"{"metadata":{"resourceVersion":"7","finalizers":null}}"#)
        );
        assert_eq!(patch(Vec::new()).form(), PatchForm::JsonMerge);
    }
}
