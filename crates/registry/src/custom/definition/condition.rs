//! The conditions in the status of a definition.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::Moment;

/// Whether the names are the definition's own.
pub(crate) const NAMES_ACCEPTED: &str = "NamesAccepted";
/// Whether the kind is served.
pub(crate) const ESTABLISHED: &str = "Established";
/// Whether the objects are being deleted.
pub(crate) const TERMINATING: &str = "Terminating";
/// Whether a group of Kubernetes' own may be used.
pub(crate) const APPROVED: &str = "KubernetesAPIApprovalPolicyConformant";

/// What is to be said in one condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition<'a> {
    pub(crate) name: &'static str,
    pub(crate) truth: Truth,
    pub(crate) reason: &'static str,
    pub(crate) message: Cow<'a, str>,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    True,
    False,
}

/// Whether a condition is there and holds.
pub(crate) fn holds(definition: &Value, name: &str) -> bool {
    find(&definition["status"], name).is_some_and(|condition| condition["status"] == "True")
}

/// The condition of this name.
pub(crate) fn find<'a>(status: &'a Value, name: &str) -> Option<&'a Value> {
    status["conditions"].as_array()?.iter().find(|condition| condition["type"] == name)
}

/// Says it in a status. Its time is that of the last change of whether it holds.
pub(crate) fn set(status: &mut Value, condition: &Condition<'_>, now: Moment) {
    if !status.is_object() {
        *status = json!({});
    }
    let list = &mut status["conditions"];
    if !list.is_array() {
        *list = json!([]);
    }
    let Some(list) = list.as_array_mut() else { return };
    let written = json!({
        "type": condition.name, "status": condition.truth.word(), "lastTransitionTime": now.to_string(),
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

impl Truth {
    fn word(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
        }
    }
}
