//! The metadata that the rules need, the same for every namespaced kind.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::{Name, Namespace, ObjectKey, OwnerReference, ParseError, ResourceVersion, Timestamp, Uid};

/// `metadata.labels`.
pub type Labels = BTreeMap<String, String>;
/// `metadata.annotations`.
pub type Annotations = BTreeMap<String, String>;

/// Metadata of a namespaced object that an API server has stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Meta {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name.
    pub name: Name,
    /// Its identity.
    pub uid: Uid,
    /// The version that was read, the precondition of every full update.
    pub resource_version: ResourceVersion,
    /// Increases with every change of the spec.
    pub generation: i64,
    /// The labels, which selectors match.
    pub labels: Labels,
    /// The annotations.
    pub annotations: Annotations,
    /// When it was created; `None` only for objects that are not stored in a server.
    pub created: Option<Timestamp>,
    /// When its deletion was requested, if it was.
    pub deleting: Option<Timestamp>,
    /// Its owner references.
    pub owners: Vec<OwnerReference>,
    /// The finalizers that must be removed before it is.
    pub finalizers: Vec<String>,
}

impl Meta {
    /// Parses the metadata of an object.
    pub fn parse(meta: ObjectMeta) -> Result<Self, ParseError> {
        Ok(Self {
            namespace: ParseError::unless_set(meta.namespace, "metadata.namespace")?.into(),
            name: ParseError::unless_set(meta.name, "metadata.name")?.into(),
            uid: ParseError::unless_set(meta.uid, "metadata.uid")?.into(),
            resource_version: meta.resource_version.unwrap_or_default().into(),
            generation: meta.generation.unwrap_or(0),
            labels: meta.labels.unwrap_or_default(),
            annotations: meta.annotations.unwrap_or_default(),
            created: meta.creation_timestamp.as_ref().map(Timestamp::parse),
            deleting: meta.deletion_timestamp.as_ref().map(Timestamp::parse),
            owners: OwnerReference::parse_all(meta.owner_references),
            finalizers: meta.finalizers.unwrap_or_default(),
        })
    }

    /// Its namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey { namespace: self.namespace.clone(), name: self.name.clone() }
    }

    /// The owner that is its controller, if it has one.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owners.iter().find(|owner| owner.controller)
    }

    /// Whether the object with this uid is its controller.
    pub fn is_controlled_by(&self, uid: &Uid) -> bool {
        self.controller().is_some_and(|owner| owner.uid == *uid)
    }

    /// Whether its deletion was requested.
    pub fn is_deleting(&self) -> bool {
        self.deleting.is_some()
    }

    /// The sort key for age: oldest first, equal ages by name.
    pub fn age_order(&self) -> (Option<Timestamp>, &Name) {
        (self.created, &self.name)
    }
}
