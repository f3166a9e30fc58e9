//! The conditions of a terminating namespace, with Kubernetes' reasons and messages.

use gantry_model::{ConditionStatus, Timestamp};

use super::RemainingContent;

/// A condition of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its type.
    pub condition_type: String,
    /// `True` or `False`.
    pub status: ConditionStatus,
    /// One word in camel case.
    pub reason: String,
    /// The message.
    pub message: String,
    /// When its status last changed.
    pub last_transition: Option<Timestamp>,
}

/// All five conditions, in the order in which they are reported.
pub fn conditions(remaining_content: &RemainingContent) -> Vec<Condition> {
    vec![
        condition(
            "NamespaceDeletionDiscoveryFailure",
            ("ResourcesDiscovered", "All resources successfully discovered"),
            "DiscoveryFailed",
            (!remaining_content.undiscovered.is_empty()).then(|| undiscovered(remaining_content)),
        ),
        condition(
            "NamespaceDeletionGroupVersionParsingFailure",
            ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
            "GroupVersionParsingFailed",
            None,
        ),
        condition(
            "NamespaceDeletionContentFailure",
            ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
            "ContentDeletionFailed",
            (!remaining_content.failures.is_empty()).then(|| failures(remaining_content)),
        ),
        condition(
            "NamespaceContentRemaining",
            ("ContentRemoved", "All content successfully removed"),
            "SomeResourcesRemain",
            (!remaining_content.remaining.is_empty()).then(|| remaining(remaining_content)),
        ),
        condition(
            "NamespaceFinalizersRemaining",
            ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
            "SomeFinalizersRemain",
            (!remaining_content.finalizers.is_empty()).then(|| finalizers(remaining_content)),
        ),
    ]
}

/// The merged conditions, or `None` if nothing changes.
///
/// A condition keeps its time while its status is the same.
pub fn merge(present: &[Condition], found: Vec<Condition>, now: Timestamp) -> Option<Vec<Condition>> {
    let mut merged = present.to_vec();
    let mut changed = false;
    for mut condition in found {
        let known = merged.iter_mut().find(|known| known.condition_type == condition.condition_type);
        match known {
            Some(known) if known.says(&condition) => {}
            Some(known) => {
                let is_same = known.status == condition.status;
                condition.last_transition = if is_same { known.last_transition } else { Some(now) };
                *known = condition;
                changed = true;
            }
            None => {
                condition.last_transition = Some(now);
                merged.push(condition);
                changed = true;
            }
        }
    }
    changed.then_some(merged)
}

impl Condition {
    fn says(&self, other: &Self) -> bool {
        self.status == other.status && self.reason == other.reason && self.message == other.message
    }
}

/// A condition that is true if there is a message; otherwise it is false with the reason and message for success.
fn condition(condition_type: &str, well: (&str, &str), reason: &str, message: Option<String>) -> Condition {
    let (status, reason, message) = match message {
        Some(message) => (ConditionStatus::True, reason, message),
        None => (ConditionStatus::False, well.0, well.1.to_owned()),
    };
    Condition {
        condition_type: condition_type.to_owned(),
        status,
        reason: reason.to_owned(),
        message,
        last_transition: None,
    }
}

fn undiscovered(remaining_content: &RemainingContent) -> String {
    let groups = remaining_content.undiscovered.iter().map(|(group, error)| format!("{group}: {error}"));
    let groups: Vec<_> = groups.collect();
    format!("Discovery failed for some groups, {} failing: {}", groups.len(), groups.join(", "))
}

fn failures(remaining_content: &RemainingContent) -> String {
    let failures: Vec<_> = remaining_content.failures.iter().map(String::as_str).collect();
    format!("Failed to delete all resource types, {} remaining: {}", failures.len(), failures.join(", "))
}

fn remaining(remaining_content: &RemainingContent) -> String {
    let kinds = remaining_content
        .remaining
        .iter()
        .map(|((group, plural), count)| format!("{plural}.{group} has {count} resource instances"));
    let mut kinds: Vec<_> = kinds.collect();
    kinds.sort();
    format!("Some resources are remaining: {}", kinds.join(", "))
}

fn finalizers(remaining_content: &RemainingContent) -> String {
    let held = remaining_content.finalizers.iter();
    let held: Vec<_> =
        held.map(|(finalizer, count)| format!("{finalizer} in {count} resource instances")).collect();
    format!("Some content in the namespace has finalizers remaining: {}", held.join(", "))
}
