//! The objects that the rules work on, parsed once at the boundary.
//!
//! Objects are received as `k8s-openapi` types and converted to the types of this crate by `parse`; afterwards no code
//! has to check whether a replica count is set or a percentage is well formed. Writes are a *draft* (an object to
//! create), an *edit* (an update of an existing object) or a status, each of which renders itself back to
//! `k8s-openapi`.
//!
//! This crate never decides anything: it holds no arithmetic on replicas. It has no clock, client or async code, and
//! its types do not derive `Serialize`: the wire format is `k8s-openapi`'s.
//!
//! Start with [`Deployment`], [`ReplicaSet`] and [`Pod`].

mod cluster_role;
mod condition;
mod deployment;
mod disruption_budget;
mod draft;
mod edit;
mod endpoints;
mod error;
mod event;
mod identity;
pub mod keys;
mod limit;
mod meta;
mod names;
mod object_metadata;
mod owner;
pub mod patch;
mod pod;
pub mod protobuf;
mod refusal;
mod replica_set;
mod replicas;
mod selector;
mod service;
mod set_kind;
mod template;
mod time;
mod uid;

pub use cluster_role::{ClusterRole, PolicyRule};
pub use condition::{
    ConditionStatus, DeploymentCondition, DeploymentConditionType, ReplicaSetCondition,
    ReplicaSetConditionType,
};
pub use deployment::{Deployment, DeploymentStatus, RollingLimits, Strategy};
pub use disruption_budget::{BudgetCondition, BudgetRequirement, DisruptionBudget, DisruptionBudgetStatus};
pub use draft::{PodDraft, ReplicaSetDraft};
pub use edit::{ChangedMember, DeploymentEdit, ReplicaSetEdit};
pub use endpoints::{
    Endpoint, EndpointAddress, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice,
    EndpointSliceDraft, EndpointSubset, EndpointTarget, Endpoints, EndpointsDraft, SliceContent,
};
pub use error::ParseError;
pub use event::{Event, EventType};
pub use gantry_formats::text_enum;
pub use identity::Identity;
pub use limit::{InvalidLimit, Limit};
pub use meta::{Annotations, Labels, Meta};
pub use names::{ApiVersion, KindName, Name, Namespace, ObjectKey, ResourceVersion};
pub use object_metadata::ObjectMetadata;
pub use owner::{Controlled, OwnerReference};
pub use pod::{ContainerPort, Phase, Pod, PodNetwork, Readiness, Restarts};
pub use refusal::{Refusal, RefusalKind};
pub use replica_set::{ReplicaSet, ReplicaSetStatus};
pub use replicas::Replicas;
pub use selector::{InvalidSelector, Requirement, Selector};
pub use service::{ClusterIp, IpFamily, Service, ServicePort, TargetPort, TrafficDistribution};
pub use set_kind::SetKind;
pub use template::Template;
pub use time::Timestamp;
pub use uid::Uid;
