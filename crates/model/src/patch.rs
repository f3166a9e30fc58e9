//! The bodies of the patches with which controllers take on, let go, unblock and finalize objects.
//!
//! Strategic merge patches carry the uid of the object they mean. The API server takes a uid that differs from the
//! stored one for an attempt to change it and refuses, so the patch never reaches a namesake. JSON merge patches
//! replace whole lists and carry the version that was read instead, so they never undo somebody else's change.

use serde_json::{Value, json};

use crate::{OwnerReference, ResourceVersion, Uid};

/// A change to metadata that says nothing about the kind of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataPatch {
    /// Takes the owners with these uids off the object.
    Release {
        /// The object meant.
        object: Uid,
        /// The owners to take off.
        owners: Vec<Uid>,
    },
    /// Lets these owners go before the object does.
    Unblock {
        /// The object meant.
        object: Uid,
        /// The references that are to block no longer.
        references: Vec<OwnerReference>,
    },
    /// Gives the object this list of owners, for kinds that know no strategic merge.
    SetOwners {
        /// The version whose list is replaced.
        version: ResourceVersion,
        /// The whole new list.
        owners: Vec<OwnerReference>,
    },
    /// Gives the object this list of finalizers.
    SetFinalizers {
        /// The version whose list is replaced.
        version: ResourceVersion,
        /// The whole new list.
        finalizers: Vec<String>,
    },
}

/// How an API server is to read a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchForm {
    /// Lists are merged by key; refused with 415 by kinds without a schema for it.
    StrategicMerge,
    /// Lists are replaced.
    JsonMerge,
}

impl MetadataPatch {
    /// How the body is to be read.
    pub fn form(&self) -> PatchForm {
        match self {
            Self::Release { .. } | Self::Unblock { .. } => PatchForm::StrategicMerge,
            Self::SetOwners { .. } | Self::SetFinalizers { .. } => PatchForm::JsonMerge,
        }
    }

    /// The body as the wire carries it.
    pub fn body(&self) -> Value {
        match self {
            Self::Release { object, owners } => release(object, owners),
            Self::Unblock { object, references } => unblock(object, references),
            Self::SetOwners { version, owners } => set_owners(version, owners),
            Self::SetFinalizers { version, finalizers } => set_finalizers(version, finalizers),
        }
    }
}

impl PatchForm {
    /// The content type of the request.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::StrategicMerge => "application/strategic-merge-patch+json",
            Self::JsonMerge => "application/merge-patch+json",
        }
    }
}

/// Strategic merge patch that makes `owner` the controller of the object.
pub fn adopt(object: &Uid, owner: &OwnerReference) -> Value {
    json!({"metadata": {
        "ownerReferences": [{
            "apiVersion": owner.api_version,
            "kind": owner.kind,
            "name": owner.name.as_str(),
            "uid": owner.uid.as_str(),
            "controller": true,
            "blockOwnerDeletion": true,
        }],
        "uid": object.as_str(),
    }})
}

/// Strategic merge patch that takes the owners with these uids off the object.
pub fn release<'a>(object: &Uid, owners: impl IntoIterator<Item = &'a Uid>) -> Value {
    let gone: Vec<_> =
        owners.into_iter().map(|uid| json!({"$patch": "delete", "uid": uid.as_str()})).collect();
    json!({"metadata": {"ownerReferences": gone, "uid": object.as_str()}})
}

/// Strategic merge patch after which these references of the object block their owners' deletion no longer.
///
/// The references are sent whole: one that was taken off meanwhile comes back as it was, and is collected again,
/// where half a reference would have the API server refuse the patch.
pub fn unblock<'a>(object: &Uid, references: impl IntoIterator<Item = &'a OwnerReference>) -> Value {
    let unblocked: Vec<_> = references
        .into_iter()
        .map(|reference| {
            let mut wire = reference.render();
            wire.block_owner_deletion = Some(false);
            json!(wire)
        })
        .collect();
    json!({"metadata": {"ownerReferences": unblocked, "uid": object.as_str()}})
}

/// JSON merge patch that gives the object this list of owners; an empty one is taken away.
pub fn set_owners(version: &ResourceVersion, owners: &[OwnerReference]) -> Value {
    let list: Vec<_> = owners.iter().map(|owner| json!(owner.render())).collect();
    json!({"metadata": {"resourceVersion": version.as_str(), "ownerReferences": list_or_null(list)}})
}

/// JSON merge patch that gives the object this list of finalizers; an empty one is taken away.
pub fn set_finalizers(version: &ResourceVersion, finalizers: &[String]) -> Value {
    let list: Vec<_> = finalizers.iter().map(|finalizer| json!(finalizer)).collect();
    json!({"metadata": {"resourceVersion": version.as_str(), "finalizers": list_or_null(list)}})
}

/// `null` is how a merge patch removes a field.
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
        serde_json::from_str(json).unwrap()
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

    /// D4.3, R4.3, G6.1: the reference goes by its uid.
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

    /// G6.1: custom resources get the remaining list whole, under the version that was read.
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

    /// G6.2: the blocking references, said to block no longer, and the uid as precondition.
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

    /// G6.2: where the list is replaced, a reference that does not block simply does not say so.
    #[test]
    fn the_fallback_for_unblocking_lists_all_owners() {
        let owners = vec![OwnerReference { block_owner_deletion: false, ..reference("u-1") }];
        let want = wire(
            r#"{"metadata":{"resourceVersion":"7","ownerReferences":[{"apiVersion":"apps/v1",
                "kind":"Deployment","name":"web","uid":"u-1","controller":true}]}}"#,
        );
        assert_eq!(MetadataPatch::SetOwners { version: "7".into(), owners }.body(), want);
    }

    /// G6.3: the finalizers that stay, or `null`, under the version that was read.
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
