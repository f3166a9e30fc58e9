//! Objects of any kind for tests, as the garbage collector sees them.

use gantry_model::{Identity, ObjectMetadata, OwnerReference};

use crate::NOON;

/// An unowned object in namespace `default` with uid `uid-of-<name>`.
pub fn object(api_version: &str, kind: &str, name: &str) -> ObjectMetadata {
    ObjectMetadata {
        identity: Identity {
            kind: kind.to_owned(),
            api_version: api_version.to_owned(),
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

/// The reference that names this object as an owner which need not wait.
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

/// What tests say of an object of any kind.
pub trait MetadataWords: Sized {
    /// It lives in this namespace.
    fn in_namespace(self, namespace: &str) -> Self;
    /// It lives in no namespace.
    fn cluster_scoped(self) -> Self;
    /// It has this uid.
    fn uid(self, uid: &str) -> Self;
    /// It is of this version.
    fn version(self, version: &str) -> Self;
    /// It names one more owner, which need not wait for it.
    fn owned_by(self, owner: &ObjectMetadata) -> Self;
    /// It names one more owner, which waits for it when deleted in the foreground.
    fn blocking(self, owner: &ObjectMetadata) -> Self;
    /// It carries one more reference.
    fn referring(self, reference: OwnerReference) -> Self;
    /// It is held by one more finalizer.
    fn held_by(self, finalizer: &str) -> Self;
    /// Its deletion was asked for at noon.
    fn deleting(self) -> Self;
}

impl MetadataWords for ObjectMetadata {
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
