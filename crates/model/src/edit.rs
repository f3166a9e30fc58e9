//! Updates of existing objects. An edit is rendered as the members of the object that it changes; the others are
//! written as they were read, with the resource version as precondition.

use gantry_json::{Value, to_value};

use crate::{Annotations, DeploymentStatus, ReplicaSetStatus, Replicas, Template};

/// A member of an object in JSON that an update changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedMember {
    /// The names that lead to it.
    pub path: &'static [&'static str],
    /// Its new value; `None` if it is removed.
    pub value: Option<Value>,
}

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
    /// The changed members.
    pub fn changed_members(&self) -> Vec<ChangedMember> {
        let min_ready_seconds = (self.min_ready_seconds != 0).then(|| self.min_ready_seconds.into());
        vec![
            annotations(&self.annotations),
            ChangedMember::new(&["spec", "replicas"], self.replicas.render().into()),
            ChangedMember { path: &["spec", "minReadySeconds"], value: min_ready_seconds },
        ]
    }
}

impl DeploymentEdit {
    /// The changed members.
    pub fn changed_members(&self) -> Vec<ChangedMember> {
        let template = self.template.as_ref().map(|template| to_value(&template.render()));
        let template = template.map(|template| ChangedMember::new(&["spec", "template"], template));
        [annotations(&self.annotations)].into_iter().chain(template).collect()
    }
}

impl ReplicaSetStatus {
    /// The changed members of an update of the status.
    pub fn changed_members(&self) -> Vec<ChangedMember> {
        vec![ChangedMember::new(&["status"], to_value(&self.render()))]
    }
}

impl DeploymentStatus {
    /// The changed members of an update of the status and, if they are given, of the annotations.
    pub fn changed_members(&self, with_annotations: Option<&Annotations>) -> Vec<ChangedMember> {
        let status = ChangedMember::new(&["status"], to_value(&self.render()));
        [status].into_iter().chain(with_annotations.map(annotations)).collect()
    }
}

impl ChangedMember {
    fn new(path: &'static [&'static str], value: Value) -> Self {
        Self { path, value: Some(value) }
    }
}

fn annotations(annotations: &Annotations) -> ChangedMember {
    ChangedMember::new(&["metadata", "annotations"], to_value(annotations))
}
