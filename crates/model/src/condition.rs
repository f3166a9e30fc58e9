//! Conditions of Deployments and ReplicaSets.

use k8s_openapi::api::apps::v1 as wire;

use crate::Timestamp;

/// The status of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionStatus {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// Whether the condition holds is unknown.
    Unknown,
    /// A value that Kubernetes does not use, kept unchanged.
    Other(String),
}

/// The types of conditions of a Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeploymentConditionType {
    /// Enough pods are available.
    Available,
    /// The rollout progresses, or is complete.
    Progressing,
    /// A ReplicaSet could not create or delete pods.
    ReplicaFailure,
    /// A condition of another component, kept unchanged.
    Other(String),
}

/// The types of conditions of a ReplicaSet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicaSetConditionType {
    /// Pods could not be created or deleted.
    ReplicaFailure,
    /// A condition of another component, kept unchanged.
    Other(String),
}

/// One condition of a Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentCondition {
    /// Its type.
    pub condition_type: DeploymentConditionType,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// One word in camel case.
    pub reason: String,
    /// A message.
    pub message: String,
    /// When it was last written; the progress deadline counts from here.
    pub last_update: Option<Timestamp>,
    /// When its status last changed.
    pub last_transition: Option<Timestamp>,
}

/// One condition of a ReplicaSet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaSetCondition {
    /// Its type.
    pub condition_type: ReplicaSetConditionType,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// One word in camel case.
    pub reason: String,
    /// A message.
    pub message: String,
    /// When its status last changed.
    pub last_transition: Option<Timestamp>,
}

/// Implements conversions of the text on the wire, which is the name of the variant.
macro_rules! named_by_variant {
    ($($name:ty: $($variant:ident)*;)*) => {
        $(impl $name {
            /// The value on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => stringify!($variant),)*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $(stringify!($variant) => Self::$variant,)*
                    _ => Self::Other(word),
                }
            }
        })*
    };
}

named_by_variant! {
    ConditionStatus: True False Unknown;
    DeploymentConditionType: Available Progressing ReplicaFailure;
    ReplicaSetConditionType: ReplicaFailure;
}

impl DeploymentCondition {
    /// Parses a condition.
    pub fn parse(condition: wire::DeploymentCondition) -> Self {
        Self {
            condition_type: condition.type_.unwrap_or_default().into(),
            status: condition.status.unwrap_or_default().into(),
            reason: condition.reason.unwrap_or_default(),
            message: condition.message.unwrap_or_default(),
            last_update: condition.last_update_time.as_ref().map(Timestamp::parse),
            last_transition: condition.last_transition_time.as_ref().map(Timestamp::parse),
        }
    }

    /// The condition in its wire format.
    pub fn render(&self) -> wire::DeploymentCondition {
        wire::DeploymentCondition {
            type_: Some(self.condition_type.as_str().to_owned()),
            status: Some(self.status.as_str().to_owned()),
            reason: nonempty(&self.reason),
            message: nonempty(&self.message),
            last_update_time: self.last_update.map(Timestamp::render),
            last_transition_time: self.last_transition.map(Timestamp::render),
        }
    }
}

impl ReplicaSetCondition {
    /// Parses a condition.
    pub fn parse(condition: wire::ReplicaSetCondition) -> Self {
        Self {
            condition_type: condition.type_.unwrap_or_default().into(),
            status: condition.status.unwrap_or_default().into(),
            reason: condition.reason.unwrap_or_default(),
            message: condition.message.unwrap_or_default(),
            last_transition: condition.last_transition_time.as_ref().map(Timestamp::parse),
        }
    }

    /// The condition in its wire format.
    pub fn render(&self) -> wire::ReplicaSetCondition {
        wire::ReplicaSetCondition {
            type_: Some(self.condition_type.as_str().to_owned()),
            status: Some(self.status.as_str().to_owned()),
            reason: nonempty(&self.reason),
            message: nonempty(&self.message),
            last_transition_time: self.last_transition.map(Timestamp::render),
        }
    }
}

fn nonempty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
