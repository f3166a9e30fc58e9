//! The causes that the rules report.

use std::time::Duration;

use gantry_decide::deployment::{SyncError, SyncResult, WaitingOn};
use gantry_model::{Deployment, Labels, Meta, Selector, Uid};

use super::reason::{Reason, owner_name};
use super::refused;
use super::report::{Cause, Severity};
use crate::rollout_state::RolloutState;
use crate::snapshot::Snapshot;

/// How long a controller may take to react before that counts as a problem.
const REACTION_TIMEOUT: Duration = Duration::from_secs(30);
/// Finalizers that the garbage collector removes by itself.
const COLLECTED: [&str; 2] = ["foregroundDeletion", "orphan"];

/// The causes that are not about single pods; `of_pods` are those that are.
pub(super) fn causes(rollout: &RolloutState<'_>, of_pods: &[Cause]) -> Vec<Cause> {
    let mut causes = Vec::new();
    if let SyncResult::Failed(error) = &rollout.decision.result {
        causes.push(of_failure(error));
    }
    causes.extend(refused::set(rollout));
    causes.extend(deleted_sets(rollout));
    causes.extend(unseen(rollout));
    for waiting in &rollout.decision.waiting_on {
        causes.extend(of_waiting(rollout, waiting, of_pods));
    }
    causes.extend(selector_conflict(rollout.snapshot));
    causes
}

fn of_failure(error: &SyncError) -> Cause {
    let reason = match error {
        SyncError::InvalidSelector(_) => Reason::InvalidField { field: "spec.selector" },
        SyncError::InvalidLimit(_) => Reason::InvalidField { field: "spec.strategy.rollingUpdate" },
        SyncError::UnknownStrategy(_) => Reason::InvalidField { field: "spec.strategy.type" },
        SyncError::NameTaken(_)
        | SyncError::NotYetSeen(_)
        | SyncError::CreateFailed(_)
        | SyncError::NamespaceTerminating => Reason::SetRefused,
    };
    Cause::new(Severity::Blocks, reason).with_message(&error.to_string())
}

fn of_waiting(rollout: &RolloutState<'_>, waiting: &WaitingOn, of_pods: &[Cause]) -> Option<Cause> {
    let cause = |severity, reason| Some(Cause::new(severity, reason));
    match waiting {
        WaitingOn::Selector => {
            let empty = Reason::InvalidField { field: "spec.selector" };
            Some(Cause::new(Severity::Blocks, empty).with_message(&waiting.to_string()))
        }
        WaitingOn::Deletion => deleting(rollout, "Deployment", &rollout.snapshot.deployment.meta),
        WaitingOn::Resume => cause(Severity::Notes, Reason::Paused),
        // `unseen` has reported it already.
        WaitingOn::OwnWrites | WaitingOn::LaggingStatus { .. } if !rollout.is_seen() => None,
        WaitingOn::OwnWrites | WaitingOn::LaggingStatus { .. } => cause(Severity::Waits, Reason::OwnWrites),
        WaitingOn::SurgeLimit { total, limit } => {
            cause(Severity::Notes, Reason::SurgeLimit { total: *total, limit: *limit })
        }
        WaitingOn::AvailabilityFloor { available, minimum, .. } => {
            cause(Severity::Notes, Reason::AvailabilityFloor { available: *available, minimum: *minimum })
        }
        // Its pods report more, or are about to be created.
        WaitingOn::NewPods { .. } => creating(rollout, of_pods),
        WaitingOn::ReplicaFailure { set, reason, message } => Some(refused::pods(set, reason, message)),
        WaitingOn::OldPods { remaining } => {
            let blocks = of_pods.iter().any(|cause| {
                matches!(cause.reason, Reason::Terminating { .. }) && cause.severity == Severity::Blocks
            });
            let severity = if blocks { Severity::Blocks } else { Severity::Waits };
            cause(severity, Reason::OldPods { remaining: *remaining })
        }
        WaitingOn::ScalingRecreate { active } => {
            cause(Severity::Blocks, Reason::ScalingRecreate { active: *active })
        }
    }
}

/// An object that is being deleted. That completes by itself, unless it has a finalizer of another controller.
fn deleting(rollout: &RolloutState<'_>, kind: &'static str, meta: &Meta) -> Option<Cause> {
    let waited = rollout.now.since(meta.deleting?);
    let is_held = meta.finalizers.iter().any(|finalizer| !COLLECTED.contains(&finalizer.as_str()));
    let is_long = is_held && waited > REACTION_TIMEOUT;
    let severity = if is_long { Severity::Blocks } else { Severity::Waits };
    let finalizers = meta.finalizers.clone();
    Some(Cause::new(severity, Reason::Deleting { kind, finalizers, waited: is_long.then_some(waited) }))
}

