//! Updates of existing objects. An edit is applied to the whole object as it was read, and the result is written with
//! its resource version as precondition.

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
