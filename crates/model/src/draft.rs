//! Objects to create.

use k8s_openapi::api::{apps::v1 as apps, core::v1 as core};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::{Annotations, Labels, Name, Namespace, OwnerReference, Replicas, Selector, Template};

/// A ReplicaSet to create.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaSetDraft {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name.
    pub name: Name,
    /// Its labels.
    pub labels: Labels,
    /// Its annotations.
    pub annotations: Annotations,
    /// The Deployment that owns it.
    pub owner: OwnerReference,
    /// Its initial size.
    pub replicas: Replicas,
    /// Selects its pods.
    pub selector: Selector,
    /// Its pod template.
    pub template: Template,
    /// How long a pod must be ready to count as available.
    pub min_ready_seconds: i32,
}

/// A Pod to create; the API server generates its name.
#[derive(Clone, Debug, PartialEq)]
pub struct PodDraft {
    /// Its namespace.
    pub namespace: Namespace,
    /// The prefix of its name.
    pub generate_name: String,
    /// The ReplicaSet that owns it.
    pub owner: OwnerReference,
    /// Its labels, annotations, finalizers and spec.
    pub template: Template,
}

impl ReplicaSetDraft {
    /// The object in its wire format.
    pub fn render(&self) -> apps::ReplicaSet {
        apps::ReplicaSet {
            metadata: ObjectMeta {
                namespace: Some(self.namespace.to_string()),
                name: Some(self.name.to_string()),
                labels: nonempty(&self.labels),
                annotations: nonempty(&self.annotations),
                owner_references: Some(vec![self.owner.render()]),
                ..ObjectMeta::default()
            },
            spec: apps::ReplicaSetSpec {
                replicas: Some(self.replicas.render()),
                selector: self.selector.render(),
                template: Some(self.template.render()),
                min_ready_seconds: (self.min_ready_seconds != 0).then_some(self.min_ready_seconds),
            },
            status: None,
        }
    }
}

impl PodDraft {
    /// The object in its wire format.
    pub fn render(&self) -> core::Pod {
        let template = self.template.render();
        let meta = template.metadata.unwrap_or_default();
        core::Pod {
            metadata: ObjectMeta {
                namespace: Some(self.namespace.to_string()),
                generate_name: Some(self.generate_name.clone()),
                labels: meta.labels,
                annotations: meta.annotations,
                finalizers: meta.finalizers,
                owner_references: Some(vec![self.owner.render()]),
                ..ObjectMeta::default()
            },
            spec: template.spec,
            status: None,
        }
    }
}

/// A map for a field that is omitted if it is empty.
pub(crate) fn nonempty(map: &Labels) -> Option<Labels> {
    (!map.is_empty()).then(|| map.clone())
}
