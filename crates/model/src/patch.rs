//! The bodies of the patches with which controllers take on, let go and unblock objects.
//!
//! All carry the uid of the object they mean. The API server takes a uid that differs from the stored one for an
//! attempt to change it and refuses, so the patch never reaches a namesake.

use serde_json::{Value, json};

use crate::{OwnerReference, Uid};

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

#[cfg(test)]
mod tests {
    use super::*;

    /// D4.2, R4.2: one reference, and the uid as precondition.
    #[test]
    fn adoption_adds_one_controlling_and_blocking_reference() {
        let owner = OwnerReference {
            api_version: "apps/v1".into(),
            kind: "Deployment".into(),
            name: "web".into(),
            uid: "u-1".into(),
            controller: true,
            block_owner_deletion: true,
        };
        let want: Value = serde_json::from_str(
            r#"{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web",
                "uid":"u-1","controller":true,"blockOwnerDeletion":true}],"uid":"rs-1"}}"#,
        )
        .unwrap();
        assert_eq!(adopt(&"rs-1".into(), &owner), want);
    }

    /// D4.3, R4.3, G6.1: the reference goes by its uid.
    #[test]
    fn release_deletes_references_by_uid() {
        let want: Value = serde_json::from_str(
            r#"{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"u-1"}],"uid":"rs-1"}}"#,
        )
        .unwrap();
        assert_eq!(release(&"rs-1".into(), [&"u-1".into()]), want);
    }
}
