//! Owner references.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as wire;

use crate::{ApiVersion, KindName, Meta, Name, Uid};

/// One entry of `metadata.ownerReferences`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerReference {
    /// Group and version of the owner's kind.
    pub api_version: ApiVersion,
    /// The owner's kind.
    pub kind: KindName,
    /// The owner's name, in the dependent's namespace or cluster-scoped.
    pub name: Name,
    /// The owner's identity.
    pub uid: Uid,
    /// Whether the owner is the controller; at most one is.
    pub controller: bool,
    /// Whether a foreground deletion of the owner waits for the dependent.
    pub block_owner_deletion: bool,
}

impl OwnerReference {
    /// Parses a reference.
    pub fn parse(reference: wire::OwnerReference) -> Self {
        Self {
            api_version: reference.api_version.into(),
            kind: reference.kind.into(),
            name: reference.name.into(),
            uid: reference.uid.into(),
            controller: reference.controller.unwrap_or(false),
            block_owner_deletion: reference.block_owner_deletion.unwrap_or(false),
        }
    }

    /// Parses all references of an object.
    pub(crate) fn parse_all(references: Option<Vec<wire::OwnerReference>>) -> Vec<Self> {
        references.unwrap_or_default().into_iter().map(Self::parse).collect()
    }

    /// The reference that a controller sets on its objects.
    pub fn to_controller(api_version: &str, kind: &str, owner: &Meta) -> Self {
        Self {
            api_version: api_version.into(),
            kind: kind.into(),
            name: owner.name.clone(),
            uid: owner.uid.clone(),
            controller: true,
            block_owner_deletion: true,
        }
    }

    /// The reference in its wire format.
    pub fn render(&self) -> wire::OwnerReference {
        wire::OwnerReference {
            api_version: self.api_version.to_string(),
            kind: self.kind.to_string(),
            name: self.name.to_string(),
            uid: self.uid.to_string(),
            controller: self.controller.then_some(true),
            block_owner_deletion: self.block_owner_deletion.then_some(true),
        }
    }
}

/// An object that a controller can own: a ReplicaSet or a Pod.
pub trait Controlled {
    /// Its metadata, which holds its owners and labels.
    fn meta(&self) -> &Meta;
}
