//! The Deployment rules, as small stories. Handles (D1.1 …) name the rule that a test is about.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod claiming;
mod conditions;
mod creating;
mod events;
mod examples;
mod history;
mod interrupted;
mod pausing;
mod progress;
mod properties;
mod recreating;
mod repairs;
mod revisions;
mod rollback;
mod rolling;
mod scaling;
mod status;
mod sync_order;
mod triggers;

use gantry_decide::deployment::{Action, Decision, IfRefused, Observed, RefusedStep, Repairs, decide};
use gantry_model::{Deployment, DeploymentStatus, Pod, ReplicaSet, ReplicaSetEdit, Timestamp};
use gantry_testkit::NOON;

/// Decides at noon.
fn decided(deployment: &Deployment, sets: &[ReplicaSet]) -> Decision {
    decided_at(NOON, deployment, sets)
}

fn decided_at(now: Timestamp, deployment: &Deployment, sets: &[ReplicaSet]) -> Decision {
    decided_with(now, deployment, sets, &[], None)
}

fn decided_after(refused: RefusedStep, deployment: &Deployment, sets: &[ReplicaSet]) -> Decision {
    decided_with(NOON, deployment, sets, &[], Some(refused))
}

fn decided_with(
    now: Timestamp,
    deployment: &Deployment,
    sets: &[ReplicaSet],
    pods: &[Pod],
    refused: Option<RefusedStep>,
) -> Decision {
    let sets: Vec<_> = sets.iter().collect();
    let pods: Vec<_> = pods.iter().collect();
    decide(now, &Observed { deployment, sets: &sets, pods: &pods, refused, repairs: Repairs::default() })
}

/// All steps as lines.
fn lines(decision: &Decision) -> Vec<String> {
    decision.steps.iter().map(|step| step.action.to_string()).collect()
}

/// Only the steps that create, resize or delete ReplicaSets.
fn sizes(decision: &Decision) -> Vec<String> {
    let about_sets = |action: &&Action| {
        matches!(
            action,
            Action::CreateReplicaSet(_) | Action::UpdateReplicaSet { .. } | Action::DeleteReplicaSet { .. }
        )
    };
    decision.steps.iter().map(|step| &step.action).filter(about_sets).map(Action::to_string).collect()
}

/// The status at the end of the decision.
fn status_after(deployment: &Deployment, decision: &Decision) -> DeploymentStatus {
    let written = decision.steps.iter().rev().find_map(|step| match &step.action {
        Action::UpdateStatus { status, .. } => Some(DeploymentStatus::clone(status)),
        _ => None,
    });
    written.unwrap_or_else(|| deployment.status.clone())
}

/// The last edit of a set in the decision.
fn edit_of(decision: &Decision, name: &str) -> Option<ReplicaSetEdit> {
    decision.steps.iter().rev().find_map(|step| match &step.action {
        Action::UpdateReplicaSet { set, edit, .. } if set.as_str() == name => Some(edit.clone()),
        _ => None,
    })
}

/// The handling of a refusal of the last write of a set.
fn refusal_of(decision: &Decision, name: &str) -> Option<IfRefused> {
    decision.steps.iter().rev().find_map(|step| match &step.action {
        Action::UpdateReplicaSet { set, .. } if set.as_str() == name => Some(step.if_refused),
        _ => None,
    })
}

/// The messages of all events.
fn messages(decision: &Decision) -> Vec<String> {
    decision.events().map(|event| event.message.clone()).collect()
}
