//! What the rules wait for, and what keeps them from doing anything at all.

use std::time::Duration;

use gantry_decide::deployment::{Outcome, SyncError, WaitingOn};
use gantry_model::{Deployment, Labels, Meta, Selector};

use super::reason::{Reason, owner_name};
use super::refused;
use super::report::{Cause, Weight};
use crate::snapshot::Snapshot;
use crate::standing::Standing;

/// How long a controller may take to react before it is asked whether it runs.
const REACTION: Duration = Duration::from_secs(30);
/// Finalizers that the garbage collector removes by itself.
const COLLECTED: [&str; 2] = ["foregroundDeletion", "orphan"];

/// The causes that are no single pod's; `of_pods` are those that are.
pub(super) fn causes(standing: &Standing<'_>, of_pods: &[Cause]) -> Vec<Cause> {
    let mut causes = Vec::new();
    if let Outcome::Failed(error) = &standing.decision.outcome {
        causes.push(of_failure(error));
    }
    causes.extend(refused::set(standing));
    causes.extend(deleted_sets(standing));
    causes.extend(unseen(standing));
    for waiting in &standing.decision.waiting_on {
        causes.extend(of_waiting(standing, waiting, of_pods));
    }
    causes.extend(selector_conflict(standing.snapshot));
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
    Cause::new(Weight::Blocks, reason).saying(&error.to_string())
}

fn of_waiting(standing: &Standing<'_>, waiting: &WaitingOn, of_pods: &[Cause]) -> Option<Cause> {
    let cause = |weight, reason| Some(Cause::new(weight, reason));
    match waiting {
        WaitingOn::Selector => {
            let empty = Reason::InvalidField { field: "spec.selector" };
            Some(Cause::new(Weight::Blocks, empty).saying(&waiting.to_string()))
        }
        WaitingOn::Deletion => deleting(standing, "Deployment", &standing.snapshot.deployment.meta),
        WaitingOn::Resume => cause(Weight::Notes, Reason::Paused),
        // `unseen` has told it already.
        WaitingOn::OwnWrites | WaitingOn::LaggingStatus { .. } if !standing.is_seen() => None,
        WaitingOn::OwnWrites | WaitingOn::LaggingStatus { .. } => cause(Weight::Waits, Reason::OwnWrites),
        WaitingOn::SurgeLimit { total, limit } => {
            cause(Weight::Notes, Reason::SurgeLimit { total: *total, limit: *limit })
        }
        WaitingOn::AvailabilityFloor { available, minimum, .. } => {
            cause(Weight::Notes, Reason::AvailabilityFloor { available: *available, minimum: *minimum })
        }
        // Its pods say it better, or are about to be created.
        WaitingOn::NewPods { .. } => creating(standing, of_pods),
        WaitingOn::ReplicaFailure { set, reason, message } => Some(refused::pods(set, reason, message)),
        WaitingOn::OldPods { remaining } => {
            let blocks = of_pods.iter().any(|cause| {
                matches!(cause.reason, Reason::Terminating { .. }) && cause.weight == Weight::Blocks
            });
            let weight = if blocks { Weight::Blocks } else { Weight::Waits };
            cause(weight, Reason::OldPods { remaining: *remaining })
        }
        WaitingOn::ScalingRecreate { active } => {
            cause(Weight::Blocks, Reason::ScalingRecreate { active: *active })
        }
    }
}

/// An object that is being deleted. It goes by itself, unless a finalizer stays that only its own controller removes.
fn deleting(standing: &Standing<'_>, kind: &'static str, meta: &Meta) -> Option<Cause> {
    let waited = standing.now.since(meta.deleting?);
    let is_held = meta.finalizers.iter().any(|finalizer| !COLLECTED.contains(&finalizer.as_str()));
    let is_long = is_held && waited > REACTION;
    let weight = if is_long { Weight::Blocks } else { Weight::Waits };
    let finalizers = meta.finalizers.clone();
    Some(Cause::new(weight, Reason::Deleting { kind, finalizers, waited: is_long.then_some(waited) }))
}

/// ReplicaSets that are being deleted and are held by finalizers.
fn deleted_sets(standing: &Standing<'_>) -> Vec<Cause> {
    let metas = standing.sets.iter().map(|set| &set.set.meta);
    let held = metas.filter(|meta| !meta.finalizers.is_empty());
    held.filter_map(|meta| Some(deleting(standing, "ReplicaSet", meta)?.of_set(&meta.name))).collect()
}

/// Pods that the new set wants and that have neither been created nor refused.
fn creating(standing: &Standing<'_>, of_pods: &[Cause]) -> Option<Cause> {
    let new = standing.new_set()?;
    let is_refused = new.set.status.replica_failure().is_some();
    let is_seen = new.set.status.observed_generation >= new.set.meta.generation;
    let is_short = new.set.status.replicas < new.set.replicas;
    let none_waits = of_pods.iter().all(|cause| cause.weight == Weight::Notes);
    (is_seen && (is_short || none_waits) && !is_refused).then(|| Cause::new(Weight::Waits, Reason::OwnWrites))
}

/// Objects whose controllers have not reacted to what is wanted of them.
fn unseen(standing: &Standing<'_>) -> Vec<Cause> {
    let deployment = &standing.snapshot.deployment;
    let mut causes = Vec::new();
    if deployment.status.observed_generation < deployment.meta.generation {
        causes.push(not_seen(standing, "Deployment", &deployment.meta));
    }
    for standing_set in &standing.sets {
        let set = standing_set.set;
        if set.status.observed_generation < set.meta.generation {
            causes.push(not_seen(standing, "ReplicaSet", &set.meta).of_set(&set.meta.name));
        }
    }
    causes
}

fn not_seen(standing: &Standing<'_>, kind: &'static str, meta: &Meta) -> Cause {
    let waited = standing.snapshot.changed(&meta.uid).map(|changed| standing.now.since(changed));
    let is_long = waited.is_some_and(|waited| waited > REACTION);
    let weight = if is_long { Weight::Blocks } else { Weight::Waits };
    Cause::new(weight, Reason::NotSeen { kind, waited: waited.filter(|_| is_long) })
}

/// Whether others claim what this Deployment claims. Owner references keep them apart, but Services, budgets and people
/// that go by the labels cannot.
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
        if !is_known && !with.contains(&name) && !is_own_set(snapshot, owner.uid.as_str()) {
            with.push(name);
        }
    }
    (!with.is_empty()).then(|| Cause::new(Weight::Notes, Reason::SelectorConflict { with }))
}

/// Whether this is an orphaned ReplicaSet that the Deployment is about to adopt.
fn is_own_set(snapshot: &Snapshot, uid: &str) -> bool {
    snapshot.sets.iter().any(|set| set.meta.uid.as_str() == uid && set.meta.controller().is_none())
}

/// Whether either Deployment's selector selects the other's pods.
fn overlap(one: &Deployment, other: &Deployment) -> bool {
    let selects = |deployment: &Deployment, labels: Option<&Labels>| match &deployment.selector {
        Ok(selector @ Selector::All(_)) => labels.is_some_and(|labels| selector.matches(labels)),
        Ok(Selector::Everything) | Err(_) => false,
    };
    selects(one, other.template.labels()) || selects(other, one.template.labels())
}