/// ReplicaSets with finalizers that are being deleted.
fn deleted_sets(rollout: &RolloutState<'_>) -> Vec<Cause> {
    let metas = rollout.sets.iter().map(|set| &set.set.meta);
    let held = metas.filter(|meta| !meta.finalizers.is_empty());
    held.filter_map(|meta| Some(deleting(rollout, "ReplicaSet", meta)?.of_set(&meta.name))).collect()
}

/// Pods of the new set that have neither been created nor refused.
fn creating(rollout: &RolloutState<'_>, of_pods: &[Cause]) -> Option<Cause> {
    let new = rollout.new_set()?;
    let is_refused = new.set.status.replica_failure().is_some();
    let is_seen = new.set.status.observed_generation >= new.set.meta.generation;
    let is_short = new.set.status.replicas < new.set.replicas;
    let none_waits = of_pods.iter().all(|cause| cause.severity == Severity::Notes);
    (is_seen && (is_short || none_waits) && !is_refused)
        .then(|| Cause::new(Severity::Waits, Reason::OwnWrites))
}

/// Objects whose controllers have not observed their last change.
fn unseen(rollout: &RolloutState<'_>) -> Vec<Cause> {
    let deployment = &rollout.snapshot.deployment;
    let mut causes = Vec::new();
    if deployment.status.observed_generation < deployment.meta.generation {
        causes.push(not_seen(rollout, "Deployment", &deployment.meta));
    }
    for set_state in &rollout.sets {
        let set = set_state.set;
        if set.status.observed_generation < set.meta.generation {
            causes.push(not_seen(rollout, "ReplicaSet", &set.meta).of_set(&set.meta.name));
        }
    }
    causes
}

fn not_seen(rollout: &RolloutState<'_>, kind: &'static str, meta: &Meta) -> Cause {
    let waited = rollout.snapshot.changed(&meta.uid).map(|changed| rollout.now.since(changed));
    let is_long = waited.is_some_and(|waited| waited > REACTION_TIMEOUT);
    let severity = if is_long { Severity::Blocks } else { Severity::Waits };
    Cause::new(severity, Reason::NotSeen { kind, waited: waited.filter(|_| is_long) })
}

/// Whether other Deployments select the same pods. Owner references keep them apart, but Services, budgets and users
/// that select by labels cannot.
fn selector_conflict(snapshot: &Snapshot) -> Option<Cause> {
    let deployment = &snapshot.deployment;
    let Ok(selector @ Selector::All(_)) = &deployment.selector else { return None };
    let rivals = snapshot.others.iter().filter(|other| overlap(deployment, other));
    let mut with: Vec<_> = rivals.map(|rival| owner_name("deployment", &rival.meta.name)).collect();
    let sets = snapshot.sets.iter().map(|set| &set.meta);
    let pods = snapshot.pods.iter().map(|seen| &seen.pod.meta);
    for meta in sets.chain(pods).filter(|meta| selector.matches(&meta.labels)) {
        let Some(owner) = meta.controller() else { continue };
        let is_known = owner.uid == deployment.meta.uid
            || snapshot.sets.iter().any(|set| set.meta.uid == owner.uid && set.meta.controller().is_some());
        let name = owner_name(&owner.kind, &owner.name);
        if !is_known && !with.contains(&name) && !is_own_set(snapshot, &owner.uid) {
            with.push(name);
        }
    }
    (!with.is_empty()).then(|| Cause::new(Severity::Notes, Reason::SelectorConflict { with }))
}

/// Whether this is an orphaned ReplicaSet that the Deployment is about to adopt.
fn is_own_set(snapshot: &Snapshot, uid: &Uid) -> bool {
    snapshot.sets.iter().any(|set| set.meta.uid == *uid && set.meta.controller().is_none())
}

/// Whether either Deployment's selector selects the other's pods.
fn overlap(one: &Deployment, other: &Deployment) -> bool {
    let selects = |deployment: &Deployment, labels: Option<&Labels>| match &deployment.selector {
        Ok(selector @ Selector::All(_)) => labels.is_some_and(|labels| selector.matches(labels)),
        Ok(Selector::Everything) | Err(_) => false,
    };
    selects(one, other.template.labels()) || selects(other, one.template.labels())
}
