//! ReplicaSets and ReplicationControllers.
//!
//! They differ in their group, in their selector's format and in one counter. The rules are the same.

use k8s_openapi::api::{apps::v1 as apps, core::v1 as core};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use crate::{OwnerReference, ParseError, ReplicaSet, ReplicaSetStatus, keys};

/// The kind of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetKind {
    /// `apps/v1` ReplicaSet.
    ReplicaSet,
    /// `v1` ReplicationController.
    ReplicationController,
}

impl SetKind {
    /// Group and version.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::ReplicaSet => keys::APPS_V1,
            Self::ReplicationController => "v1",
        }
    }

    /// The kind in an owner reference.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReplicaSet => keys::REPLICA_SET,
            Self::ReplicationController => keys::REPLICATION_CONTROLLER,
        }
    }

    /// Whether its status counts terminating pods.
    pub fn counts_terminating(self) -> bool {
        self == Self::ReplicaSet
    }
}

impl ReplicaSet {
    /// Parses a ReplicationController.
    pub fn parse_replication_controller(controller: core::ReplicationController) -> Result<Self, ParseError> {
        let spec = controller.spec.unwrap_or_default();
        let status = controller.status.unwrap_or_default();
        let set = apps::ReplicaSet {
            metadata: controller.metadata,
            spec: apps::ReplicaSetSpec {
                replicas: spec.replicas,
                min_ready_seconds: spec.min_ready_seconds,
                selector: LabelSelector { match_labels: spec.selector, match_expressions: None },
                template: spec.template,
            },
            status: Some(apps::ReplicaSetStatus {
                available_replicas: status.available_replicas,
                conditions: status
                    .conditions
                    .map(|conditions| conditions.into_iter().map(as_set_condition).collect()),
                fully_labeled_replicas: status.fully_labeled_replicas,
                observed_generation: status.observed_generation,
                ready_replicas: status.ready_replicas,
                replicas: status.replicas,
                terminating_replicas: None,
            }),
        };
        Ok(Self { kind: SetKind::ReplicationController, ..Self::parse(set)? })
    }

    /// The owner reference of its pods.
    pub fn reference(&self) -> OwnerReference {
        OwnerReference::to_controller(self.kind.api_version(), self.kind.as_str(), &self.meta)
    }
}

impl ReplicaSetStatus {
    /// The status in a ReplicationController's wire format.
    pub fn render_replication_controller(&self) -> core::ReplicationControllerStatus {
        let status = self.render();
        core::ReplicationControllerStatus {
            available_replicas: status.available_replicas,
            conditions: status
                .conditions
                .map(|conditions| conditions.into_iter().map(as_controller_condition).collect()),
            fully_labeled_replicas: status.fully_labeled_replicas,
            observed_generation: status.observed_generation,
            ready_replicas: status.ready_replicas,
            replicas: status.replicas,
        }
    }
}

fn as_set_condition(condition: core::ReplicationControllerCondition) -> apps::ReplicaSetCondition {
    let core::ReplicationControllerCondition { last_transition_time, message, reason, status, type_ } =
        condition;
    let (status, type_) = (Some(status), Some(type_));
    apps::ReplicaSetCondition { last_transition_time, message, reason, status, type_ }
}

fn as_controller_condition(condition: apps::ReplicaSetCondition) -> core::ReplicationControllerCondition {
    let apps::ReplicaSetCondition { last_transition_time, message, reason, status, type_ } = condition;
    let (status, type_) = (status.unwrap_or_default(), type_.unwrap_or_default());
    core::ReplicationControllerCondition { last_transition_time, message, reason, status, type_ }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    use super::*;
    use crate::{Labels, Replicas};

    fn stored() -> core::ReplicationController {
        let meta = ObjectMeta {
            namespace: Some("shop".into()),
            name: Some("old".into()),
            uid: Some("u-1".into()),
            ..ObjectMeta::default()
        };
        let selector = Labels::from([("app".to_owned(), "old".to_owned())]);
        let spec = core::ReplicationControllerSpec {
            replicas: Some(2),
            selector: Some(selector),
            ..core::ReplicationControllerSpec::default()
        };
        let status =
            core::ReplicationControllerStatus { replicas: 2, ..core::ReplicationControllerStatus::default() };
        core::ReplicationController { metadata: meta, spec: Some(spec), status: Some(status) }
    }

    #[test]
    fn a_replication_controller_is_a_set_under_another_kind() {
        let set = ReplicaSet::parse_replication_controller(stored()).unwrap();
        assert_eq!((set.replicas.get(), set.status.replicas), (2, Replicas::of(2)));
        assert!(
            set.selector.as_ref().unwrap().matches(&Labels::from([("app".to_owned(), "old".to_owned())]))
        );
        let reference = set.reference();
        assert_eq!(
            (reference.api_version.as_str(), reference.kind.as_str()),
            ("v1", "ReplicationController")
        );
        assert!(!set.kind.counts_terminating(), "its status has no such field");
        assert_eq!(set.status.render_replication_controller(), stored().status.unwrap());
    }
}
