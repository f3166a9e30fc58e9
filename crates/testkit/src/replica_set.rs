//! ReplicaSets for tests.

use gantry_model::{
    Deployment, OwnerReference, ReplicaSet, ReplicaSetStatus, Replicas, SetKind, Timestamp, keys,
};

use crate::{labels, meta, selector, template};

/// An unowned ReplicaSet of no pods of `nginx:1` that has and selects `app=web`, with nothing reported but that its
/// spec was seen.
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

/// What tests say of a ReplicaSet.
pub trait ReplicaSetWords: Sized {
    /// The Deployment controls it.
    fn owned_by(self, owner: &Deployment) -> Self;
    /// It should have so many pods.
    fn size(self, n: u16) -> Self;
    /// It reports so many pods.
    fn pods(self, n: u16) -> Self;
    /// Of its pods, so many are ready and available.
    fn available(self, n: u16) -> Self;
    /// Its pods must be ready for so long to count as available.
    fn min_ready(self, seconds: i32) -> Self;
    /// Its pods run this image.
    fn image(self, image: &str) -> Self;
    /// It carries this annotation.
    fn annotated(self, key: &str, value: &str) -> Self;
    /// It is of this revision.
    fn revision(self, n: i64) -> Self;
    /// It was last sized for a Deployment of so many pods, at most so many with surge.
    fn sized_for(self, desired: u16, max: u16) -> Self;
    /// It was created at this moment.
    fn created(self, when: Timestamp) -> Self;
    /// Its deletion was asked for at this moment.
    fn deleting_since(self, when: Timestamp) -> Self;
}

impl ReplicaSetWords for ReplicaSet {
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
