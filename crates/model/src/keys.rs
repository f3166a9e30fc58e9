//! The well-known keys and names of Kubernetes' labels, annotations and finalizers.

/// The label of pods and ReplicaSets of one template.
pub const HASH_LABEL: &str = "pod-template-hash";

/// Revision of a Deployment's template, on the Deployment and on its ReplicaSets.
pub const REVISION: &str = "deployment.kubernetes.io/revision";
/// Earlier revisions of a ReplicaSet that became the new one again, comma separated, oldest first.
pub const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The Deployment's replica count when the ReplicaSet was last sized.
pub const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
/// Replica count plus surge when the ReplicaSet was last sized.
pub const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
/// Legacy request to roll back.
pub const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";
/// The configuration that `kubectl apply` last applied.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The deletion cost of a pod, relative to the others of its set.
pub const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Label of an EndpointSlice: the Service whose endpoints it holds.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// Label of an EndpointSlice: the controller that writes it.
pub const SLICE_MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// Label of an Endpoints object: the controller that writes it.
pub const ENDPOINTS_MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
/// Label of the endpoints of a Service without a cluster IP.
pub const HEADLESS: &str = "service.kubernetes.io/headless";
/// Annotation of endpoints: the time of the change of a pod or Service for which they were written.
pub const LAST_CHANGE_TRIGGER_TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";
/// Annotation of an Endpoints object that omits addresses because there are too many.
pub const OVER_CAPACITY: &str = "endpoints.kubernetes.io/over-capacity";
/// Annotation of an Endpoints object that old clients used as a lock.
pub const LEADER: &str = "control-plane.alpha.kubernetes.io/leader";
/// Label of a node: its zone.
pub const ZONE: &str = "topology.kubernetes.io/zone";

/// Finalizer of an owner that is being deleted in the foreground.
pub const FOREGROUND_FINALIZER: &str = "foregroundDeletion";
/// Finalizer of an owner whose dependents are to be orphaned.
pub const ORPHAN_FINALIZER: &str = "orphan";

/// API version of PodDisruptionBudgets.
pub const POLICY_V1: &str = "policy/v1";
/// Kind of a PodDisruptionBudget.
pub const DISRUPTION_BUDGET: &str = "PodDisruptionBudget";
/// API version of Deployments and ReplicaSets.
pub const APPS_V1: &str = "apps/v1";
/// Kind of a Deployment in an owner reference.
pub const DEPLOYMENT: &str = "Deployment";
/// Kind of a ReplicaSet in an owner reference.
pub const REPLICA_SET: &str = "ReplicaSet";
/// Kind of a StatefulSet in an owner reference.
pub const STATEFUL_SET: &str = "StatefulSet";
/// Kind of a ReplicationController in an owner reference.
pub const REPLICATION_CONTROLLER: &str = "ReplicationController";
