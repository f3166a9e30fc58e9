//! The conditions in the status of a definition.

use std::borrow::Cow;

use gantry_json::{Value, json};

use gantry_primitives::Timestamp;

/// Whether the names are accepted.
pub const NAMES_ACCEPTED: &str = "NamesAccepted";
/// Whether the kind is served.
pub const ESTABLISHED: &str = "Established";
/// Whether the objects are being deleted.
pub const TERMINATING: &str = "Terminating";
/// Whether a group that Kubernetes protects may be used.
pub const APPROVED: &str = "KubernetesAPIApprovalPolicyConformant";

/// A condition to be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionCondition<'a> {
    /// The type, such as `Established`.
    pub name: &'static str,
    /// The status.
    pub status: ConditionStatus,
    /// The reason, in one word.
    pub reason: &'static str,
    /// The message.
    pub message: Cow<'a, str>,
}

/// The status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of Kubernetes")]
pub enum ConditionStatus {
    True,
    False,
}

/// Whether a condition exists and is true.
pub fn holds(definition: &Value, name: &str) -> bool {
    find(&definition["status"], name).is_some_and(|condition| condition["status"] == "True")
}

/// The condition of this type.
pub fn find<'a>(status: &'a Value, name: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == name)
}

/// Sets the condition in a status. `lastTransitionTime` changes only if the condition's status does.
pub fn set(status: &mut Value, condition: &DefinitionCondition<'_>, now: Timestamp) {
    if !status.is_object() {
        *status = json!({});
    }
    let list = &mut status["conditions"];
    if !list.is_array() {
        *list = json!([]);
    }
    let Some(list) = list.as_array_mut() else { return };
    let written = json!({
        "type": condition.name, "status": condition.status.word(), "lastTransitionTime": now.to_string(),
        "reason": condition.reason, "message": condition.message,
    });
    let Some(before) = list.iter_mut().find(|before| before["type"] == condition.name) else {
        return list.push(written);
    };
    let turned = before["status"] != written["status"] || before["lastTransitionTime"].is_null();
    for (field, value) in written.as_object().into_iter().flatten() {
        if turned || field != "lastTransitionTime" {
            before[field] = value.clone();
        }
    }
}

impl ConditionStatus {
    fn word(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
        }
    }
}
