//! A ReplicaSet as the rules need it.

use k8s_openapi::api::apps::v1 as wire;

use crate::{
    Controlled, InvalidSelector, Meta, ParseError, ReplicaSetCondition, ReplicaSetConditionType, Replicas,
    Selector, SetKind, Template,
};

/// A ReplicaSet.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaSet {
    /// ReplicaSet or ReplicationController, which follow the same rules.
    pub kind: SetKind,
    /// Its metadata.
    pub meta: Meta,
    /// `spec.replicas`.
    pub replicas: Replicas,
    /// Selects its pods; with an invalid selector it does nothing.
    pub selector: Result<Selector, InvalidSelector>,
    /// The pod template.
    pub template: Template,
    /// How long a pod must be ready to count as available.
    pub min_ready_seconds: i32,
    /// The stored status.
    pub status: ReplicaSetStatus,
}

/// The status of a ReplicaSet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicaSetStatus {
    /// The generation that this status is about.
    pub observed_generation: i64,
    /// Pods that are neither terminated nor terminating.
    pub replicas: Replicas,
    /// Pods of these that have all labels of the template.
    pub fully_labeled: Replicas,
    /// Pods of these that are ready.
    pub ready: Replicas,
    /// Pods of these that have been ready long enough.
    pub available: Replicas,
    /// Terminating pods; `None` if unknown.
    pub terminating: Option<Replicas>,
    /// The conditions, in the order in which they were last set.
    pub conditions: Vec<ReplicaSetCondition>,
}

impl ReplicaSet {
    /// Parses a ReplicaSet.
    pub fn parse(mut set: wire::ReplicaSet) -> Result<Self, ParseError> {
        let template = Template::parse(set.spec.template.take().unwrap_or_default());
        Self::parse_with_template(set, template)
    }

    /// Parses a ReplicaSet whose template has been parsed before; that in its spec is ignored.
    pub fn parse_with_template(set: wire::ReplicaSet, template: Template) -> Result<Self, ParseError> {
        let meta = Meta::parse(set.metadata)?;
        Ok(Self::of_parts(SetKind::ReplicaSet, meta, set.spec, template, set.status.unwrap_or_default()))
    }

    /// Parses the parts of a ReplicaSet; the template in the spec is ignored.
    pub(crate) fn of_parts(
        kind: SetKind,
        meta: Meta,
        spec: wire::ReplicaSetSpec,
        template: Template,
        status: wire::ReplicaSetStatus,
    ) -> Self {
        Self {
            kind,
            meta,
            replicas: Replicas::parse(spec.replicas.or(Some(1))),
            selector: Selector::parse(spec.selector),
            template,
            min_ready_seconds: spec.min_ready_seconds.unwrap_or(0),
            status: ReplicaSetStatus::parse(status),
        }
    }

    /// Whether its status is for its present spec.
    pub fn has_observed_spec(&self) -> bool {
        self.meta.generation <= self.status.observed_generation
    }

    /// Whether it should have any pods, whatever its status.
    pub fn is_active(&self) -> bool {
        !self.replicas.is_zero()
    }
}

impl Controlled for ReplicaSet {
    fn meta(&self) -> &Meta {
        &self.meta
    }
}

impl ReplicaSetStatus {
    /// Parses a status.
    pub fn parse(status: wire::ReplicaSetStatus) -> Self {
        Self {
            observed_generation: status.observed_generation.unwrap_or(0),
            replicas: Replicas::parse(Some(status.replicas)),
            fully_labeled: Replicas::parse(status.fully_labeled_replicas),
            ready: Replicas::parse(status.ready_replicas),
            available: Replicas::parse(status.available_replicas),
            terminating: status.terminating_replicas.map(|n| Replicas::parse(Some(n))),
            conditions: status.conditions.into_iter().flatten().map(ReplicaSetCondition::parse).collect(),
        }
    }

    /// The status in its wire format: `replicas` always, the other counters when they are not zero.
    pub fn render(&self) -> wire::ReplicaSetStatus {
        let conditions: Vec<_> = self.conditions.iter().map(ReplicaSetCondition::render).collect();
        wire::ReplicaSetStatus {
            observed_generation: (self.observed_generation != 0).then_some(self.observed_generation),
            replicas: self.replicas.render(),
            fully_labeled_replicas: self.fully_labeled.render_nonzero(),
            ready_replicas: self.ready.render_nonzero(),
            available_replicas: self.available.render_nonzero(),
            terminating_replicas: self.terminating.map(Replicas::render),
            conditions: (!conditions.is_empty()).then_some(conditions),
        }
    }

    /// The ReplicaFailure condition.
    pub fn replica_failure(&self) -> Option<&ReplicaSetCondition> {
        self.conditions
            .iter()
            .find(|condition| condition.condition_type == ReplicaSetConditionType::ReplicaFailure)
    }
}
