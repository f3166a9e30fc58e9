//! Updates of existing objects. An edit is applied to the whole object as it was read, and the result is written with
//! its resource version as precondition.

use k8s_openapi::api::apps::v1 as wire;

use crate::{Annotations, Replicas, Template};

/// A change to a ReplicaSet.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaSetEdit {
    /// Its new size.
    pub replicas: Replicas,
    /// All its annotations.
    pub annotations: Annotations,
    /// How long a pod must be ready to count as available.
    pub min_ready_seconds: i32,
}

/// A change to a Deployment: a rollback.
#[derive(Clone, Debug, PartialEq)]
pub struct DeploymentEdit {
    /// All its annotations.
    pub annotations: Annotations,
    /// Another template, if it changes.
    pub template: Option<Template>,
}

impl ReplicaSetEdit {
    /// Applies the update to the object as it was read.
    pub fn apply_to(&self, set: &mut wire::ReplicaSet) {
        set.metadata.annotations = Some(self.annotations.clone());
        set.spec.replicas = Some(self.replicas.render());
        set.spec.min_ready_seconds = (self.min_ready_seconds != 0).then_some(self.min_ready_seconds);
    }
}

impl DeploymentEdit {
    /// Applies the update to the object as it was read.
    pub fn apply_to(&self, deployment: &mut wire::Deployment) {
        deployment.metadata.annotations = Some(self.annotations.clone());
        if let Some(template) = &self.template {
            deployment.spec.template = template.render();
        }
    }
}
