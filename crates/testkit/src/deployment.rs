//! Deployments for tests.

use gantry_model::{
    ConditionStatus, Deployment, DeploymentCondition, DeploymentConditionType, DeploymentStatus, Limit,
    Replicas, RollingLimits, Strategy, Timestamp,
};

use crate::{labels, meta, selector, template};

/// A Deployment of 3 pods of `nginx:1` that selects `app=web`, with the API's defaults (25 % / 25 %, deadline 600 s,
/// 10 revisions) and no status yet.
pub fn deployment(name: &str) -> Deployment {
    let mut meta = meta(name);
    meta.labels = labels(&[("app", "web")]);
    Deployment {
        meta,
        replicas: Replicas::from(3),
        selector: Ok(selector(&[("app", "web")])),
        template: template("nginx:1"),
        strategy: Strategy::RollingUpdate(Ok(RollingLimits {
            surge: Limit::Percent(25),
            unavailable: Limit::Percent(25),
        })),
        min_ready_seconds: 0,
        revision_history_limit: Some(Replicas::from(10)),
        progress_deadline_seconds: Some(600),
        paused: false,
        status: DeploymentStatus::default(),
    }
}

/// Builder methods of a Deployment.
pub trait DeploymentBuilder: Sized {
    /// Sets `spec.replicas`.
    fn size(self, n: u16) -> Self;
    /// Sets the strategy RollingUpdate with these limits.
    fn rolling(self, surge: Limit, unavailable: Limit) -> Self;
    /// Sets the strategy Recreate.
    fn recreate(self) -> Self;
    /// Sets the image of its pods.
    fn image(self, image: &str) -> Self;
    /// Adds an annotation.
    fn annotated(self, key: &str, value: &str) -> Self;
    /// Pauses it.
    fn paused(self) -> Self;
    /// Sets its deletion timestamp.
    fn deleting_since(self, when: Timestamp) -> Self;
    /// Sets its progress deadline, or none.
    fn deadline(self, seconds: Option<i32>) -> Self;
    /// Sets its status: the numbers of all pods, of updated ones, and of available (and ready) ones.
    fn reported(self, replicas: u16, updated: u16, available: u16) -> Self;
    /// Adds a Progressing condition.
    fn progressing(self, status: ConditionStatus, reason: &str, since: Timestamp) -> Self;
}

impl DeploymentBuilder for Deployment {
    fn size(mut self, n: u16) -> Self {
        self.replicas = n.into();
        self
    }

    fn rolling(mut self, surge: Limit, unavailable: Limit) -> Self {
        self.strategy = Strategy::RollingUpdate(Ok(RollingLimits { surge, unavailable }));
        self
    }

    fn recreate(mut self) -> Self {
        self.strategy = Strategy::Recreate;
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

    fn paused(mut self) -> Self {
        self.paused = true;
        self
    }

    fn deleting_since(mut self, when: Timestamp) -> Self {
        self.meta.deleting = Some(when);
        self
    }

    fn deadline(mut self, seconds: Option<i32>) -> Self {
        self.progress_deadline_seconds = seconds;
        self
    }

    fn reported(mut self, replicas: u16, updated: u16, available: u16) -> Self {
        self.status.observed_generation = self.meta.generation;
        self.status.replicas = replicas.into();
        self.status.updated = updated.into();
        self.status.ready = available.into();
        self.status.available = available.into();
        self
    }

    fn progressing(mut self, status: ConditionStatus, reason: &str, since: Timestamp) -> Self {
        self.status.conditions.push(DeploymentCondition {
            condition_type: DeploymentConditionType::Progressing,
            status,
            reason: reason.to_owned(),
            message: String::new(),
            last_update: Some(since),
            last_transition: Some(since),
        });
        self
    }
}
