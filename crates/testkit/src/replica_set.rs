//! ReplicaSets for tests.

use gantry_model::{
    Deployment, OwnerReference, ReplicaSet, ReplicaSetStatus, Replicas, SetKind, Timestamp, keys,
};

use crate::{labels, meta, selector, template};

/// A ReplicaSet without owner and pods, of `nginx:1`, that has and selects `app=web`, with an empty status that
/// observed its spec.
pub fn replica_set(name: &str) -> ReplicaSet {
    let mut meta = meta(name);
    meta.labels = labels(&[("app", "web")]);
    ReplicaSet {
        kind: SetKind::ReplicaSet,
        meta,
        replicas: Replicas::ZERO,
        selector: Ok(selector(&[("app", "web")])),
        template: template("nginx:1"),
        min_ready_seconds: 0,
        status: ReplicaSetStatus {
            observed_generation: 1,
            terminating: Some(Replicas::ZERO),
            ..ReplicaSetStatus::default()
        },
    }
}

/// Builder methods of a ReplicaSet.
pub trait ReplicaSetBuilder: Sized {
    /// Makes the Deployment its controller.
    fn owned_by(self, owner: &Deployment) -> Self;
    /// Sets `spec.replicas`.
    fn size(self, n: u16) -> Self;
    /// Sets `status.replicas`.
    fn pods(self, n: u16) -> Self;
    /// Sets the numbers of ready and available pods.
    fn available(self, n: u16) -> Self;
    /// Sets `spec.minReadySeconds`.
    fn min_ready(self, seconds: i32) -> Self;
    /// Sets the image of its pods.
    fn image(self, image: &str) -> Self;
    /// Adds an annotation.
    fn annotated(self, key: &str, value: &str) -> Self;
    /// Sets its revision.
    fn revision(self, n: i64) -> Self;
    /// Sets the annotations of the Deployment's size and maximum.
    fn sized_for(self, desired: u16, max: u16) -> Self;
    /// Sets its creation timestamp.
    fn created(self, when: Timestamp) -> Self;
    /// Sets its deletion timestamp.
    fn deleting_since(self, when: Timestamp) -> Self;
}

impl ReplicaSetBuilder for ReplicaSet {
    fn owned_by(mut self, owner: &Deployment) -> Self {
        self.meta.owners = vec![OwnerReference::to_controller(keys::APPS_V1, keys::DEPLOYMENT, &owner.meta)];
        self
    }

    fn size(mut self, n: u16) -> Self {
        self.replicas = n.into();
        self.pods(n)
    }

    fn pods(mut self, n: u16) -> Self {
        self.status.replicas = n.into();
        self.status.fully_labeled = n.into();
        self
    }

    fn available(mut self, n: u16) -> Self {
        self.status.ready = n.into();
        self.status.available = n.into();
        self
    }

    fn min_ready(mut self, seconds: i32) -> Self {
        self.min_ready_seconds = seconds;
        self
    }

    fn image(mut self, image: &str) -> Self {
        self.template = template(image);
        self
    }

    fn annotated(mut self, key: &str, value: &str) -> Self {
        self.meta.annotations.insert(key.to_owned(), value.to_owned());
        self
    }

    fn revision(self, n: i64) -> Self {
        self.annotated(keys::REVISION, &n.to_string())
    }

    fn sized_for(self, desired: u16, max: u16) -> Self {
        self.annotated(keys::DESIRED_REPLICAS, &desired.to_string())
            .annotated(keys::MAX_REPLICAS, &max.to_string())
    }

    fn created(mut self, when: Timestamp) -> Self {
        self.meta.created = Some(when);
        self
    }

    fn deleting_since(mut self, when: Timestamp) -> Self {
        self.meta.deleting = Some(when);
        self
    }
}
