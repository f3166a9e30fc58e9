//! Conditions of Deployments and ReplicaSets.

use k8s_openapi::api::apps::v1 as wire;

use crate::Timestamp;

/// What a condition says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nobody can say.
    Unknown,
    /// A word that Kubernetes does not use, kept as it was found.
    Other(String),
}

/// The kinds of condition a Deployment has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeploymentConditionType {
    /// Enough pods are available.
    Available,
    /// The rollout moves, or is done.
    Progressing,
    /// A ReplicaSet could not create or delete pods.
    ReplicaFailure,
    /// Somebody else's condition, carried along untouched.
    Other(String),
}

/// The kinds of condition a ReplicaSet has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicaSetConditionType {
    /// Pods could not be created or deleted.
    ReplicaFailure,
    /// Somebody else's condition, carried along untouched.
    Other(String),
}

/// One condition of a Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentCondition {
    /// What it is about.
    pub condition_type: DeploymentConditionType,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Why, in one word.
    pub reason: String,
    /// Why, for people.
    pub message: String,
    /// When it was last written for a reason; the progress deadline counts from here.
    pub last_update: Option<Timestamp>,
    /// When its status last changed.
    pub last_transition: Option<Timestamp>,
}

/// One condition of a ReplicaSet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaSetCondition {
    /// What it is about.
    pub condition_type: ReplicaSetConditionType,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Why, in one word.
    pub reason: String,
    /// Why, for people.
    pub message: String,
    /// When its status last changed.
    pub last_transition: Option<Timestamp>,
}

impl ConditionStatus {
    /// The word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for ConditionStatus {
    fn from(word: String) -> Self {
        match word.as_str() {
            "True" => Self::True,
            "False" => Self::False,
            "Unknown" => Self::Unknown,
            _ => Self::Other(word),
        }
    }
}

impl DeploymentConditionType {
    /// The word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Available => "Available",
            Self::Progressing => "Progressing",
            Self::ReplicaFailure => "ReplicaFailure",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for DeploymentConditionType {
    fn from(word: String) -> Self {
        match word.as_str() {
            "Available" => Self::Available,
            "Progressing" => Self::Progressing,
            "ReplicaFailure" => Self::ReplicaFailure,
            _ => Self::Other(word),
        }
    }
}

impl ReplicaSetConditionType {
    /// The word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::ReplicaFailure => "ReplicaFailure",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for ReplicaSetConditionType {
    fn from(word: String) -> Self {
        match word.as_str() {
            "ReplicaFailure" => Self::ReplicaFailure,
            _ => Self::Other(word),
        }
    }
}

impl DeploymentCondition {
    /// Takes over a condition from the wire.
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

    /// The condition as the wire carries it.
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
    /// Takes over a condition from the wire.
    pub fn parse(condition: wire::ReplicaSetCondition) -> Self {
        Self {
            condition_type: condition.type_.unwrap_or_default().into(),
            status: condition.status.unwrap_or_default().into(),
            reason: condition.reason.unwrap_or_default(),
            message: condition.message.unwrap_or_default(),
            last_transition: condition.last_transition_time.as_ref().map(Timestamp::parse),
        }
    }

    /// The condition as the wire carries it.
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
