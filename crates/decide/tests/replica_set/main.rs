//! The ReplicaSet rules, as small stories. Handles (R1.1 …) name the rule that a test is about.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod carrying_out;
mod claiming;
mod examples;
mod expectations;
mod failures;
mod managing;
mod properties;
mod requeue;
mod status;
mod triggers;
mod victims;
mod world;
mod written_versions;

use gantry_decide::replica_set::{
    Action, Decision, ExpectationState, ManageError, ManageResult, Observed, SyncReport, decide, report,
};
use gantry_model::{ObjectKey, Pod, Refusal, RefusalKind, ReplicaSet, Timestamp};
use gantry_testkit::NOON;

/// A set that may act and owns these pods, including the terminating ones.
fn observed<'a>(set: &'a ReplicaSet, pods: &'a [Pod]) -> Observed<'a> {
    let active = pods.iter().filter(|pod| pod.is_active()).collect();
    let terminating = pods.iter().filter(|pod| pod.is_terminating()).collect();
    Observed { set, expectation_state: ExpectationState::Satisfied, active, terminating, related: Vec::new() }
}

/// Decides at noon.
fn decided(set: &ReplicaSet, pods: &[Pod]) -> Decision {
    decide(NOON, &observed(set, pods))
}

/// The report at this time of a sync whose action succeeded, or had nothing to do.
fn reported(now: Timestamp, observed: &Observed<'_>) -> SyncReport {
    report(now, observed, &decide(now, observed), &ManageResult::nothing())
}

/// The report at noon of a sync in which creating a pod was refused.
fn reported_refusal(observed: &Observed<'_>, message: &str) -> SyncReport {
    let error = ManageError::Create(refusal(RefusalKind::Other, message));
    let manage_result = ManageResult { met: Vec::new(), result: Err(error) };
    report(NOON, observed, &decide(NOON, observed), &manage_result)
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new("default", name)
}

fn refusal(kind: RefusalKind, message: &str) -> Refusal {
    Refusal { kind, message: message.to_owned() }
}

/// The number of pods that the decision creates.
fn creations(decision: &Decision) -> usize {
    match decision.action {
        Action::Create { count, .. } => count,
        _ => 0,
    }
}

/// The pods that the decision deletes, by name, in alphabetical order.
fn deletions(decision: &Decision) -> Vec<&str> {
    let Action::Delete { pods } = &decision.action else { return Vec::new() };
    let mut names: Vec<_> = pods.iter().map(|pod| pod.name.as_str()).collect();
    names.sort_unstable();
    names
}
