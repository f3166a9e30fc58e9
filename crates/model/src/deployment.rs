//! A Deployment as the rules need it.

use k8s_openapi::api::apps::v1 as wire;

use crate::{
    DeploymentCondition, DeploymentConditionType, InvalidLimit, InvalidSelector, Limit, Meta, ParseError,
    Replicas, Selector, Template,
};

/// The API's value for "no limit" in `progressDeadlineSeconds` and `revisionHistoryLimit`.
const UNLIMITED: i32 = i32::MAX;

/// A Deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// Its metadata.
    pub meta: Meta,
    /// `spec.replicas`.
    pub replicas: Replicas,
    /// Selects its ReplicaSets; an invalid selector fails the sync.
    pub selector: Result<Selector, InvalidSelector>,
    /// The pod template.
    pub template: Template,
    /// How old pods are replaced by new ones.
    pub strategy: Strategy,
    /// How long a pod must be ready to count as available.
    pub min_ready_seconds: i32,
    /// The number of old ReplicaSets to keep; `None` keeps all.
    pub revision_history_limit: Option<Replicas>,
    /// The progress deadline; `None` if there is none.
    pub progress_deadline_seconds: Option<i32>,
    /// Whether the rollout is paused.
    pub paused: bool,
    /// The stored status.
    pub status: DeploymentStatus,
}

/// How old pods are replaced by new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// All old pods terminate before the first new one is created.
    Recreate,
    /// Old and new pods overlap within limits; an invalid limit fails the sync.
    RollingUpdate(Result<RollingLimits, InvalidLimit>),
    /// An unknown strategy, which fails the sync.
    Unknown(String),
}

/// The limits of a rolling update above and below the desired number of pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollingLimits {
    /// `maxSurge`.
    pub surge: Limit,
    /// `maxUnavailable`.
    pub unavailable: Limit,
}

/// The status of a Deployment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeploymentStatus {
    /// The generation that this status is about.
    pub observed_generation: i64,
    /// Pods of all ReplicaSets.
    pub replicas: Replicas,
    /// Pods of the new ReplicaSet.
    pub updated: Replicas,
    /// Pods that are ready.
    pub ready: Replicas,
    /// Pods that have been ready long enough.
    pub available: Replicas,
    /// Pods that are missing for full availability.
    pub unavailable: Replicas,
    /// Terminating pods; `None` while some ReplicaSet does not report them.
    pub terminating: Option<Replicas>,
    /// How often the name of a new ReplicaSet was in use already.
    pub collision_count: Option<i32>,
    /// The conditions, in the order in which they were last set.
    pub conditions: Vec<DeploymentCondition>,
}

impl Deployment {
    /// Parses a Deployment.
    pub fn parse(mut deployment: wire::Deployment) -> Result<Self, ParseError> {
        let template = Template::parse(std::mem::take(&mut deployment.spec.template));
        Self::parse_with_template(deployment, template)
    }

    /// Parses a Deployment whose template has been parsed before; that in its spec is ignored.
    pub fn parse_with_template(deployment: wire::Deployment, template: Template) -> Result<Self, ParseError> {
        let meta = Meta::parse(deployment.metadata)?;
        Ok(Self::of_parts(meta, deployment.spec, template, deployment.status.unwrap_or_default()))
    }

    /// Parses the parts of a Deployment; the template in the spec is ignored.
    pub(crate) fn of_parts(
        meta: Meta,
        spec: wire::DeploymentSpec,
        template: Template,
        status: wire::DeploymentStatus,
    ) -> Self {
        let limited = |field: Option<i32>| field.filter(|limit| *limit != UNLIMITED);
        Self {
            meta,
            replicas: Replicas::parse(spec.replicas.or(Some(1))),
            selector: Selector::parse(spec.selector),
            template,
            strategy: Strategy::parse(spec.strategy),
            min_ready_seconds: spec.min_ready_seconds.unwrap_or(0),
            revision_history_limit: limited(spec.revision_history_limit)
                .map(|limit| Replicas::parse(Some(limit))),
            progress_deadline_seconds: limited(spec.progress_deadline_seconds),
            paused: spec.paused.unwrap_or(false),
            status: DeploymentStatus::parse(status),
        }
    }
}

impl Strategy {
    fn parse(strategy: Option<wire::DeploymentStrategy>) -> Self {
        let strategy = strategy.unwrap_or_default();
        match strategy.type_.as_deref() {
            None | Some("" | "RollingUpdate") => {
                let limits = strategy.rolling_update.unwrap_or_default();
                Self::RollingUpdate(Limit::parse(limits.max_surge.as_ref()).and_then(|surge| {
                    let unavailable = Limit::parse(limits.max_unavailable.as_ref())?;
                    Ok(RollingLimits { surge, unavailable })
                }))
            }
            Some("Recreate") => Self::Recreate,
            Some(other) => Self::Unknown(other.to_owned()),
        }
    }
}

impl DeploymentStatus {
    /// Parses a status.
    pub fn parse(status: wire::DeploymentStatus) -> Self {
        Self {
            observed_generation: status.observed_generation.unwrap_or(0),
            replicas: Replicas::parse(status.replicas),
            updated: Replicas::parse(status.updated_replicas),
            ready: Replicas::parse(status.ready_replicas),
            available: Replicas::parse(status.available_replicas),
            unavailable: Replicas::parse(status.unavailable_replicas),
            terminating: status.terminating_replicas.map(|n| Replicas::parse(Some(n))),
            collision_count: status.collision_count,
            conditions: status.conditions.into_iter().flatten().map(DeploymentCondition::parse).collect(),
        }
    }

    /// The status in its wire format: counters of zero are omitted, except for `terminatingReplicas`.
    pub fn render(&self) -> wire::DeploymentStatus {
        let conditions: Vec<_> = self.conditions.iter().map(DeploymentCondition::render).collect();
        wire::DeploymentStatus {
            observed_generation: (self.observed_generation != 0).then_some(self.observed_generation),
            replicas: self.replicas.render_nonzero(),
            updated_replicas: self.updated.render_nonzero(),
            ready_replicas: self.ready.render_nonzero(),
            available_replicas: self.available.render_nonzero(),
            unavailable_replicas: self.unavailable.render_nonzero(),
            terminating_replicas: self.terminating.map(Replicas::render),
            collision_count: self.collision_count,
            conditions: (!conditions.is_empty()).then_some(conditions),
        }
    }

    /// The condition of this type, if there is one.
    pub fn condition(&self, condition_type: &DeploymentConditionType) -> Option<&DeploymentCondition> {
        self.conditions.iter().find(|condition| condition.condition_type == *condition_type)
    }

    /// The Progressing condition.
    pub fn progressing(&self) -> Option<&DeploymentCondition> {
        self.condition(&DeploymentConditionType::Progressing)
    }
}
