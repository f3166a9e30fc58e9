//! Objects of any kind for tests, as the garbage collector needs them.

use gantry_model::{Identity, ObjectMetadata, OwnerReference};

use crate::NOON;

/// An unowned object in namespace `default` with uid `uid-of-<name>`.
pub fn object(api_version: &str, kind: &str, name: &str) -> ObjectMetadata {
    ObjectMetadata {
        identity: Identity {
            kind: kind.into(),
            api_version: api_version.into(),
            namespace: Some("default".into()),
            name: name.into(),
            uid: format!("uid-of-{name}").into(),
        },
        owners: Vec::new(),
        finalizers: Vec::new(),
        deleting: None,
        resource_version: "1".into(),
    }
}

/// A reference to this owner that does not block its deletion.
pub fn reference(owner: &ObjectMetadata) -> OwnerReference {
    OwnerReference {
        api_version: owner.identity.api_version.clone(),
        kind: owner.identity.kind.clone(),
        name: owner.identity.name.clone(),
        uid: owner.identity.uid.clone(),
        controller: false,
        block_owner_deletion: false,
    }
}

/// Builder methods of an object of any kind.
pub trait MetadataBuilder: Sized {
    /// Sets its namespace.
    fn in_namespace(self, namespace: &str) -> Self;
    /// Removes its namespace.
    fn cluster_scoped(self) -> Self;
    /// Sets its uid.
    fn uid(self, uid: &str) -> Self;
    /// Sets its resource version.
    fn version(self, version: &str) -> Self;
    /// Adds an owner reference that does not block the owner's deletion.
    fn owned_by(self, owner: &ObjectMetadata) -> Self;
    /// Adds an owner reference that blocks the owner's foreground deletion.
    fn blocking(self, owner: &ObjectMetadata) -> Self;
    /// Adds an owner reference.
    fn referring(self, reference: OwnerReference) -> Self;
    /// Adds a finalizer.
    fn held_by(self, finalizer: &str) -> Self;
    /// Sets its deletion timestamp to noon.
    fn deleting(self) -> Self;
}

impl MetadataBuilder for ObjectMetadata {
    fn in_namespace(mut self, namespace: &str) -> Self {
        self.identity.namespace = Some(namespace.into());
        self
    }

    fn cluster_scoped(mut self) -> Self {
        self.identity.namespace = None;
        self
    }

    fn uid(mut self, uid: &str) -> Self {
        self.identity.uid = uid.into();
        self
    }

    fn version(mut self, version: &str) -> Self {
        self.resource_version = version.into();
        self
    }

    fn owned_by(self, owner: &ObjectMetadata) -> Self {
        self.referring(reference(owner))
    }

    fn blocking(self, owner: &ObjectMetadata) -> Self {
        self.referring(OwnerReference { block_owner_deletion: true, ..reference(owner) })
    }

    fn referring(mut self, reference: OwnerReference) -> Self {
        self.owners.push(reference);
        self
    }

    fn held_by(mut self, finalizer: &str) -> Self {
        self.finalizers.push(finalizer.to_owned());
        self
    }

    fn deleting(mut self) -> Self {
        self.deleting = Some(NOON);
        self
    }
}
