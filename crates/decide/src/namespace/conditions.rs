//! What is reported of a namespace on its way out, word for word as Kubernetes reports it.

use gantry_model::{ConditionStatus, Timestamp};

use super::Leftovers;

/// One condition of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its type.
    pub condition_type: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// One word in camel case.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
    /// When its status last changed.
    pub last_transition: Option<Timestamp>,
}

/// All five conditions, in the order in which they are reported.
pub fn conditions(leftovers: &Leftovers) -> Vec<Condition> {
    vec![
        condition(
            "NamespaceDeletionDiscoveryFailure",
            ("ResourcesDiscovered", "All resources successfully discovered"),
            "DiscoveryFailed",
            (!leftovers.undiscovered.is_empty()).then(|| undiscovered(leftovers)),
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
            (!leftovers.failures.is_empty()).then(|| failures(leftovers)),
        ),
        condition(
            "NamespaceContentRemaining",
            ("ContentRemoved", "All content successfully removed"),
            "SomeResourcesRemain",
            (!leftovers.remaining.is_empty()).then(|| remaining(leftovers)),
        ),
        condition(
            "NamespaceFinalizersRemaining",
            ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
            "SomeFinalizersRemain",
            (!leftovers.finalizers.is_empty()).then(|| finalizers(leftovers)),
        ),
    ]
}

/// The conditions after a look, or nothing if they say it already.
///
/// One whose words change keeps its time as long as its status does.
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

/// A condition that holds if there is something to say, and says that all is well if not.
fn condition(condition_type: &str, well: (&str, &str), trouble: &str, message: Option<String>) -> Condition {
    let (status, reason, message) = match message {
        Some(message) => (ConditionStatus::True, trouble, message),
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

fn undiscovered(leftovers: &Leftovers) -> String {
    let groups = leftovers.undiscovered.iter().map(|(group, error)| format!("{group}: {error}"));
    let groups: Vec<_> = groups.collect();
    format!("Discovery failed for some groups, {} failing: {}", groups.len(), groups.join(", "))
}

fn failures(leftovers: &Leftovers) -> String {
    let failures: Vec<_> = leftovers.failures.iter().map(String::as_str).collect();
    format!("Failed to delete all resource types, {} remaining: {}", failures.len(), failures.join(", "))
}

fn remaining(leftovers: &Leftovers) -> String {
    let kinds = leftovers
        .remaining
        .iter()
        .map(|((group, plural), count)| format!("{plural}.{group} has {count} resource instances"));
    let mut kinds: Vec<_> = kinds.collect();
    kinds.sort();
    format!("Some resources are remaining: {}", kinds.join(", "))
}

fn finalizers(leftovers: &Leftovers) -> String {
    let held = leftovers.finalizers.iter();
    let held: Vec<_> =
        held.map(|(finalizer, count)| format!("{finalizer} in {count} resource instances")).collect();
    format!("Some content in the namespace has finalizers remaining: {}", held.join(", "))
}
